// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma.sp with block scales: what the metadata keeps of elements of 8
// and of 4 bits, and which scales it has (PTX ISA 9.7.16.10.6, 9.7.16.10.7).

#include "ISA/TensorCore/IssueKernel.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <random>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

constexpr uint32_t kM = 128, kN = 32, kChunks = 16;
constexpr uint32_t kB = 4096, kScaleA = 6144, kScaleB = 6656, kImage = 7168;
constexpr uint32_t kMetadata = 32, kColumnScaleA = 40, kColumnScaleB = 48;

/// Metadata of a lane, in the first and in the second column: by its lowest bit
/// and the one of weight 8.
constexpr uint32_t kWords[2][4] = {
    {0x48c9de4d, 0xe94d8c49, 0x9ec84d8e, 0xd4c8e94c},
    {0xce948dc4, 0x84ec9d48, 0x4d9c8ee9, 0x98d4c4ee}};

struct Kind {
  const char *name, *qualifiers;
  uint32_t bits, scales;
  uint32_t formats;  ///< of the instruction descriptor
  uint32_t codes[3]; ///< of 0, 1 and -2
  uint32_t scaleCodes[2];
  double scaleValues[2];

  uint32_t kept() const { return 256 / bits; }
};
const Kind kKinds[] = {
    {"mxf8f6f4", "", 8, 1, 1u << 23, {0, 0x38, 0xc0}, {126, 129}, {0.5, 4}},
    {"mxf4",
     "",
     4,
     2,
     1u << 23 | 1 << 7 | 1 << 10,
     {0, 2, 0xc},
     {127, 130},
     {1, 8}},
    {"mxf4nvf4",
     ".scale_vec::4X",
     4,
     4,
     1 << 7 | 1 << 10,
     {0, 2, 0xc},
     {0x38, 0x44},
     {1, 3}},
};
constexpr int kValues[3] = {0, 1, -2};

/// The element of the dense row that kept element `i` of a row is.
uint32_t placeOf(const Kind &kind, uint32_t row, uint32_t i) {
  uint32_t perChunk = kind.kept() / kChunks, chunk = i / perChunk;
  uint32_t word = kWords[chunk / 8][(row >> 3 & 1) * 2 + (row & 1)];
  uint32_t bits = word >> chunk % 8 * 4 & 15;
  if (kind.bits == 8)
    return chunk * 4 + (i % 2 ? bits >> 2 : bits & 3);
  uint32_t pair = i % 4 < 2 ? bits & 3 : bits >> 2;
  return chunk * 8 + pair * 2 + i % 2;
}

struct ScaledSparseRun {
  const Kind &kind;
  std::vector<uint8_t> image;
  std::vector<uint32_t> a, b, aScales, bScales; ///< indices of values
  IssueKernel frame;

  explicit ScaledSparseRun(const Kind &kind) : kind(kind), image(kImage) {
    std::mt19937 random(7);
    auto fill = [&](std::vector<uint32_t> &values, uint32_t base, uint32_t rows,
                    uint32_t count) {
      for (uint32_t n = 0; n < rows * count; ++n) {
        values.push_back(random() % 3);
        uint32_t row = n / count, bit = n % count * kind.bits, byte = bit / 8;
        image[base + row / 8 * count * kind.bits + byte / 16 * 128 +
              row % 8 * 16 + byte % 16] |=
            uint8_t(kind.codes[values.back()] << bit % 8);
      }
    };
    fill(a, 0, kM, kind.kept());
    fill(b, kB, kN, 2 * kind.kept());
    auto fillScales = [&](std::vector<uint32_t> &values, uint32_t base,
                          uint32_t rows) {
      for (uint32_t n = 0; n < rows * kind.scales; ++n) {
        values.push_back(random() % 2);
        uint32_t row = n / kind.scales;
        image[base + row % 32 * 16 + row / 32 * 4 + n % kind.scales] =
            uint8_t(kind.scaleCodes[values.back()]);
      }
    };
    fillScales(aScales, kScaleA, kM);
    fillScales(bScales, kScaleB, kN);
    frame.bytes = kImage;
    frame.allocated = 64;
    frame.columns = kN;
    frame.before = storeMetadata();
    frame.issue = issue();
  }

