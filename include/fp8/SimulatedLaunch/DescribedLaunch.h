// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch descriptions on the simulator: buffers, arguments, the run, and what
// is expected of it.
#ifndef FP8_SIMULATEDLAUNCH_DESCRIBEDLAUNCH_H
#define FP8_SIMULATEDLAUNCH_DESCRIBEDLAUNCH_H

#include "fp8/SimulatedLaunch/Description.h"
#include "fp8/SimulatedLaunch/Kernel.h"

namespace fp8::simulated {

/// An array of the caller's, which gives a buffer its contents and, if the
/// kernel may write the buffer, takes what it wrote.
struct GivenArray {
  std::string name; ///< of the buffer
  void *data = nullptr;
  uint64_t bytes = 0;
  bool readOnly = false;
};

/// How a buffer differs from what was expected.
struct Comparison {
  std::string buffer;
  uint64_t elements = 0;  ///< that count
  uint64_t wrong = 0;     ///< of them, past the largest difference or NaN
  uint64_t unwritten = 0; ///< of them, that the kernel did not write
  double frobenius = 0;   ///< norm of the differences, relative
  double most = 0;        ///< largest difference
  bool ok = false;
  std::string str() const;
};

struct DescribedOutcome : Outcome {
  std::vector<Comparison> comparisons; ///< empty if a rule was broken
  /// What the buffers hold that the kernel may write, in their order; empty if
  /// a rule was broken.
  std::vector<std::pair<std::string, std::vector<uint8_t>>> written;
};

class DescribedLaunch {
public:
  /// Reads the files that the description names, which are relative to
  /// `directory`, and takes the contents of given arrays, which must outlive
  /// this. All buffers together have at most `memoryLimit` bytes.
  static launch::Expected<DescribedLaunch>
  make(const Kernel &kernel, Description description,
       const std::string &directory, const std::vector<GivenArray> &arrays,
       uint64_t memoryLimit = uint64_t(8) << 30);

  const std::string &entry() const { return description.entry; }

  /// Runs once, from the same contents each time. Given arrays that the kernel
  /// may write are written, unless a rule was broken. An error is a limit of
  /// the simulator.
  launch::Expected<DescribedOutcome> run(const sim::Options &options) const;

private:
  DescribedLaunch(const Kernel &kernel, Description description)
      : kernel(kernel), description(std::move(description)) {}

  class Addresses;
  struct Expected {
    std::vector<long double> values; ///< which holds 64-bit integers
    bool isUnsigned = false;         ///< the integers are
    std::vector<bool> counts;        ///< empty: all
  };

  std::optional<launch::Error> load(const std::string &directory);
  std::optional<launch::Error> loadBuffer(BufferSpec &buffer,
                                          const std::string &directory,
                                          const GivenArray *given);
  std::optional<launch::Error> loadFiles(Value &value,
                                         const std::string &directory);
  std::optional<launch::Error> loadExpected(const std::string &directory);
  void copyBack(const sim::Device &device, const Addresses &addresses,
                DescribedOutcome &outcome) const;

  const Kernel &kernel;
  Description description;
  uint64_t memoryLimit = 0;
  std::vector<GivenArray> arrays;
  std::vector<std::vector<uint8_t>> contents; ///< by buffer
  std::vector<Expected> expected;             ///< by expectation
};

} // namespace fp8::simulated

#endif // FP8_SIMULATEDLAUNCH_DESCRIBEDLAUNCH_H
