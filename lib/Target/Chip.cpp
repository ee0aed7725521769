// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chip table.

#include "fp8/Target/Chip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::fp8;

// clang-format off
static constexpr Chip chips[] = {
    // name       features   wgmma  tcgen05 f32x2  CLC    smem        columns
    {"sm_90a",  "+ptx88",  true,  false,  false, false, 227 * 1024, 0},
    {"sm_100a", "+ptx88",  false, true,   true,  true,  227 * 1024, 512},
    {"sm_100f", "+ptx88",  false, true,   true,  true,  227 * 1024, 512},
    {"sm_103a", "+ptx88",  false, true,   true,  true,  227 * 1024, 512},
};
// clang-format on

llvm::ArrayRef<Chip> mlir::fp8::getChips() { return chips; }

const Chip *mlir::fp8::lookupChip(llvm::StringRef name) {
  const auto *chip = llvm::find_if(
      chips, [&](const Chip &entry) { return entry.name == name; });
  return chip == std::end(chips) ? nullptr : chip;
}

std::string mlir::fp8::getChipNames() {
  return llvm::join(
      llvm::map_range(chips, [](const Chip &chip) { return chip.name.str(); }),
      ", ");
}
