// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory as named buffers.

#include "fp8/Simulator/Device.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace fp8::sim;

namespace {
constexpr uint64_t kLeastAlignment = 256; // cudaMalloc's
constexpr uint64_t kGuardBytes = 1 << 20;
/// Lower addresses are null pointers with an offset.
constexpr uint64_t kNullPage = 1 << 16;

uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}
} // namespace

std::optional<uint64_t> Device::allocate(std::string name, uint64_t size,
                                         BufferOptions options) {
  if (size > memoryLimit || allocated > memoryLimit - size)
    return std::nullopt;
  uint64_t address = alignTo(nextAddress, options.alignment);
  uint64_t span = alignTo(size, kLeastAlignment) + kGuardBytes;
  if (address > kAddressEnd || span > kAddressEnd - address)
    return std::nullopt;
  auto buffer = std::make_unique<Buffer>();
  buffer->name = std::move(name);
  buffer->address = address;
  buffer->size = size;
  buffer->readOnly = options.readOnly;
  try {
    buffer->bytes.resize(size);
    if (options.uninitialised)
      buffer->initialised.resize(size);
  } catch (const std::bad_alloc &) {
    return std::nullopt;
  }
  nextAddress = address + span;
  allocated += size;
  buffers.push_back(std::move(buffer));
  return buffers.back()->address;
}

bool Device::release(uint64_t address) {
  for (auto it = buffers.begin(); it != buffers.end(); ++it) {
    if ((*it)->address != address)
      continue;
    allocated -= (*it)->size;
    released[address] = {std::move((*it)->name), (*it)->size};
    buffers.erase(it);
    return true;
  }
  return false;
}

Buffer *Device::find(uint64_t address, uint64_t count) {
  auto it = std::upper_bound(buffers.begin(), buffers.end(), address,
                             [](uint64_t at, const std::unique_ptr<Buffer> &b) {
                               return at < b->address;
                             });
  if (it == buffers.begin())
    return nullptr;
  Buffer *buffer = std::prev(it)->get();
  return buffer->contains(address, count) ? buffer : nullptr;
}

std::optional<std::pair<std::string_view, uint64_t>>
Device::findReleased(uint64_t address) const {
  auto after = released.upper_bound(address);
  if (after == released.begin())
    return std::nullopt;
  const auto &[start, buffer] = *std::prev(after);
  if (address - start >= std::max<uint64_t>(buffer.second, 1))
    return std::nullopt;
  return buffer;
}

/// Strings of printf and assert have such names, which no source has.
static bool isNamedByCompiler(const std::string &name) {
  constexpr std::string_view prefixes[] = {"$", "__unnamed_"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) {
                       return name.compare(0, prefix.size(), prefix) == 0;
                     });
}

/// The buffer of the source whose range is nearest to `address`, or null.
const Buffer *Device::nearest(uint64_t address) const {
  const Buffer *best = nullptr;
  uint64_t bestDistance = ~uint64_t(0);
  for (const auto &buffer : buffers) {
    if (isNamedByCompiler(buffer->name))
      continue;
    uint64_t end = buffer->address + buffer->size;
    uint64_t distance = address < buffer->address ? buffer->address - address
                        : address >= end          ? address - end
                                                  : 0;
    if (distance < bestDistance) {
      best = buffer.get();
      bestDistance = distance;
    }
  }
  return best;
}

std::string Device::describeOutside(uint64_t address) const {
  if (auto old = findReleased(address))
    return "in '" + std::string(old->first) + "' of " +
           std::to_string(old->second) +
           " bytes, which has been freed; free it after its last use";
  if (address < kNullPage)
    return "at or near a null pointer; allocate the memory first";
  if (address < kFirstAddress || address >= kAddressEnd)
    return "outside the device's memory, perhaps in the host's; pass the "
           "address of a buffer of the device";
  const Buffer *near = nearest(address);
  if (!near)
    return "outside every buffer";
  return "outside every buffer; the nearest is '" + near->name + "' of " +
         std::to_string(near->size) + " bytes, " +
         (address < near->address
              ? std::to_string(near->address - address) +
                    " bytes above the address"
              : "at offset " + std::to_string(address - near->address) +
                    " from its start");
}

bool Device::write(uint64_t address, const void *source, uint64_t count) {
  Buffer *buffer = find(address, count);
  if (!buffer)
    return false;
  uint64_t offset = address - buffer->address;
  if (count)
    std::memcpy(buffer->bytes.data() + offset, source, count);
  if (!buffer->initialised.empty())
    std::fill_n(buffer->initialised.begin() + int64_t(offset), count,
                uint8_t(1));
  return true;
}

bool Device::read(uint64_t address, void *target, uint64_t count) const {
  Buffer *buffer = const_cast<Device *>(this)->find(address, count);
  if (!buffer)
    return false;
  if (count)
    std::memcpy(target, buffer->bytes.data() + (address - buffer->address),
                count);
  return true;
}

uint8_t *Device::data(uint64_t address) {
  Buffer *buffer = find(address, 0);
  return buffer ? buffer->bytes.data() + (address - buffer->address) : nullptr;
}
