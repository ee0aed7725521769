// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a device.
#include "fp8/Runtime/Device.h"

#include <utility>

namespace fp8::runtime {

Expected<DeviceBuffer>
DeviceBuffer::allocate(std::shared_ptr<const Device> device,
                       const std::string &name, uint64_t bytes) {
  DeviceBuffer buffer;
  buffer.bufferName = name;
  buffer.bytes = bytes;
  const Driver &driver = device->driver();
  // The driver refuses 0 bytes.
  if (bytes)
    if (auto error =
            driver.call(driver.memAlloc,
                        "cannot allocate " + std::to_string(bytes) +
                            " bytes for '" + name + "' on " + device->str(),
                        &buffer.pointer, size_t(bytes)))
      return *error;
  buffer.device = std::move(device);
  return Expected<DeviceBuffer>(std::move(buffer));
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : device(std::move(other.device)), bufferName(std::move(other.bufferName)),
      pointer(std::exchange(other.pointer, 0)),
      bytes(std::exchange(other.bytes, 0)) {}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(device, other.device);
  std::swap(bufferName, other.bufferName);
  std::swap(pointer, other.pointer);
  std::swap(bytes, other.bytes);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!pointer || device->isHung())
    return;
  ContextScope scope(*device);
  device->driver().memFree.function(pointer);
}

std::optional<Error> DeviceBuffer::fill(uint8_t value) {
  if (!bytes)
    return std::nullopt;
  const Driver &driver = device->driver();
  return driver.call(driver.memsetD8, "cannot fill '" + bufferName + "'",
                     pointer, value, size_t(bytes));
}

std::optional<Error> DeviceBuffer::upload(const void *data, uint64_t size,
                                          uint64_t offset) {
  if (!size)
    return std::nullopt;
  if (offset > bytes || size > bytes - offset)
    return Error{"cannot copy " + std::to_string(size) + " bytes to offset " +
                 std::to_string(offset) + " of '" + bufferName +
                 "', which has " + std::to_string(bytes)};
  const Driver &driver = device->driver();
  return driver.call(driver.memcpyHtoD,
                     "cannot copy " + std::to_string(size) + " bytes to '" +
                         bufferName + "'",
                     pointer + offset, data, size_t(size));
}

std::optional<Error> DeviceBuffer::download(void *data, uint64_t size,
                                            uint64_t offset) const {
  if (!size)
    return std::nullopt;
  if (offset > bytes || size > bytes - offset)
    return Error{"cannot copy " + std::to_string(size) + " bytes from offset " +
                 std::to_string(offset) + " of '" + bufferName +
                 "', which has " + std::to_string(bytes)};
  const Driver &driver = device->driver();
  return driver.call(driver.memcpyDtoH,
                     "cannot copy " + std::to_string(size) +
                         " bytes back from '" + bufferName + "'",
                     data, pointer + offset, size_t(size));
}

} // namespace fp8::runtime
