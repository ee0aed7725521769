// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where operands of tensor cores lie in shared memory (PTX ISA 9.7.16.4).

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_OPERANDLAYOUT_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_OPERANDLAYOUT_H

#include "Memory/Footprint.h"
#include "fp8/Simulator/TensorMap.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fp8::sim {

/// The shared-memory matrix descriptor of tcgen05, decoded.
struct MatrixDescriptor {
  uint32_t start = 0;   ///< offset in the CTA's shared memory
  uint32_t leading = 0; ///< bytes
  uint32_t stride = 0;  ///< bytes
  uint32_t baseOffset = 0;
  Swizzle swizzle = Swizzle::None;
  bool mnMajor = false;
  unsigned elementBytes = 1;

  /// Where element (row, k) begins.
  uint32_t address(uint32_t row, uint32_t k) const;
};
std::optional<std::string> decodeMatrixDescriptor(uint64_t bits, bool mnMajor,
                                                  unsigned elementBytes,
                                                  MatrixDescriptor &descriptor);
/// The place of rows x k elements.
struct OperandLayout {
  bool mnMajor;
  uint32_t rows, k;
  /// Where each 16 bytes begin: row by row, or K by K of MN-major operands.
  std::vector<uint32_t> chunks;
  /// What is read of them.
  Footprint footprint;

  /// The access to the operand in the CTA of this rank.
  static SharedAccess access(const std::shared_ptr<const OperandLayout> &layout,
                             uint32_t cta) {
    return {cta, {layout, &layout->footprint}};
  }
};

/// `used`: how many of each 16 bytes hold data. Kernels use the same few
/// operands again and again, so that layouts are kept.
std::shared_ptr<const OperandLayout>
layoutOf(const MatrixDescriptor &descriptor, uint32_t rows, uint32_t k,
         uint32_t used = 16);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_OPERANDLAYOUT_H
