// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What undefined rows of the operands of wgmma.mma_async leave undefined of D,
// in registers.

#include "ISA/TensorCore/WgmmaOperation.h"

#include "Machine/Cta.h"

using namespace fp8::sim;

/// Calls f(origin, lanes) for the lanes of one origin after another. Origin n
/// of `count`, which are `stride` apart, is that of `lanes << n * step`.
template <typename F>
static void eachOrigin(const OriginId *origins, uint32_t stride, uint32_t count,
                       uint32_t lanes, uint32_t step, F f) {
  OriginId origin = 0;
  uint32_t found = 0;
  for (uint32_t n = 0; n <= count; ++n) {
    const OriginId next = n < count ? origins[n * stride] : 0;
    if (next != origin && found) {
      f(origin, found);
      found = 0;
    }
    origin = next;
    if (next)
      found |= lanes << n * step;
  }
}

void WgmmaOperation::leaveRows(const Warp &warp, const RowOrigins &origins,
                               std::vector<Undefined> &found) const {
  const uint32_t perHalf = isPaired() ? 1 : 2; // registers
  // A warp has sixteen rows, four lanes each of the upper eight, and the same
  // lanes the lower eight.
  for (uint32_t half = 0; half < 2; ++half)
    eachOrigin(
        &origins[warp.id % kWarpgroup * 16 + half * 8], 1, 8, 0xf, 4,
        [&](OriginId origin, uint32_t lanes) {
          for (uint32_t n = 0; n < resultRows(shape.result, shape.n); ++n)
            if (n / perHalf % 2 == half)
              found.push_back({rows[n], lanes, UndefinedBits::all(origin)});
        });
}

void WgmmaOperation::leaveColumns(const RowOrigins &origins,
                                  std::vector<Undefined> &found) const {
  // Of eight columns each lane has two neighbours, in both halves of the rows.
  for (uint32_t column = 0; column < shape.n; column += 8)
    for (uint32_t odd = 0; odd < 2; ++odd)
      eachOrigin(&origins[column + odd], 2, 4, 0x11111111, 1,
                 [&](OriginId origin, uint32_t lanes) {
                   for (uint32_t half = 0; half < 2; ++half) {
                     const uint32_t n = column / 4 + half;
                     if (isPaired())
                       found.push_back(
                           {rows[n], lanes,
                            UndefinedBits::some(uint64_t(0xffff) << odd * 16,
                                                origin)});
                     else
                       found.push_back({rows[n * 2 + odd], lanes,
                                        UndefinedBits::all(origin)});
                   }
                 });
}

void WgmmaOperation::leaveUndefined(Warp &warp, const Inst &inst, bool isA,
                                    RowOrigins &origins,
                                    std::vector<Undefined> &found) const {
  if (origins.empty())
    origins = findUndefinedRows(warp.cta.shared, inst, isA ? *a : *b, shape,
                                isA ? shape.a : shape.b);
  if (isA)
    leaveRows(warp, origins, found);
  else
    leaveColumns(origins, found);
}
