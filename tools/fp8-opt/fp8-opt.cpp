// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-opt: runs passes on a module and writes MLIR, LLVM IR, PTX or a cubin.

#include "fp8/Register.h"

int main(int argc, char **argv) { return mlir::fp8::runFp8Opt(argc, argv); }
