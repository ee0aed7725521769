// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The extents that a launch may have on every chip here (CUDA C++ Programming
// Guide, technical specifications per compute capability).
//
//===----------------------------------------------------------------------===//

#ifndef FP8_CHIP_LAUNCHLIMITS_H
#define FP8_CHIP_LAUNCHLIMITS_H

#include <array>
#include <cstdint>

namespace fp8::chip {

/// Threads of a CTA, in x, y and z.
inline constexpr std::array<uint32_t, 3> kMostThreads = {1024, 1024, 64};
/// Threads of a CTA in all.
inline constexpr uint32_t kMostThreadsInAll = 1024;
/// CTAs of a grid, in x, y and z.
inline constexpr std::array<uint32_t, 3> kMostCtas = {0x7fffffff, 65535, 65535};
/// CTAs of a cluster; and of one that every GPU runs, beyond which a kernel
/// must ask for it.
inline constexpr uint32_t kMostCtasOfCluster = 16,
                          kMostCtasOfPortableCluster = 8;

} // namespace fp8::chip

#endif // FP8_CHIP_LAUNCHLIMITS_H
