// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line.
#include "Options.h"

#include <gtest/gtest.h>
#include <vector>

using namespace fp8::run;

namespace {
std::optional<Options> parse(std::vector<const char *> arguments,
                             int &exitCode) {
  arguments.insert(arguments.begin(), "fp8-run");
  exitCode = -1;
  return parseCommandLine(int(arguments.size()), arguments.data(), exitCode);
}
} // namespace

TEST(Options, Defaults) {
  int exitCode;
  auto options = parse({"k.ptx"}, exitCode);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->ptxPath, "k.ptx");
  EXPECT_EQ(options->backend, BackendKind::Auto);
  EXPECT_EQ(options->m, std::nullopt);
  EXPECT_EQ(options->beta, std::nullopt);
  EXPECT_EQ(options->elementwise, fp8::reference::Elementwise::None);
  EXPECT_EQ(options->schedules, 1u);
  EXPECT_EQ(options->simulation.multiprocessorCount, 0u);
  EXPECT_EQ(options->simulation.completion, fp8::sim::Completion::Late);
}

TEST(Options, OfAGpu) {
  int exitCode;
  auto options = parse({"k.ptx"}, exitCode);
  EXPECT_EQ(options->replays, 0u);
  EXPECT_EQ(options->watchdogSeconds, 30);
  EXPECT_FALSE(options->flushClock);
  options = parse({"--time", "k.ptx"}, exitCode);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->ptxPath, "k.ptx");
  EXPECT_EQ(options->replays, 20u);
  options = parse({"k.ptx", "--time=101", "--clock=flush", "--watchdog=2.5",
                   "--device=3", "--programmatic-launch"},
                  exitCode);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->replays, 101u);
  EXPECT_TRUE(options->flushClock);
  EXPECT_EQ(options->watchdogSeconds, 2.5);
  EXPECT_EQ(options->device, 3);
  EXPECT_TRUE(options->programmaticLaunch);
  EXPECT_TRUE(parse({"--list-devices"}, exitCode)->listDevices);
  for (const char *wrong : {"--time=0", "--time=x", "--watchdog=0",
                            "--watchdog=x", "--device=-1", "--clock=sun"}) {
    EXPECT_FALSE(parse({"k.ptx", wrong}, exitCode)) << wrong;
    EXPECT_EQ(exitCode, 2);
  }
}

TEST(Options, All) {
  int exitCode;
  auto options = parse({"k.ptx",
                        "--backend=sim",
                        "--m=1",
                        "--n=576",
                        "--k=7168",
                        "--seed=9",
                        "--manifest=x.json",
                        "--schedule-seed=4",
                        "--schedules=10",
                        "--completion=at-issue",
                        "--multiprocessors=3",
                        "--step-limit=1000",
                        "--grid-limit=7",
                        "--max-errors=2",
                        "--memory-limit=4096",
                        "--data=specials",
                        "--verbose",
                        "--beta=-1.5",
                        "--elementwise=silu",
                        "--no-strict"},
                       exitCode);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->backend, BackendKind::Simulator);
  EXPECT_EQ(options->m, 1);
  EXPECT_EQ(options->n, 576);
  EXPECT_EQ(options->k, 7168);
  EXPECT_EQ(options->seed, 9u);
  EXPECT_EQ(options->manifestPath, "x.json");
  EXPECT_EQ(options->simulation.scheduleSeed, 4u);
  EXPECT_EQ(options->schedules, 10u);
  EXPECT_EQ(options->simulation.completion, fp8::sim::Completion::AtIssue);
  EXPECT_EQ(options->simulation.multiprocessorCount, 3u);
  EXPECT_EQ(options->simulation.stepLimit, 1000u);
  EXPECT_EQ(options->simulation.gridLimit, 7u);
  EXPECT_EQ(options->simulation.maxErrors, 2u);
  EXPECT_FALSE(options->simulation.strict);
  EXPECT_EQ(options->memoryLimit, 4096u);
  EXPECT_EQ(options->data, fp8::reference::DataKind::Specials);
  EXPECT_TRUE(options->verbose);
  EXPECT_EQ(options->beta, -1.5f);
  EXPECT_EQ(options->elementwise, fp8::reference::Elementwise::Silu);
}

