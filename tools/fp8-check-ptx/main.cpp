// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares PTX with the events that `fp8-opt --fp8-prove=json=` expects of it.

#include "fp8/ProofText/Compare.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace fp8;

static constexpr const char *kUsage =
    "usage: fp8-check-ptx KERNEL.ptx EVENTS.json\n"
    "\n"
    "Compares each entry of the PTX with the events that\n"
    "  fp8-opt X.mlir --fp8-prove='chip=CHIP json=EVENTS.json'\n"
    "writes, without running it: for all trip counts, role by role.\n"
    "Ends with 0 if they agree, 1 if not, 2 if they cannot be compared.\n"
    "\n"
    "  --help     prints this\n"
    "  --version  prints the version of fp8\n";

static bool read(const char *path, std::string &text) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    errno = EISDIR;
  } else if (std::ifstream file(path, std::ios::binary); file) {
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.bad())
      return true;
  }
  std::cerr << path << ": error: cannot be read: " << std::strerror(errno)
            << '\n';
  return false;
}

static void print(const char *path, const prooftext::Mismatch &mismatch) {
  std::cerr << path << ':' << mismatch.line << ": error: " << mismatch.message
            << '\n';
  for (const std::string &expected : mismatch.expected)
    std::cerr << "  expected: " << expected << '\n';
}

/// The status, or 2 if what was printed did not arrive.
static int finish(int status) {
  std::cout.flush();
  if (std::cout)
    return status;
  std::cerr << "error: standard output cannot be written to\n";
  return 2;
}

int main(int argc, char **argv) {
  std::string_view option = argc == 2 ? argv[1] : "";
  if (option == "--help" || option == "-h" || option == "--version") {
    std::cout << (option == "--version" ? "fp8-check-ptx " FP8_VERSION "\n"
                                        : kUsage);
    return finish(0);
  }
  if (argc != 3) {
    std::cerr << kUsage;
    return 2;
  }
  std::string text, events;
  if (!read(argv[1], text) || !read(argv[2], events))
    return 2;
  sim::PTXModule::ParseResult parsed = sim::PTXModule::parse(text);
  for (const sim::Diagnostic &diagnostic : parsed.diagnostics)
    std::cerr << diagnostic.str(argv[1]) << '\n';
  if (!parsed)
    return 2;
  if (parsed.module.entries().empty()) {
    std::cerr << argv[1] << ": error: there is no '.entry' to compare\n";
    return 2;
  }
  int result = 0;
  for (const sim::Entry &entry : parsed.module.entries()) {
    prooftext::Comparison its =
        prooftext::compare(parsed.module, entry.name, events);
    for (const prooftext::Mismatch &mismatch : its.mismatches)
      print(argv[1], mismatch);
    if (!its.obstacle.empty()) {
      std::cerr << argv[its.isOfEvents ? 2 : 1] << ": error: entry '"
                << entry.name << "' cannot be compared: " << its.obstacle
                << '\n';
      result = 2;
    } else if (!its.agrees()) {
      result = std::max(result, 1);
    } else {
      std::cout << entry.name << ": agrees with its skeleton, which is "
                << (its.verdict == "unknown" ? "not proved" : its.verdict)
                << " (" << its.states << " states, " << its.events
                << " events)\n";
    }
  }
  return finish(result);
}
