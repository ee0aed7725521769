// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations, copies and fills. What the host reaches is mapped in the process
// at the address that it has on the device.
#include "Memory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <tuple>

namespace fp8::cuda {
namespace {
constexpr uint64_t kPage = 1 << 16; // of every system that we run on
/// Unlike 0, it shows in the results of a kernel that reads it.
constexpr uint8_t kUnwritten = 0xcd;

void *hostView(uint64_t address) { return reinterpret_cast<void *>(address); }

bool isDeviceAddress(uint64_t address) {
  return address >= sim::Device::kFirstAddress &&
         address < sim::Device::kAddressEnd;
}

/// The pages that an allocation lies in.
struct Pages {
  explicit Pages(const Allocation &allocation)
      : first(allocation.address / kPage * kPage),
        bytes(std::max<uint64_t>(allocation.address + allocation.bytes - first,
                                 1)) {}
  uint64_t first, bytes;
};

bool map(const Allocation &allocation) {
  Pages pages(allocation);
  return mmap(hostView(pages.first), pages.bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
              0) != MAP_FAILED;
}

void unmap(const Allocation &allocation) {
  if (allocation.reach == Reach::Device ||
      allocation.reach == Reach::Registered)
    return;
  Pages pages(allocation);
  munmap(hostView(pages.first), pages.bytes);
}
} // namespace

Memory::~Memory() {
  for (const auto &[address, allocation] : all)
    unmap(allocation);
}

std::optional<uint64_t> Memory::allocate(uint64_t bytes, Reach reach,
                                         const std::string &maker) {
  sim::BufferOptions options;
  options.uninitialised = initcheck && reach == Reach::Device;
  if (reach != Reach::Device)
    options.alignment = kPage;
  unsigned number = ++made;
  auto address =
      device.allocate(maker + " #" + std::to_string(number), bytes, options);
  if (!address)
    return std::nullopt;
  if (bytes)
    std::memset(device.data(*address), kUnwritten, bytes);
  Allocation allocation{*address, bytes, reach, number, *address};
  if (reach != Reach::Device && !map(allocation)) {
    device.release(*address);
    return std::nullopt;
  }
  all[*address] = allocation;
  if (reach != Reach::Device)
    std::memset(hostView(*address), kUnwritten, bytes);
  return address;
}

bool Memory::share(uint64_t address, uint64_t bytes) {
  Allocation allocation{address, bytes, Reach::Managed, ++made, address};
  if (!map(allocation))
    return false;
  all[address] = allocation;
  std::memcpy(hostView(address), device.data(address), bytes);
  return true;
}

bool Memory::release(uint64_t address) {
  auto found = all.find(address);
  if (found == all.end() || found->second.reach == Reach::Registered)
    return false;
  unmap(found->second);
  all.erase(found);
  return device.release(address);
}

std::optional<uint64_t> Memory::registerHost(uint64_t host, uint64_t bytes) {
  unsigned number = ++made;
  auto address =
      device.allocate("cudaHostRegister #" + std::to_string(number), bytes);
  if (!address)
    return std::nullopt;
  all[*address] = {*address, bytes, Reach::Registered, number, host};
  registered[host] = *address;
  return address;
}

bool Memory::unregisterHost(uint64_t host) {
  auto found = registered.find(host);
  if (found == registered.end())
    return false;
  all.erase(found->second);
  device.release(found->second);
  registered.erase(found);
  return true;
}

bool Memory::meetsReached(uint64_t host, uint64_t bytes) const {
  return std::any_of(all.begin(), all.end(), [&](const auto &entry) {
    const Allocation &allocation = entry.second;
    return allocation.reach != Reach::Device &&
           allocation.host < host + bytes &&
           host < allocation.host + allocation.bytes;
  });
}

std::optional<uint64_t> Memory::findOnDevice(uint64_t host) const {
  if (const Allocation *allocation = find(host))
    return allocation->reach == Reach::Device ? std::nullopt
                                              : std::optional<uint64_t>(host);
  auto after = registered.upper_bound(host);
  if (after == registered.begin())
    return std::nullopt;
  const auto &[start, address] = *std::prev(after);
  return host - start < all.at(address).bytes
             ? std::optional<uint64_t>(address + (host - start))
             : std::nullopt;
}

const Allocation *Memory::find(uint64_t address) const {
  auto after = all.upper_bound(address);
  if (after == all.begin())
    return nullptr;
  const Allocation &allocation = std::prev(after)->second;
  bool inside = address == allocation.address ||
                address - allocation.address < allocation.bytes;
  return inside ? &allocation : nullptr;
}

std::optional<std::string> Memory::findFault(uint64_t address, uint64_t bytes,
                                             Side side) {
  if (!bytes)
    return std::nullopt;
  if (!address)
    return "is a null pointer";
  if (!isDeviceAddress(address))
    return side == Side::Any
               ? std::nullopt
               : std::optional<std::string>("is not on the device");
  if (device.find(address, bytes))
    return std::nullopt;
  const sim::Buffer *buffer = device.find(address, 0);
  return buffer ? "exceeds '" + buffer->name + "' of " +
                      std::to_string(buffer->size) + " bytes"
                : "lies " + device.describeOutside(address);
}

uint8_t *Memory::onHost(uint64_t address, uint64_t bytes) {
  if (!isDeviceAddress(address))
    return static_cast<uint8_t *>(hostView(address));
  sim::Buffer *buffer = device.find(address, bytes);
  if (!buffer)
    return nullptr;
  const Allocation *allocation = find(address);
  if (allocation && allocation->reach != Reach::Device)
    return static_cast<uint8_t *>(
        hostView(allocation->host + (address - allocation->address)));
  return buffer->bytes.data() + (address - buffer->address);
}

/// Marks what the host has written.
static void initialise(sim::Device &device, uint64_t address, uint64_t bytes) {
  sim::Buffer *buffer =
      isDeviceAddress(address) ? device.find(address, bytes) : nullptr;
  if (buffer && !buffer->initialised.empty())
    std::fill_n(buffer->initialised.begin() +
                    int64_t(address - buffer->address),
                bytes, uint8_t(1));
}

bool Memory::copy(uint64_t target, uint64_t source, uint64_t bytes) {
  if (!bytes)
    return true;
  uint8_t *to = onHost(target, bytes);
  const uint8_t *from = onHost(source, bytes);
  if (!to || !from)
    return false;
  std::memmove(to, from, bytes);
  initialise(device, target, bytes);
  return true;
}

bool Memory::fill(uint64_t target, uint32_t pattern, unsigned patternBytes,
                  uint64_t count) {
  uint64_t bytes = count * patternBytes;
  if (!bytes)
    return true;
  uint8_t *to = onHost(target, bytes);
  if (!to)
    return false;
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(to + i * patternBytes, &pattern, patternBytes);
  initialise(device, target, bytes);
  return true;
}

void Memory::publish() {
  for (const auto &[address, allocation] : all)
    if (allocation.reach != Reach::Device && allocation.bytes)
      std::memcpy(device.data(address), hostView(allocation.host),
                  allocation.bytes);
}

void Memory::collect() {
  for (const auto &[address, allocation] : all)
    if (allocation.reach != Reach::Device && allocation.bytes)
      std::memcpy(hostView(allocation.host), device.data(address),
                  allocation.bytes);
}

Memory::Snapshot Memory::save() {
  Snapshot snapshot;
  for (const auto &buffer : device.allBuffers())
    snapshot[buffer->address] = {buffer->bytes, buffer->initialised};
  return snapshot;
}

void Memory::restore(const Snapshot &snapshot) {
  for (const auto &buffer : device.allBuffers())
    if (auto saved = snapshot.find(buffer->address); saved != snapshot.end())
      std::tie(buffer->bytes, buffer->initialised) = saved->second;
}

std::optional<std::string> Memory::compare(const Snapshot &snapshot) {
  for (const auto &buffer : device.allBuffers()) {
    auto saved = snapshot.find(buffer->address);
    if (saved == snapshot.end())
      continue;
    const std::vector<uint8_t> &bytes = saved->second.first;
    auto [mine, theirs] = std::mismatch(buffer->bytes.begin(),
                                        buffer->bytes.end(), bytes.begin());
    if (mine != buffer->bytes.end())
      return "buffer '" + buffer->name + "' at byte " +
             std::to_string(mine - buffer->bytes.begin());
  }
  return std::nullopt;
}

} // namespace fp8::cuda
