// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clc_tiles.cu: clusters that take over others, and what goes wrong with it.
#include "Foreign.h"

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {
class ClusterControl : public testing::Test {
protected:
  static constexpr uint32_t clusters = 23;

  Report run(const std::string &text, uint64_t seed = 0,
             Completion completion = Completion::Late) {
    Launcher launcher(text);
    launcher.strict = strict;
    size_t words = clusters * 4;
    uint64_t visitsAddress = launcher.output<uint32_t>("visits", words, 0);
    uint64_t ownersAddress = launcher.output<uint32_t>("owners", words, ~0u);
    LaunchConfig config;
    config.grid = {clusters * 2, 1, 1};
    config.block = {96, 1, 1};
    config.cluster = {2, 1, 1};
    Report report = launcher.run({KernelArgument::value(visitsAddress),
                                  KernelArgument::value(ownersAddress)},
                                 config, seed, completion);
    visits = launcher.contents<uint32_t>(visitsAddress, words);
    owners = launcher.contents<uint32_t>(ownersAddress, words);
    return report;
  }

  void expectFault(const std::string &changed, std::vector<ErrorKind> kinds,
                   const std::vector<std::string> &parts = {}) {
    for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
      Report report = run(changed, seed);
      ASSERT_FALSE(report.ok()) << "seed " << seed;
      EXPECT_THAT(kinds, testing::Contains(report.errors[0].kind))
          << "seed " << seed << "\n"
          << report.str();
      for (const std::string &part : parts)
        EXPECT_THAT(report.str(), testing::HasSubstr(part)) << "seed " << seed;
    }
  }

  static bool hasError(const Report &report, ErrorKind kind) {
    for (const SimulationError &error : report.errors)
      if (error.kind == kind)
        return true;
    return false;
  }

  std::string text = readKernel("clc_tiles.ptx");
  bool strict = false; // it asks ahead
  std::vector<uint32_t> visits, owners;
};
} // namespace

TEST_F(ClusterControl, VisitsEachTileOnce) {
  std::set<std::vector<uint32_t>> assignments;
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(text, seed);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str();
    for (uint32_t count : visits)
      EXPECT_EQ(count, 1u) << "seed " << seed;
    // Both CTAs and both warps of a cluster saw the same responses.
    for (uint32_t i = 0; i < owners.size(); ++i)
      EXPECT_EQ(owners[i], owners[i / 4 * 4]) << "seed " << seed;
    EXPECT_EQ(report.statistics.blocks,
              2 * (clusters - report.statistics.canceledClusters));
    assignments.insert(owners);
  }
  EXPECT_GE(assignments.size(), scheduleSeeds - 2);
}

TEST_F(ClusterControl, AskingAheadIsUnordered) {
  // A consumer may have observed the failure of the request before.
  std::set<Rule> rules;
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed)
    for (const SimulationError &e : run(text, seed).warnings)
      rules.insert(e.rule);
  EXPECT_EQ(rules, std::set<Rule>{Rule::UnorderedRequest});
  strict = true;
  EXPECT_FALSE(run(text).ok());
}

TEST_F(ClusterControl, RunsWhenWorkCompletesAtIssue) {
  Report report = run(text, 3, Completion::AtIssue);
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST_F(ClusterControl, AReadWithoutAProxyFenceIsCaught) {
  for (unsigned which : {0u, 1u})
    expectFault(withoutLine(text, "fence.proxy.async", which),
                {ErrorKind::MissingProxyFence},
                {"overwrites", "fence.proxy.async after the read"});
}

TEST_F(ClusterControl, TooFewBytesAreCaught) {
  // Only CTA 0 expects its response.
  expectFault(withoutLine(text, "mbarrier.arrive.expect_tx", 1),
              {ErrorKind::Deadlock});
}

TEST_F(ClusterControl, AResponseForOneCtaIsADeadlock) {
  expectFault(replaced(text, ".multicast::cluster::all", ""),
              {ErrorKind::Deadlock}, {"full", "16 bytes pending"});
}

TEST_F(ClusterControl, AskingAgainAfterAFailureIsCaught) {
  // The scheduler goes on whatever the response says.
  expectFault(replaced(text, "setp.lt.s32 \t%p15, %r102, 0;",
                       "setp.lt.s32 \t%p15, %r102, -1;"),
              {ErrorKind::InvalidOperation}, {"observed a failed request"});
}

TEST_F(ClusterControl, ReadingAFailedResponseIsCaught) {
  expectFault(replaced(text, "@p clusterlaunchcontrol.query_cancel.get",
                       "clusterlaunchcontrol.query_cancel.get", 1),
              {ErrorKind::InvalidOperation},
              {"test query_cancel.is_canceled first"});
}

TEST_F(ClusterControl, ResponsesNobodyWaitsForAreCaught) {
  // The wait for the requests ahead passes at once.
  std::string changed = text;
  size_t at = changed.rfind("mbarrier.try_wait.parity");
  size_t line = changed.find(";", at);
  size_t comma = changed.rfind(", ", line);
  std::string parity = changed.substr(comma + 2, line - comma - 2);
  changed.replace(at, 0, "xor.b32 " + parity + ", " + parity + ", 1;\n\t");
  unsigned caught = 0;
  for (uint64_t seed = 0; seed < scheduleSeeds; ++seed) {
    Report report = run(changed, seed);
    caught += hasError(report, ErrorKind::WorkInFlight) ||
              hasError(report, ErrorKind::ExitedCta);
  }
  EXPECT_GT(caught, 0u);
}
