// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8-simulate: runs a CUDA program without a GPU. The program finds the
// simulated GPU in place of libcudart.so.13 and libcuda.so.1.
#include "fp8/Chip/Chip.h"
#include "fp8/SimulatedCuda/Settings.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace {
constexpr const char *kPrefix = "fp8-simulate: ";
constexpr int kUsage = 2;      ///< exit code for what the program never saw
constexpr int kOfSignal = 128; ///< added to a signal, as shells do
constexpr const char *kUsageLine =
    "Usage: fp8-simulate [OPTIONS] PROGRAM [ARGUMENTS]\n";

struct CommandLine {
  fp8::cuda::Settings settings;
  std::vector<std::string> program; ///< with its arguments
};

/// What is wrong with a path that goes to the program as JSON, if anything.
std::string requireText(const std::string &path) {
  using Json = nlohmann::json;
  std::string text =
      Json(path).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(text) == path ? "" : "must be UTF-8";
}

/// CLI11 does not know of the program.
class UsageFormatter : public CLI::Formatter {
  std::string make_usage(const CLI::App *, std::string) const override {
    return kUsageLine;
  }
};

void addOptions(CLI::App &app, CommandLine &line) {
  fp8::cuda::Settings &settings = line.settings;
  std::vector<std::string> chips;
  for (const fp8::chip::Chip &chip : fp8::chip::getChips())
    chips.push_back(chip.name);
  app.add_option("--chip", settings.chip, "The chip that the program sees")
      ->check(CLI::IsMember(chips));
  app.add_option("--multiprocessors", settings.multiprocessors,
                 "Its multiprocessors; persistent kernels start as many CTAs")
      ->check(CLI::Range(1u, 65535u));
  app.add_option("--memory-limit", settings.memoryLimit,
                 "Its memory, in bytes");
  app.add_option("--schedule-seed", settings.scheduleSeed,
                 "Seed of the order of warps and of asynchronous work");
  app.add_option("--schedules", settings.schedules,
                 "Run each launch this often, with consecutive seeds, and "
                 "compare what it writes")
      ->check(CLI::Range(1u, 1000000u));
  app.add_option("--resident-clusters", settings.residentClusters,
                 "Clusters that run at the same time; 0: some, as the seed "
                 "chooses");
  app.add_option("--threads", settings.threads,
                 "Threads that simulate; 0: one for each core. They change "
                 "nothing but the time")
      ->check(CLI::Range(0u, 1024u));
  app.add_option("--max-errors", settings.maxErrors,
                 "Errors after which a launch stops")
      ->check(CLI::Range(1u, 1000000u));
  app.add_flag("--strict", settings.strict, "Warnings are errors");
  app.add_flag("--keep-going", settings.keepGoing,
               "A launch with errors does not fail, so that the program goes "
               "on and may check its numbers; see --max-errors");
  app.add_flag("--at-issue", settings.completeAtIssue,
               "Asynchronous work completes at once, which hides faults");
  app.add_flag("--initcheck", settings.initcheck,
               "A read of memory from cudaMalloc that nothing has written is "
               "an error");
  app.add_option("--capture", settings.capture,
                 "Write each launch to this folder, as a description for "
                 "fp8-run MODULE.ptx --launch=launch-N/launch.json")
      ->type_name("FOLDER")
      ->check(requireText);
  app.add_option("--ptx", settings.ptx,
                 "The folder with the PTX of the machine code that the program "
                 "loads, as compilers in Python leave it")
      ->type_name("FOLDER")
      ->check(requireText);
  app.add_flag("--quiet", settings.quiet, "Print no line for each launch");
}

/// The folder with the libraries, beside this program.
std::filesystem::path libraryFolder() {
  std::error_code error;
  auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  auto root = self.parent_path().parent_path();
  for (const char *folder : {"lib", FP8_LIBRARY_DIR}) {
    auto candidate = root / folder / "fp8-simulate";
    if (std::filesystem::exists(candidate / "libcudart.so.13", error))
      return candidate;
  }
  return {};
}

/// The process that the program runs in; signals go there.
volatile pid_t programProcess = 0;
constexpr int kForwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

/// The terminal sends its signals to the program, too.
void forward(int signal, siginfo_t *info, void *) {
  if (programProcess > 0 && info->si_code <= 0)
    kill(programProcess, signal);
}

/// Signals that end this process end the program first, so that its findings
/// are read and removed. They stay blocked; `before`: what was.
void forwardSignals(sigset_t &before) {
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO;
  sigset_t forwarded;
  sigemptyset(&forwarded);
  for (int signal : kForwarded)
    sigaddset(&forwarded, signal);
  sigprocmask(SIG_BLOCK, &forwarded, &before);
  for (int signal : kForwarded) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    if (present.sa_handler != SIG_IGN) // as of nohup
      sigaction(signal, &action, nullptr);
  }
}

/// Becomes the program. If it cannot, writes errno to `failure`.
[[noreturn]] void becomeProgram(const CommandLine &line,
                                const std::string &folder, int failure,
                                const sigset_t &unblocked) {
  for (int signal : kForwarded) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    if (present.sa_sigaction == forward)
      std::signal(signal, SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &unblocked, nullptr);
  const char *others = std::getenv("LD_LIBRARY_PATH");
  std::string path =
      folder + (others && *others ? ":" : "") + (others ? others : "");
  setenv("LD_LIBRARY_PATH", path.c_str(), 1);
  setenv(fp8::cuda::kSettingsVariable, toJson(line.settings).c_str(), 1);
  std::vector<char *> arguments;
  for (const std::string &argument : line.program)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  (void)!write(failure, &error, sizeof(error));
  _exit(kUsage);
}

