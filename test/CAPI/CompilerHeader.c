/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The headers are C. */
#include "fp8-c/Compiler.h"
#include "fp8-c/Simulator.h"

void fp8UseFromC(void);
void fp8UseFromC(void) {
  Fp8SimulatorOptions options;
  fp8SimulatorOptionsInit(&options);
  fp8ModuleFree(NULL);
  fp8ContextFree(NULL);
}
