// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of one tcgen05.mma: layouts and numbers are stated here anew, from
// the PTX ISA.

#include "ISA/TensorCore/MmaKernel.h"

#include <cmath>
#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace fp8::sim::test {
const Element kE4m3{"e4m3", 0, 4, 3}, kE5m2{"e5m2", 1, 5, 2},
    kE2m3{"e2m3", 3, 2, 3}, kE3m2{"e3m2", 4, 3, 2}, kE2m1{"e2m1", 5, 2, 1},
    kPackedE2m1{"e2m1", 1, 2, 1}, kU8{"u8", 0, 0, 8}, kS8{"s8", 1, 0, 7};
} // namespace fp8::sim::test

namespace {

// Places in shared memory, and columns of tensor memory.
constexpr uint32_t kA = 0, kB = 4096, kScaleA = 12288, kScaleB = 12800,
                   kImage = 13824;
constexpr uint32_t kColumnA = 256, kColumnScaleA = 264, kColumnScaleB = 272;

double minifloat(uint32_t code, int exponentBits, int mantissaBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  int fraction = int(code & ((1u << mantissaBits) - 1));
  int exponent = int(code >> mantissaBits) & ((1 << exponentBits) - 1);
  double value = exponent ? std::ldexp((1 << mantissaBits) + fraction,
                                       exponent - bias - mantissaBits)
                          : std::ldexp(fraction, 1 - bias - mantissaBits);
  return code >> (exponentBits + mantissaBits) & 1 ? -value : value;
}

double scaleValue(uint32_t code, uint32_t type) {
  return type ? std::ldexp(1.0, int(code) - 127) : minifloat(code, 4, 3);
}

/// Descriptor of a tile without swizzle: 16-byte chunks of 8 lines are 128
/// bytes. `leading`, `stride`: bytes.
uint64_t descriptor(uint32_t leading, uint32_t stride) {
  return uint64_t(1) << 46 | uint64_t(stride / 16) << 32 |
         uint64_t(leading / 16) << 16;
}

/// Where chunk `c` of line `l` of an operand lies. Lines are rows and chunks
/// 16 bytes of K; or MN-major, lines are along K and chunks 16 rows.
uint32_t chunkAt(bool mnMajor, uint32_t line, uint32_t chunk) {
  return mnMajor ? line / 8 * 128 + line % 8 * 16 + chunk * 512
                 : line / 8 * 256 + line % 8 * 16 + chunk * 128;
}
uint64_t operandDescriptor(bool mnMajor) {
  return mnMajor ? descriptor(128, 512) : descriptor(128, 256);
}

} // namespace

double Element::value(uint32_t code) const {
  if (!exponentBits)
    return mantissaBits == 7 ? double(int8_t(code)) : double(code);
  return minifloat(code, exponentBits, mantissaBits);
}

uint32_t Element::draw(std::mt19937 &random) const {
  uint32_t code = random() & ((1u << bits()) - 1);
  if (exponentBits == 4 && (code & 0x7f) == 0x7f)
    return code ^ 1; // NaN
  if (exponentBits == 5)
    return code & 0xbf; // below 2, without infinities
  return code;
}

std::string MmaCase::name() const {
  return kind + qualifiers + " " + a.name + " by " + b.name + ", M " +
         std::to_string(m) + " N " + std::to_string(n) +
         (pair ? ", pair" : "") + ", scale type " + std::to_string(scaleType) +
         ", IDs " + std::to_string(aId) + " " + std::to_string(bId) +
         (mnMajor ? ", MN-major" : "") + (stationary ? ", stationary" : "") +
         (tensorA ? ", A in tensor memory" : "");
}

