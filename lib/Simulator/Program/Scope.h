// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scope of a strong access or a fence (PTX ISA 8.5).

#ifndef FP8_LIB_SIMULATOR_PROGRAM_SCOPE_H
#define FP8_LIB_SIMULATOR_PROGRAM_SCOPE_H

#include <cstdint>

namespace fp8::sim {

/// The threads that it is for: of the CTA, of the cluster, or all.
enum class Scope : uint8_t { Cta, Cluster, Gpu };

constexpr unsigned kScopes = 3;

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_SCOPE_H
