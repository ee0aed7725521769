// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variable in which a profiled kernel leaves its stamps.
#include "fp8/Runtime/Stamps.h"

namespace fp8::runtime {
namespace {
/// Finds the variable; checks its size.
std::optional<Error> find(const Kernel &kernel,
                          const launch::ProfileTable &table,
                          const std::string &what,
                          cu::DevicePointer &variable) {
  const Driver &driver = kernel.device()->driver();
  size_t size = 0;
  if (auto error = driver.call(driver.moduleGetGlobal, what, &variable, &size,
                               kernel.module(), table.variable.c_str()))
    return error;
  if (size != table.bytes())
    return Error{what + ": the variable has " + std::to_string(size) +
                 " bytes instead of " + std::to_string(table.bytes()) +
                 "; use the manifest that was written with the PTX"};
  return std::nullopt;
}
} // namespace

std::optional<Error> clearStamps(const Kernel &kernel,
                                 const launch::ProfileTable &table) {
  const Driver &driver = kernel.device()->driver();
  const std::string what =
      "cannot clear the stamps in '" + table.variable + "'";
  cu::DevicePointer variable = 0;
  if (auto error = find(kernel, table, what, variable))
    return error;
  return driver.call(driver.memsetD8, what, variable, 0, table.headsBytes());
}

Expected<std::vector<uint8_t>> readStamps(const Kernel &kernel,
                                          const launch::ProfileTable &table) {
  const Driver &driver = kernel.device()->driver();
  const std::string what = "cannot read the stamps in '" + table.variable + "'";
  cu::DevicePointer variable = 0;
  if (auto error = find(kernel, table, what, variable))
    return *error;
  std::vector<uint8_t> bytes(table.bytes());
  void *to = bytes.data();
  if (auto error =
          driver.call(driver.memcpyDtoH, what, to, variable, bytes.size()))
    return *error;
  return bytes;
}

} // namespace fp8::runtime
