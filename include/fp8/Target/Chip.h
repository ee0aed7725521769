// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one table of the chips that fp8 generates code for, and what each can do.

#ifndef FP8_TARGET_CHIP_H
#define FP8_TARGET_CHIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir::fp8 {

/// A chip by its NVPTX name. Architecture-specific names (`a`, `f`) only: the
/// tensor-core instructions fp8 uses exist on no other.
struct Chip {
  llvm::StringRef name;     ///< `chip=` of options and #nvvm.target; LLVM's CPU
  llvm::StringRef features; ///< LLVM's feature string: the PTX ISA version
  bool wgmma;               ///< wgmma.mma_async (PTX ISA 9.7.15: sm_90a)
  bool tcgen05;             ///< tcgen05.* and tensor memory (PTX ISA 9.7.16)
  bool packedF32;           ///< fma.rn.f32x2 and its kin (PTX ISA 9.7.3)
  bool clusterLaunchControl; ///< clusterlaunchcontrol.* (PTX ISA 9.7.13)
  /// Shared memory that one CTA can be given, in bytes, static and dynamic
  /// (CUDA programming guide, table of technical specifications).
  int64_t sharedMemoryPerBlock;
  /// Columns of tensor memory in one SM (PTX ISA 9.7.16.1); 0 where there is
  /// none.
  int64_t tensorMemoryColumns;
};

/// Every chip, in the order in which messages list them.
llvm::ArrayRef<Chip> getChips();

/// The chip called `name`, or null.
const Chip *lookupChip(llvm::StringRef name);

/// "sm_90a, sm_100a, ...", for messages.
std::string getChipNames();

} // namespace mlir::fp8

#endif // FP8_TARGET_CHIP_H
