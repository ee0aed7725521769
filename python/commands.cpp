// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command-line tools as functions, which fp8/_commands.py calls. Each is
// called once in a process, which ends with the status that it returns.

#include "fp8-run/Run.h"
#include "fp8/Register.h"

extern "C" {
int fp8OptMain(int argc, char **argv) {
  return mlir::fp8::runFp8Opt(argc, argv);
}
int fp8RunMain(int argc, char **argv) {
  return fp8::run::runProgram(argc, argv);
}
}
