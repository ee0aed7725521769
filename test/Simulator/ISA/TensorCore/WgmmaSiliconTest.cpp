// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of e4m3 products as an H200 forms them: bits that it gave for
// wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3.

#include "ISA/TensorCore/WgmmaKernels.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

/// Codes of A from `a` to `a2`, of B likewise, with either sign; what the
/// accumulator holds; the first column of D.
struct Measured {
  int a, a2, b, b2;
  float before;
  uint32_t seed;
  std::vector<uint32_t> d;
};

const Measured kMeasured[] = {
    // All numbers.
    {0,
     127,
     0,
     127,
     33.3f,
     0xa4091d21u,
     {0x47032800, 0xc6267400, 0x43fb0000, 0xc610e800, 0x456ef400, 0xc52e3000,
      0xc73bb800, 0xc5d16000, 0xc4f58000, 0xc7011000, 0x46031c00, 0xc6c36c00,
      0xc8373400, 0x474b6800, 0xc61c4800, 0x46f68c00, 0xc4044400, 0x477fb800,
      0xc7ebd000, 0xc56e0c00, 0xc7d2e400, 0x463e4c00, 0xc4a5a000, 0x458a6c00,
      0xc6602c00, 0x4684b800, 0x44fd9000, 0x45c7f800, 0x454f3800, 0x458b2800,
      0x44d1d800, 0x466b7000, 0x46038800, 0xc5ade400, 0xc5e9a800, 0x47859400,
      0xc60ae800, 0x461d2000, 0x4480ac00, 0x44522000, 0xc7c82400, 0x45b76800,
      0xc3e5a800, 0x4768e400, 0xc6497c00, 0xc444a000, 0x4836f000, 0xc5b30000,
      0xc53b6000, 0x45852400, 0x46ec6c00, 0xc8360400, 0xc5465000, 0x461b3800,
      0x44abcc00, 0xc520a000, 0xc7f7c400, 0x46068400, 0x423a0000, 0xc69abc00,
      0x46d1d400, 0xc6c5e000, 0x46ae5000, 0x4693c400}},
    // Subnormal ones and 0.
    {0,
     8,
     0,
     127,
     0,
     0xc77fca41u,
     {0x4018b800, 0xc0051000, 0x3e618000, 0xbf4c8000, 0xc0ac3800, 0xc101c400,
      0xc092b400, 0x40529800, 0xc0811000, 0x40840400, 0x40351c00, 0x3f6b8000,
      0x409c0400, 0x40985c00, 0xc07f4800, 0xc0bf5000, 0x40041800, 0x40ac6c00,
      0xc050a000, 0x406e1000, 0x40894c00, 0xbf488000, 0x3fdee000, 0x40634000,
      0x4138a400, 0xc06aa800, 0x3d3a0000, 0xc0471800, 0x40169800, 0xbf5e2000,
      0xc0f01000, 0xbf866000, 0x3f6c8000, 0xbfd61000, 0xc08c1c00, 0xc0251000,
      0xc0b0f400, 0xbfc14000, 0x3f9de000, 0x40ff9400, 0xc0f91c00, 0xc01f0800,
      0x40a99000, 0x40ebf400, 0xbfd0f000, 0xbfa95000, 0x3f250000, 0x3ffe8000,
      0x40b2c400, 0x3f32c000, 0xbfa86000, 0x41016000, 0xbf686000, 0x405b4000,
      0x403f1000, 0xc0622000, 0xbfa1b800, 0x40f29000, 0xbef00000, 0xbe538000,
      0x40178800, 0x407fe000, 0x40373000, 0x3fa9f000}},
    // 0 and the least, by large ones, to a small accumulator.
    {0,
     2,
     100,
     127,
     1e-4f,
     0x29d5d481u,
     {0xbe280000, 0xbe940000, 0xbfba0000, 0xbf560000, 0xbe180000, 0x3e680000,
      0x3fb30000, 0xbf180000, 0xbf8a0000, 0x3e980000, 0x3eb40000, 0xbf8b0000,
      0xbc800000, 0x40028000, 0x3f760000, 0x3d800000, 0x3fe40000, 0xbd200000,
      0xbe000000, 0xc0100000, 0xbf220000, 0xbf880000, 0x3fcd0000, 0x3fa50000,
      0x3f5c0000, 0xbe840000, 0xbfd50000, 0xbfe20000, 0xbea80000, 0xbf5a0000,
      0xbfbb0000, 0x3e100000, 0x3f620000, 0x3f460000, 0xbfd00000, 0x3da00000,
      0x3e940000, 0xbdd00000, 0x3f5c0000, 0x3ffc0000, 0x3ed80000, 0xc0318000,
      0x3fe00000, 0xbfc60000, 0x3fc10000, 0xbdb00000, 0xbfc70000, 0x3ee80000,
      0x3e100000, 0xbf520000, 0xc01f0000, 0x3f440000, 0x3fbb0000, 0xbf600000,
      0x3f860000, 0x3fae0000, 0xbf0a0000, 0xbd800000, 0xbedc0000, 0x3fba0000,
      0xbfb90000, 0xbf980000, 0xbf740000, 0x3dc00000}},
};

class Codes {
public:
  explicit Codes(uint32_t seed) : state(seed) {}
  uint8_t next(int low, int high) {
    state = state * 1664525u + 1013904223u;
    uint32_t v = state >> 16;
    return uint8_t((v >> 8 & 128) |
                   uint32_t(low + int(v % 256) * (high - low) / 256));
  }

private:
  uint32_t state;
};

} // namespace

TEST(WgmmaSilicon, SumsAreThoseOfAnH200) {
  for (const Measured &measured : kMeasured) {
    Codes codes(measured.seed);
    WgmmaProblem p(8);
    p.before = measured.before;
    for (uint32_t k = 0; k < 32; ++k) {
      uint8_t code = codes.next(measured.b, measured.b2);
      for (uint32_t n = 0; n < 8; ++n)
        p.b[n * 32 + k] = code;
    }
    for (uint8_t &code : p.a)
      code = codes.next(measured.a, measured.a2);
    std::vector<float> d;
    Report report = p.run(d);
    ASSERT_TRUE(report.ok()) << report.str();
    for (uint32_t r = 0; r < 64; ++r) {
      uint32_t bits;
      std::memcpy(&bits, &d[r * 8], 4);
      EXPECT_EQ(bits, measured.d[r]) << "row " << r;
    }
  }
}
