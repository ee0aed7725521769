// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What vector.print calls, for programs where there is no libmlir_c_runner_utils.
#include <inttypes.h>
#include <stdio.h>

void printU64(uint64_t number) { printf("%" PRIu64, number); }
void printString(const char *text) { fputs(text, stdout); }
void printNewline(void) { putchar('\n'); }
