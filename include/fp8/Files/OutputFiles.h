// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a group of files so that either all of them appear or none does.
#ifndef FP8_FILES_OUTPUTFILES_H
#define FP8_FILES_OUTPUTFILES_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8::files {

struct OutputFile {
  std::string path;          ///< "-" is the standard output
  std::string_view contents; ///< must live until the file is written
};

/// True for the standard output, for an open file of a process (/dev/stdout,
/// /dev/fd/3), and for an existing path that is neither a regular file nor a
/// folder (/dev/null, a pipe); also for a link to one of these. Such a path is
/// written in place, and gets no second file beside it.
bool isStream(const std::string &path);

/// Writes each file under a temporary name beside its destination, then renames
/// all of them, and then removes what is at `stale`, unless it is a folder or
/// not there. Links are followed: a link stays, and what it leads to is
/// written. A file that cannot be replaced (one that is mounted) is written in
/// place.
///
/// Returns an error that names the file and the reason, or nothing. With an
/// error existing files are unchanged. No error raises a signal (SIGXFSZ).
std::optional<std::string> write(const std::vector<OutputFile> &files,
                                 const std::vector<std::string> &stale = {});

} // namespace fp8::files

#endif // FP8_FILES_OUTPUTFILES_H
