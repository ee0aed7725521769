// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All-or-nothing output.

#include "fp8/Backend/OutputFiles.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir::fp8;

static Error writeError(StringRef path, std::error_code code) {
  return createStringError(code,
                           "cannot write '" + path + "': " + code.message());
}

bool mlir::fp8::isStream(StringRef path) {
  sys::fs::file_status status;
  return path == "-" ||
         (!sys::fs::status(path, status) && sys::fs::exists(status) &&
          !sys::fs::is_regular_file(status) && !sys::fs::is_directory(status));
}

static Error writeStream(const OutputFile &file) {
  std::error_code code;
  raw_fd_ostream stream(file.path, code);
  if (code)
    return writeError(file.path, code);
  stream << file.contents;
  stream.flush();
  code = stream.error();
  stream.clear_error();
  return code ? writeError(file.path, code) : Error::success();
}

/// Fills `temporary`, open under a temporary name.
static Error fill(sys::fs::TempFile &temporary, const OutputFile &file) {
  raw_fd_ostream stream(temporary.FD, /*shouldClose=*/false);
  stream << file.contents;
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code ? writeError(file.path, code) : Error::success();
}

Error mlir::fp8::writeOutputFiles(ArrayRef<OutputFile> files) {
  SmallVector<sys::fs::TempFile> temporaries;
  scope_exit discard([&] {
    for (sys::fs::TempFile &temporary : temporaries)
      consumeError(temporary.discard());
  });
  SmallVector<const OutputFile *> renamed;
  for (const OutputFile &file : files) {
    if (isStream(file.path)) {
      if (Error error = writeStream(file))
        return error;
      continue;
    }
    if (sys::fs::is_directory(file.path))
      return writeError(file.path,
                        std::make_error_code(std::errc::is_a_directory));
    Expected<sys::fs::TempFile> temporary =
        sys::fs::TempFile::create(file.path + ".%%%%%%.tmp");
    if (!temporary)
      return writeError(file.path, errorToErrorCode(temporary.takeError()));
    temporaries.push_back(std::move(*temporary));
    renamed.push_back(&file);
    if (Error error = fill(temporaries.back(), file))
      return error;
  }
  for (auto [index, file] : enumerate(renamed)) {
    if (Error error = temporaries[index].keep(file->path)) {
      for (const OutputFile *done : ArrayRef(renamed).take_front(index))
        (void)sys::fs::remove(done->path);
      return writeError(file->path, errorToErrorCode(std::move(error)));
    }
  }
  return Error::success();
}
