// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plans and launch manifests on the simulator: the effect of a CUDA
// launch, without a GPU.
#ifndef FP8_SIMULATEDLAUNCH_KERNEL_H
#define FP8_SIMULATEDLAUNCH_KERNEL_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Simulator/Simulator.h"
#include "fp8/Simulator/Variables.h"

namespace fp8::simulated {

/// The outcome of a run.
struct Outcome {
  /// Broken rules, each with its notes, ready to print. If there is one, the
  /// result is meaningless.
  std::vector<std::string> errors;
  /// The same of warnings, which do not harm the result.
  std::vector<std::string> warnings;
  sim::Report report;
  /// What a profiled kernel wrote (manifest.profile); else empty.
  std::vector<uint8_t> stamps;

  bool ok() const { return errors.empty(); }
};

/// PTX that kernels are launched from.
class Kernel {
public:
  /// `name` names the text in messages: the path of a file, or "gemm.ptx".
  static launch::Expected<Kernel> parse(std::string_view ptx, std::string name);

  const sim::PTXModule &module() const { return ptx; }

  /// Checks that the PTX has the manifest's kernel, for its chip and with its
  /// parameters.
  std::optional<launch::Error> check(const launch::Manifest &manifest) const;

  /// The kernel of that name; of the empty name, the only one. Errors call what
  /// asks for it `launcher`.
  launch::Expected<const sim::Entry *>
  findEntry(const std::string &entry, const std::string &launcher) const;

  /// Launches a kernel on `device`. With a `profile` the outcome has stamps.
  Outcome launch(sim::Device &device, const std::string &entry,
                 const std::vector<sim::KernelArgument> &arguments,
                 const sim::LaunchConfig &config, const sim::Options &options,
                 const sim::Variables &variables = {},
                 const launch::ProfileTable *profile = nullptr) const;

  /// Launches the kernel by `plan` on `device`, which has the buffers. An error
  /// is a limit of the simulator; broken rules are in the outcome.
  launch::Expected<Outcome> run(sim::Device &device,
                                const launch::Manifest &manifest,
                                const launch::LaunchPlan &plan,
                                const sim::Options &options) const;

  /// Binds the manifest to arguments in host memory, runs, and copies back what
  /// the kernel may write, unless a rule was broken. Only elements are copied;
  /// the gaps between the rows of a strided argument are unchanged. The strides
  /// must not be negative. If arguments overlap, the kernel sees a separate
  /// copy of each.
  launch::Expected<Outcome>
  runOnHost(const launch::Manifest &manifest,
            const std::vector<launch::ArgumentValue> &arguments,
            const sim::Options &options,
            uint64_t memoryLimit = uint64_t(8) << 30) const;

private:
  Kernel(sim::PTXModule ptx, std::string name)
      : ptx(std::move(ptx)), name(std::move(name)) {}

  sim::PTXModule ptx;
  std::string name;
};

} // namespace fp8::simulated

#endif // FP8_SIMULATEDLAUNCH_KERNEL_H
