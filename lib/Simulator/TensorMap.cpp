// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types, rules and bytes of tensor maps.

#include "fp8/Simulator/TensorMap.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

/// In the order of the enum.
static constexpr std::array<ElementInfo, kElementTypeCount> kElements = {{
    {"u8", 0, 1, 1, 1, false},
    {"u16", 1, 1, 2, 2, false},
    {"u32", 2, 1, 4, 4, false},
    {"s32", 3, 1, 4, 4, false},
    {"u64", 4, 1, 8, 8, false},
    {"s64", 5, 1, 8, 8, false},
    {"f16", 6, 1, 2, 2, true},
    {"f32", 7, 1, 4, 4, true},
    {"f64", 9, 1, 8, 8, true},
    {"bf16", 10, 1, 2, 2, true},
    {"f32_ftz", 8, 1, 4, 4, true},
    {"tf32", 11, 1, 4, 4, true},
    {"tf32_ftz", 12, 1, 4, 4, true},
    {"16u4_align8b", 13, 16, 8, 8, false},
    {"16u4_align16b", 14, 16, 8, 16, false},
    {"16u6_align16b", 15, 16, 12, 16, false},
}};
/// The most pixels of a column of an im2col map.
static constexpr uint32_t kMaxPixels = 1024;
/// Elements of the rows of a padded type, which TMA copies whole.
static constexpr uint32_t kPaddedRow = 128;

const ElementInfo &fp8::sim::infoOf(ElementType type) {
  return kElements[static_cast<size_t>(type)];
}

/// The index of the row of `table` for which `test` holds, as a `T`.
template <typename T, typename Table, typename Test>
static std::optional<T> rowOf(const Table &table, Test test) {
  auto row = std::find_if(table.begin(), table.end(), test);
  if (row == table.end())
    return std::nullopt;
  return T(row - table.begin());
}

std::optional<ElementType> fp8::sim::parseElementType(std::string_view name) {
  return rowOf<ElementType>(
      kElements, [&](const ElementInfo &e) { return e.name == name; });
}

std::optional<Swizzle> fp8::sim::parseSwizzle(std::string_view name) {
  return rowOf<Swizzle>(kSwizzlePatterns, [&](const SwizzlePattern &p) {
    return p.name == name;
  });
}

unsigned fp8::sim::elementBytes(ElementType type) {
  return infoOf(type).globalBytes;
}

