// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma and mma.sync with a sparse A, and wgmma with results in f16 and s32,
// against integers: elements are so small that every sum is exact.

#include "Kernels.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

struct Types {
  const char *d, *a, *b;
};

unsigned elementBytes(const std::string &type) {
  return type == "tf32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1;
}

/// The code of -2 to 2.
uint32_t encode(const std::string &type, int value) {
  if (type == "s8" || type == "u8")
    return uint8_t(value);
  static const std::map<std::string, std::array<uint32_t, 4>> codes = {
      {"f16", {0, 0x3c00, 0x4000, 0x8000}},
      {"bf16", {0, 0x3f80, 0x4000, 0x8000}},
      {"tf32", {0, 0x3f800000, 0x40000000, 0x80000000}},
      {"e4m3", {0, 0x38, 0x40, 0x80}},
      {"e5m2", {0, 0x3c, 0x40, 0x80}}};
  const auto &row = codes.at(type);
  return row[size_t(std::abs(value))] | (value < 0 ? row[3] : 0);
}

/// An A that keeps half of K, and B, as numbers and as bytes.
struct Problem {
  uint32_t m, n, k; ///< k: of A
  bool sparse;
  Types types;
  std::vector<int> a, b, kept;  ///< [row][k], [n][k], [row][k]
  std::vector<uint32_t> chunks; ///< [row][chunk]
  std::mt19937 random{7};

  Problem(uint32_t m, uint32_t n, uint32_t k, bool sparse, Types types)
      : m(m), n(n), k(k), sparse(sparse), types(types), a(m * k),
        b(n * denseK()), kept(m * k) {
    auto fill = [&](std::vector<int> &values, const char *type) {
      for (int &value : values)
        value = int(random() % 5) - (type[0] == 'u' ? 0 : 2);
      if (type[0] == 'u')
        for (int &value : values)
          value = std::min(value, 3);
    };
    fill(a, types.a);
    fill(b, types.b);
    choose();
  }
  uint32_t denseK() const { return sparse ? 2 * k : k; }
  bool pairs() const { return std::string(types.a) == "tf32"; }
  uint32_t chunksOfRow() const { return pairs() ? k : k / 2; }

  void choose() {
    static const uint32_t two[] = {4, 8, 12, 9, 13, 14}, one[] = {4, 14};
    for (uint32_t i = 0; i < m * k; ++i)
      kept[i] = int(i % k);
    if (!sparse)
      return;
    for (uint32_t row = 0; row < m; ++row)
      for (uint32_t chunk = 0; chunk < chunksOfRow(); ++chunk) {
        uint32_t bits = pairs() ? one[random() % 2] : two[random() % 6];
        chunks.push_back(bits);
        int *at = &kept[row * k + chunk * (pairs() ? 1 : 2)];
        if (pairs()) {
          at[0] = int(chunk * 2 + (bits == 14));
        } else {
          at[0] = int(chunk * 4 + (bits & 3));
          at[1] = int(chunk * 4 + (bits >> 2));
        }
      }
  }
  int expected(uint32_t row, uint32_t column, int before) const {
    int sum = before;
    for (uint32_t i = 0; i < k; ++i)
      sum +=
          a[row * k + i] * b[column * denseK() + uint32_t(kept[row * k + i])];
    return sum;
  }
  /// The metadata of a warp's 16 rows from `first` on, by lane, as the figures
  /// of PTX ISA 9.7.14.6.1 and 9.7.15.6.1 show it.
  std::vector<uint32_t> metadata(uint32_t first, uint32_t selector) {
    std::vector<uint32_t> words(32);
    for (uint32_t &word : words)
      word = uint32_t(random()); // of threads that do not count
    if (!sparse)
      return words;
    const bool bytes = elementBytes(types.a) == 1;
    const uint32_t count = chunksOfRow();
    std::vector<bool> cleared(32);
    for (uint32_t row = 0; row < 16; ++row)
      for (uint32_t chunk = 0; chunk < count; ++chunk) {
        uint32_t thread, shift;
        if (bytes) { // a thread has one row
          thread = (count == 16 ? chunk / 8 * 2 : selector * 2) + row / 8;
          shift = chunk % 8 * 4;
        } else { // a thread has half a row, and the one 8 rows below
          thread = count == 8 ? selector * 2 + chunk / 4 : selector;
          shift = row / 8 * 16 + chunk % 4 * 4;
        }
        uint32_t lane = row % 8 * 4 + thread;
        if (!cleared[lane])
          words[lane] = 0;
        cleared[lane] = true;
        words[lane] |= chunks[(first + row) * count + chunk] << shift;
      }
    return words;
  }
};

