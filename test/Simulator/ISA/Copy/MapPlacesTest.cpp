// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where tensor maps lie: in parameters, in structs, in constant and in global
// memory.

#include "CopyKernels.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

TEST(MapPlaces, MapsMustBeParameters) {
  Device device;
  Tensor t =
      makeTensor(device, ElementType::U8, {256, 40}, {128, 16}, Swizzle::B128);
  auto reportOf = [&](const std::string &map, const KernelArgument &argument,
                      const std::string &parameter) {
    std::string text = kernel(
        parameter,
        R"(
  .reg .b64 %d<9>; .reg .b32 %r0; .local .align 64 .b8 copy[128];
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; mov.u32 %r0, s;
  mov.b64 %d2, copy; cvta.local.u64 %d1, %d2;
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], [)" +
            map + R"(, {0, 0}], [bar]; ret;)",
        "sm_90a",
        ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n");
    return run(device, text, {argument});
  };
  const char *good = ".param .align 64 .b8 map[128]";
  auto bytesOf = [](uint8_t first) {
    std::vector<uint8_t> bytes(128);
    bytes[0] = first;
    return KernelArgument::bytes(std::move(bytes));
  };
  EXPECT_THAT(reportOf("%d1", KernelArgument::tensorMap(t.map), good).str(),
              HasSubstr("in local or shared memory"));
  EXPECT_THAT(reportOf("map", bytesOf(0), good).str(),
              HasSubstr("holds 128 zero bytes"));
  EXPECT_THAT(reportOf("map", bytesOf(1), good).str(),
              HasSubstr("bytes that a GPU's driver encoded"));
  EXPECT_THAT(reportOf("map", KernelArgument::tensorMap(t.map),
                       ".param .align 8 .b8 map[128]")
                  .str(),
              HasSubstr("aligned to at least 64"));
  TensorMap broken = t.map;
  broken.box[0] = 300;
  EXPECT_THAT(reportOf("map", KernelArgument::tensorMap(broken), good).str(),
              HasSubstr("parameter 'map': tensor map's box is 300"));
  // Bytes that a launch did not declare as a map are checked at the use.
  EXPECT_THAT(
      reportOf("map", KernelArgument::bytes(broken.encode()), good).str(),
      HasSubstr("holds a broken map: tensor map's box is 300"));
}

// As every CUTLASS kernel passes them.
TEST(MapPlaces, MapsLieInStructsAndInConstantAndGlobalMemory) {
  Device device;
  Tensor t =
      makeTensor(device, ElementType::U8, {256, 40}, {128, 16}, Swizzle::B128);
  auto reportOf = [&](const std::string &address, size_t offset,
                      const TensorMap &map) {
    std::string text =
        kernel(
            ".param .align 64 .b8 all[320], .param .u64 out",
            R"(
  .reg .pred %p; .reg .b64 %d<9>; .reg .b32 %r<4>;
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; mov.u32 %r0, s;
  ld.param.u64 %d5, [all+256]; ld.param.u64 %d6, [out];
  )" + address + R"(
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%d1, {0, 0}], [bar];
LOOP: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra LOOP;
  ld.shared.u32 %r1, [s]; st.global.u32 [%d6], %r1; ret;)",
            "sm_90a",
            ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n");
    uint64_t inMemory = *device.allocate("map", kTensorMapBytes),
             out = *device.allocate("out", 4);
    device.write(inMemory, map.encode().data(), kTensorMapBytes);
    std::vector<KernelArgument::Field> fields = {
        {256, KernelArgument::value(inMemory)}};
    if (offset < 256)
      fields.push_back({offset, KernelArgument::tensorMap(map)});
    Report report =
        run(device, text,
            {KernelArgument::structure(std::vector<uint8_t>(320, 0xcd), fields),
             KernelArgument::value(out)});
    uint32_t got = 0, first;
    std::memcpy(&first, t.bytes.data(), 4);
    device.read(out, &got, 4);
    EXPECT_EQ(got == first, report.ok());
    return report.str();
  };
  const char *second = "mov.b64 %d0, all; cvta.param.u64 %d1, %d0; "
                       "add.s64 %d1, %d1, 128;";
  EXPECT_EQ(reportOf(second, 128, t.map), "");
  EXPECT_EQ(reportOf("mov.b64 %d1, %d5;", 256, t.map), "");
  TensorMap broken = t.map;
  broken.rank = 6;
  EXPECT_THAT(reportOf(second, 128, broken),
              HasSubstr("parameter 'all', offset 128: tensor map has rank 6"));
  EXPECT_THAT(reportOf(second, 72, t.map),
              HasSubstr("parameter 'all', offset 72, takes a tensor map"));
}
