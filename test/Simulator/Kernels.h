// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX that several tests run: short snippets wrapped into a kernel, and a
// warp-specialised GEMM.

#ifndef FP8_TEST_SIMULATOR_KERNELS_H
#define FP8_TEST_SIMULATOR_KERNELS_H

#include "fp8/Simulator/Simulator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace fp8::sim::test {

/// A module for `chip` with one kernel `k` of the given parameters and body.
inline std::string kernel(const std::string &parameters,
                          const std::string &body,
                          const std::string &chip = "sm_100a",
                          const std::string &variables = "") {
  return ".version 8.8\n.target " + chip + "\n.address_size 64\n" + variables +
         ".visible .entry k(" + parameters + ")\n{\n" + body + "\n}\n";
}

/// Replaces the first `from`; fails the test when there is none, so that a
/// fault is never planted in vain.
inline std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "no '" << from << "' to replace";
  if (at != std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

inline PTXModule parseOk(const std::string &text) {
  PTXModule::ParseResult result = PTXModule::parse(text);
  for (const Diagnostic &d : result.diagnostics)
    ADD_FAILURE() << d.str("test.ptx");
  return result.module;
}

inline bool has(const Report &report, ErrorKind kind) {
  for (const SimulationError &e : report.errors)
    if (e.kind == kind)
      return true;
  return false;
}

/// Leaves a kernel, with its launch in the first line, in the folder that
/// FP8_TEST_PTX names, if it names one: the fuzzer begins from what the tests
/// run (test/Fuzz/corpus.py).
inline void keepForFuzzer(const std::string &text, const LaunchConfig &config) {
  const char *folder = std::getenv("FP8_TEST_PTX");
  if (!folder)
    return;
  std::string launch = "// launch:";
  for (const auto &extents : {config.grid, config.block, config.cluster})
    for (uint32_t extent : extents)
      launch += " " + std::to_string(extent);
  const std::string whole = launch + "\n" + text;
  std::ofstream(std::string(folder) + "/" +
                std::to_string(std::hash<std::string>()(whole)) + ".ptx")
      << whole;
}

/// Runs kernel `k` of `text`.
inline Report run(Device &device, const std::string &text,
                  const std::vector<KernelArgument> &arguments,
                  LaunchConfig config = {}, Options options = {}) {
  keepForFuzzer(text, config);
  PTXModule::ParseResult result = PTXModule::parse(text);
  if (!result) {
    ADD_FAILURE() << result.diagnostics.front().str("test.ptx");
    return {};
  }
  return launch(device, result.module, "k", arguments, config, options);
}

/// Runs `body` and returns the `words` 32-bit words of the buffer it fills:
/// %out holds the buffer's address, %t the thread's number, %o its own word.
inline std::vector<uint32_t> compute(const std::string &body, uint32_t threads,
                                     uint32_t words,
                                     const std::string &variables = "",
                                     Report *report = nullptr,
                                     Options options = {}) {
  std::string text = kernel(".param .u64 out", R"(
  .reg .pred %p<10>;
  .reg .b16 %h<20>;
  .reg .b32 %r<60>;
  .reg .b64 %d<40>;
  .reg .f32 %f<30>;
  .reg .f64 %e<20>;
  .reg .b64 %out, %o;
  .reg .b32 %t;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.s64 %o, %o, %out;
)" + body + "\n  ret;",
                            "sm_100a", variables);
  Device device;
  uint64_t address = *device.allocate("out", words * 4);
  LaunchConfig config;
  config.block = {threads, 1, 1};
  Report result =
      run(device, text, {KernelArgument::value(address)}, config, options);
  if (report)
    *report = result;
  else
    EXPECT_TRUE(result.ok()) << result.str();
  std::vector<uint32_t> values(words);
  device.read(address, values.data(), words * 4);
  return values;
}

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_KERNELS_H
