/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The headers are C. */
#include "fp8-c/Python.h"
#include "fp8-c/Runtime.h"

const char *fp8LastErrorFromC(void);
const char *fp8LastErrorFromC(void) { return fp8LastError(); }
