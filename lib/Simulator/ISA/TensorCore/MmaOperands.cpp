// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of the operands of an MMA, as they lie in shared and tensor memory
// (PTX ISA 9.7.16.10.4), and their values.

#include "ISA/TensorCore/TensorCore.h"

#include "Numerics/Formats.h"
#include "Numerics/Vectorised.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace fp8::sim;

namespace {

/// The values of all codes of a format of at most 8 bits.
using Table = std::array<float, 256>;

Table makeTable(FloatFormat format) {
  Table table{};
  uint32_t codes = 2u << (format.exponentBits + format.mantissaBits);
  for (uint32_t code = 0; code < codes; ++code)
    table[code] = float(decodeFloat(format, code));
  return table;
}

template <typename Integer>
Table makeIntegers() {
  Table table{};
  for (uint32_t code = 0; code < 256; ++code)
    table[code] = float(Integer(code));
  return table;
}

/// Null for wider formats.
const float *findTable(MmaFormat format) {
  static const Table e4m3 = makeTable(kE4M3), e5m2 = makeTable(kE5M2),
                     e2m3 = makeTable(kE2M3), e3m2 = makeTable(kE3M2),
                     e2m1 = makeTable(kE2M1), u8 = makeIntegers<uint8_t>(),
                     s8 = makeIntegers<int8_t>();
  switch (format) {
  case MmaFormat::E4M3:
    return e4m3.data();
  case MmaFormat::E5M2:
    return e5m2.data();
  case MmaFormat::E2M3:
    return e2m3.data();
  case MmaFormat::E3M2:
    return e3m2.data();
  case MmaFormat::E2M1:
    return e2m1.data();
  case MmaFormat::U8:
    return u8.data();
  case MmaFormat::S8:
    return s8.data();
  case MmaFormat::F16:
  case MmaFormat::BF16:
  case MmaFormat::TF32:
    break;
  }
  return nullptr;
}

/// Of an operand with elements of a byte: bytes of a row, and rows.
constexpr uint32_t kMostBytes = 64, kMostRows = 256;

/// The elements of 16 bytes.
constexpr uint32_t kMostElements = 32;
using Elements = std::array<float, kMostElements>;

template <MmaFormat Format>
float decodeWide(const uint8_t *at) {
  if constexpr (Format == MmaFormat::TF32) {
    float value;
    std::memcpy(&value, at, 4);
    return truncateTF32(value);
  }
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return Format == MmaFormat::F16 ? f16ToFloat(bits) : bf16ToFloat(bits);
}

template <MmaFormat Format>
void readWide(unsigned bytes, const uint8_t *at, Elements &out) {
  for (uint32_t e = 0; e < 16 / bytes; ++e)
    out[e] = decodeWide<Format>(at + e * bytes);
}
void readWide(MmaFormat format, unsigned bytes, const uint8_t *at,
              Elements &out) {
  return format == MmaFormat::TF32  ? readWide<MmaFormat::TF32>(bytes, at, out)
         : format == MmaFormat::F16 ? readWide<MmaFormat::F16>(bytes, at, out)
                                    : readWide<MmaFormat::BF16>(bytes, at, out);
}

void readBytes(const float *table, const uint8_t *at, Elements &out) {
  for (uint32_t e = 0; e < 16; ++e)
    out[e] = table[at[e]];
}

/// 16 bytes that hold 32 elements, the lower half of each first.
void readNibbles(const float *table, const uint8_t *at, Elements &out) {
  for (uint32_t byte = 0; byte < 16; ++byte) {
    out[byte * 2] = table[at[byte] & 15];
    out[byte * 2 + 1] = table[at[byte] >> 4];
  }
}

bool sharesBytes(const MmaShape &shape) { return shape.k > shape.kStored(); }

/// Reads 16 bytes of shared memory. Returns how many elements they hold.
uint32_t readElements(const MmaShape &shape, MmaFormat format,
                      const float *table, const uint8_t *at, Elements &out) {
  unsigned bits = getRow(format).bits;
  if (bits > 8) {
    readWide(format, shape.elementBytes, at, out);
    return 16 / shape.elementBytes;
  }
  if (sharesBytes(shape)) {
    readNibbles(table, at, out);
    return 32;
  }
  readBytes(table, bits < 8 ? unpackCodes(bits, at).data() : at, out);
  return 16;
}

/// How the bits of e4m3 and e5m2 become those of f32: moved, they are the
/// number times a power of two, be it normal or not.
struct ByteFloats {
  unsigned shift;
  float scale;
  uint32_t special; ///< infinities and NaN, from this magnitude on
};
constexpr ByteFloats kByteE4M3{20, 0x1p120f, 0x7f},
    kByteE5M2{21, 0x1p112f, 0x7c};

FP8_VECTORISED
void decodeBytes(float *__restrict out, const uint8_t *__restrict codes,
                 uint32_t count, ByteFloats format, float sign) {
  for (uint32_t x = 0; x < count; ++x) {
    const uint32_t magnitude = codes[x] & 0x7f;
    const uint32_t moved = magnitude << format.shift;
    const uint32_t number =
        bitCast<uint32_t>(bitCast<float>(moved) * format.scale);
    const uint32_t bits = magnitude >= format.special
                              ? 0x7f800000u | (moved & 0x7fffffu)
                              : number;
    out[x] = bitCast<float>(bits | uint32_t(codes[x] & 0x80) << 24) * sign;
  }
}

using Bytes __attribute__((vector_size(16))) = uint8_t;

/// Exchanges rows and columns of 16 x 16 bytes.
void transposeBytes(Bytes (&rows)[16]) {
  // Each round moves the highest bit of a row's number to the lowest place of
  // that in the row.
  for (int round = 0; round < 4; ++round) {
    Bytes next[16];
    for (int r = 0; r < 8; ++r) {
      next[2 * r] =
          __builtin_shufflevector(rows[r], rows[r + 8], 0, 16, 1, 17, 2, 18, 3,
                                  19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * r + 1] =
          __builtin_shufflevector(rows[r], rows[r + 8], 8, 24, 9, 25, 10, 26,
                                  11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::copy_n(next, 16, rows);
  }
}

/// A K-major operand of e4m3 or e5m2, each row of K as it is in shared memory.
void loadRows(const OperandLayout &layout, ByteFloats format, float sign,
              const uint8_t *shared, float *out, uint32_t rowPitch) {
  const uint32_t *chunk = layout.chunks.data();
  for (uint32_t r = 0; r < layout.rows; ++r, out += rowPitch) {
    uint8_t codes[kMostBytes];
    for (uint32_t c = 0; c < layout.k; c += 16)
      std::memcpy(codes + c, shared + *chunk++, 16);
    decodeBytes(out, codes, layout.k, format, sign);
  }
}

/// The same, as columns: element (r, k) goes to out[r + k * kPitch].
void loadColumns(const OperandLayout &layout, ByteFloats format, float sign,
                 const uint8_t *shared, float *out, uint32_t kPitch) {
  static thread_local uint8_t codes[kMostBytes][kMostRows];
  const uint32_t perRow = layout.k / 16;
  for (uint32_t r = 0; r < layout.rows; r += 16)
    for (uint32_t c = 0; c < perRow; ++c) {
      Bytes block[16]{};
      for (uint32_t n = 0; n < 16 && r + n < layout.rows; ++n)
        std::memcpy(&block[n], shared + layout.chunks[(r + n) * perRow + c],
                    16);
      transposeBytes(block);
      for (uint32_t n = 0; n < 16; ++n)
        std::memcpy(&codes[c * 16 + n][r], &block[n], 16);
    }
  for (uint32_t k = 0; k < layout.k; ++k)
    decodeBytes(out + size_t(k) * kPitch, codes[k], layout.rows, format, sign);
}

} // namespace

uint32_t fp8::sim::usedBytes(const MmaShape &shape, MmaFormat format) {
  unsigned bits = getRow(format).bits;
  return bits < 8 && !sharesBytes(shape) ? bits * 2 : 16;
}

std::array<uint8_t, 16> fp8::sim::unpackCodes(unsigned bits,
                                              const uint8_t *at) {
  std::array<uint8_t, 16> codes;
  for (uint32_t e = 0; e < 16; ++e) {
    uint32_t first = e * bits;
    uint32_t two = at[first / 8] | at[(first + bits - 1) / 8] << 8;
    codes[e] = uint8_t(two >> first % 8 & ((1u << bits) - 1));
  }
  return codes;
}

float fp8::sim::decodeElement(MmaFormat format, const uint8_t *at) {
  switch (format) {
  case MmaFormat::TF32:
    return decodeWide<MmaFormat::TF32>(at);
  case MmaFormat::F16:
    return decodeWide<MmaFormat::F16>(at);
  case MmaFormat::BF16:
    return decodeWide<MmaFormat::BF16>(at);
  default:
    return findTable(format)[*at];
  }
}

void fp8::sim::loadOperand(const OperandLayout &layout, const MmaShape &shape,
                           MmaFormat format, bool negate, const uint8_t *shared,
                           float *out, uint32_t rowPitch, uint32_t kPitch) {
  const float sign = negate ? -1.0f : 1.0f;
  if (!layout.mnMajor &&
      (format == MmaFormat::E4M3 || format == MmaFormat::E5M2)) {
    const ByteFloats &floats =
        format == MmaFormat::E4M3 ? kByteE4M3 : kByteE5M2;
    return kPitch == 1 ? loadRows(layout, floats, sign, shared, out, rowPitch)
                       : loadColumns(layout, floats, sign, shared, out, kPitch);
  }
  const float *table = findTable(format);
  const uint32_t perChunk = 16 / shape.elementBytes;
  const uint32_t outer = layout.mnMajor ? layout.k : layout.rows,
                 inner = layout.mnMajor ? layout.rows : layout.k;
  const uint32_t *chunk = layout.chunks.data();
  Elements elements;
  for (uint32_t o = 0; o < outer; ++o)
    for (uint32_t c = 0; c < inner; c += perChunk) {
      const uint8_t *at = shared + *chunk++;
      uint32_t count = readElements(shape, format, table, at, elements);
      if (!layout.mnMajor) {
        // Where two elements share a byte, so do their columns.
        float *to = out + size_t(o) * rowPitch +
                    size_t(c) * (count / perChunk) * kPitch;
        for (uint32_t e = 0; e < count; ++e)
          to[e * kPitch] = elements[e] * sign;
        continue;
      }
      float *to = out + size_t(c) * rowPitch + size_t(o) * kPitch;
      for (uint32_t e = 0; e < count && c + e < inner; ++e)
        to[e * rowPitch] = elements[e] * sign;
    }
}

void fp8::sim::loadTensorRow(const MmaShape &shape, const uint32_t *cells,
                             float *out) {
  const float *table = findTable(shape.a);
  unsigned bits = getRow(shape.a).bits;
  bool contained = bits < 8 && !sharesBytes(shape);
  uint8_t bytes[32];
  std::memcpy(bytes, cells, sizeof(bytes));
  if (contained)
    for (uint8_t &byte : bytes)
      byte = fromContainer(bits, byte);
  float sign = shape.negateA ? -1.0f : 1.0f;
  Elements elements;
  for (const uint8_t *at = bytes; at < bytes + sizeof(bytes); at += 16) {
    uint32_t count = 16;
    if (contained)
      readBytes(table, at, elements);
    else
      count = readElements(shape, shape.a, table, at, elements);
    for (uint32_t e = 0; e < count; ++e)
      *out++ = elements[e] * sign;
  }
}