MmaRun::MmaRun(const MmaCase &form, uint32_t seed) : form(form) {
  std::mt19937 random(seed);
  auto fill = [&](std::vector<uint32_t> &codes, uint32_t rows,
                  const Element &element) {
    for (uint32_t n = 0; n < rows * form.k(); ++n)
      codes.push_back(element.draw(random));
  };
  fill(a, form.m, form.a);
  fill(b, form.n, form.b);
  auto fillScales = [&](std::vector<uint32_t> &codes, uint32_t rows) {
    for (uint32_t n = 0; n < rows * form.scales; ++n)
      codes.push_back(form.scaleType ? 117 + random() % 21 : random() % 0x7f);
  };
  fillScales(aScales, form.m);
  fillScales(bScales, form.n);
  frame.pair = form.pair;
  frame.bytes = kImage;
  frame.allocated = 512;
  frame.columns = form.dColumns();
  frame.halfLanes = form.halfLanes();
  frame.firstLane = form.firstLane;
  frame.issue = issue();
  text = frame.text();
}

/// Puts rows of an operand into an image, at `base`.
void MmaRun::put(std::vector<uint8_t> &bytes, uint32_t base,
                 const std::vector<uint32_t> &codes, const Element &element,
                 uint32_t first, uint32_t rows) const {
  uint32_t k = form.k();
  uint32_t perChunk = form.packed() ? 32 : 16;
  uint32_t bits = form.packed() ? 4 : uint32_t(element.bits());
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t x = 0; x < k; ++x) {
      uint32_t along = form.mnMajor ? r : x, across = form.mnMajor ? x : r;
      uint8_t *chunk =
          &bytes[base + chunkAt(form.mnMajor, across, along / perChunk)];
      for (uint32_t bit = 0; bit < bits; ++bit)
        if (codes[(first + r) * k + x] >> bit & 1) {
          uint32_t at = along % perChunk * bits + bit;
          chunk[at / 8] |= uint8_t(1u << at % 8);
        }
    }
}

/// Row r: lane r % 32, word r / 32; and 128 rows a copy. Bytes that no scale is
/// in hold other ones.
void MmaRun::putScales(std::vector<uint8_t> &bytes, uint32_t base,
                       const std::vector<uint32_t> &codes, uint32_t id,
                       uint32_t first, uint32_t rows) const {
  for (uint32_t r = 0; form.scales && r < rows; ++r)
    for (uint32_t byte = 0; byte < 4; ++byte) {
      uint32_t block = byte - id;
      bytes[base + r / 128 * 512 + r % 32 * 16 + r / 32 % 4 * 4 + byte] =
          block < form.scales
              ? uint8_t(codes[(first + r) * form.scales + block])
              : 100;
    }
}

