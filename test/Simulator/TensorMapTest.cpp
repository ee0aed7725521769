// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rule of tensor maps, broken once.

#include "fp8/Simulator/TensorMap.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <functional>

using namespace fp8::sim;
using testing::HasSubstr;

static TensorMap valid() {
  TensorMap map;
  map.elementType = ElementType::U8;
  map.rank = 2;
  map.globalAddress = 4096;
  map.dims = {256, 64};
  map.strides = {256};
  map.box = {128, 64};
  map.swizzle = Swizzle::B128;
  return map;
}

static std::string broken(const std::function<void(TensorMap &)> &change) {
  TensorMap map = valid();
  change(map);
  return map.validate().value_or("");
}

TEST(TensorMap, AcceptsWhatTheDriverAccepts) {
  EXPECT_EQ(valid().validate(), std::nullopt);
  EXPECT_EQ(valid().boxBytes(), 8192u);
  EXPECT_EQ(broken([](TensorMap &m) { m.dims[0] = uint64_t(1) << 32; }), "");
}

TEST(TensorMap, NamesTheBrokenRule) {
  EXPECT_THAT(broken([](TensorMap &m) { m.rank = 0; }),
              HasSubstr("rank 0; the rule is 1 to 5"));
  EXPECT_THAT(broken([](TensorMap &m) { m.rank = 6; }), HasSubstr("rank 6"));
  EXPECT_THAT(broken([](TensorMap &m) { m.globalAddress = 8; }),
              HasSubstr("not a multiple of 16"));
  EXPECT_THAT(broken([](TensorMap &m) { m.dims[1] = 0; }),
              HasSubstr("dimension 1 has extent 0"));
  EXPECT_THAT(broken([](TensorMap &m) { m.dims[0] = (uint64_t(1) << 32) + 1; }),
              HasSubstr("1 to 2^32"));
  EXPECT_THAT(broken([](TensorMap &m) { m.strides[0] = 250; }),
              HasSubstr("250 bytes; the rule is a multiple of 16"));
  EXPECT_THAT(broken([](TensorMap &m) { m.strides[0] = uint64_t(1) << 40; }),
              HasSubstr("not below 2^40"));
  EXPECT_THAT(broken([](TensorMap &m) { m.box[1] = 257; }),
              HasSubstr("box is 257"));
  EXPECT_THAT(broken([](TensorMap &m) { m.box[0] = 0; }),
              HasSubstr("box is 0"));
  EXPECT_THAT(broken([](TensorMap &m) { m.box[0] = 24; }),
              HasSubstr("24 bytes in dimension 0"));
  EXPECT_THAT(broken([](TensorMap &m) { m.box[0] = 144; }),
              HasSubstr("at most the swizzle's 128"));
  EXPECT_THAT(broken([](TensorMap &m) { m.elementStrides[0] = 9; }),
              HasSubstr("element stride is 9"));
  EXPECT_THAT(broken([](TensorMap &m) { m.interleave = Interleave::B16; }),
              HasSubstr("rank 3 to 5"));
  EXPECT_THAT(broken([](TensorMap &m) { m.oobFill = OobFill::NaN; }),
              HasSubstr("floating-point element type"));
}

TEST(TensorMap, HoldsPackedTypesToTheirOwnRules) {
  auto packed = [](ElementType type,
                   const std::function<void(TensorMap &)> &change) {
    return broken([&](TensorMap &m) {
      m.elementType = type;
      m.dims = {256, 64};
      m.strides = {256};
      change(m);
    });
  };
  auto nothing = [](TensorMap &) {};
  for (ElementType type :
       {ElementType::U4Align8, ElementType::U4Align16, ElementType::U6Align16})
    EXPECT_EQ(packed(type, nothing), "");
  EXPECT_THAT(packed(ElementType::U4Align8, [](auto &m) { m.dims[0] = 255; }),
              HasSubstr("multiple of 2"));
  EXPECT_THAT(packed(ElementType::U4Align8, [](auto &m) { m.box[0] = 48; }),
              HasSubstr("multiple of 16"));
  const ElementType padded = ElementType::U4Align16;
  EXPECT_THAT(packed(padded, [](auto &m) { m.dims[0] = 192; }),
              HasSubstr("multiple of 128"));
  EXPECT_THAT(packed(padded, [](auto &m) { m.box[0] = 64; }),
              HasSubstr("the rule is 128"));
  EXPECT_THAT(packed(padded, [](auto &m) { m.globalAddress = 16; }),
              HasSubstr("multiple of 32"));
  EXPECT_THAT(packed(padded, [](auto &m) { m.strides[0] = 240; }),
              HasSubstr("multiple of 32"));
  EXPECT_THAT(packed(padded, [](auto &m) { m.swizzle = Swizzle::B64; }),
              HasSubstr("does not take swizzle 64B"));
  EXPECT_THAT(packed(padded, [](auto &m) { m.swizzle = Swizzle::B128Atom64; }),
              HasSubstr("does not take swizzle 128B_ATOM_64B"));
  EXPECT_EQ(packed(ElementType::U6Align16,
                   [](auto &m) { m.swizzle = Swizzle::B128Atom64; }),
            "");
  EXPECT_THAT(packed(padded, [](auto &m) { m.elementStrides[0] = 2; }),
              HasSubstr("element stride"));
  EXPECT_THAT(packed(padded, [](auto &m) { m.oobFill = OobFill::NaN; }),
              HasSubstr("floating-point"));
}

