// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage of A's and B's types.
#include "fp8/Reference/OperandType.h"

#include "fp8/Reference/Float8.h"

#include <array>
#include <cstring>

namespace fp8::reference {
namespace {
using Values = std::array<double, 256>;

const Values &valuesOf(OperandType type) {
  auto make = [](float (*decode)(uint8_t)) {
    Values values;
    for (unsigned bits = 0; bits < 256; ++bits)
      values[bits] = decode(static_cast<uint8_t>(bits));
    return values;
  };
  static const Values e4m3 = make(decodeE4M3FN), e5m2 = make(decodeE5M2);
  return type == OperandType::F8E4M3FN ? e4m3 : e5m2;
}

void put(OperandType type, void *data, uint64_t element, uint16_t bits) {
  unsigned bytes = byteSize(type);
  std::memcpy(static_cast<uint8_t *>(data) + element * bytes, &bits, bytes);
}
} // namespace

unsigned byteSize(OperandType type) {
  return type == OperandType::BF16 || type == OperandType::F16 ? 2 : 1;
}

bool hasInfinity(OperandType type) { return type != OperandType::F8E4M3FN; }

float largestOf(OperandType type) {
  switch (type) {
  case OperandType::F8E4M3FN:
    return 448;
  case OperandType::F8E5M2:
    return 57344;
  case OperandType::BF16:
    return 0x1.fep127f;
  case OperandType::F16:
    break;
  }
  return 65504;
}

void decode(OperandType type, const void *data, uint64_t first, uint64_t count,
            double *out) {
  const auto *bytes =
      static_cast<const uint8_t *>(data) + first * byteSize(type);
  if (isFloat8(type)) {
    const Values &values = valuesOf(type);
    for (uint64_t i = 0; i < count; ++i)
      out[i] = values[bytes[i]];
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, sizeof(bits));
    out[i] = type == OperandType::BF16 ? decodeBF16(bits) : decodeF16(bits);
  }
}

void encode(OperandType type, void *data, uint64_t element, float value) {
  switch (type) {
  case OperandType::F8E4M3FN:
    return put(type, data, element, encodeE4M3FN(value));
  case OperandType::F8E5M2:
    return put(type, data, element, encodeE5M2(value));
  case OperandType::BF16:
    return put(type, data, element, encodeBF16(value));
  case OperandType::F16:
    return put(type, data, element, encodeF16(value));
  }
}

void encodeNaN(OperandType type, void *data, uint64_t element, bool negative) {
  uint16_t bits = isFloat8(type) ? 0x7f : 0x7fff;
  uint16_t sign = isFloat8(type) ? 0x80 : 0x8000;
  put(type, data, element, negative ? bits | sign : bits);
}

void encodeInfinity(OperandType type, void *data, uint64_t element) {
  uint16_t bits = type == OperandType::F8E5M2 ? 0x7c
                  : type == OperandType::BF16 ? 0x7f80
                                              : 0x7c00;
  put(type, data, element, bits);
}

} // namespace fp8::reference
