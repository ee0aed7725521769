// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma.mma_async: descriptors, fragments, and the product itself (PTX
// ISA 9.7.15.5).

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_WGMMAOPERATION_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_WGMMAOPERATION_H

#include "ISA/TensorCore/Sparsity.h"
#include "ISA/TensorCore/TensorCore.h"
#include "ISA/TensorCore/UndefinedRows.h"
#include "Machine/Warp.h"

namespace fp8::sim {

class Decoder;

constexpr uint32_t kWgmmaM = 64;

/// wgmma.mma_async, from its shape on.
bool decodeWgmmaMma(Decoder &decoder, Inst &inst);

/// Decodes the matrix descriptor of wgmma: only the swizzle field differs from
/// tcgen05's (PTX ISA 9.7.15.5.1.2.2). Returns the broken rule, if any.
std::optional<std::string> decodeWgmmaDescriptor(uint64_t bits,
                                                 unsigned elementBytes,
                                                 MatrixDescriptor &out);

/// Everything one operation needs at completion.
struct WgmmaOperation {
  MmaShape shape;
  std::shared_ptr<const OperandLayout> a, b; ///< null: A lies in registers
  bool accumulate;
  const chip::SumRule *rule;
  const uint32_t *rows; ///< of registers: D's, then A's
  std::array<Warp *, kWarpgroup> warps;
  /// Of a sparse A: the words of all threads, and which threads of each quad
  /// have the metadata.
  bool sparse;
  uint32_t selector;
  std::vector<uint32_t> metadata;

  /// Registers of D.
  static uint32_t resultRows(MmaResult result, uint32_t n) {
    return n / (result == MmaResult::F16 ? 4 : 2);
  }

  /// Computes the product into the registers.
  void run() const;

  /// Two columns of D share a register.
  bool isPaired() const { return shape.result == MmaResult::F16; }

  using Undefined = WgmmaState::Flight::Undefined;
  /// What undefined rows of A or B in shared memory leave undefined of D in one
  /// of the warps (WgmmaUndefined.cpp). `origins`: of the operand's rows; the
  /// first warp finds them.
  void leaveUndefined(Warp &warp, const Inst &inst, bool isA,
                      RowOrigins &origins, std::vector<Undefined> &found) const;

private:
  void leaveRows(const Warp &warp, const RowOrigins &origins,
                 std::vector<Undefined> &found) const;
  void leaveColumns(const RowOrigins &origins,
                    std::vector<Undefined> &found) const;
  /// The elements of a row of D, as bits.
  void loadRow(uint32_t row, uint32_t *bits) const;
  void storeRow(uint32_t row, const uint32_t *bits) const;
  void loadFragment(float *out) const;
  Kept keptOf(uint32_t row) const;
  void computeRow(uint32_t row, Factors a, Factors b) const;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_WGMMAOPERATION_H
