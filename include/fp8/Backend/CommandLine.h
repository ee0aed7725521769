// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common parts of the command lines of our tools: --help and --version.

#ifndef FP8_BACKEND_COMMANDLINE_H
#define FP8_BACKEND_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm::cl {
class OptionCategory;
} // namespace llvm::cl

namespace mlir::fp8 {

/// Makes `--version` print the tool and the version of fp8 before the version
/// of LLVM, and hides the options registered so far from `--help`, since LLVM's
/// libraries register several hundred. `--help-hidden` still shows them. Tools
/// call this before they register their own options.
void beginCommandLine(llvm::StringRef tool);

/// Hides all options from `--help`, except the options of `category`, the
/// options in `names`, which move to `others`, and the `--help` options.
void showOnly(llvm::cl::OptionCategory &category,
              llvm::ArrayRef<llvm::StringRef> names,
              llvm::cl::OptionCategory &others);

/// True if an argument asks for `--help`.
bool asksForHelp(int argc, const char *const *argv);

/// Prints our passes and pipelines with their options: those with "fp8" in
/// their name.
void printOwnPasses();

} // namespace mlir::fp8

#endif // FP8_BACKEND_COMMANDLINE_H
