// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops around atom.cas that begin with a plain load: clusters that update one
// word, with the load's value used for that and for other things.

#include "Kernels.h"

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

/// Eight blocks add their number to the first word, by a loop around atom.cas.
/// `behind`: code behind the load into %r1.
std::set<Rule> rulesOf(const std::string &behind, uint32_t &sum) {
  std::set<Rule> rules;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Device device;
    uint64_t address = *device.allocate("word", 64);
    uint32_t zero[16] = {};
    device.write(address, zero, sizeof zero);
    LaunchConfig config;
    config.grid = {8, 1, 1};
    config.block = {1, 1, 1};
    Options options;
    options.scheduleSeed = seed;
    Report report = run(device, kernel(".param .u64 word", R"(
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [word]; mov.u32 %r0, %ctaid.x;
AGAIN: ld.global.u32 %r1, [%d0];
)" + behind + R"(
  add.u32 %r2, %r1, %r0;
  mov.b32 %r3, %r1;
  atom.relaxed.gpu.global.cas.b32 %r4, [%d0], %r3, %r2;
  setp.ne.u32 %p0, %r4, %r1; @%p0 bra AGAIN;
  ret;
)"),
                        {KernelArgument::value(address)}, config, options);
    for (const auto *list : {&report.errors, &report.warnings})
      for (const SimulationError &e : *list) {
        rules.insert(e.rule);
        EXPECT_EQ(e.severity, infoOf(e.rule).severity);
      }
    device.read(address, &sum, 4);
  }
  return rules;
}

} // namespace

TEST(CasLoops, AValueThatOnlyFeedsTheCompareMayBeStale) {
  uint32_t sum = 0;
  EXPECT_EQ(rulesOf("", sum), std::set<Rule>{Rule::StaleCompare});
  EXPECT_EQ(sum, 28u);
  // Code that does something else with other registers.
  EXPECT_EQ(rulesOf("st.global.u32 [%d0+32], 7;", sum),
            std::set<Rule>{Rule::StaleCompare});
}

TEST(CasLoops, AValueThatIsUsedOtherwiseIsARace) {
  uint32_t sum = 0;
  const std::set<Rule> race{ruleOf(ErrorKind::Race)};
  for (const char *use :
       {"mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d1, %d0; "
        "st.global.u32 [%d1+4], %r1;",
        "setp.gt.u32 %p1, %r1, 100; @%p1 ret;",
        "add.u32 %r5, %r1, 1; setp.gt.u32 %p1, %r5, 100; @%p1 mov.u32 %r0, 0;",
        // What is compared is not what was loaded.
        "add.u32 %r1, %r1, 0;", "or.b32 %r1, %r1, 0;"})
    EXPECT_EQ(rulesOf(use, sum), race) << use;
}