std::string registers(const char *name, uint32_t first, uint32_t count) {
  std::string text = "{";
  for (uint32_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(name) + std::to_string(first + i);
  return text + "}";
}

int decode(const std::string &type, uint32_t word, uint32_t half) {
  if (type == "s32")
    return int32_t(word);
  if (type == "f32") {
    float value;
    std::memcpy(&value, &word, 4);
    return int(value);
  }
  uint32_t bits = word >> (16 * half) & 0xffff;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent ? std::ldexp(1024 + mantissa, int(exponent) - 25) : 0;
  return int(bits & 0x8000 ? -value : value);
}

/// One wgmma, whose operands lie without a swizzle; D is 3 before.
std::string wgmmaText(const Problem &p, uint32_t selector, bool registerA) {
  const std::string d = p.types.d;
  const unsigned bytes = elementBytes(p.types.a);
  const uint32_t count = p.n / (d == "f16" ? 4 : 2);
  const char *before = d == "f32"   ? "0x40400000"
                       : d == "f16" ? "0x42004200"
                                    : "3";
  std::string body = R"(
  .reg .pred %p; .reg .b32 %t, %m, %r<9>, %a<4>, %v<128>; .reg .b64 %d<9>, %in, %out, %da, %db;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %r1, s; shl.b32 %r0, %t, 2;
COPY: cvt.u64.u32 %d0, %r0; add.s64 %d0, %d0, %in; ld.global.b32 %r2, [%d0];
  add.u32 %r3, %r1, %r0; st.shared.b32 [%r3], %r2; add.u32 %r0, %r0, 512; setp.lt.u32 %p, %r0, 16384; @%p bra COPY;
  fence.proxy.async.shared::cta; bar.sync 0;
  shr.u32 %r3, %r1, 4; cvt.u64.u32 %d1, %r3; shl.b32 %r4, %t, 2; cvt.u64.u32 %d3, %r4; add.s64 %d4, %d3, %in;
  ld.global.b32 %m, [%d4+16384];
)";
  auto descriptor = [](uint32_t chunks) {
    return std::to_string(uint64_t(8) << 16 | uint64_t(8 * chunks) << 32);
  };
  body += "  mov.b64 %d2, " + descriptor(2) +
          "; or.b64 %da, %d1, %d2; add.s64 %d1, %d1, 512; mov.b64 %d2, " +
          descriptor(p.sparse ? 4 : 2) + "; or.b64 %db, %d1, %d2;\n";
  for (uint32_t i = 0; i < count; ++i)
    body += "  mov.b32 %v" + std::to_string(i) + ", " + before + ";\n";
  for (uint32_t i = 0; i < 4; ++i)
    body += "  ld.global.b32 %a" + std::to_string(i) + ", [%d4+" +
            std::to_string(16896 + 512 * i) + "];\n";
  body += "  wgmma.fence.sync.aligned;\n  wgmma.mma_async" +
          std::string(p.sparse ? ".sp" : "") + ".sync.aligned.m64n" +
          std::to_string(p.n) + "k" + std::to_string(p.denseK()) + "." + d +
          "." + p.types.a + "." + p.types.b + " " + registers("%v", 0, count) +
          ", " + (registerA ? "{%a0, %a1, %a2, %a3}" : "%da") + ", %db" +
          (p.sparse ? ", %m, " + std::to_string(selector) : "") + ", 1" +
          (d == "s32" ? "" : ", 1, 1") +
          (bytes != 2  ? ""
           : registerA ? ", 0"
                       : ", 0, 0") +
          ";\n  wgmma.commit_group.sync.aligned;\n"
          "  wgmma.wait_group.sync.aligned 0;\n  add.s64 %d5, %d3, %out;\n";
  for (uint32_t i = 0; i < count; ++i)
    body += "  st.global.b32 [%d5+" + std::to_string(512 * i) + "], %v" +
            std::to_string(i) + ";\n";
  return kernel(".param .u64 in, .param .u64 out", body + "  ret;", "sm_90a",
                ".shared .align 1024 .b8 s[16384];\n");
}

void put(std::vector<uint8_t> &image, size_t at, const std::string &type,
         int value) {
  uint32_t code = encode(type, value);
  std::memcpy(&image[at], &code, elementBytes(type));
}

