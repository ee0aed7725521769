// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The metadata of sparse MMAs, and the rows of B that it selects.

#include "ISA/TensorCore/Sparsity.h"

#include <algorithm>

using namespace fp8::sim;

MetadataPlace fp8::sim::findInWarp(uint32_t row, uint32_t chunk,
                                   uint32_t chunks, bool bytes,
                                   uint32_t selector) {
  uint32_t quad = row % 8 * 4, below = row / 8;
  // A word has one row of 8 chunks, or two rows of 4.
  uint32_t perWord = bytes ? 8 : 4, words = chunks / perWord;
  uint32_t lane = quad + chunk / perWord * (bytes ? 2 : 1);
  if (bytes) // the row 8 below has the next thread
    return {lane + below + (words == 1 ? selector * 2 : 0), 0, chunk % 8 * 4};
  return {lane + selector * words, 0, below * 16 + chunk % 4 * 4};
}

MetadataPlace fp8::sim::findInTensorMemory(uint32_t row, uint32_t chunk,
                                           bool bytes, uint32_t selector) {
  if (bytes)
    return {row, chunk / 8, chunk % 8 * 4};
  return {row / 16 * 16 + chunk / 4 * 8 + row % 8, selector,
          row / 8 % 2 * 16 + chunk % 4 * 4};
}

void fp8::sim::keepChunk(Kept &kept, uint32_t chunk, uint32_t bits,
                         Grain grain) {
  const uint32_t first = bits & 3, second = bits >> 2 & 3;
  switch (grain) {
  case Grain::OneOfTwo:
    // An element of 32 bits counts as two of 16: 0100 is the first, 1110 the
    // second.
    kept[chunk] = uint8_t(chunk * 2 + (bits >> 1 & 1));
    return;
  case Grain::TwoOfFour:
    kept[chunk * 2] = uint8_t(chunk * 4 + first);
    kept[chunk * 2 + 1] = uint8_t(chunk * 4 + second);
    return;
  case Grain::TwoPairsOfFour:
    for (uint32_t n = 0; n < 4; ++n)
      kept[chunk * 4 + n] =
          uint8_t(chunk * 8 + (n < 2 ? first : second) * 2 + n % 2);
    return;
  }
}

Factors KeptRows::select(Factors b, const Kept &kept, uint32_t count,
                         uint32_t n, uint32_t pitch) {
  for (uint32_t k = 0; k < count; ++k) {
    size_t from = size_t(kept[k]) * pitch, to = size_t(k) * pitch;
    std::copy_n(b.values + from, n, values.data() + to);
    std::copy_n(b.exponents + from, n, exponents.data() + to);
  }
  return {values.data(), exponents.data()};
}
