// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and sizes of types.

#include "Program/Types.h"

#include <unordered_map>

using namespace fp8::sim;

Type fp8::sim::typeByName(std::string_view name) {
  static const std::unordered_map<std::string_view, Type> types = {
      {"b8", Type::B8},         {"u8", Type::U8},
      {"s8", Type::S8},         {"b16", Type::B16},
      {"u16", Type::U16},       {"s16", Type::S16},
      {"f16", Type::F16},       {"bf16", Type::BF16},
      {"b32", Type::B32},       {"u32", Type::U32},
      {"s32", Type::S32},       {"f32", Type::F32},
      {"tf32", Type::TF32},     {"b64", Type::B64},
      {"u64", Type::U64},       {"s64", Type::S64},
      {"f64", Type::F64},       {"b128", Type::B128},
      {"pred", Type::Pred},     {"f16x2", Type::F16x2},
      {"bf16x2", Type::BF16x2}, {"f32x2", Type::F32x2},
      {"u16x2", Type::U16x2},   {"s16x2", Type::S16x2},
      {"e4m3x2", Type::E4M3x2}, {"e5m2x2", Type::E5M2x2},
      {"e4m3x4", Type::E4M3x4}, {"e5m2x4", Type::E5M2x4},
      {"e2m3x2", Type::E2M3x2}, {"e3m2x2", Type::E3M2x2},
      {"e2m1x2", Type::E2M1x2}, {"ue8m0x2", Type::UE8M0x2},
      {"e2m3x4", Type::E2M3x4}, {"e3m2x4", Type::E3M2x4},
      {"e2m1x4", Type::E2M1x4}};
  auto it = types.find(name);
  return it == types.end() ? Type::None : it->second;
}

unsigned fp8::sim::typeSize(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::E2M1x2:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
  case Type::E2M3x2:
  case Type::E3M2x2:
  case Type::UE8M0x2:
  case Type::E2M1x4:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  case Type::B128:
    return 16;
  case Type::None:
  case Type::Pred:
    return 0;
  default:
    return 4;
  }
}

bool fp8::sim::isSignedType(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64;
}
bool fp8::sim::isFloatType(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64 || type == Type::TF32;
}