namespace {
using Broken = std::optional<std::string>;

std::string number(uint64_t value) { return std::to_string(value); }

/// Of the address and the strides, in bytes.
uint64_t alignmentOf(const TensorMap &map) {
  bool wide =
      map.interleave == Interleave::B32 || infoOf(map.elementType).isPadded();
  return wide ? 32 : 16;
}

/// Whether the box of dimension `i` is pixels of a column.
bool isColumn(const TensorMap &map, unsigned i) {
  return map.mode == TensorMapMode::Im2col && i == 1;
}

Broken checkShape(const TensorMap &map) {
  if (map.rank < 1 || map.rank > 5)
    return "tensor map has rank " + number(map.rank) + "; the rule is 1 to 5";
  if (map.interleave != Interleave::None && map.rank < 3)
    return "tensor map is interleaved with rank " + number(map.rank) +
           "; the rule is rank 3 to 5";
  uint64_t align = alignmentOf(map);
  if (map.globalAddress % align)
    return "tensor map's global address is not a multiple of " + number(align) +
           " bytes";
  for (unsigned i = 0; i < map.rank; ++i) {
    std::string which = "dimension " + number(i);
    if (map.dims[i] < 1 || map.dims[i] > uint64_t(1) << 32)
      return "tensor map's " + which + " has extent " + number(map.dims[i]) +
             "; the rule is 1 to 2^32";
    uint32_t most = isColumn(map, i) ? kMaxPixels : 256;
    if (map.box[i] < 1 || map.box[i] > most)
      return "tensor map's box is " + number(map.box[i]) + " in " + which +
             "; the rule is 1 to " + number(most);
    if (map.elementStrides[i] < 1 || map.elementStrides[i] > 8)
      return "tensor map's element stride is " + number(map.elementStrides[i]) +
             " in " + which + "; the rule is 1 to 8";
    if (i + 1 == map.rank)
      break;
    if (map.strides[i] % align)
      return "tensor map's stride of dimension " + number(i + 1) + " is " +
             number(map.strides[i]) + " bytes; the rule is a multiple of " +
             number(align);
    if (map.strides[i] >= uint64_t(1) << 40)
      return "tensor map's stride of dimension " + number(i + 1) +
             " is not below 2^40 bytes";
  }
  return std::nullopt;
}

/// Bytes of `elements` elements in global memory, and in shared memory.
uint64_t globalBytes(const ElementInfo &info, uint64_t elements) {
  return elements * info.globalBytes / info.elements;
}
uint64_t sharedBytes(const ElementInfo &info, uint64_t elements) {
  return elements * info.sharedBytes / info.elements;
}

/// The rules of sub-byte types (cuTensorMapEncodeTiled; PTX ISA 5.5.1.1).
Broken checkPacked(const TensorMap &map) {
  const ElementInfo &info = infoOf(map.elementType);
  if (!info.isPacked())
    return std::nullopt;
  std::string type = " of type " + std::string(info.name);
  uint32_t unit = info.isPadded() ? kPaddedRow : 2;
  if (map.dims[0] % unit)
    return "tensor map" + type + " has extent " + number(map.dims[0]) +
           " in dimension 0; the rule is a multiple of " + number(unit);
  if (map.elementStrides[0] != 1)
    return "tensor map" + type +
           " has an element stride in dimension 0; the rule is 1";
  if (!info.isPadded())
    return std::nullopt;
  if (map.box[0] != kPaddedRow)
    return "tensor map" + type + " has a box of " + number(map.box[0]) +
           " in dimension 0; the rule is " + number(kPaddedRow);
  if (map.interleave != Interleave::None)
    return "tensor map" + type + " must not be interleaved";
  bool taken = map.swizzle == Swizzle::None || map.swizzle == Swizzle::B128 ||
               map.swizzle == Swizzle::B128Atom32 ||
               (map.swizzle == Swizzle::B128Atom64 &&
                map.elementType == ElementType::U6Align16);
  if (!taken)
    return "tensor map" + type + " does not take swizzle " +
           std::string(patternOf(map.swizzle).name);
  return std::nullopt;
}

Broken checkBox(const TensorMap &map) {
  const ElementInfo &info = infoOf(map.elementType);
  if (map.interleave == Interleave::B32 && map.swizzle != Swizzle::B32)
    return "tensor map with 32-byte interleave needs the 32-byte swizzle";
  if (map.interleave != Interleave::None)
    return std::nullopt;
  uint64_t inner = globalBytes(info, map.box[0]);
  if (inner % 16 || map.box[0] % info.elements)
    return "tensor map's box is " + number(inner) +
           " bytes in dimension 0; the rule is a multiple of 16";
  unsigned span = spanBytes(map.swizzle);
  if (span && sharedBytes(info, map.box[0]) > span)
    return "tensor map's box is " + number(inner) +
           " bytes in dimension 0; the rule is at most the swizzle's " +
           number(span);
  return std::nullopt;
}
/// The rules of cuTensorMapEncodeIm2col.
Broken checkCorners(const TensorMap &map) {
  if (map.mode != TensorMapMode::Im2col)
    return std::nullopt;
  if (map.rank < 3)
    return "im2col tensor map has rank " + number(map.rank) +
           "; the rule is 3 to 5";
  static constexpr int limits[] = {32768, 128, 16};
  int limit = limits[map.spatialDims() - 1];
  for (unsigned i = 0; i < map.spatialDims(); ++i)
    for (int corner : {map.lowerCorner[i], map.upperCorner[i]})
      if (corner < -limit || corner >= limit)
        return "im2col tensor map has corner " + std::to_string(corner) +
               " in dimension " + number(i + 1) + "; the rule with rank " +
               number(map.rank) + " is -" + number(uint64_t(limit)) + " to " +
               number(uint64_t(limit - 1));
  return std::nullopt;
}
} // namespace

std::optional<std::string> TensorMap::validate() const {
  for (auto check : {checkShape, checkPacked, checkBox, checkCorners})
    if (Broken broken = check(*this))
      return broken;
  if (oobFill == OobFill::NaN && !infoOf(elementType).isFloat)
    return "tensor map fills with NaN, which needs a floating-point element "
           "type";
  return std::nullopt;
}

