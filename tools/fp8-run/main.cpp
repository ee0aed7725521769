// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8-run: runs a compiled kernel and checks what it computes.
#include "Run.h"

int main(int argc, char **argv) { return fp8::run::runProgram(argc, argv); }