TEST(Options, MistakesEndWithTwo) {
  for (std::vector<const char *> arguments :
       std::vector<std::vector<const char *>>{{},
                                              {"k.ptx", "more.ptx"},
                                              {"k.ptx", "--m=x"},
                                              {"k.ptx", "--m=-1"},
                                              {"k.ptx", "--backend=gpu"},
                                              {"k.ptx", "--data=2"},
                                              {"k.ptx", "--beta=x"},
                                              {"k.ptx", "--elementwise=log"},
                                              {"k.ptx", "--schedules=0"},
                                              {"k.ptx", "--multiprocessors=-1"},
                                              {"k.ptx", "--unknown"}}) {
    int exitCode;
    EXPECT_FALSE(parse(arguments, exitCode));
    EXPECT_EQ(exitCode, 2);
  }
}

TEST(Options, NumbersAreWhatTheySay) {
  int exitCode;
  auto options = parse({"k.ptx", "--seed=18446744073709551615", "--m=0",
                        "--step-limit=18446744073709551615"},
                       exitCode);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->seed, UINT64_MAX);
  EXPECT_EQ(options->simulation.stepLimit, UINT64_MAX);
  for (const char *wrong :
       {"--m=010", "--m=0x10", "--m=1.5", "--m=1e3", "--m=4294967297",
        "--seed=18446744073709551616", "--seed=-1", "--memory-limit=-1",
        "--step-limit=-1", "--grid-limit=-1", "--schedule-seed=-1",
        "--watchdog=nan", "--watchdog=inf", "--beta=1e39"}) {
    EXPECT_FALSE(parse({"k.ptx", wrong}, exitCode)) << wrong;
    EXPECT_EQ(exitCode, 2);
  }
}

TEST(Options, ErrorsNameTheRuleAndTheCure) {
  auto errorOf = [](std::vector<const char *> arguments) {
    int exitCode;
    testing::internal::CaptureStderr();
    EXPECT_FALSE(parse(arguments, exitCode));
    std::string text = testing::internal::GetCapturedStderr();
    const std::string begin = "fp8-run: error: ";
    const std::string end = "; see fp8-run --help\n";
    EXPECT_EQ(text.substr(0, begin.size()), begin);
    text.erase(0, begin.size());
    return text.substr(0, text.size() - end.size());
  };
  EXPECT_EQ(errorOf({}), "there is no kernel; name OUT.ptx");
  EXPECT_EQ(errorOf({"k.ptx", "--m=abc"}),
            "--m: 'abc' is no whole number, in decimal, from 0 to 4294967296");
  EXPECT_EQ(errorOf({"k.ptx", "--m=1", "--m=2"}),
            "--m is given more than once; give it once");
  EXPECT_EQ(errorOf({"k.ptx", "--dump=", "--verbose"}),
            "'--dump=' has no value; write one behind it");
  EXPECT_EQ(errorOf({"k.ptx", "--dump"}),
            "--dump has no value; write --dump=VALUE");
  EXPECT_EQ(errorOf({"k.ptx", "more.ptx"}), "unknown argument 'more.ptx'");
  EXPECT_EQ(errorOf({"k.ptx", "--gpu=h200"}),
            "--gpu requires --timing; add it");
  for (const char *idle : {"--m=3", "--beta=2", "--batch=5", "--data=ones",
                           "--time", "--seed=1", "--elementwise=relu"})
    EXPECT_NE(errorOf({"k.ptx", "--launch=x.json", idle}).find(" excludes --"),
              std::string::npos)
        << idle;
}

TEST(Options, HelpEndsWithZero) {
  int exitCode;
  EXPECT_FALSE(parse({"--help"}, exitCode));
  EXPECT_EQ(exitCode, 0);
}
