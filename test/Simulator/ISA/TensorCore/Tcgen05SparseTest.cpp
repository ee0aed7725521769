// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma.sp: the metadata in tensor memory, and the elements that it keeps
// (PTX ISA 9.7.16.10.6).

#include "ISA/TensorCore/IssueKernel.h"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

constexpr uint32_t kM = 128, kN = 32;

/// Metadata of a lane, in the first and in the second column: by its lowest bit
/// and the one of weight 8.
constexpr uint32_t kWords[2][4] = {
    {0x48c9de4d, 0xe94d8c49, 0x9ec84d8e, 0xd4c8e94c},
    {0xce948dc4, 0x84ec9d48, 0x4d9c8ee9, 0x98d4c4ee}};

struct Kind {
  const char *name;
  uint32_t formats; ///< of the instruction descriptor
  unsigned bytes;
  uint32_t one, two; ///< codes of 1 and 2
};
const Kind kKinds[] = {{"f16", 1 << 4, 2, 0x3c00, 0x4000},
                       {"f8f6f4", 1 << 4, 1, 0x38, 0x40},
                       {"i8", 2 << 4 | 1 << 7 | 1 << 10, 1, 1, 2}};

uint32_t wordAt(uint32_t lane, uint32_t column) {
  return kWords[column][(lane >> 3 & 1) * 2 + (lane & 1)];
}

/// The four bits of a chunk of a row.
uint32_t chunkOf(const Kind &kind, uint32_t row, uint32_t chunk,
                 uint32_t selector) {
  if (kind.bytes == 1) // a lane has a row, in two columns
    return wordAt(row, chunk / 8) >> chunk % 8 * 4 & 15;
  uint32_t lane = row / 16 * 16 + chunk / 4 * 8 + row % 8;
  return wordAt(lane, selector) >> (row / 8 % 2 * 16 + chunk % 4 * 4) & 15;
}

struct SparseRun {
  std::vector<uint8_t> image;
  std::vector<int> a, b; ///< [row][kept k], [n][k]
  uint32_t k;
  IssueKernel frame;

  SparseRun(const Kind &kind, uint32_t selector)
      : image(8192), k(32 / kind.bytes) {
    std::mt19937 random(5);
    auto fill = [&](std::vector<int> &values, uint32_t base, uint32_t rows,
                    uint32_t count) {
      values.resize(rows * count);
      for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t i = 0; i < count; ++i) {
          int value = values[row * count + i] = int(random() % 3);
          uint32_t code = value == 2 ? kind.two
                          : value    ? kind.one
                                     : 0,
                   byte = i * kind.bytes;
          std::memcpy(&image[base + row / 8 * 8 * count * kind.bytes +
                             byte / 16 * 128 + row % 8 * 16 + byte % 16],
                      &code, kind.bytes);
        }
    };
    fill(a, 0, kM, k);
    fill(b, 4096, kN, 2 * k);
    frame.bytes = uint32_t(image.size());
    frame.allocated = 64;
    frame.columns = kN;
    frame.before = "  and.b32 %v2, %r0, 9;\n";
    static const uint32_t lanes[] = {0, 1, 8, 9};
    for (uint32_t column = 0; column < 2; ++column)
      for (uint32_t n = 0; n < 4; ++n)
        frame.before += "  setp.eq.u32 %p3, %v2, " + std::to_string(lanes[n]) +
                        ";\n  @%p3 mov.b32 %v" + std::to_string(column) + ", " +
                        std::to_string(kWords[column][n]) + ";\n";
    frame.before += "  setp.ne.u32 %p3, 0, 0;\n"
                    "  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r9+32], {%v0, "
                    "%v1};\n  tcgen05.wait::st.sync.aligned; "
                    "tcgen05.fence::before_thread_sync;\n  bar.sync 0;\n"
                    "  tcgen05.fence::after_thread_sync;\n";
    auto descriptor = [&](uint32_t bytesOfK, uint32_t start) {
      return std::to_string(uint64_t(1) << 46 |
                            uint64_t(8 * bytesOfK / 16) << 32 |
                            uint64_t(128 / 16) << 16 | start / 16);
    };
    uint32_t idesc =
        kind.formats | 1 << 2 | selector | kN / 8 << 17 | kM / 16 << 24;
    frame.issue = "  or.b64 %d3, %d2, " + descriptor(32, 0) +
                  ";\n  mov.b64 %d4, " + descriptor(64, 4096) +
                  ";\n  add.s64 %d4, %d2, %d4;\n  mov.b32 %r11, " +
                  std::to_string(idesc) +
                  ";\n  tcgen05.mma.sp.cta_group::1.kind::" + kind.name +
                  " [%r4], %d3, %d4, [%r4+32], %r11, %p3;\n";
  }
};

} // namespace

TEST(SparseTcgen05, MultipliesWhatTheMetadataKeeps) {
  for (const Kind &kind : kKinds)
    for (uint32_t selector = 0; selector < (kind.bytes == 1 ? 1 : 2);
         ++selector) {
      SparseRun p(kind, selector);
      Report report;
      std::vector<uint32_t> out =
          runIssueKernel(p.frame, p.frame.text(), p.image, {}, report);
      ASSERT_TRUE(report.errors.empty()) << report.str();
      size_t wrong = 0;
      for (uint32_t row = 0; row < kM; ++row)
        for (uint32_t n = 0; n < kN; ++n) {
          int sum = 0;
          for (uint32_t i = 0; i < p.k; ++i) {
            uint32_t bits = chunkOf(kind, row, i / 2, selector);
            uint32_t at = i / 2 * 4 + (i % 2 ? bits >> 2 : bits & 3);
            sum += p.a[row * p.k + i] * p.b[n * 2 * p.k + at];
          }
          uint32_t word = out[row * kN + n];
          float value;
          std::memcpy(&value, &word, 4);
          wrong += std::string(kind.name) == "i8" ? int(word) != sum
                                                  : value != float(sum);
        }
      EXPECT_EQ(wrong, 0u) << kind.name << " selector " << selector;
    }
}

TEST(SparseTcgen05, TheDescriptorSaysSo) {
  SparseRun p(kKinds[0], 0);
  std::string text = p.frame.text(), dense = text;
  dense.replace(dense.find(".mma.sp."), 8, ".mma.");
  size_t at = dense.find("[%r4+32], %r11");
  dense.erase(at, 9);
  Report report;
  runIssueKernel(p.frame, dense, p.image, {}, report);
  EXPECT_THAT(report.str(), HasSubstr("the sparsity bit is 1; the rule is 0"));
}
