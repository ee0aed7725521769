// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stamps of profiled kernels: the variable that they lie in.
#include "fp8/Runtime/Stamps.h"

#include "FakeDriver.h"

using namespace fp8;
using namespace fp8::runtime;

namespace {
/// One role of one CTA, with room for one stamp: as large as the variable that
/// the driver without a GPU has.
class RuntimeStamps : public FakeDriver {
protected:
  RuntimeStamps() {
    table.variable = "stamps";
    table.ctas = table.stamps = 1;
    table.roles = {{"load", 4, 1}};
  }
  launch::ProfileTable table;
  std::shared_ptr<Device> device = open();
  Expected<Kernel> kernel = Kernel::load(device, "ptx", "k.ptx", "k");
};
} // namespace

TEST_F(RuntimeStamps, AreClearedAndRead) {
  ASSERT_TRUE(kernel) << kernel.error();
  EXPECT_FALSE(clearStamps(*kernel, table));
  auto stamps = readStamps(*kernel, table);
  ASSERT_TRUE(stamps) << stamps.error();
  EXPECT_EQ(*stamps, std::vector<uint8_t>(64));
  EXPECT_EQ(count("cuModuleGetGlobal_v2 stamps"), 2u);
}

TEST_F(RuntimeStamps, OfAnotherManifestAreRefused) {
  ASSERT_TRUE(kernel) << kernel.error();
  table.stamps = 2;
  const std::string why = ": the variable has 64 bytes instead of 80; use the "
                          "manifest that was written with the PTX";
  auto error = clearStamps(*kernel, table);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "cannot clear the stamps in 'stamps'" + why);
  auto stamps = readStamps(*kernel, table);
  ASSERT_FALSE(stamps);
  EXPECT_EQ(stamps.error(), "cannot read the stamps in 'stamps'" + why);
}
