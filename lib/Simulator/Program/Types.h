// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types that qualifiers of instructions name (PTX ISA 5.2).

#ifndef FP8_LIB_SIMULATOR_PROGRAM_TYPES_H
#define FP8_LIB_SIMULATOR_PROGRAM_TYPES_H

#include <cstdint>
#include <string_view>

namespace fp8::sim {

enum class Type : uint8_t {
  None,
  B8,
  U8,
  S8,
  B16,
  U16,
  S16,
  F16,
  BF16,
  B32,
  U32,
  S32,
  F32,
  TF32,
  B64,
  U64,
  S64,
  F64,
  B128,
  Pred,
  F16x2,
  BF16x2,
  F32x2,
  U16x2,
  S16x2,
  E4M3x2,
  E5M2x2,
  E2M3x2,
  E3M2x2,
  E2M1x2,
  UE8M0x2,
  E4M3x4,
  E5M2x4,
  E2M3x4,
  E3M2x4,
  E2M1x4
};
/// Type::None for any other name.
Type typeByName(std::string_view name);
/// In bytes; 0 for None and Pred.
unsigned typeSize(Type type);
bool isSignedType(Type type);
bool isFloatType(Type type);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_TYPES_H