/// How the program ended.
struct Ending {
  int exitCode; ///< kOfSignal and the signal that ended it, if one did
  bool bySignal;
};

/// Runs the program. Nothing if it cannot start, which it has said.
std::optional<Ending> runProgram(const CommandLine &line,
                                 const std::string &folder) {
  int failure[2], error = 0, status = 0;
  sigset_t unblocked;
  if (pipe2(failure, O_CLOEXEC) != 0) {
    std::cerr << kPrefix << "error: cannot make a pipe\n";
    return std::nullopt;
  }
  forwardSignals(unblocked);
  programProcess = fork();
  if (programProcess == 0)
    becomeProgram(line, folder, failure[1], unblocked);
  sigprocmask(SIG_SETMASK, &unblocked, nullptr);
  close(failure[1]);
  ssize_t told = 0;
  do
    told = read(failure[0], &error, sizeof(error));
  while (told < 0 && errno == EINTR);
  const bool failed = programProcess < 0 || told > 0;
  close(failure[0]);
  while (programProcess > 0 && waitpid(programProcess, &status, 0) < 0 &&
         errno == EINTR) {
  }
  programProcess = 0;
  if (failed) {
    std::cerr << kPrefix << "error: cannot start '" << line.program[0]
              << "': " << std::strerror(error ? error : EAGAIN) << std::endl;
    return std::nullopt;
  }
  if (WIFSIGNALED(status))
    return Ending{kOfSignal + WTERMSIG(status), true};
  return Ending{WEXITSTATUS(status), false};
}

/// The sum of what each process of the program wrote; none if none did.
std::optional<fp8::cuda::Findings>
readFindings(const std::filesystem::path &folder) {
  std::optional<fp8::cuda::Findings> sum;
  for (const auto &file : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(file.path());
    std::string text((std::istreambuf_iterator<char>(stream)), {});
    auto one = fp8::cuda::parseFindings(text);
    if (one)
      sum = sum ? *sum + *one : *one;
  }
  return sum;
}

int judge(const std::optional<fp8::cuda::Findings> &findings,
          const Ending &ending) {
  const int exitCode = ending.exitCode;
  if (!findings && ending.bySignal) {
    std::cerr << kPrefix << "error: signal " << exitCode - kOfSignal
              << " ended the program before it called the simulated GPU\n";
    return exitCode;
  }
  if (!findings) {
    std::cerr << kPrefix
              << "error: the program did not call the simulated GPU; link it "
                 "with the shared CUDA runtime (nvcc -cudart shared)\n";
    return exitCode ? exitCode : kUsage;
  }
  std::cerr << kPrefix << findings->launches << " launches, "
            << findings->warpInstructions << " warp instructions, "
            << findings->errors << " errors, " << findings->warnings
            << " warnings, " << findings->unsupportedCalls
            << " calls that are not simulated; exit code " << exitCode << "\n";
  bool isRefused = findings->unsupportedCalls && !findings->launches;
  return exitCode ? exitCode : findings->errors || isRefused ? 1 : 0;
}
} // namespace

int main(int argc, char **argv) {
  CommandLine line;
  CLI::App app("Runs a CUDA program on a simulated GPU, which reports every "
               "broken rule of its kernels. The program must be linked with "
               "the shared CUDA runtime and contain PTX: nvcc -cudart shared "
               "-gencode arch=compute_100a,code=compute_100a. The exit code is "
               "the program's, or 1 where a kernel breaks a rule.");
  app.set_version_flag("--version", FP8_VERSION);
  app.prefix_command();
  app.formatter(std::make_shared<UsageFormatter>());
  addOptions(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == int(CLI::ExitCodes::Success))
      return app.exit(error);
    std::cerr << kPrefix << "error: " << error.what()
              << "; see fp8-simulate --help\n";
    return kUsage;
  }
  line.program = app.remaining();
  if (!line.program.empty() && line.program[0] == "--")
    line.program.erase(line.program.begin());
  if (line.program.empty() || line.program[0][0] == '-') {
    std::cerr << kPrefix << "error: "
              << (line.program.empty() ? "name a program to run"
                                       : "option '" + line.program[0] +
                                             "' is unknown; see --help")
              << "\n";
    return kUsage;
  }
  std::filesystem::path folder = libraryFolder();
  if (folder.empty()) {
    std::cerr << kPrefix
              << "error: libcudart.so.13 of the simulator is not beside "
                 "fp8-simulate; install both\n";
    return kUsage;
  }
  char report[] = "/tmp/fp8-simulate-XXXXXX";
  if (!mkdtemp(report)) {
    std::cerr << kPrefix << "error: cannot write to /tmp\n";
    return kUsage;
  }
  line.settings.report = report;
  std::optional<Ending> ending = runProgram(line, folder);
  std::optional<fp8::cuda::Findings> findings = readFindings(report);
  std::filesystem::remove_all(report);
  return ending ? judge(findings, *ending) : kUsage;
}