  static std::string storeMetadata() {
    std::string text = "  and.b32 %v2, %r0, 9;\n";
    static const uint32_t lanes[] = {0, 1, 8, 9};
    for (uint32_t column = 0; column < 2; ++column)
      for (uint32_t n = 0; n < 4; ++n)
        text += "  setp.eq.u32 %p3, %v2, " + std::to_string(lanes[n]) +
                ";\n  @%p3 mov.b32 %v" + std::to_string(column) + ", " +
                std::to_string(kWords[column][n]) + ";\n";
    return text +
           "  setp.ne.u32 %p3, 0, 0;\n"
           "  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r9+" +
           std::to_string(kMetadata) +
           "], {%v0, %v1};\n  tcgen05.wait::st.sync.aligned; "
           "tcgen05.fence::before_thread_sync;\n  bar.sync 0;\n"
           "  tcgen05.fence::after_thread_sync;\n";
  }

  std::string issue() const {
    auto descriptor = [](uint32_t stride, uint32_t start) {
      return std::to_string(uint64_t(1) << 46 | uint64_t(stride / 16) << 32 |
                            uint64_t(128 / 16) << 16 | start / 16);
    };
    auto column = [](uint32_t c) { return "[%r4+" + std::to_string(c) + "]"; };
    std::string text;
    const std::pair<uint32_t, uint32_t> places[] = {
        {256, 0}, {512, kB}, {128, kScaleA}, {128, kScaleB}};
    for (uint32_t n = 0; n < 4; ++n) {
      std::string name = "%d" + std::to_string(n + 3);
      text += "  mov.b64 " + name + ", " +
              descriptor(places[n].first, places[n].second) + ";\n  add.s64 " +
              name + ", %d2, " + name + ";\n";
    }
    const std::string copy = "  tcgen05.cp.cta_group::1.32x128b.warpx4 ";
    text += copy + column(kColumnScaleA) + ", %d5;\n";
    text += copy + column(kColumnScaleB) + ", %d6;\n";
    uint32_t idesc = kind.formats | 1 << 2 | kN / 8 << 17 | kM / 16 << 24;
    return text + "  tcgen05.mma.sp.cta_group::1.kind::" + kind.name +
           ".block_scale" + kind.qualifiers + " [%r4], %d3, %d4, " +
           column(kMetadata) + ", " + std::to_string(idesc) + ", " +
           column(kColumnScaleA) + ", " + column(kColumnScaleB) + ", %p3;\n";
  }

  /// In float64; the values are such that float32 holds it, too.
  double expected(uint32_t row, uint32_t n) const {
    double sum = 0;
    for (uint32_t i = 0; i < kind.kept(); ++i) {
      uint32_t block = i * kind.scales / kind.kept();
      sum += kValues[a[row * kind.kept() + i]] *
             kValues[b[n * 2 * kind.kept() + placeOf(kind, row, i)]] *
             kind.scaleValues[aScales[row * kind.scales + block]] *
             kind.scaleValues[bScales[n * kind.scales + block]];
    }
    return sum;
  }
};

} // namespace

TEST(ScaledSparseTcgen05, MultipliesWhatTheMetadataKeeps) {
  for (const Kind &kind : kKinds) {
    ScaledSparseRun p(kind);
    Report report;
    std::vector<uint32_t> out =
        runIssueKernel(p.frame, p.frame.text(), p.image, {}, report);
    ASSERT_TRUE(report.errors.empty()) << kind.name << report.str();
    size_t wrong = 0;
    for (uint32_t row = 0; row < kM; ++row)
      for (uint32_t n = 0; n < kN; ++n) {
        float value;
        std::memcpy(&value, &out[row * kN + n], 4);
        wrong += double(value) != p.expected(row, n);
      }
    EXPECT_EQ(wrong, 0u) << kind.name;
  }
}

TEST(ScaledSparseTcgen05, NeedsItsMetadata) {
  ScaledSparseRun p(kKinds[0]);
  Report report;
  runIssueKernel(p.frame, replaced(p.frame.text(), "[%r4+32], ", "[%r4+512], "),
                 p.image, {}, report);
  EXPECT_TRUE(has(report, ErrorKind::OutOfBounds)) << report.str();
  std::string text = p.frame.text();
  p.frame.before = "";
  runIssueKernel(p.frame, p.frame.text(), p.image, {}, report);
  EXPECT_FALSE(report.ok());
}
