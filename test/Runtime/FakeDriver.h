// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests on the fake driver share: its environment, its log, a device.
#ifndef FP8_TEST_RUNTIME_FAKEDRIVER_H
#define FP8_TEST_RUNTIME_FAKEDRIVER_H

#include "ReadManifest.h"
#include "fp8/Runtime/Launch.h"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sstream>
#include <unistd.h>

class FakeDriver : public testing::Test {
protected:
  FakeDriver()
      : logPath(testing::TempDir() + "fp8-fake-driver-" +
                std::to_string(getpid()) + ".log") {
    std::ofstream(logPath) << ""; // nothing yet
    set("FP8_FAKE_LOG", logPath);
    set("FP8_CUDA_LIBRARY", FP8_FAKE_LIBRARY);
  }
  ~FakeDriver() override {
    for (const std::string &name : variables)
      unsetenv(name.c_str());
    std::remove(logPath.c_str());
  }

  void set(const char *name, const std::string &value) {
    setenv(name, value.c_str(), 1);
    variables.push_back(name);
  }
  /// Makes a function fail from now on; nothing if `plan` is empty.
  void fail(const std::string &plan) { set("FP8_FAKE_FAIL", plan); }

  std::string log() const { return fp8::test::readFile(logPath); }
  unsigned count(const std::string &call) const {
    std::istringstream lines(log());
    unsigned count = 0;
    for (std::string line; std::getline(lines, line);)
      count += line.compare(0, call.size(), call) == 0;
    return count;
  }

  std::shared_ptr<fp8::runtime::Device> open() {
    auto driver = fp8::runtime::Driver::load();
    EXPECT_TRUE(driver) << driver.error();
    auto device = fp8::runtime::Device::open(*driver);
    EXPECT_TRUE(device) << device.error();
    return *device;
  }

private:
  std::string logPath;
  std::vector<std::string> variables;
};

#endif // FP8_TEST_RUNTIME_FAKEDRIVER_H
