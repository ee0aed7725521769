// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where waits that give up leave their records. After a trap every call of the
// driver fails, so they lie in memory of the host, which is there as before.
#include "fp8/Runtime/Device.h"

#include <algorithm>

namespace fp8::runtime {

std::optional<Error> Device::keepWaitRecords(cu::Module module,
                                             const std::string &kernel,
                                             const launch::WaitTable &table) {
  std::lock_guard<std::mutex> lock(modulesMutex);
  for (const KeptRecords &kept : waitRecords)
    if (kept.module == module)
      return std::nullopt;
  const std::string what = "cannot record the waits of kernel '" + kernel +
                           "' in '" + table.variable + "'";
  cu::DevicePointer variable = 0, address = 0;
  size_t bytes = 0;
  if (auto error = driver().call(driver().moduleGetGlobal, what, &variable,
                                 &bytes, module, table.variable.c_str()))
    return error;
  if (bytes < sizeof(address))
    return Error{what + ": the variable has " + std::to_string(bytes) +
                 " bytes, too few for an address; use the manifest that was "
                 "written with the PTX"};
  constexpr size_t size = launch::kWaitRecords * sizeof(launch::WaitRecord);
  void *memory = nullptr;
  if (auto error = driver().call(driver().memHostAlloc, what, &memory, size,
                                 cu::memHostAllocDeviceMap))
    return error;
  std::fill_n(static_cast<char *>(memory), size, 0);
  const void *from = &address;
  auto error = driver().call(driver().memHostGetDevicePointer, what, &address,
                             memory, 0u);
  if (!error)
    error = driver().call(driver().memcpyHtoD, what, variable, from,
                          sizeof(address));
  if (error)
    driver().memFreeHost.function(memory);
  else
    waitRecords.push_back({module, kernel, table, memory});
  return error;
}

std::vector<std::string> Device::waitsGivenUp() const {
  std::lock_guard<std::mutex> lock(modulesMutex);
  std::vector<std::string> lines;
  for (const KeptRecords &kept : waitRecords)
    for (std::string &line : launch::describe(
             kept.table, static_cast<const launch::WaitRecord *>(kept.memory)))
      // Whoever asks knows which kernel it is, if there is one only.
      lines.push_back(waitRecords.size() == 1
                          ? std::move(line)
                          : "in kernel '" + kept.kernel + "' " + line);
  return lines;
}

void Device::forgetWaitRecords() {
  for (const KeptRecords &kept : waitRecords)
    driver().memFreeHost.function(kept.memory);
  waitRecords.clear();
}

} // namespace fp8::runtime
