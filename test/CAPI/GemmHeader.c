/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The header is C. */
#include "fp8-c/Gemm.h"

const char *fp8ElementTypesFromC(void);
const char *fp8ElementTypesFromC(void) { return fp8ElementTypes(); }
