// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rule of tensor maps, broken once.

#include "fp8/Simulator/TensorMap.h"

#include <gmock/gmock.h>

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
