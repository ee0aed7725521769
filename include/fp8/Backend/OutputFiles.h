// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a group of files so that either all of them appear or none does.

#ifndef FP8_BACKEND_OUTPUTFILES_H
#define FP8_BACKEND_OUTPUTFILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::fp8 {

struct OutputFile {
  std::string path; ///< "-" is the standard output
  std::string contents;
};

/// True for the standard output and for what exists and is no regular file
/// (/dev/null, a pipe): written in place, and no second file goes beside it.
bool isStream(llvm::StringRef path);

/// Writes each file beside its destination under a temporary name, then renames
/// all. On failure what was there before is left as it was, and the error names
/// the file.
llvm::Error writeOutputFiles(llvm::ArrayRef<OutputFile> files);

} // namespace mlir::fp8

#endif // FP8_BACKEND_OUTPUTFILES_H
