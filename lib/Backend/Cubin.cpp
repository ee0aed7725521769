// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds ptxas, runs it on temporary files, reads its report.

#include "fp8/Backend/Cubin.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include <cstdlib>

using namespace llvm;
using namespace mlir::fp8;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Expected<std::string> mlir::fp8::findPtxas(const PtxasOptions &options) {
  std::string named = options.path;
  StringRef origin = "--ptxas";
  if (named.empty()) {
    named = sys::Process::GetEnv("FP8_PTXAS").value_or("");
    origin = "$FP8_PTXAS";
  }
  if (!named.empty()) {
    if (sys::fs::can_execute(named))
      return named;
    return makeError("ptxas not found: " + origin + " names '" + named +
                     "', which is not a program");
  }
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  SmallVector<std::string> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> root = sys::Process::GetEnv(variable))
      roots.push_back(*root);
  roots.push_back("/usr/local/cuda");
  for (const std::string &root : roots) {
    SmallString<128> path(root);
    sys::path::append(path, "bin", "ptxas");
    if (sys::fs::can_execute(path))
      return path.str().str();
  }
  return makeError(
      "ptxas not found in PATH, $CUDA_HOME/bin, $CUDA_PATH/bin or "
      "/usr/local/cuda/bin: a cubin needs NVIDIA's assembler; install CUDA "
      "12.9 "
      "or later, or 'pip install nvidia-cuda-nvcc', and name its ptxas with "
      "--ptxas= or $FP8_PTXAS; --emit=ptx needs none");
}

/// The first capture of `pattern` in `text` as a number, or 0.
static int64_t findNumber(StringRef text, StringRef pattern) {
  SmallVector<StringRef> matches;
  int64_t number = 0;
  if (Regex(pattern).match(text, &matches))
    matches[1].getAsInteger(10, number);
  return number;
}

static KernelResources parseResources(StringRef report, StringRef kernel) {
  // Functions that were not inlined have sections of their own: read the
  // kernel's only.
  std::string start = ("Compiling entry function '" + kernel + "'").str();
  StringRef section = report.split(start).second;
  section = section.split("Compiling entry function").first;
  KernelResources resources;
  resources.registers = findNumber(section, "Used ([0-9]+) registers");
  resources.spillStoreBytes =
      findNumber(section, "([0-9]+) bytes spill stores");
  resources.spillLoadBytes = findNumber(section, "([0-9]+) bytes spill loads");
  resources.stackBytes = findNumber(section, "([0-9]+) bytes stack frame");
  resources.sharedMemoryBytes = findNumber(section, "([0-9]+) bytes smem");
  return resources;
}

static std::string selectWarnings(StringRef report, StringRef kernel) {
  std::string warnings;
  SmallVector<StringRef> lines;
  report.split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains("warning") || Regex("\\(C[0-9]{4}\\)").match(line))
      warnings += ("\n" + line).str();
  return warnings.empty()
             ? ""
             : ("ptxas warns about kernel '" + kernel + "':" + warnings).str();
}

static Expected<std::string> readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

static Error checkStrict(const Cubin &cubin, StringRef kernel) {
  const KernelResources &resources = cubin.resources;
  if (resources.spillStoreBytes || resources.spillLoadBytes)
    return makeError("kernel '" + kernel + "' spills registers: " +
                     Twine(resources.spillStoreBytes) + " bytes stored, " +
                     Twine(resources.spillLoadBytes) + " bytes loaded");
  if (!cubin.warnings.empty())
    return makeError(cubin.warnings);
  return Error::success();
}

Expected<Cubin> mlir::fp8::assemble(StringRef ptx, StringRef kernel,
                                    StringRef chip,
                                    const PtxasOptions &options) {
  Expected<std::string> program = findPtxas(options);
  if (!program)
    return program.takeError();

  SmallString<128> directory;
  // LLVM's createUniqueDirectory replaces each '%' of the path.
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, directory);
  sys::path::append(directory, "fp8-ptxas-XXXXXX");
  (void)directory.c_str(); // puts the NUL behind it
  if (!mkdtemp(directory.data()))
    return makeError("cannot make a temporary directory for ptxas: '" +
                     directory + "': " + sys::StrError());
  scope_exit cleanUp([&] { (void)sys::fs::remove_directories(directory); });
  std::string input = (directory + "/kernel.ptx").str();
  std::string output = (directory + "/kernel.cubin").str();
  std::string report = (directory + "/report").str();
  std::error_code writeError;
  {
    raw_fd_ostream stream(input, writeError);
    stream << ptx;
    stream.close();
    writeError = stream.error();
    stream.clear_error();
  }
  if (writeError)
    return makeError("cannot write '" + input + "': " + writeError.message());

  std::string arch = ("-arch=" + chip).str();
  StringRef arguments[] = {*program, arch, "-O3", "-v", "-o", output, input};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(report),
                                          StringRef(report)};
  std::string message;
  int code =
      sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  Expected<std::string> text = readFile(report);
  if (!text)
    return text.takeError();
  if (code != 0)
    return makeError(
        "'" + *program + "' rejects kernel '" + kernel + "' for " + chip +
        ":\n" +
        (text->empty() ? StringRef(message) : StringRef(*text).rtrim()));
  Expected<std::string> binary = readFile(output);
  if (!binary)
    return binary.takeError();
  Cubin cubin{std::move(*binary), parseResources(*text, kernel),
              selectWarnings(*text, kernel)};
  if (options.strict)
    if (Error error = checkStrict(cubin, kernel))
      return std::move(error);
  return cubin;
}

void mlir::fp8::printResources(raw_ostream &stream, StringRef kernel,
                               const KernelResources &resources) {
  stream << kernel << ": " << resources.registers << " registers, "
         << resources.spillStoreBytes + resources.spillLoadBytes
         << " bytes spilled, " << resources.stackBytes << " bytes of stack, "
         << resources.sharedMemoryBytes << " bytes of static shared memory\n";
}
