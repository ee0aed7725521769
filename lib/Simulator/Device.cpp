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

const Buffer *Device::nearest(uint64_t address) const {
  const Buffer *best = nullptr;
  uint64_t bestDistance = ~uint64_t(0);
  for (const auto &buffer : buffers) {
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
