// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strided arrays in the host's memory: their bytes, and copies of elements.
#include "fp8/Launch/HostArray.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>

using namespace fp8::launch;

namespace {
ArgumentValue array(std::vector<int64_t> shape, std::vector<int64_t> strides) {
  ArgumentValue value;
  value.dtype = ElementType::BF16;
  value.shape = std::move(shape);
  value.strides = std::move(strides);
  value.address = 0x1000;
  return value;
}

std::string bytes(const ArgumentValue &value) {
  auto bytes = arrayBytes("a", value);
  return bytes ? std::to_string(*bytes) : bytes.error();
}
} // namespace

TEST(HostArray, BytesFromTheFirstElementToTheLast) {
  EXPECT_EQ(bytes(array({}, {})), "2");
  EXPECT_EQ(bytes(array({3, 4}, {4, 1})), "24");
  EXPECT_EQ(bytes(array({3, 4}, {10, 1})), "48");
  EXPECT_EQ(bytes(array({3, 4}, {0, 1})), "8");
  EXPECT_EQ(bytes(array({3, 4}, {1, 3})), "24");
  EXPECT_EQ(bytes(array({3, 0}, {-1, 1})), "0");
}

TEST(HostArray, WhatHasNoBytes) {
  EXPECT_EQ(bytes(array({3, 4}, {4, -1})),
            "argument 'a' has a stride of -1 in dimension 1; copy it so that "
            "no stride is negative");
  constexpr int64_t highest = std::numeric_limits<int64_t>::max();
  const char *tooMany = "argument 'a' spans more bytes than 64 bits can count";
  EXPECT_EQ(bytes(array({highest, 4}, {4, 1})), tooMany);
  EXPECT_EQ(bytes(array({highest, 2}, {1, highest})), tooMany);
  ArgumentValue nowhere = array({3, 4}, {4, 1});
  nowhere.address = 0;
  EXPECT_EQ(bytes(nowhere),
            "argument 'a' has elements but no memory: its address is null");
  nowhere.shape[0] = 0;
  EXPECT_EQ(bytes(nowhere), "0");
}

TEST(HostArray, CopiesElementsAlone) {
  std::vector<uint16_t> from(12), to(12, 99);
  std::iota(from.begin(), from.end(), 0);
  copyElements(array({3, 2}, {5, 1}), to.data(), from.data());
  EXPECT_EQ(
      to, (std::vector<uint16_t>{0, 1, 99, 99, 99, 5, 6, 99, 99, 99, 10, 11}));
  to.assign(12, 99);
  copyElements(array({2, 3}, {1, 4}), to.data(), from.data());
  EXPECT_EQ(to,
            (std::vector<uint16_t>{0, 1, 99, 99, 4, 5, 99, 99, 8, 9, 99, 99}));
  to.assign(12, 99);
  copyElements(array({0, 2}, {5, 1}), to.data(), from.data());
  copyElements(array({2, 0}, {5, 1}), to.data(), from.data());
  EXPECT_EQ(to, std::vector<uint16_t>(12, 99));
}