TEST(TensorMap, CountsTheBytesOfPaddedBoxesTwice) {
  TensorMap map = valid();
  map.elementType = ElementType::U4Align16;
  EXPECT_EQ(map.boxBytes(), 8192u);
  EXPECT_EQ(map.copiedBytes(), 4096u);
  map.elementType = ElementType::U6Align16;
  EXPECT_EQ(map.copiedBytes(), 6144u);
  map.elementType = ElementType::U4Align8;
  EXPECT_EQ(map.boxBytes(), 4096u);
}

TEST(TensorMap, IsItsBytes) {
  for (unsigned type = 0; type < kElementTypeCount; ++type)
    for (unsigned swizzle = 0; swizzle < kSwizzlePatterns.size(); ++swizzle) {
      TensorMap map;
      map.elementType = ElementType(type);
      map.rank = 1 + (type + swizzle) % 5;
      map.globalAddress = 0x123456789a0;
      map.dims = {uint64_t(1) << 32, 7, type + 1, 3, uint64_t(1) << 32};
      map.strides = {16, (uint64_t(1) << 40) - 16, 48, 64};
      map.box = {256, 1, 2, 3, 300};
      map.elementStrides = {1, 2, 3, 8, 5};
      map.swizzle = Swizzle(swizzle);
      map.interleave = Interleave(type % 3);
      map.oobFill = OobFill(type % 2);
      map.l2Promotion = L2Promotion(swizzle % 4);
      std::vector<uint8_t> bytes = map.encode();
      ASSERT_EQ(bytes.size(), kTensorMapBytes);
      TensorMap back;
      EXPECT_EQ(TensorMap::decode(bytes.data(), back), std::nullopt);
      EXPECT_EQ(back.encode(), bytes);
      EXPECT_EQ(back.elementType, map.elementType);
      EXPECT_EQ(back.swizzle, map.swizzle);
      EXPECT_EQ(back.rank, map.rank);
      EXPECT_EQ(back.dims, map.dims);
      EXPECT_EQ(back.strides, map.strides);
      EXPECT_EQ(back.box, map.box);
      EXPECT_EQ(back.elementStrides, map.elementStrides);
      EXPECT_EQ(back.interleave, map.interleave);
      EXPECT_EQ(back.oobFill, map.oobFill);
      EXPECT_EQ(back.l2Promotion, map.l2Promotion);
    }
}

TEST(TensorMap, RefusesBytesThatAreNoMap) {
  auto problem = [](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = valid().encode();
    bytes[at] = value;
    TensorMap map;
    return TensorMap::decode(bytes.data(), map).value_or("");
  };
  EXPECT_THAT(problem(offsetof(TensorMapLayout, signature) + 7, 2),
              HasSubstr("a GPU's driver"));
  EXPECT_THAT(problem(offsetof(TensorMapLayout, elementType), 16),
              HasSubstr("unknown element type"));
  EXPECT_THAT(problem(offsetof(TensorMapLayout, swizzleMode), 4),
              HasSubstr("swizzle mode 4"));
  std::vector<uint8_t> zeros(kTensorMapBytes);
  TensorMap map;
  EXPECT_THAT(TensorMap::decode(zeros.data(), map).value_or(""),
              HasSubstr("128 zero bytes"));
}
