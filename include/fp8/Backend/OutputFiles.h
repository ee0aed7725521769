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

/// True for the standard output, and for an existing path that is not a regular
/// file (/dev/null, a pipe). Such a path is written in place, and gets no
/// second file beside it.
bool isStream(llvm::StringRef path);

/// Writes each file under a temporary name beside its destination, then renames
/// all of them. On failure existing files are unchanged, and the error names
/// the file.
llvm::Error writeOutputFiles(llvm::ArrayRef<OutputFile> files);

} // namespace mlir::fp8

#endif // FP8_BACKEND_OUTPUTFILES_H
