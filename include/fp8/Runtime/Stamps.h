// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps that a profiled kernel has left on a GPU. Both functions need the
// device's context to be current. Errors: the driver fails, or the module is
// not the manifest's.
#ifndef FP8_RUNTIME_STAMPS_H
#define FP8_RUNTIME_STAMPS_H

#include "fp8/Launch/Profile.h"
#include "fp8/Runtime/Launch.h"

namespace fp8::runtime {

/// The launches of the profiled kernel before the one that a timeline is of:
/// the first ones load code and wake the clocks.
inline constexpr int kLaunchesBeforeProfile = 10;

/// Forgets the stamps of earlier launches, whose grids may have been larger.
std::optional<Error> clearStamps(const Kernel &kernel,
                                 const launch::ProfileTable &table);

/// Reads what the kernel has written, once it has ended: table.bytes() bytes.
Expected<std::vector<uint8_t>> readStamps(const Kernel &kernel,
                                          const launch::ProfileTable &table);

} // namespace fp8::runtime

#endif // FP8_RUNTIME_STAMPS_H
