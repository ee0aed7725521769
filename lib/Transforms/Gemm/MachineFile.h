// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The machine whose constants the cost model takes: of the chip, of the table
// of machines, or measured, from a file.

#ifndef FP8_LIB_TRANSFORMS_GEMM_MACHINEFILE_H
#define FP8_LIB_TRANSFORMS_GEMM_MACHINEFILE_H

#include "GemmProblem.h"
#include "fp8/Chip/Machine.h"
#include "fp8/Tuning/Fit.h"

namespace mlir::fp8 {

/// A machine that a file describes, which python -m fp8 calibrate wrote. It
/// stays where it is, for the machine points to the name.
struct MachineFile {
  MachineFile(chip::Machine given, StringRef name, StringRef path)
      : name(name), path(path), machine(given) {
    machine.name = this->name.c_str();
  }
  MachineFile(const MachineFile &) = delete;

  const std::string name, path;
  chip::Machine machine;

  /// Reads a file; reports what is wrong with it.
  static FailureOr<std::shared_ptr<const MachineFile>>
  read(StringRef path, const chip::Chip &chip,
       function_ref<InFlightDiagnostic()> emitError);

  /// What `read` reads: a fit of a chip's machine, of the GPU called `gpu`.
  static std::string print(const ::fp8::tuning::Fit &fit,
                           const chip::Chip &chip, StringRef gpu,
                           size_t kernels);
};

/// The machine of the table that is called `name`, if the chip can be its.
FailureOr<const chip::Machine *>
findMachine(StringRef name, const chip::Chip &chip,
            function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_MACHINEFILE_H
