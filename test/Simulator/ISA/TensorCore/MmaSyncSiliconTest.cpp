// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync against an H200 (driver 580, ptxas of the driver): sums of random
// registers, bit by bit. 128 products of each form and range were compared; a
// hash of the first four is kept.

#include "Kernels.h"

#include <array>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

/// The Mersenne twister with the state of init_by_array({7}) (Matsumoto and
/// Nishimura, mt19937ar), which made the operands.
class Twister {
public:
  Twister() {
    state[0] = 19650218;
    for (uint32_t i = 1; i < size; ++i)
      state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    uint32_t i = 1;
    for (uint32_t step = 0; step < size; ++step) {
      state[i] =
          (state[i] ^ (state[i - 1] ^ state[i - 1] >> 30) * 1664525u) + 7;
      advance(i);
    }
    for (uint32_t step = 1; step < size; ++step) {
      state[i] =
          (state[i] ^ (state[i - 1] ^ state[i - 1] >> 30) * 1566083941u) - i;
      advance(i);
    }
    state[0] = 0x80000000;
  }
  uint32_t next() {
    if (at == size)
      refill();
    uint32_t y = state[at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680;
    y ^= y << 15 & 0xefc60000;
    return y ^ y >> 18;
  }

private:
  static constexpr uint32_t size = 624;
  std::array<uint32_t, size> state;
  uint32_t at = size;

  void advance(uint32_t &i) {
    if (++i < size)
      return;
    state[0] = state[size - 1];
    i = 1;
  }
  void refill() {
    for (uint32_t i = 0; i < size; ++i) {
      uint32_t y =
          (state[i] & 0x80000000) | (state[(i + 1) % size] & 0x7fffffff);
      state[i] = state[(i + 397) % size] ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
    }
    at = 0;
  }
};

/// Bits that are kept of a random word, and bits that are set: exponents near
/// 0, and small ones. The third range is of all codes.
struct Range {
  const char *type;
  uint32_t bits[2][2];
};
const Range kRanges[] = {
    {"f16", {{0x8fff8fff, 0x30003000}, {0xbfffbfff, 0x00000000}}},
    {"bf16", {{0x81ff81ff, 0x3e003e00}, {0x87ff87ff, 0x38003800}}},
    {"e4m3", {{0x9f9f9f9f, 0x28282828}, {0xbfbfbfbf, 0x00000000}}},
    {"e5m2", {{0x8f8f8f8f, 0x30303030}, {0xbfbfbfbf, 0x00000000}}},
    {"tf32", {{0x81ffffff, 0x3e000000}, {0x87ffffff, 0x38000000}}},
    {"f32", {{0x81ffffff, 0x3e000000}, {0x8fffffff, 0x30000000}}},
};

struct Form {
  const char *shape, *d, *a, *b, *c, *tail;
  uint32_t hashes[3]; ///< FNV-1a of words, by range
};
const Form kForms[] = {
    {"m16n8k8",
     "f32",
     "f16",
     "f16",
     "f32",
     "",
     {0xce3ed2f5, 0x9bb1b639, 0x4e7df802}},
    {"m16n8k8",
     "f16",
     "f16",
     "f16",
     "f16",
     "",
     {0x5069003d, 0xe2379427, 0x148f6ec2}},
    {"m16n8k8",
     "f32",
     "bf16",
     "bf16",
     "f32",
     "",
     {0x92274c1c, 0x4f0b2c99, 0xed056568}},
    {"m16n8k16",
     "f32",
     "f16",
     "f16",
     "f32",
     "",
     {0xda58351b, 0x0ccdd43a, 0xd6d6a1aa}},
    {"m16n8k16",
     "f16",
     "f16",
     "f16",
     "f16",
     "",
     {0xbca25fa3, 0x7d59daa0, 0xb0da1ed4}},
    {"m16n8k16",
     "f32",
     "bf16",
     "bf16",
     "f32",
     "",
     {0xf5491891, 0x26e9d374, 0x273a06dd}},
    {"m16n8k4",
     "f32",
     "tf32",
     "tf32",
     "f32",
     "",
     {0x9e080a53, 0xefe763f6, 0x502e50cd}},
    {"m16n8k8",
     "f32",
     "tf32",
     "tf32",
     "f32",
     "",
     {0x2c2fc332, 0xbe1a5876, 0x81cd114e}},
    {"m16n8k16",
     "f32",
     "e4m3",
     "e4m3",
     "f32",
     "",
     {0xf74fafff, 0xf514ff04, 0xca5cf4cc}},
    {"m16n8k16",
     "f32",
     "e4m3",
     "e5m2",
     "f32",
     "",
     {0x70e1e16b, 0xdc6d7b26, 0xdcfd1c7f}},
    {"m16n8k16",
     "f32",
     "e5m2",
     "e4m3",
     "f32",
     "",
     {0x578da9e7, 0x21449821, 0x5d5bb95d}},
    {"m16n8k16",
     "f32",
     "e5m2",
     "e5m2",
     "f32",
     "",
     {0x9169782a, 0xb65bac7b, 0x5a90eea5}},
    {"m16n8k16",
     "f16",
     "e4m3",
     "e4m3",
     "f16",
     "",
     {0x5441c44a, 0x1dbceca5, 0x53810ff6}},
    {"m16n8k16",
     "f16",
     "e4m3",
     "e5m2",
     "f16",
     "",
     {0x29fabe48, 0x37fd8c1c, 0x941f677c}},
    {"m16n8k16",
     "f16",
     "e5m2",
     "e4m3",
     "f16",
     "",
     {0x11de11c7, 0xa999bda3, 0x8b8375ee}},
    {"m16n8k16",
     "f16",
     "e5m2",
     "e5m2",
     "f16",
     "",
     {0x53ce75f3, 0x20abc092, 0xbec14a36}},
    {"m16n8k32",
     "f32",
     "e4m3",
     "e4m3",
     "f32",
     "",
     {0x130e031e, 0x07606b2b, 0xaaf8e86f}},
    {"m16n8k32",
     "f32",
     "e4m3",
     "e5m2",
     "f32",
     "",
     {0xca354e6a, 0xb4bc1a3b, 0xb14794ab}},
    {"m16n8k32",
     "f32",
     "e5m2",
     "e4m3",
     "f32",
     "",
     {0xf582dade, 0x59d24194, 0x0ffe5d94}},
    {"m16n8k32",
     "f32",
     "e5m2",
     "e5m2",
     "f32",
     "",
     {0x706cbe0f, 0xbdab6a05, 0x5a323c4b}},
    {"m16n8k32",
     "f16",
     "e4m3",
     "e4m3",
     "f16",
     "",
     {0x9ce5078a, 0xda88a83f, 0x45634c45}},
    {"m16n8k32",
     "f16",
     "e4m3",
     "e5m2",
     "f16",
     "",
     {0x26cab754, 0xc30db238, 0x96498276}},
    {"m16n8k32",
     "f16",
     "e5m2",
     "e4m3",
     "f16",
     "",
     {0x6ce0c3fb, 0x1a8ea96f, 0xbd49abe2}},
    {"m16n8k32",
     "f16",
     "e5m2",
     "e5m2",
     "f16",
     "",
     {0x446f2713, 0x04777ebb, 0xe8f3a5a3}},
    {"m8n8k16",
     "s32",
     "s8",
     "u8",
     "s32",
     "",
     {0x89ca0fd8, 0x41c3ad3c, 0x1c3f3a9c}},
    {"m16n8k32",
     "s32",
     "u8",
     "s8",
     "s32",
     "",
     {0x6468ae77, 0x468c2d1e, 0xf24b5612}},
    {"m16n8k64",
     "s32",
     "s4",
     "u4",
     "s32",
     "",
     {0x857fbb22, 0x6b456cec, 0xd5ace74a}},
    {"m16n8k256",
     "s32",
     "b1",
     "b1",
     "s32",
     ".and.popc",
     {0x0bca0133, 0xdea1dcb6, 0xab5466ad}},
    {"m16n8k256",
     "s32",
     "b1",
     "b1",
     "s32",
     ".xor.popc",
     {0x9b0f1cc8, 0x97f1814f, 0x7b1b1983}},
};
constexpr uint32_t kMade = 128, kKept = 4; ///< products

uint32_t bitsOf(const std::string &type) {
  if (type == "e4m3" || type == "e5m2")
    return 8;
  if (type == "f16" || type == "bf16")
    return 16;
  return type == "tf32" ? 32 : uint32_t(std::stoi(type.substr(1)));
}

uint32_t within(const std::string &type, unsigned range, uint32_t word) {
  for (const Range &r : kRanges)
    if (type == r.type && range < 2)
      return (word & r.bits[range][0]) | r.bits[range][1];
  return word;
}

std::string vectorOf(const char *name, uint32_t begin, uint32_t end) {
  std::string text = "{";
  for (uint32_t i = begin; i < end; ++i)
    text += (i > begin ? ", " : "") + std::string(name) + std::to_string(i);
  return text + "}";
}

/// The words of D, CTA by CTA and register by register.
std::vector<uint32_t> run(const Form &form, uint32_t aRegisters,
                          uint32_t bRegisters, uint32_t cRegisters,
                          const std::vector<uint32_t> &in) {
  uint32_t behindB = aRegisters + bRegisters, all = behindB + cRegisters;
  std::string body = R"(
  .reg .b64 %p<3>; .reg .b32 %r<20>, %d<8>, %t<3>;
  ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out];
  mov.u32 %t0, %tid.x; mov.u32 %t1, %ctaid.x;
)";
  const std::pair<const char *, uint32_t> buffers[] = {{"%p0", all},
                                                       {"%p1", cRegisters}};
  for (auto [name, registers] : buffers)
    body += "mad.lo.u32 %t2, %t1, " + std::to_string(registers * 32) +
            ", %t0; mul.wide.u32 %p2, %t2, 4; add.u64 " + name + ", " + name +
            ", %p2;\n";
  for (uint32_t r = 0; r < all; ++r)
    body += "ld.global.b32 %r" + std::to_string(r) + ", [%p0+" +
            std::to_string(r * 128) + "];\n";
  body += std::string("mma.sync.aligned.") + form.shape + ".row.col." + form.d +
          "." + form.a + "." + form.b + "." + form.c + form.tail + " " +
          vectorOf("%d", 0, cRegisters) + ", " + vectorOf("%r", 0, aRegisters) +
          ", " + vectorOf("%r", aRegisters, behindB) + ", " +
          vectorOf("%r", behindB, all) + ";\n";
  for (uint32_t r = 0; r < cRegisters; ++r)
    body += "st.global.b32 [%p1+" + std::to_string(r * 128) + "], %d" +
            std::to_string(r) + ";\n";
  Device device;
  std::vector<uint32_t> words(kKept * cRegisters * 32);
  uint64_t source = *device.allocate("in", in.size() * 4),
           target = *device.allocate("out", words.size() * 4);
  device.write(source, in.data(), in.size() * 4);
  LaunchConfig config;
  config.grid = {kKept, 1, 1};
  config.block = {32, 1, 1};
  Report report = test::run(
      device,
      kernel(".param .u64 in, .param .u64 out", body + "ret;", "sm_90a"),
      {KernelArgument::value(source), KernelArgument::value(target)}, config);
  EXPECT_TRUE(report.ok()) << report.str();
  device.read(target, words.data(), words.size() * 4);
  return words;
}

} // namespace

TEST(MmaSyncSilicon, EverySumIsThatOfTheH200) {
  Twister twister;
  for (const Form &form : kForms)
    for (unsigned range = 0; range < 3; ++range) {
      unsigned m, k;
      ASSERT_EQ(std::sscanf(form.shape, "m%un8k%u", &m, &k), 2);
      uint32_t a = m * k * bitsOf(form.a) / 1024,
               b = 8 * k * bitsOf(form.a) / 1024,
               c = m * 8 * bitsOf(form.c) / 1024;
      std::vector<uint32_t> in;
      for (uint32_t product = 0; product < kMade; ++product)
        for (uint32_t r = 0; r < a + b + c; ++r)
          for (uint32_t lane = 0; lane < 32; ++lane) {
            const char *type = r < a ? form.a : r < a + b ? form.b : form.c;
            uint32_t word = within(type, range, twister.next());
            if (product < kKept)
              in.push_back(word);
          }
      uint32_t hash = 0x811c9dc5;
      for (uint32_t word : run(form, a, b, c, in))
        hash = (hash ^ word) * 0x01000193;
      EXPECT_EQ(hash, form.hashes[range])
          << form.shape << " " << form.d << " " << form.a << " " << form.b
          << form.tail << " range " << range;
    }
}
