/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The common parts of the C API: status, errors, arguments, text.
 *
 * A function that can fail returns FP8_OK or another status; fp8LastError()
 * then returns the message of this thread's last failure. A function that fails
 * creates nothing and sets its result to NULL. The functions named Close and
 * Free free handles and accept NULL; no other function accepts NULL as a
 * handle. No exception crosses the API. No error ends the process, except in
 * fp8-c/Host.h.
 *
 * Unless the header says otherwise, one thread at a time may use a handle, and
 * any number of threads may use different handles. A context and its modules
 * count as one handle. */
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

/* The version of the library: "0.1.0". */
const char *fp8Version(void);

/* Text or bytes of the library, followed by a NUL. */
typedef struct Fp8Text Fp8Text;
const char *fp8TextData(const Fp8Text *text);
size_t fp8TextSize(const Fp8Text *text);
void fp8TextFree(Fp8Text *text);

/* What a profiled kernel's roles did (docs/Timeline.md): `summary`, lines of
 * text, and `trace`, which Perfetto opens. Free both with fp8TextFree. */
typedef struct Fp8Timeline {
  Fp8Text *summary, *trace;
} Fp8Timeline;

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
