// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses configurations of one GEMM for one problem after another, as
// --fp8-choose-config does for one, in microseconds.

#ifndef FP8_TRANSFORMS_GEMMCHOOSER_H
#define FP8_TRANSFORMS_GEMMCHOOSER_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace mlir::fp8 {

/// One thread uses it at a time.
class GemmChooser {
public:
  /// `module` has one GEMM op, which pins no configuration, and outlives the
  /// chooser. The other arguments are options of --fp8-choose-config: `chip`,
  /// `tuned`, the path of a table or empty, `machine`, a name, a path or empty,
  /// and `launch`. Errors are reported at the module.
  static FailureOr<std::unique_ptr<GemmChooser>>
  create(ModuleOp module, StringRef chip, StringRef tuned, StringRef machine,
         StringRef launch);
  virtual ~GemmChooser() = default;

  /// The configuration, as `config <...>` has it, for these extents; 0 or less
  /// for one that is not known. Empty if the lowering chooses. What extents do
  /// not change is worked out at the first call that meets it.
  virtual std::string choose(int64_t m, int64_t n, int64_t k) = 0;

  /// The constants of the machine, fitted to the times that the entries of a
  /// table have: the text of a file that `machine` reads, for the GPU called
  /// `gpu`, text in UTF-8. Errors are reported at the op.
  virtual FailureOr<std::string> fit(StringRef tablePath, StringRef gpu) = 0;
};

} // namespace mlir::fp8

#endif // FP8_TRANSFORMS_GEMMCHOOSER_H
