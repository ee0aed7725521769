// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shapes and types of mma.sync and mma.sp (PTX ISA 9.7.14.5, 9.7.14.6), and
// the qualifiers that name them.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMASYNCFORM_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMASYNCFORM_H

#include "ISA/TensorCore/MmaKinds.h"
#include "ISA/TensorCore/MmaSyncProduct.h"
#include "Program/Decoder.h"

namespace fp8::sim {

/// Operands that are multiplied and added up alike.
enum class MmaOperands : uint8_t {
  Float8,
  Float16,
  TF32,
  F64,
  Int8,
  Int4,
  Bit
};

struct MmaSyncShape {
  std::string_view name;
  uint32_t m, k; ///< N is 8; k is that of B
  MmaOperands operands;
  bool sparse = false; ///< A keeps half of K
};
inline constexpr MmaSyncShape kMmaShapes[] = {
    {"m16n8k16", 16, 16, MmaOperands::Float8},
    {"m16n8k32", 16, 32, MmaOperands::Float8},
    {"m16n8k8", 16, 8, MmaOperands::Float16},
    {"m16n8k16", 16, 16, MmaOperands::Float16},
    {"m16n8k4", 16, 4, MmaOperands::TF32},
    {"m16n8k8", 16, 8, MmaOperands::TF32},
    {"m8n8k4", 8, 4, MmaOperands::F64},
    {"m16n8k4", 16, 4, MmaOperands::F64},
    {"m16n8k8", 16, 8, MmaOperands::F64},
    {"m16n8k16", 16, 16, MmaOperands::F64},
    {"m8n8k16", 8, 16, MmaOperands::Int8},
    {"m16n8k16", 16, 16, MmaOperands::Int8},
    {"m16n8k32", 16, 32, MmaOperands::Int8},
    {"m8n8k32", 8, 32, MmaOperands::Int4},
    {"m16n8k32", 16, 32, MmaOperands::Int4},
    {"m16n8k64", 16, 64, MmaOperands::Int4},
    {"m8n8k128", 8, 128, MmaOperands::Bit},
    {"m16n8k128", 16, 128, MmaOperands::Bit},
    {"m16n8k256", 16, 256, MmaOperands::Bit},
    {"m16n8k64", 16, 64, MmaOperands::Float8, true},
    {"m16n8k16", 16, 16, MmaOperands::Float16, true},
    {"m16n8k32", 16, 32, MmaOperands::Float16, true},
    {"m16n8k8", 16, 8, MmaOperands::TF32, true},
    {"m16n8k16", 16, 16, MmaOperands::TF32, true},
    {"m16n8k32", 16, 32, MmaOperands::Int8, true},
    {"m16n8k64", 16, 64, MmaOperands::Int8, true},
};
struct MmaElement {
  std::string_view name;
  MmaOperands operands;
  uint8_t bits;
  MmaFormat format; ///< of the floating-point types but f64
  bool isSigned;
};
inline constexpr MmaElement kMmaTypes[] = {
    {"e4m3", MmaOperands::Float8, 8, MmaFormat::E4M3, true},
    {"e5m2", MmaOperands::Float8, 8, MmaFormat::E5M2, true},
    {"f16", MmaOperands::Float16, 16, MmaFormat::F16, true},
    {"bf16", MmaOperands::Float16, 16, MmaFormat::BF16, true},
    {"tf32", MmaOperands::TF32, 32, MmaFormat::TF32, true},
    {"f64", MmaOperands::F64, 64, {}, true},
    {"s8", MmaOperands::Int8, 8, {}, true},
    {"u8", MmaOperands::Int8, 8, {}, false},
    {"s4", MmaOperands::Int4, 4, {}, true},
    {"u4", MmaOperands::Int4, 4, {}, false},
    {"b1", MmaOperands::Bit, 1, {}, false},
};

/// Payload of mma.sync. List: D's registers. Source list: A's, B's and C's,
/// and the metadata of a sparse A.
struct MmaSyncForm {
  uint8_t shape, a, b; ///< indices into the tables
  Type d, c;
  bool saturate;    ///< .satfinite
  bool exclusive;   ///< .xor.popc, else .and.popc
  uint8_t selector; ///< of the threads that have the metadata

  /// Chunks of metadata in a row: of four elements of A, or two of tf32.
  uint32_t chunks() const {
    return form().k / (form().operands == MmaOperands::TF32 ? 2 : 4);
  }
  /// How many choices of threads there are (PTX ISA 9.7.14.6.1).
  uint32_t selectors() const {
    uint32_t perThread = typeA().bits == 8 ? 8 : 4;
    return 4 / (chunks() / perThread * (typeA().bits == 8 ? 2 : 1));
  }

  const MmaSyncShape &form() const { return kMmaShapes[shape]; }
  const MmaElement &typeA() const { return kMmaTypes[a]; }
  const MmaElement &typeB() const { return kMmaTypes[b]; }
  /// Elements in a register of A or B.
  uint32_t packed() const {
    uint32_t bits = typeA().bits;
    return bits < 32 ? 32 / bits : 1;
  }
  /// Elements of A in a row.
  uint32_t kOfA() const { return form().k / (form().sparse ? 2 : 1); }
  uint32_t rowsOfA() const { return form().m * kOfA() / 32 / packed(); }
  uint32_t rowsOfB() const { return kN * form().k / 32 / packed(); }
  /// Registers of C or D.
  uint32_t rowsOf(Type type) const {
    return form().m * kN / 32 / (type == Type::F16 ? 2 : 1);
  }
};

/// Whether C or D of `type` adds up products of elements of `element`.
bool addsUpIn(Type type, const MmaElement &element);
/// The qualifiers that name types, in their order; the one that names a shape,
/// or nothing.
std::vector<std::string> takeMmaTypes(Decoder &decoder);
std::string takeMmaShape(Decoder &decoder);
/// `types`: of D, A, B and C.
bool setMmaTypes(Decoder &decoder, MmaSyncForm &form,
                 const std::vector<std::string> &types);
/// Whether there is such a shape of the form's types.
bool setMmaShape(MmaSyncForm &form, std::string_view shape, bool sparse);
/// `.shape.row.col.d.a.b.c`.
bool takeMmaSyncForm(Decoder &decoder, MmaSyncForm &form, bool sparse);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_MMASYNCFORM_H
