/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The header is C. */
#include "fp8-c/Host.h"

void fp8HostLaunchFromC(Fp8HostKernel *kernel);
void fp8HostLaunchFromC(Fp8HostKernel *kernel) {
  fp8HostLaunch(kernel, NULL, 0);
}
