// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits the constants of a machine to measured kernels of an op.

#include "ConfigChooser.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fp8;

FailureOr<std::string> ConfigChooser::fit(BlockwiseGemmOp op,
                                          StringRef tablePath,
                                          StringRef gpu) const {
  auto emitError = [&]() { return op.emitError(); };
  if (gpu.empty() || !llvm::json::isUTF8(gpu))
    return emitError() << "the name of the GPU must be text in UTF-8, but is '"
                       << gpu << "'; name the GPU of the times";
  FailureOr<TunedTable> times =
      TunedTable::read(tablePath, chip, op.getContext(), emitError);
  if (failed(times))
    return failure();
  std::vector<tuning::Measurement> measured;
  for (const TunedTable::Entry &entry : times->getEntries()) {
    Candidate candidate = makeCandidate(op, entry.config);
    if (!candidate)
      return emitError() << "'" << stringify(entry.config) << "' of '"
                         << tablePath << "' is no kernel of this op";
    measured.push_back({describe(op, {entry.m, entry.n, entry.k, 1}),
                        candidate->getKernel(), entry.us});
  }
  if (measured.empty())
    return emitError() << "'" << tablePath
                       << "' has no entries to fit constants to";
  // A constant of 0 has no scale to be moved by.
  for (const std::string &name : times->getFittedConstants())
    for (const chip::MachineConstant &constant : chip::getMachineConstants())
      if (constant.name == name && constant.get(getMachine()) == 0)
        return emitError()
               << "'" << tablePath << "' names '" << name
               << "', which is 0 in the machine that the fit begins "
                  "from, so that nothing moves it; begin from "
                  "another machine, or leave it out";
  return MachineFile::print(
      tuning::fit(getMachine(), measured, times->getFittedConstants()), chip,
      gpu, measured.size());
}