/// The elements of a box that are copied.
static uint64_t boxElements(const TensorMap &map) {
  // The traversal strides of a column do not change how many pixels it has.
  if (map.mode == TensorMapMode::Im2col)
    return uint64_t(map.box[0]) * map.box[1];
  uint64_t elements = map.box[0];
  for (unsigned i = 1; i < map.rank && i < 5; ++i)
    elements *=
        (map.box[i] + map.elementStrides[i] - 1) / map.elementStrides[i];
  return elements;
}

uint64_t TensorMap::boxBytes() const {
  return sharedBytes(infoOf(elementType), boxElements(*this));
}

uint64_t TensorMap::copiedBytes() const {
  return globalBytes(infoOf(elementType), boxElements(*this));
}

std::vector<uint8_t> TensorMap::encode() const {
  TensorMapLayout to{};
  to.signature = kTensorMapSignature;
  to.globalAddress = globalAddress;
  std::copy(strides.begin(), strides.end(), to.globalStride);
  unsigned whole = 0;
  for (unsigned i = 0; i < 5; ++i) {
    to.globalDim[i] = uint32_t(dims[i]);
    whole |= unsigned(dims[i] >> 32 != 0) << i;
  }
  to.wholeDims = whole & 31;
  to.mode = unsigned(mode) & 7;
  std::copy(lowerCorner.begin(), lowerCorner.end(), to.lowerCorner);
  std::copy(upperCorner.begin(), upperCorner.end(), to.upperCorner);
  std::copy(box.begin(), box.end(), to.boxDim);
  std::copy(elementStrides.begin(), elementStrides.end(), to.elementStride);
  to.rankMinusOne = uint8_t(rank - 1);
  to.elementType = infoOf(elementType).ptxValue;
  to.interleave = uint8_t(interleave);
  to.swizzleMode = patternOf(swizzle).ptxMode;
  to.swizzleAtomicity = patternOf(swizzle).ptxAtomicity;
  to.fillMode = uint8_t(oobFill);
  to.l2Promotion = uint8_t(l2Promotion);
  std::vector<uint8_t> bytes(kTensorMapBytes);
  std::memcpy(bytes.data(), &to, sizeof(to));
  return bytes;
}

std::optional<std::string> TensorMap::decode(const uint8_t *bytes,
                                             TensorMap &map) {
  TensorMapLayout from;
  std::memcpy(&from, bytes, sizeof(from));
  if (from.signature != kTensorMapSignature) {
    bool zero = std::all_of(bytes, bytes + kTensorMapBytes,
                            [](uint8_t byte) { return byte == 0; });
    return zero ? "holds 128 zero bytes, and no tensor map that "
                  "tensormap.replace has filled"
                : "holds no tensor map of the simulator; bytes that a GPU's "
                  "driver encoded have a secret layout, so let the launch "
                  "describe the map";
  }
  auto type = rowOf<ElementType>(kElements, [&](const ElementInfo &e) {
    return e.ptxValue == from.elementType;
  });
  auto swizzle = rowOf<Swizzle>(kSwizzlePatterns, [&](const SwizzlePattern &p) {
    return p.ptxMode == from.swizzleMode &&
           p.ptxAtomicity == from.swizzleAtomicity;
  });
  if (!type || from.interleave > 2 || from.fillMode > 1 || from.mode > 1)
    return "holds a tensor map with an unknown element type, interleave, "
           "fill mode or mode";
  if (!swizzle)
    return "holds a tensor map with swizzle mode " + number(from.swizzleMode) +
           " and atomicity " + number(from.swizzleAtomicity) +
           ", which are not supported together";
  map.mode = TensorMapMode(from.mode);
  std::copy_n(from.lowerCorner, 3, map.lowerCorner.begin());
  std::copy_n(from.upperCorner, 3, map.upperCorner.begin());
  map.elementType = *type;
  map.swizzle = *swizzle;
  map.rank = from.rankMinusOne + 1u;
  map.globalAddress = from.globalAddress;
  for (unsigned i = 0; i < 5; ++i)
    map.dims[i] = from.globalDim[i] + (uint64_t(from.wholeDims >> i & 1) << 32);
  std::copy_n(from.globalStride, 4, map.strides.begin());
  std::copy_n(from.boxDim, 5, map.box.begin());
  std::copy_n(from.elementStride, 5, map.elementStrides.begin());
  map.interleave = Interleave(from.interleave);
  map.oobFill = OobFill(from.fillMode);
  map.l2Promotion = L2Promotion(from.l2Promotion);
  return std::nullopt;
}