std::vector<uint8_t> MmaRun::images() const {
  std::vector<uint8_t> all;
  uint32_t aRows = form.m / form.ctas(), bRows = form.n / form.ctas();
  for (uint32_t cta = 0; cta < form.ctas(); ++cta) {
    std::vector<uint8_t> bytes(kImage);
    // In tensor memory, each part of N has its own copy of A above it.
    uint32_t copies = form.tensorA ? form.parts() : 1;
    for (uint32_t copy = 0; copy < copies; ++copy)
      for (uint32_t r = 0; r < aRows; r += 16) {
        uint32_t line = form.tensorA ? form.lane(r) : r;
        put(bytes, kA + (copy * aRows + line) * 32, a, form.a, cta * aRows + r,
            16);
      }
    put(bytes, kB, b, form.b, cta * bRows, bRows);
    putScales(bytes, kScaleA, aScales, form.aId, cta * aRows, aRows);
    putScales(bytes, kScaleB, bScales, form.bId, 0, form.n);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

uint32_t MmaCase::descriptor() const {
  uint32_t bits = extraBits | a.code << 7 | b.code << 10 |
                  uint32_t(negateA) << 13 | uint32_t(mnMajor) << 15 |
                  uint32_t(mnMajor) << 16 | n / 8 << 17 | m / 16 << 24;
  return scales ? bits | bId << 4 | scaleType << 23 | aId << 29
                : bits | (kind == "i8" ? 2u : 1u) << 4;
}

std::string MmaRun::issue() const {
  auto column = [](uint32_t c, uint32_t lane = 0) {
    return "[%r4+" + std::to_string(c + (lane << 16)) + "]";
  };
  std::string text;
  auto tile = [&](int index, uint32_t offset, uint64_t bits) {
    std::string name = "%d" + std::to_string(index);
    text += "  add.s64 " + name + ", %d2, " + std::to_string(offset / 16) +
            ";\n  or.b64 " + name + ", " + name + ", " + std::to_string(bits) +
            ";\n";
  };
  tile(3, kA, operandDescriptor(form.mnMajor));
  tile(4, kB, operandDescriptor(form.mnMajor));
  tile(5, kScaleA, descriptor(0, 128));
  tile(6, kScaleB, descriptor(0, 128));
  tile(7, kScaleB + 512, descriptor(0, 128));
  std::string group = form.pair ? "2" : "1";
  std::string copy = "  tcgen05.cp.cta_group::" + group + ".";
  std::string scale = copy + "32x128b.warpx4 ";
  if (form.scales) {
    text += scale + column(kColumnScaleA) + ", %d5;\n";
    text += scale + column(kColumnScaleB) + ", %d6;\n";
    if (form.n > 128)
      text += scale + column(kColumnScaleB + 4) + ", %d7;\n";
  }
  if (form.tensorA) {
    int bits = form.packed() ? 8 : form.a.bits();
    text += copy + "128x256b" +
            (bits == 6   ? ".b8x16.b6x16_p32"
             : bits == 4 ? ".b8x16.b4x16_p64"
                         : "") +
            " " + column(kColumnA) + ", %d3;\n";
  }
  std::string mma =
      std::string("  tcgen05.mma.") + (form.stationary ? "ws." : "") +
      "cta_group::" + group + ".kind::" + form.kind + form.qualifiers + " " +
      column(0, form.firstLane) + ", " +
      (form.tensorA ? column(kColumnA, form.firstLane) : "%d3") + ", %d4, " +
      std::to_string(form.descriptor()) +
      (form.scales ? ", " + column(kColumnScaleA) + ", " + column(kColumnScaleB)
                   : "");
  text += mma + ", %p3;\n";
  return form.accumulate ? text + mma + ", %p6;\n" : text;
}

Report MmaRun::run() {
  Report report;
  out = runIssueKernel(frame, text, images(), options, report);
  return report;
}

uint32_t MmaRun::bits(uint32_t row, uint32_t column) const {
  uint32_t rows = form.m / form.ctas();
  uint32_t lane = row % rows;
  if (form.parts() > 1) {
    lane += column / form.dColumns() * (128 / form.parts());
    column %= form.dColumns();
  } else {
    lane = form.lane(lane);
  }
  return out[(row / rows * 128 + lane) * form.dColumns() + column];
}

float MmaRun::result(uint32_t row, uint32_t column) const {
  uint32_t word = bits(row, column);
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

double MmaRun::expected(uint32_t row, uint32_t column,
                        double *magnitude) const {
  double sum = 0, size = 0;
  for (uint32_t x = 0; x < form.k(); ++x) {
    double term = form.a.value(a[row * form.k() + x]) *
                  form.b.value(b[column * form.k() + x]);
    if (form.scales) {
      uint32_t block = x * form.scales / form.k();
      term *= scaleValue(aScales[row * form.scales + block], form.scaleType) *
              scaleValue(bScales[column * form.scales + block], form.scaleType);
    }
    sum += term;
    size += std::fabs(term);
  }
  double factor = (form.negateA ? -1 : 1) * (form.accumulate ? 2 : 1);
  if (magnitude)
    *magnitude = size * std::fabs(factor);
  return sum * factor;
}

uint32_t MmaRun::countWrong(double relative) const {
  uint32_t count = 0;
  for (uint32_t row = 0; row < form.m; ++row)
    for (uint32_t column = 0; column < form.n; ++column) {
      double magnitude, want = expected(row, column, &magnitude);
      double got = form.kind == "i8" ? double(int32_t(bits(row, column)))
                                     : double(result(row, column));
      count += !(std::fabs(got - want) <= relative * magnitude);
    }
  return count;
}

void MmaRun::check(double relative) const {
  EXPECT_EQ(countWrong(relative), 0u) << form.name();
  double magnitude, want = expected(1, 3, &magnitude);
  if (form.kind != "i8") {
    EXPECT_NEAR(result(1, 3), want, relative * magnitude) << form.name();
  }
}
