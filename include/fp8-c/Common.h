/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the parts of the C API have in common: status, errors, arguments, text.
 *
 * Functions that can fail return FP8_OK or another status; fp8LastError() then
 * has the message of this thread's last failure. What fails makes nothing and
 * leaves NULL. Handles are freed by the function named Close or Free, which
 * takes NULL; no other takes that for a handle. Nothing is thrown across the
 * API, and no error ends the process, but for those of fp8-c/Host.h.
 *
 * Unless its header says otherwise, a handle is used by one thread at a time,
 * whichever, and different handles by as many threads as you like; a context
 * and its modules count as one handle. */
#ifndef FP8_C_COMMON_H
#define FP8_C_COMMON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum Fp8Status {
  FP8_OK = 0,
  FP8_ERROR = 1,
  FP8_HANG = 2 /* work did not end in time; only ending the process stops it */
} Fp8Status;

/* Never NULL; valid until this thread's next call that fails. */
const char *fp8LastError(void);

/* "0.1.0": of the library. */
const char *fp8Version(void);

/* An argument of a launch manifest: a strided array. */
typedef struct Fp8Argument {
  const char *dtype; /* as MLIR spells it: "f8E4M3FN" */
  uint64_t address;  /* of element 0: on the device; of fp8Simulate, here */
  size_t rank;
  const int64_t *shape;   /* elements, outermost first */
  const int64_t *strides; /* elements, outermost first */
} Fp8Argument;

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_COMMON_H */