void expectWgmma(const Types &types, bool sparse, uint32_t n, uint32_t selector,
                 bool registerA) {
  const unsigned bytes = elementBytes(types.a);
  Problem p(64, n, 32 / bytes, sparse, types);
  std::vector<uint8_t> image(16896 + 2048);
  auto place = [&](uint32_t row, uint32_t byte, uint32_t chunks) {
    return row / 8 * 128 * chunks + byte / 16 * 128 + row % 8 * 16 + byte % 16;
  };
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t k = 0; k < p.k; ++k) {
      put(image, place(row, k * bytes, 2), types.a, p.a[row * p.k + k]);
      // The fragment: 4 bytes of a row a register, then the row 8 below.
      uint32_t byte = k * bytes,
               thread = row / 16 * 32 + row % 8 * 4 + byte % 16 / 4;
      put(image,
          16896 + (byte / 16 * 2 + row % 16 / 8) * 512 + thread * 4 + byte % 4,
          types.a, p.a[row * p.k + k]);
    }
  for (uint32_t column = 0; column < n; ++column)
    for (uint32_t k = 0; k < p.denseK(); ++k)
      put(image, 8192 + place(column, k * bytes, sparse ? 4 : 2), types.b,
          p.b[column * p.denseK() + k]);
  for (uint32_t warp = 0; warp < 4; ++warp) {
    std::vector<uint32_t> words = p.metadata(warp * 16, selector);
    std::memcpy(&image[16384 + warp * 128], words.data(), 128);
  }
  Device device;
  uint64_t in = *device.allocate("in", image.size()),
           out = *device.allocate("out", 65536);
  device.write(in, image.data(), image.size());
  LaunchConfig config;
  config.block = {128, 1, 1};
  Report report =
      run(device, wgmmaText(p, selector, registerA),
          {KernelArgument::value(in), KernelArgument::value(out)}, config);
  ASSERT_TRUE(report.ok()) << report.str();
  std::vector<uint32_t> d(16384);
  device.read(out, d.data(), 65536);
  const bool half = std::string(types.d) == "f16";
  size_t wrong = 0;
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t column = 0; column < n; ++column) {
      uint32_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2,
               pair = column / 8 * 2 + row % 16 / 8,
               word = d[(half ? pair : pair * 2 + column % 2) * 128 + thread];
      wrong += decode(types.d, word, column % 2) != p.expected(row, column, 3);
    }
  EXPECT_EQ(wrong, 0u) << types.d << " " << types.a << " " << types.b
                       << " sparse " << sparse << " selector " << selector
                       << " A in registers " << registerA;
}

} // namespace

TEST(WgmmaTypes, ResultsOfAllTypes) {
  for (const Types &types :
       {Types{"f16", "f16", "f16"}, Types{"f16", "e4m3", "e5m2"},
        Types{"s32", "s8", "s8"}, Types{"s32", "u8", "s8"},
        Types{"s32", "s8", "u8"}})
    for (bool registerA : {false, true})
      for (uint32_t n : {8u, 24u, 64u})
        expectWgmma(types, false, n, 0, registerA);
}

TEST(SparseWgmma, EveryTypeAndSelector) {
  for (const Types &types :
       {Types{"f32", "f16", "f16"}, Types{"f16", "f16", "f16"},
        Types{"f32", "bf16", "bf16"}, Types{"f32", "tf32", "tf32"},
        Types{"f32", "e4m3", "e5m2"}, Types{"s32", "s8", "u8"}})
    for (bool registerA : {false, true})
      for (uint32_t selector = 0;
           selector < (elementBytes(types.a) == 1 ? 1 : 2); ++selector)
        expectWgmma(types, true, 24, selector, registerA);
}

