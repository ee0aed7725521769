// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program between the command line and the run: files, backend, verdict.
#include "CudaBackend.h"
#include "Files.h"
#include "Run.h"
#include "SimulatorBackend.h"

#include <exception>
#include <iostream>
#include <unistd.h>

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
  if (manifest->problem.empty() && options.dumpPath.empty())
    return launch::Error{
        path + ": problem: the manifest names no problem, so fp8-run cannot "
               "choose inputs; with --dump=FILE it fills the inputs with an "
               "address pattern and writes the results to FILE"};
  if (!manifest->problem.empty() && manifest->problem != "blockwise_gemm" &&
      manifest->problem != "gemm")
    return launch::Error{
        path + ": problem: '" + manifest->problem +
        "' is unknown; fp8-run supports blockwise_gemm and gemm"};
  return manifest;
}

/// Says what hangs and ends the process, since a kernel that hangs cannot be
/// ended otherwise: destructors would wait for it.
[[noreturn]] void endHangingProcess(const Options &options,
                                    const launch::Manifest &manifest,
                                    const runtime::Device &device,
                                    const std::string &message,
                                    std::ostream &out, std::ostream &log) {
  constexpr int exitCode = 3;
  Summary summary;
  summary.error = message;
  summary.backend = "cuda";
  summary.device = device.info().name;
  summary.kernel = manifest.kernel;
  log << prefix << "error: " << message << "; it was launched from "
      << options.ptxPath << "\n"
      << prefix << "FAIL" << std::endl;
  out << summary.json() << std::endl;
  _exit(exitCode);
}

/// The GPU that can run the file, or why there is none.
launch::Expected<std::shared_ptr<runtime::Device>>
findDevice(const Options &options, const std::string &image,
           const launch::Manifest &manifest) {
  auto device = openDevice(options);
  if (!device)
    return device.takeError();
  if (auto reason = whyNotOn(**device, image, manifest))
    return launch::Error{(*device)->str() + " cannot run " + options.ptxPath +
                         ": " + *reason};
  return device;
}

launch::Expected<std::unique_ptr<Backend>>
loadBackend(const Options &options, const std::string &image,
            const launch::Manifest &manifest, std::ostream &out,
            std::ostream &log) {
  if (options.backend != BackendKind::Simulator) {
    auto device = findDevice(options, image, manifest);
    if (device) {
      runtime::Device &gpu = **device;
      gpu.watchdog.onHang = [&](const std::string &message) {
        endHangingProcess(options, manifest, gpu, message, out, log);
      };
      log << prefix << "running on " << gpu.str() << ", compute capability "
          << gpu.info().capability.str() << "\n";
      if (manifest.debugWaits &&
          manifest.debugWaits->limitMs >= options.watchdogSeconds * 1000)
        log << prefix
            << "the watchdog ends the run before the waits of this kernel give "
               "up, after "
            << manifest.debugWaits->limitMs
            << " ms; set a longer --watchdog to see which wait hangs\n";
      return makeCudaBackend(options, *device, image, manifest);
    }
    if (options.backend == BackendKind::CUDA)
      return launch::Error{
          device.error() +
          " (--backend=cuda was given; --backend=sim needs no GPU)"};
    log << prefix << "using the simulator: " << device.error() << "\n";
  }
  if (runtime::isCubin(image))
    return launch::Error{options.ptxPath +
                         " is a cubin, but the simulator runs PTX only; pass "
                         "the PTX, or use a GPU"};
  return makeSimulatorBackend(options, image);
}

/// Writes what --timeline asks for, and prints the summary.
std::optional<launch::Error> writeTimeline(const Options &options,
                                           const launch::Manifest &manifest,
                                           const std::vector<uint8_t> &stamps,
                                           std::ostream &log) {
  auto timeline = launch::readTimeline(*manifest.profile, stamps);
  if (!timeline)
    return timeline.takeError();
  for (const std::string &line : launch::summarise(*timeline))
    log << prefix << "timeline: " << line << "\n";
  std::string trace = launch::writeTrace(*timeline, manifest.kernel);
  return writeFile(options.timelinePath, {trace.begin(), trace.end()});
}

/// Writes what --dump asks for.
Summary finish(Summary result, const Options &options, std::ostream &log) {
  if (!result.output)
    return result;
  if (auto error = writeFile(options.dumpPath, *result.output)) {
    log << prefix << "error: " << error->message << "\n";
    result.ok = false;
    result.error = error->message;
    return result;
  }
  result.dumpPath = options.dumpPath;
  return result;
}

Summary runFiles(const Options &options, std::ostream &out, std::ostream &log) {
  Summary summary;
  auto fail = [&](const std::string &error) {
    log << prefix << "error: " << error << "\n";
    summary.error = error;
    return summary;
  };
  auto ptx = readTextFile(options.ptxPath);
  if (!ptx)
    return fail(ptx.error());
  if (!options.launchPath.empty())
    return finish(runDescription(options, *ptx, log), options, log);
  std::string manifestPath;
  auto manifest = loadManifest(options, manifestPath);
  if (!manifest)
    return fail(manifest.error());
  if (!options.timelinePath.empty() && !manifest->profile)
    return fail(manifestPath +
                " names no stamps, of which --timeline is made; compile the "
                "kernel with --fp8-profile, or fp8-gemm-to-ptx=profile");
  auto backend = loadBackend(options, *ptx, *manifest, out, log);
  if (!backend)
    return fail(backend.error());
  if (auto error = (*backend)->checkKernel(*manifest))
    return fail(error->message);
  log << prefix << options.ptxPath << ": kernel '" << manifest->kernel
      << "' for " << manifest->chip << ", launched as " << manifestPath
      << " says\n";
  Summary result = manifest->problem.empty()
                       ? runBytes(options, *manifest, **backend, log)
                       : runProblem(options, *manifest, **backend, log);
  if (!options.timelinePath.empty() && result.ok)
    if (auto error = writeTimeline(options, *manifest, result.stamps, log)) {
      result.ok = false;
      result.error = error->message;
      log << prefix << "error: " << error->message << "\n";
    }
  return finish(std::move(result), options, log);
}
} // namespace

int runTool(const Options &options, std::ostream &out, std::ostream &log) {
  if (options.listDevices) {
    auto lines = listDevices();
    if (!lines) {
      log << prefix << "error: " << lines.error() << std::endl;
      return 1;
    }
    out << *lines << std::flush;
    return 0;
  }
  Summary summary = runFiles(options, out, log);
  log << prefix << (summary.ok ? "PASS" : "FAIL") << std::endl;
  out << summary.json() << std::endl;
  return summary.ok ? 0 : 1;
}

/// The exit code, or 1 where the output did not get to where it should.
static int finishOutput(int exitCode) {
  std::cout.flush();
  if (std::cout)
    return exitCode;
  std::cerr << prefix
            << "error: cannot write to standard output; make room on its disk, "
               "or keep its reader alive\n";
  return exitCode ? exitCode : 1;
}

int runProgram(int argc, const char *const *argv) {
  try {
    int exitCode = 0;
    auto options = parseCommandLine(argc, argv, exitCode);
    return finishOutput(options ? runTool(*options, std::cout, std::cerr)
                                : exitCode);
  } catch (const std::bad_alloc &) {
    std::cerr << prefix << "error: out of memory; choose smaller sizes\n";
  } catch (const std::exception &error) {
    std::cerr << prefix << "error: " << error.what() << "\n";
  }
  return 1;
}

} // namespace fp8::run
