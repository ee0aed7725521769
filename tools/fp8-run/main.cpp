// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8-run: runs a compiled kernel and checks what it computes.
#include "Run.h"

#include <exception>
#include <iostream>

namespace {
/// The exit code, or 1 where the output did not get to where it should.
int finishOutput(int exitCode) {
  std::cout.flush();
  if (std::cout)
    return exitCode;
  std::cerr << "fp8-run: error: cannot write to standard output; make room on "
               "its disk, or keep its reader alive\n";
  return exitCode ? exitCode : 1;
}
} // namespace

int main(int argc, char **argv) {
  try {
    int exitCode = 0;
    auto options = fp8::run::parseCommandLine(argc, argv, exitCode);
    return finishOutput(
        options ? fp8::run::runTool(*options, std::cout, std::cerr) : exitCode);
  } catch (const std::bad_alloc &) {
    std::cerr << "fp8-run: error: out of memory; choose smaller sizes\n";
  } catch (const std::exception &error) {
    std::cerr << "fp8-run: error: " << error.what() << "\n";
  }
  return 1;
}
