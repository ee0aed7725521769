// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma: descriptors, operands, and the product itself (PTX ISA 9.7.16.4,
// 9.7.16.10).

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_TENSORCORE_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_TENSORCORE_H

#include "ISA/TensorCore/MmaKinds.h"
#include "ISA/TensorCore/OperandLayout.h"
#include "ISA/TensorCore/Sparsity.h"
#include "Memory/TensorMemory.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fp8::sim {

/// The scales of a row of A or B in one instruction.
struct MmaScales {
  uint32_t count = 0; ///< 0: none
  ScaleType type = ScaleType::UE8M0;
  uint32_t aId = 0, bId = 0; ///< byte of a word where the first lies

  bool any() const { return count != 0; }
};

/// The instruction descriptor, decoded. M and N are those of the
/// whole product, over both CTAs of a pair.
struct MmaShape {
  MmaKind kind;
  bool pair;       ///< .cta_group::2
  bool stationary; ///< .ws: B stays in a buffer while A changes
  MmaFormat a, b;
  MmaResult result;
  bool saturates;
  bool negateA, negateB;
  bool transposeA, transposeB; ///< MN-major
  bool sparse;                 ///< A keeps half of K
  uint32_t selector;           ///< sparse: the column that has the metadata
  uint32_t m, n, k;            ///< k in elements of A: 256 bits
  unsigned elementBytes;       ///< that an element takes in shared memory, or
                               ///< two that share a byte
  MmaScales scales;

  /// Rows of A, and of B, that one CTA's shared memory holds.
  uint32_t aRows() const { return pair ? m / 2 : m; }
  uint32_t bRows() const { return pair ? n / 2 : n; }
  /// Parts of N that lie below each other: the right half of a pair with M 128
  /// is in lanes 64 to 127; .ws with M 64 does the same, and with M 32 has
  /// quarters, each in 32 lanes (PTX ISA 9.7.16.10.5, layouts B, E and G).
  uint32_t folds() const {
    return pair && m == 128 && !sparse ? 2 : stationary ? 128 / m : 1;
  }
  /// Lanes from one of these parts to the next.
  uint32_t foldLanes() const { return 128 / folds(); }
  /// Columns of tensor memory that the accumulator takes.
  uint32_t dColumns() const { return n / folds(); }
  /// Lane of tensor memory that the CTA's row `r` lies in (layouts A to G),
  /// counted from the accumulator's address.
  uint32_t lane(uint32_t r) const {
    return spreads() ? r / 16 * 32 + r % 16 : r;
  }
  /// 16-lane units that the accumulator covers, counted from its address.
  uint8_t units() const { return spreads() ? 0x55 : 0xff; }
  /// Each quarter of the lanes has 16 rows (layouts C and F).
  bool spreads() const { return aRows() == 64 && folds() == 1; }
  /// Whether the accumulator may start at this lane.
  bool mayStartAt(uint32_t lane) const {
    return lane == 0 || (spreads() && lane == 16);
  }
  /// Bytes of K in shared memory, as elements of `elementBytes`.
  uint32_t kStored() const { return 32 / elementBytes; }
};

/// Decodes, or says which field is wrong. `scales`: how many a row has, by the
/// instruction's qualifier. `sparse`: it has .sp. `stationary`: .ws.
std::optional<std::string>
decodeInstructionDescriptor(uint32_t bits, MmaKind kind, bool pair,
                            MmaShape &shape, uint32_t scales = 0,
                            bool sparse = false, bool stationary = false);

/// The columns of B that count as zeros.
using ZeroColumns = std::bitset<256>;
/// Decodes a zero-column mask descriptor (PTX ISA 9.7.16.4.3), or says what is
/// not supported. The text calls a span of zeros "use", and one of B "skip";
/// its examples have them the other way round, as here.
std::optional<std::string>
decodeColumnMask(uint64_t bits, const MmaShape &shape, ZeroColumns &zero);

/// How the chip adds up the products of the shape; `exactly`: as no chip does.
const chip::SumRule &findSumRule(chip::MmaEngine engine, const MmaShape &shape,
                                 bool exactly);

/// Of each 16 bytes of an operand in shared memory, those that hold data: the
/// first ones where 16 elements have less than 8 bits each (PTX
/// ISA 9.7.16.10.4.4).
uint32_t usedBytes(const MmaShape &shape, MmaFormat format);
/// The codes of the 16 elements of 4 or 6 bits in such 16 bytes: in order, from
/// the lowest bit on.
std::array<uint8_t, 16> unpackCodes(unsigned bits, const uint8_t *at);
/// The byte that an element of 4 or 6 bits takes in tensor memory (PTX
/// ISA 9.7.16.10.4.3): two bits of padding above it, and below one of 4 bits.
inline uint8_t toContainer(unsigned bits, uint8_t code) {
  return bits == 4 ? uint8_t(code << 2) : code;
}
inline uint8_t fromContainer(unsigned bits, uint8_t byte) {
  return bits == 4 ? byte >> 2 & 15 : byte & 63;
}

/// An element of 8, 16 or 32 bits.
float decodeElement(MmaFormat format, const uint8_t *at);
/// Decodes an operand in shared memory; element (r, k) goes to
/// out[r * rowPitch + k * kPitch], one of which is 1.
void loadOperand(const OperandLayout &layout, const MmaShape &shape,
                 MmaFormat format, bool negate, const uint8_t *shared,
                 float *out, uint32_t rowPitch, uint32_t kPitch);
/// Decodes a row of A in tensor memory, where elements of less than 8 bits take
/// a byte each (PTX ISA 9.7.16.10.4.3), unless two share one.
void loadTensorRow(const MmaShape &shape, const uint32_t *cells, float *out);

/// Everything one MMA needs at completion.
struct MmaOperation {
  MmaShape shape;
  std::shared_ptr<const OperandLayout> a, b; ///< null: A lies elsewhere
  bool shiftsA = false; ///< .ashift: row r is that of the next lane
  /// Of the accumulator, and of A and its metadata in tensor memory: 0 or 16.
  uint32_t firstLane = 0;
  uint32_t aColumn = 0;
  uint32_t dColumn = 0;
  uint32_t aScaleColumn = 0, bScaleColumn = 0;
  uint32_t metadataColumn = 0; ///< of a sparse A
  bool accumulate = false;
  double scaleD = 1; ///< scale-input-d: 2^-n
  const chip::SumRule *rule = nullptr;
  std::array<uint32_t, 8> disabledLanes{}; ///< 4 words a CTA
  ZeroColumns zeroColumns;                 ///< of B

  /// 16-lane units of tensor memory that the accumulator covers.
  uint8_t units() const { return uint8_t(shape.units() << firstLane / 16); }
};

/// One CTA's part of the operands and the accumulator.
struct MmaSide {
  const uint8_t *shared = nullptr;
  TensorMemory *tensor = nullptr;
};

/// Computes the product, or says what is wrong with the scales.
/// `sides`: the CTA, or the even and the odd CTA of a pair.
std::optional<std::string> multiply(const MmaOperation &operation,
                                    const std::array<MmaSide, 2> &sides);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_TENSORCORE_H
