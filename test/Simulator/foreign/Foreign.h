// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running the PTX files of this directory, as they are and with planted faults.
#ifndef FP8_TEST_SIMULATOR_FOREIGN_FOREIGN_H
#define FP8_TEST_SIMULATOR_FOREIGN_FOREIGN_H

#include "fp8/Simulator/Simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fp8::sim::test {

/// Schedules that each kernel is run under.
constexpr uint64_t scheduleSeeds = 10;

/// The text of a PTX file; fails the test when there is none.
std::string readKernel(const std::string &fileName);

/// `text` with the given occurrence (from 0) of `from` replaced; fails the test
/// when there are not that many, so that a fault is never planted in vain.
std::string replaced(std::string text, const std::string &from,
                     const std::string &to, unsigned occurrence = 0);

/// `text` without the line that holds that occurrence of `part`.
std::string withoutLine(std::string text, const std::string &part,
                        unsigned occurrence = 0);

/// A launch: the device, and buffers in the order they were made.
class Launcher {
public:
  explicit Launcher(const std::string &text);

  /// A buffer with these contents; its address.
  template <typename T>
  uint64_t input(const std::string &name, const std::vector<T> &values) {
    return upload(name, values.data(), values.size() * sizeof(T), true);
  }
  /// A buffer the kernel may write, filled with `fill`.
  template <typename T>
  uint64_t output(const std::string &name, size_t count, T fill) {
    std::vector<T> values(count, fill);
    return upload(name, values.data(), count * sizeof(T), false);
  }
  template <typename T>
  std::vector<T> contents(uint64_t address, size_t count) const {
    std::vector<T> values(count);
    EXPECT_TRUE(device.read(address, values.data(), count * sizeof(T)));
    return values;
  }

  /// Runs the only entry.
  Report run(const std::vector<KernelArgument> &arguments,
             const LaunchConfig &config, uint64_t seed = 0,
             Completion completion = Completion::Late);

  bool strict = true; ///< warnings are errors

private:
  uint64_t upload(const std::string &name, const void *data, size_t bytes,
                  bool readOnly);

  PTXModule module;
  Device device;
};

/// The report holds an error of this kind whose text holds each of `parts`.
void expectError(const Report &report, ErrorKind kind,
                 const std::vector<std::string> &parts = {});

/// A rank-2 map; the inner dimension first.
TensorMap matrixMap(uint64_t address, ElementType type, uint64_t columns,
                    uint64_t rows, uint64_t strideBytes, uint32_t boxColumns,
                    uint32_t boxRows, Swizzle swizzle);

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_FOREIGN_FOREIGN_H
