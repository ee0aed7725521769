// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fp8-run asks of a place that runs kernels.
#ifndef FP8_TOOLS_FP8RUN_BACKEND_H
#define FP8_TOOLS_FP8RUN_BACKEND_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Runtime/Timer.h"
#include "fp8/Simulator/Report.h"

#include <memory>

namespace fp8::run {

/// What one launch did.
struct Outcome {
  /// Errors that the backend found, each with its notes, ready to print; the
  /// result means nothing when there is one.
  std::vector<std::string> errors;
  std::vector<std::string> warnings; ///< the same, of what does no harm
  std::string printed;     ///< lines of vprintf, each behind its thread
  std::string failure;     ///< why there is no result; empty when there is one
  double microseconds = 0; ///< the kernel's on a GPU, the host's elsewhere
  uint64_t scheduleHash = 0; ///< tells orders of barrier events apart
  std::string summary;       ///< a few words for a person
  std::string barriers; ///< JSON: what mbarriers saw; empty unless asked for
  std::vector<uint8_t> stamps;         ///< of a profiled kernel; else empty
  std::optional<sim::KernelTime> time; ///< predicted, if that was asked for
};

/// A device with its memory. Accesses outside a buffer, and stores to one that
/// is read only, must come out as errors or as changed guard bytes.
class Backend {
public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;
  /// The hardware's name; empty for what is none.
  virtual std::string device() const { return {}; }
  virtual launch::DeviceProperties properties() const = 0;
  /// Checks that the loaded kernel takes what the manifest describes.
  virtual std::optional<launch::Error>
  checkKernel(const launch::Manifest &manifest) const = 0;
  /// How many schedules there are to try; runs, where nobody chooses the order.
  virtual unsigned schedules() const = 0;

  /// Forgets all buffers.
  virtual void reset() = 0;
  /// A buffer with these bytes; its device address, a multiple of 256.
  virtual launch::Expected<uint64_t> upload(const std::string &name,
                                            const std::vector<uint8_t> &bytes,
                                            launch::Access access) = 0;
  /// Runs the kernel of the manifest under schedule number `schedule`.
  virtual Outcome launch(const launch::Manifest &manifest,
                         const launch::LaunchPlan &plan, unsigned schedule) = 0;
  virtual launch::Expected<std::vector<uint8_t>> download(uint64_t address,
                                                          uint64_t size) = 0;

  /// How many sets of operands of so many bytes a measurement of time wants.
  virtual unsigned operandSets(uint64_t /*bytes*/) const { return 1; }
  /// How long the kernel takes, launched on each set in turn.
  virtual launch::Expected<runtime::Timing>
  time(const launch::Manifest &, const std::vector<launch::LaunchPlan> &) {
    return launch::Error{"--time needs a GPU: the time that the " + name() +
                         " takes does not predict the time on a GPU"};
  }
};

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_BACKEND_H
