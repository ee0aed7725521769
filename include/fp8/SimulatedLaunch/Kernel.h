// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plans and launch manifests on the simulator: what a CUDA launch would
// do, without a GPU.
#ifndef FP8_SIMULATEDLAUNCH_KERNEL_H
#define FP8_SIMULATEDLAUNCH_KERNEL_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Simulator/Simulator.h"

namespace fp8::simulated {

/// What a run did.
struct Outcome {
  /// Broken rules, each with its notes, ready to print; the result means
  /// nothing when there is one.
  std::vector<std::string> errors;
  sim::Report report;

  bool ok() const { return errors.empty(); }
};

/// PTX that kernels are launched from.
class Kernel {
public:
  /// `name` is the text's in messages: the path of a file, or "gemm.ptx".
  static launch::Expected<Kernel> parse(std::string_view ptx, std::string name);

  const sim::PTXModule &module() const { return ptx; }

  /// Whether the PTX has the manifest's kernel, for its chip and with its
  /// parameters.
  std::optional<launch::Error> check(const launch::Manifest &manifest) const;

  /// Launches what `plan` says on `device`, which holds the buffers. An error
  /// is one of the simulator's limits; broken rules are in the outcome.
  launch::Expected<Outcome> run(sim::Device &device,
                                const launch::Manifest &manifest,
                                const launch::LaunchPlan &plan,
                                const sim::Options &options) const;

  /// Binds the manifest to arguments in the host's memory, runs, and copies
  /// what the kernel may write back, unless a rule was broken. Elements only:
  /// what lies between the rows of a strided argument stays as it is. The
  /// strides are not negative. Arguments that overlap are separate to the
  /// kernel: it sees each as it was before.
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
