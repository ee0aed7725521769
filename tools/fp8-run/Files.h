// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files fp8-run reads and writes.
#ifndef FP8_TOOLS_FP8RUN_FILES_H
#define FP8_TOOLS_FP8RUN_FILES_H

#include "fp8/Launch/Expected.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8::run {

/// A whole text file of at most 256 MiB.
launch::Expected<std::string> readTextFile(const std::string &path);

/// `asked` if it is not empty; else OUT.ptx.json, and for OUT.ptx also
/// OUT.json, whichever exists first.
launch::Expected<std::string> findManifest(const std::string &ptxPath,
                                           const std::string &asked);

/// Writes the whole file or, with an error, nothing: what was there stays
/// (fp8/Files/OutputFiles.h).
std::optional<launch::Error> writeFile(const std::string &path,
                                       const std::vector<uint8_t> &bytes);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_FILES_H
