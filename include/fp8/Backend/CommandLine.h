// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the command lines of our tools have in common: what --help shows and
// what --version says.

#ifndef FP8_BACKEND_COMMANDLINE_H
#define FP8_BACKEND_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm::cl {
class OptionCategory;
} // namespace llvm::cl

namespace mlir::fp8 {

/// Makes `--version` name the tool and the version of fp8 before LLVM's, and
/// `--help` leave out the options that are registered so far: LLVM's libraries
/// register several hundred. `--help-hidden` still shows them. Tools call it
/// before they register options of their own.
void beginCommandLine(llvm::StringRef tool);

/// Makes `--help` leave out all options but those of `category`, those named in
/// `names`, which move to `others`, and `--help` and its kin.
void showOnly(llvm::cl::OptionCategory &category,
              llvm::ArrayRef<llvm::StringRef> names,
              llvm::cl::OptionCategory &others);

/// True if an argument asks for `--help`.
bool asksForHelp(int argc, const char *const *argv);

/// Prints the passes and pipelines of ours with their options: those that have
/// "fp8" in their name.
void printOwnPasses();

} // namespace mlir::fp8

#endif // FP8_BACKEND_COMMANDLINE_H
