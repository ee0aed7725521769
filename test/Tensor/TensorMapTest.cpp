// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of tensor maps.
#include "fp8/Tensor/TensorMap.h"

#include <functional>
#include <gtest/gtest.h>

using namespace fp8::tensor;

namespace {
TensorMap makeMap() {
  TensorMap map;
  map.address = 0x1000;
  map.dtype = ElementType::F8E4M3FN;
  map.dims = {7168, 4096};
  map.stridesBytes = {7168};
  map.box = {128, 64};
  map.elementStrides = {1, 1};
  map.swizzle = Swizzle::B128;
  return map;
}

/// What is wrong with the map after a change.
std::string broken(const std::function<void(TensorMap &)> &change) {
  TensorMap map = makeMap();
  change(map);
  return checkTensorMap(map).value_or("nothing");
}
} // namespace

TEST(TensorMap, TakesMapsThatKeepTheRules) {
  EXPECT_EQ(checkTensorMap(makeMap()), std::nullopt);
  auto limits = [](TensorMap &map) {
    map.dims = {uint64_t(kMaxExtent), 1};
    map.stridesBytes = {uint64_t(kStrideLimitBytes - kGranuleBytes)};
    map.box = {128, uint32_t(kMaxBoxExtent)};
    map.elementStrides = {1, uint32_t(kMaxElementStride)};
  };
  EXPECT_EQ(broken(limits), "nothing");
}

TEST(TensorMap, NamesTheBrokenRule) {
  EXPECT_EQ(broken([](TensorMap &map) { map.address = 0x1008; }),
            "the address is not aligned to 16 bytes");
  EXPECT_EQ(broken([](TensorMap &map) { map.dims[1] = 0; }),
            "dims[1]: 0; TMA takes 1 to 2^32");
  EXPECT_EQ(broken([](TensorMap &map) { map.dims[1] = kMaxExtent + 1; }),
            "dims[1]: 4294967297; TMA takes 1 to 2^32");
  EXPECT_EQ(broken([](TensorMap &map) { map.box[1] = 257; }),
            "box[1]: 257; TMA takes 1 to 256");
  EXPECT_EQ(broken([](TensorMap &map) { map.elementStrides[0] = 9; }),
            "element_strides[0]: 9; TMA takes 1 to 8");
  EXPECT_EQ(broken([](TensorMap &map) { map.stridesBytes[0] = 7160; }),
            "strides_bytes[0]: 7160 bytes; TMA takes positive multiples of 16 "
            "(pad the rows)");
  EXPECT_EQ(broken([](TensorMap &map) { map.stridesBytes[0] = 0; }),
            "strides_bytes[0]: 0 bytes; TMA takes positive multiples of 16 "
            "(pad the rows)");
  EXPECT_EQ(
      broken([](TensorMap &map) { map.stridesBytes[0] = kStrideLimitBytes; }),
      "strides_bytes[0]: 1099511627776 bytes; TMA takes strides below 2^40");
  EXPECT_EQ(broken([](TensorMap &map) { map.stridesBytes[0] = 7152; }),
            "strides_bytes[0]: 7152 bytes are less than the 7168 bytes of the "
            "inner dimensions; rows would overlap");
  EXPECT_EQ(broken([](TensorMap &map) { map.box[0] = 120; }),
            "box[0]: 120 bytes a row; TMA takes multiples of 16");
  EXPECT_EQ(broken([](TensorMap &map) { map.box[0] = 256; }),
            "box[0]: 256 bytes a row do not fit the span of swizzle 128B");
}

TEST(TensorMap, NamesWrongRanks) {
  EXPECT_EQ(broken([](TensorMap &map) { map.dims.clear(); }),
            "dims: a tensor map has rank 1 to 5, not 0");
  EXPECT_EQ(broken([](TensorMap &map) { map.stridesBytes.clear(); }),
            "a map of rank 2 has 1 strides and 2 extents of its box and "
            "element strides");
  EXPECT_EQ(broken([](TensorMap &map) { map.interleave = Interleave::B16; }),
            "interleave: an interleaved map has rank 3 to 5, not 2");
}

TEST(TensorMap, HoldsInterleavedMapsToTheirOwnRules) {
  auto interleave = [](TensorMap &map) {
    map.dims = {128, 64, 2};
    map.stridesBytes = {128, 128 * 64};
    map.box = {128, 64, 1};
    map.elementStrides = {1, 1, 1};
    map.interleave = Interleave::B32;
  };
  EXPECT_EQ(broken(interleave), "swizzle: interleave 32B needs swizzle 32B");
  EXPECT_EQ(broken([&](TensorMap &map) {
              interleave(map);
              map.swizzle = Swizzle::B32;
            }),
            "nothing");
  EXPECT_EQ(broken([&](TensorMap &map) {
              interleave(map);
              map.swizzle = Swizzle::B32;
              map.address = 0x1010;
            }),
            "the address is not aligned to 32 bytes");
}

TEST(TensorMap, FillsWithNaNOnlyTypesThatHaveOne) {
  for (ElementType type :
       {ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::I8})
    EXPECT_EQ(broken([&](TensorMap &map) {
                map.oobFill = OobFill::NaN;
                map.dtype = type;
              }),
              "oob_fill: nan needs a floating-point type of 16 bits or more, "
              "not " +
                  std::string(spelling(type)));
  EXPECT_EQ(broken([](TensorMap &map) {
              map.oobFill = OobFill::NaN;
              map.dtype = ElementType::BF16;
              map.dims = {64, 64};
              map.box = {64, 64};
            }),
            "nothing");
}
