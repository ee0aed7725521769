// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as the driver is told to make them.
#include "fp8/Runtime/TensorMap.h"

#include "FakeDriver.h"

using namespace fp8;
using namespace fp8::runtime;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
class TensorMapTest : public FakeDriver {
protected:
  TensorMapTest() {
    map.address = 0x1000;
    map.dtype = tensor::ElementType::F8E4M3FN;
    map.dims = {7168, 4096};
    map.stridesBytes = {7168};
    map.box = {128, 64};
    map.elementStrides = {1, 1};
    map.swizzle = tensor::Swizzle::B128;
    map.l2Promotion = tensor::L2Promotion::B256;
  }
  std::string error() {
    cu::TensorMap encoded = {};
    auto failed = encodeTensorMap(**Driver::load(), {9, 0}, map, "a", encoded);
    return failed ? failed->message : "none";
  }
  /// The second word of the map for a GPU of this compute capability, as it is
  /// encoded and after it is moved. The fake driver sets all of its bits.
  std::pair<uint64_t, uint64_t> secondWord(Capability capability) {
    auto driver = *Driver::load();
    cu::TensorMap encoded = {};
    EXPECT_FALSE(encodeTensorMap(*driver, capability, map, "a", encoded));
    uint64_t first = encoded.opaque[1];
    EXPECT_FALSE(moveTensorMap(*driver, capability, 0x2000, "a", encoded));
    EXPECT_EQ(encoded.opaque[0], 0x2000u);
    return {first, encoded.opaque[1]};
  }
  tensor::TensorMap map;
};
} // namespace

TEST_F(TensorMapTest, OfAMatrix) {
  EXPECT_EQ(error(), "none");
  EXPECT_EQ(log(), "cuTensorMapEncodeTiled type=0 rank=2 address=0x1000 "
                   "dims=[7168,4096] strides=[7168] box=[128,64] steps=[1,1] "
                   "interleave=0 swizzle=3 promotion=3 fill=0\n");
}

TEST_F(TensorMapTest, OfABatch) {
  map.dtype = tensor::ElementType::BF16;
  map.dims = {520, 300, 5};
  map.stridesBytes = {1040, 1040 * 300};
  map.box = {32, 64, 1};
  map.elementStrides = {1, 1, 1};
  map.swizzle = tensor::Swizzle::B64;
  map.l2Promotion = tensor::L2Promotion::B128;
  map.oobFill = tensor::OobFill::NaN;
  EXPECT_EQ(error(), "none");
  EXPECT_EQ(log(), "cuTensorMapEncodeTiled type=9 rank=3 address=0x1000 "
                   "dims=[520,300,5] strides=[1040,312000] box=[32,64,1] "
                   "steps=[1,1,1] interleave=0 swizzle=2 promotion=2 fill=1\n");
}

TEST_F(TensorMapTest, OfARow) {
  map.dtype = tensor::ElementType::F32;
  map.dims = {100};
  map.stridesBytes = {};
  map.box = {4};
  map.elementStrides = {1};
  map.swizzle = tensor::Swizzle::None;
  map.l2Promotion = tensor::L2Promotion::None;
  EXPECT_EQ(error(), "none");
  EXPECT_THAT(log(), HasSubstr("type=7 rank=1 address=0x1000 dims=[100] "
                               "strides=[] box=[4] steps=[1]"));
}

TEST_F(TensorMapTest, OfEveryType) {
  using tensor::ElementType;
  const std::pair<ElementType, int> types[] = {
      {ElementType::F8E4M3FN, 0}, {ElementType::F8E5M2, 0},
      {ElementType::I8, 0},       {ElementType::I16, 1},
      {ElementType::I32, 3},      {ElementType::I64, 5},
      {ElementType::F16, 6},      {ElementType::F32, 7},
      {ElementType::F64, 8},      {ElementType::BF16, 9}};
  map.dims = {128, 64};
  map.stridesBytes = {1024};
  map.box = {16, 1};
  for (auto [type, number] : types) {
    map.dtype = type;
    EXPECT_EQ(error(), "none");
    EXPECT_EQ(count("cuTensorMapEncodeTiled type=" + std::to_string(number)),
              number ? 1u
                     : unsigned(type == ElementType::I8       ? 3
                                : type == ElementType::F8E5M2 ? 2
                                                              : 1));
  }
}

TEST_F(TensorMapTest, BrokenRulesNameTheOperand) {
  map.stridesBytes[0] = 7160;
  EXPECT_EQ(error(), "cannot create the tensor map of 'a': strides_bytes[0]: "
                     "7160 bytes; TMA takes positive multiples of 16 (pad the "
                     "rows)");
}

TEST_F(TensorMapTest, SmallTensorsWithGapsLackBit85OnBlackwell) {
  constexpr uint64_t set = ~uint64_t(0), clear = ~(uint64_t(1) << 21);
  auto expect = [&](Capability capability, uint64_t word) {
    EXPECT_EQ(secondWord(capability), std::make_pair(word, word))
        << capability.str() << ", " << map.dims[0] << " x " << map.dims[1];
  };
  auto matrix = [&](uint64_t columns, uint64_t rows, uint64_t stride) {
    map.dims = {columns, rows};
    map.stridesBytes = {stride};
  };
  // 511 * 256 + 240 bytes.
  matrix(240, 512, 256);
  for (Capability blackwell : {Capability{10, 0}, {10, 3}, {12, 0}, {12, 1}})
    expect(blackwell, clear);
  for (Capability other : {Capability{9, 0}, {11, 0}, {13, 0}})
    expect(other, set);
  matrix(256, 512, 256); // dense, and 128 KiB
  expect({10, 0}, set);
  matrix(128, 64, 128); // dense
  expect({10, 0}, set);
  matrix(240, 513, 256); // beyond 128 KiB
  expect({10, 0}, set);
  // The last byte: 8191 * 16 + 16 bytes are 128 KiB, one less are not.
  matrix(16, 4096, 32);
  expect({10, 0}, clear);
  matrix(15, 8192, 16);
  expect({10, 0}, clear);
  matrix(16, 8192, 16);
  expect({10, 0}, set);
  matrix(32, 2731, 48); // with gaps, and 2730 * 48 + 32 bytes: 128 KiB
  expect({10, 0}, set);
  // Elements of several bytes, and the gap between the matrices of a batch.
  map.dtype = tensor::ElementType::F32;
  map.dims = {4, 16, 3};
  map.stridesBytes = {16, 512};
  map.box = {4, 4, 1};
  map.elementStrides = {1, 1, 1};
  map.swizzle = tensor::Swizzle::None;
  expect({10, 0}, clear);
  map.stridesBytes = {16, 256};
  expect({10, 0}, set);
}

TEST_F(TensorMapTest, WhatTheDriverRefusesIsDescribed) {
  fail("cuTensorMapEncodeTiled=1");
  EXPECT_THAT(error(),
              StartsWith("cannot create the tensor map of 'a' (f8E4M3FN, dims "
                         "[7168, 4096], strides [7168] bytes, box [128, 64], "
                         "swizzle 128B): cuTensorMapEncodeTiled fails with "
                         "CUDA_ERROR_INVALID_VALUE (1"));
}
