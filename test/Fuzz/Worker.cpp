// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The worker's loop, its limits, and planted faults.
#include "Worker.h"

#include "Corpus.h"
#include "ReadFile.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

//--- Sanitizers

// LLVM's allocators are inlined into our code, which is instrumented, and used
// by LLVM's own, which is not: memory that one poisons the other would use. The
// same holds for vectors' spare room.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:"
         "handle_abort=1:max_allocation_size_mb=4096:"
         "detect_stack_use_after_return=0";
}
extern "C" const char *__ubsan_default_options() {
  return "print_stacktrace=1";
}

namespace fp8::planted {
// Faults of ours, as fuzz.py sees it: not in the namespace of the fuzzer, and
// with names that a stack shows in full.
void crash();
void hang();

[[gnu::noinline]] void crash() {
  volatile int *volatile nowhere = nullptr;
  *nowhere = 1;
}
[[gnu::noinline]] void hang() {
  for (volatile unsigned i = 0;;)
    i = i + 1;
}
} // namespace fp8::planted

namespace fp8::fuzz {
namespace {
struct CommandLine {
  uint64_t seed = 0, start = 0, count = 1;
  uint64_t seconds = 20, megabytes = 3000;
  std::string write, read, plant;
  uint64_t at = 0;

  CommandLine(int argc, char **argv) {
    for (int i = 1; i < argc; ++i)
      if (!take(argv[i]))
        unknown(argv[i]);
  }

private:
  [[noreturn]] static void unknown(const char *argument) {
    std::fprintf(stderr, "fp8-fuzz: unknown argument '%s'\n", argument);
    std::exit(2);
  }
  bool take(const char *argument) {
    const char *equals = std::strchr(argument, '=');
    if (!equals)
      return false;
    std::string name(argument, equals), value(equals + 1);
    std::map<std::string, uint64_t *> numbers = {
        {"--seed", &seed},           {"--start", &start},
        {"--count", &count},         {"--seconds", &seconds},
        {"--megabytes", &megabytes}, {"--at", &at}};
    std::map<std::string, std::string *> texts = {
        {"--write", &write}, {"--read", &read}, {"--plant", &plant}};
    if (auto found = numbers.find(name); found != numbers.end())
      *found->second = std::strtoull(value.c_str(), nullptr, 10);
    else if (auto found = texts.find(name); found != texts.end())
      *found->second = value;
    else
      return name == "--corpus"; // the target's
    return true;
  }
};

//--- Limits
//
// A timer looks now and then. What it finds it says, and aborts: whoever
// reports the crash, the sanitizer or LLVM, shows the stack of that moment.

uint64_t secondsLimit, pagesLimit;
std::atomic<uint64_t> beganAt; // in seconds of the processor

uint64_t processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec;
}

/// Pages in memory; only calls that a signal handler may make.
uint64_t residentPages() {
  char text[128] = {};
  int file = open("/proc/self/statm", O_RDONLY);
  if (file < 0)
    return 0;
  ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  const char *second = length > 0 ? std::strchr(text, ' ') : nullptr;
  return second ? std::strtoull(second, nullptr, 10) : 0;
}

template <size_t size>
[[noreturn]] void giveUp(const char (&message)[size]) {
  // Nothing can be done where that fails.
  (void)!write(STDERR_FILENO, message, size - 1);
  std::abort();
}

void checkLimits(int) {
  if (processorSeconds() - beganAt > secondsLimit)
    giveUp("fp8-fuzz: hang: the input took too long\n");
  if (residentPages() > pagesLimit)
    giveUp("fp8-fuzz: memory: the input took too much\n");
}

void setTimer() {
  itimerval often = {{0, 250000}, {0, 250000}};
  setitimer(ITIMER_PROF, &often, nullptr);
}

void setLimits(const CommandLine &options) {
  secondsLimit = options.seconds;
  pagesLimit = (options.megabytes << 20) / sysconf(_SC_PAGESIZE);
  struct sigaction action = {};
  action.sa_handler = checkLimits;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  setTimer();
}

//--- The loop

/// Standard output is the supervisor's; what an input prints goes elsewhere.
class Progress {
public:
  Progress() : file(fdopen(dup(STDOUT_FILENO), "w")) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  }
  void say(const std::string &line) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fflush(file);
  }

private:
  std::FILE *file;
};

/// What goes wrong in the place of an input.
enum class Fault { None, Crash, Hang };

std::string run(Target &target, const Input &input, Random &random,
                Fault fault) {
  if (fault == Fault::Crash)
    planted::crash();
  if (fault == Fault::Hang)
    planted::hang();
  return target.run(input, random);
}

/// Does so in a child; ends the process as the child ended, if that was early.
std::string runInChild(Target &target, const Input &input, Random &random,
                       Fault fault) {
  int ends[2];
  if (pipe(ends))
    std::abort();
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    beganAt = 0; // and so does its clock
    setTimer();  // is not inherited
    std::string outcome = run(target, input, random, fault);
    (void)!write(ends[1], outcome.data(), outcome.size());
    _exit(0);
  }
  close(ends[1]);
  char text[200];
  ssize_t length = read(ends[0], text, sizeof(text));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (child < 0 || status || length < 0)
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return std::string(text, length);
}

Input readInput(const std::string &prefix, const Input &like) {
  Input input;
  for (const auto &[suffix, bytes] : like)
    input[suffix] = test::readFile(prefix + suffix);
  return input;
}
} // namespace

int runWorker(int argc, char **argv, Target &target) {
  CommandLine options(argc, argv);
  setLimits(options);
  Progress progress;
  for (uint64_t i = 0; i < options.count; ++i) {
    uint64_t index = options.start + i;
    // How it runs does not depend on how it was made: a smaller input that is
    // read runs in the same way.
    Random making(options.seed, 2 * index),
        running(options.seed, 2 * index + 1);
    beganAt = processorSeconds();
    Input input = target.make(making);
    if (!options.write.empty()) {
      for (const auto &[suffix, bytes] : input)
        writeFile(options.write + suffix, bytes);
      continue;
    }
    if (!options.read.empty())
      input = readInput(options.read, input);
    progress.say(std::to_string(index));
    bool planted = !options.plant.empty() && index == options.at;
    bool inChild = planted ? options.plant.rfind("child-", 0) == 0
                           : target.isDangerous(input);
    bool crashes = options.plant == "crash" || options.plant == "child-crash";
    Fault fault = !planted ? Fault::None : crashes ? Fault::Crash : Fault::Hang;
    progress.say((inChild ? runInChild : run)(target, input, running, fault));
  }
  return 0;
}

} // namespace fp8::fuzz