TEST(SparseMma, EveryShapeAndSelector) {
  struct Case {
    const char *shape;
    Types types;
    uint32_t k, selectors;
  };
  const Case cases[] = {
      {"m16n8k16", {"f32", "f16", "f16"}, 8, 4},
      {"m16n8k32", {"f32", "bf16", "bf16"}, 16, 2},
      {"m16n8k32", {"f16", "f16", "f16"}, 16, 2},
      {"m16n8k8", {"f32", "tf32", "tf32"}, 4, 4},
      {"m16n8k16", {"f32", "tf32", "tf32"}, 8, 2},
      {"m16n8k32", {"s32", "s8", "u8"}, 16, 2},
      {"m16n8k64", {"s32", "u8", "s8"}, 32, 1},
      {"m16n8k64", {"f32", "e4m3", "e5m2"}, 32, 1},
      {"m16n8k64", {"f16", "e5m2", "e4m3"}, 32, 1},
  };
  for (const Case &c : cases)
    for (uint32_t selector = 0; selector <= c.selectors; ++selector) {
      Problem p(16, 8, c.k, true, c.types);
      const unsigned bytes = elementBytes(c.types.a), packed = 4 / bytes;
      const uint32_t ofA = 16 * c.k / 32 / packed,
                     ofB = 8 * 2 * c.k / 32 / packed;
      const bool half = std::string(c.types.d) == "f16";
      const uint32_t ofD = half ? 2 : 4;
      std::vector<uint8_t> image((ofA + ofB) * 128);
      for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t k = 0; k < c.k; ++k)
          put(image,
              (k / (4 * packed) * 2 + row / 8) * 128 +
                  (row % 8 * 4 + k / packed % 4) * 4 + k % packed * bytes,
              c.types.a, p.a[row * c.k + k]);
      for (uint32_t n = 0; n < 8; ++n)
        for (uint32_t k = 0; k < 2 * c.k; ++k)
          put(image,
              (ofA + k / (4 * packed)) * 128 + (n * 4 + k / packed % 4) * 4 +
                  k % packed * bytes,
              c.types.b, p.b[n * 2 * c.k + k]);
      std::vector<uint32_t> words = p.metadata(0, selector % c.selectors);
      image.insert(image.end(), reinterpret_cast<uint8_t *>(words.data()),
                   reinterpret_cast<uint8_t *>(words.data()) + 128);
      std::string body = R"(
  .reg .b32 %t, %m, %v<32>; .reg .b64 %in, %out, %d;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4;
  add.s64 %in, %in, %d; add.s64 %out, %out, %d;
)";
      for (uint32_t i = 0; i < ofA + ofB; ++i)
        body += "  ld.global.b32 %v" + std::to_string(i) + ", [%in+" +
                std::to_string(i * 128) + "];\n";
      const char *before = half                              ? "0x42004200"
                           : std::string(c.types.d) == "f32" ? "0x40400000"
                                                             : "3";
      for (uint32_t i = 0; i < ofD; ++i)
        body += "  mov.b32 %v" + std::to_string(20 + i) + ", " + before + ";\n";
      body += "  ld.global.b32 %m, [%in+" + std::to_string((ofA + ofB) * 128) +
              "];\n  mma.sp::ordered_metadata.sync.aligned." + c.shape +
              ".row.col." + c.types.d + "." + c.types.a + "." + c.types.b +
              "." + c.types.d + " " + registers("%v", 20, ofD) + ", " +
              registers("%v", 0, ofA) + ", " + registers("%v", ofA, ofB) +
              ", " + registers("%v", 20, ofD) + ", %m, " +
              std::to_string(selector) + ";\n";
      for (uint32_t i = 0; i < ofD; ++i)
        body += "  st.global.b32 [%out+" + std::to_string(i * 128) + "], %v" +
                std::to_string(20 + i) + ";\n";
      Device device;
      uint64_t in = *device.allocate("in", image.size()),
               out = *device.allocate("out", 512);
      device.write(in, image.data(), image.size());
      LaunchConfig config;
      config.block = {32, 1, 1};
      Report report = run(
          device,
          kernel(".param .u64 in, .param .u64 out", body + "  ret;", "sm_90a"),
          {KernelArgument::value(in), KernelArgument::value(out)}, config);
      if (selector == c.selectors) {
        EXPECT_THAT(report.str(),
                    HasSubstr("takes a sparsity selector from 0"));
        continue;
      }
      ASSERT_TRUE(report.ok()) << report.str();
      std::vector<uint32_t> d(128);
      device.read(out, d.data(), 512);
      size_t wrong = 0;
      for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t n = 0; n < 8; ++n) {
          uint32_t lane = row % 8 * 4 + n / 2,
                   i = half ? row / 8 : row / 8 * 2 + n % 2;
          wrong += decode(c.types.d, d[i * 32 + lane], n % 2) !=
                   p.expected(row, n, 3);
        }
      EXPECT_EQ(wrong, 0u) << c.shape << " " << c.types.a << " selector "
                           << selector;
    }
}
