// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program between the command line and the run: files, backend, verdict.
#include "Files.h"
#include "Run.h"
#include "SimulatorBackend.h"

#include <ostream>

namespace fp8::run {
namespace {
constexpr const char *prefix = "fp8-run: ";

launch::Expected<launch::Manifest> loadManifest(const Options &options,
                                                std::string &path) {
  auto found = findManifest(options.ptxPath, options.manifestPath);
  if (!found)
    return found.takeError();
  path = *found;
  auto text = readTextFile(path);
  if (!text)
    return text.takeError();
  auto manifest = launch::parseManifest(*text);
  if (!manifest)
    return launch::Error{path + ": " + manifest.error()};
  if (manifest->problem.empty())
    return launch::Error{path + ": problem: the manifest names no problem, so "
                                "fp8-run cannot tell what inputs to make"};
  if (manifest->problem != "blockwise_gemm" && manifest->problem != "gemm")
    return launch::Error{path + ": problem: '" + manifest->problem +
                         "' is unknown; fp8-run knows blockwise_gemm and gemm"};
  return manifest;
}

launch::Expected<std::unique_ptr<Backend>>
loadBackend(const Options &options, const std::string &ptx, std::ostream &log) {
  if (options.backend == BackendKind::CUDA)
    return launch::Error{"this build has no CUDA backend; use --backend=sim"};
  if (options.backend == BackendKind::Auto)
    log << prefix << "no CUDA backend in this build: using the simulator\n";
  return makeSimulatorBackend(options, ptx);
}

Summary runFiles(const Options &options, std::ostream &log) {
  Summary summary;
  auto fail = [&](const std::string &error) {
    log << prefix << "error: " << error << "\n";
    summary.error = error;
    return summary;
  };
  auto ptx = readTextFile(options.ptxPath);
  if (!ptx)
    return fail(ptx.error());
  std::string manifestPath;
  auto manifest = loadManifest(options, manifestPath);
  if (!manifest)
    return fail(manifest.error());
  auto backend = loadBackend(options, *ptx, log);
  if (!backend)
    return fail(backend.error());
  if (auto error = (*backend)->checkKernel(*manifest))
    return fail(error->message);
  log << prefix << options.ptxPath << ": kernel '" << manifest->kernel
      << "' for " << manifest->chip << ", launched as " << manifestPath
      << " says\n";
  return runProblem(options, *manifest, **backend, log);
}
} // namespace

int runTool(const Options &options, std::ostream &out, std::ostream &log) {
  Summary summary = runFiles(options, log);
  log << prefix << (summary.ok ? "PASS" : "FAIL") << std::endl;
  out << summary.json() << std::endl;
  return summary.ok ? 0 : 1;
}

} // namespace fp8::run
