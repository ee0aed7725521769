/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the compiler: MLIR in, kernels out.
 *
 * fp8-c/Common.h describes errors and handles. One thread at a time may use a
 * context and its modules; any number of threads may use different contexts.
 * Free a module before its context. */
#ifndef FP8_C_COMPILER_H
#define FP8_C_COMPILER_H

#include "fp8-c/Common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Fp8Context Fp8Context;
typedef struct Fp8Module Fp8Module;
typedef struct Fp8Chooser Fp8Chooser;
typedef struct Fp8KernelObject Fp8KernelObject;

/* The supported chips, "sm_90a" first; NULL after the last. */
const char *fp8ChipName(size_t index);

typedef enum Fp8Severity {
  FP8_SEVERITY_ERROR = 0,
  FP8_SEVERITY_WARNING = 1,
  FP8_SEVERITY_REMARK = 2,
  FP8_SEVERITY_NOTE = 3
} Fp8Severity;

/* Valid during the call of the handler. */
typedef struct Fp8Diagnostic {
  Fp8Severity severity;
  const char *message;
  const char *file;      /* empty if there is no place in a file */
  uint32_t line, column; /* from 1; 0 if there is none */
  size_t noteCount;
  const struct Fp8Diagnostic *notes;
} Fp8Diagnostic;

typedef void (*Fp8DiagnosticHandler)(const Fp8Diagnostic *diagnostic,
                                     void *data);

Fp8Status fp8ContextCreate(Fp8Context **context);
void fp8ContextFree(Fp8Context *context);
/* `handler` receives the diagnostics of the functions below while they run, and
 * must not call these functions. NULL: no handler. In both cases fp8LastError()
 * has the errors with their notes. */
void fp8ContextSetDiagnosticHandler(Fp8Context *context,
                                    Fp8DiagnosticHandler handler, void *data);

/* Parses and verifies text or bytecode of `bytes` bytes; `name` names the file
 * in diagnostics. */
Fp8Status fp8ModuleParse(Fp8Context *context, const char *text, size_t bytes,
                         const char *name, Fp8Module **module);
void fp8ModuleFree(Fp8Module *module);
Fp8Status fp8ModuleClone(const Fp8Module *module, Fp8Module **clone);
/* Runs the verifiers, and checks the linearity of all functions. */
Fp8Status fp8ModuleVerify(const Fp8Module *module);
/* `pipeline` has the syntax of fp8-opt's --pass-pipeline, with or without the
 * "builtin.module(...)" around it: "fp8-gemm-to-ptx{chip=sm_90a}"; an empty
 * pipeline is "". After an error the module may be passed only to fp8ModuleFree
 * and fp8ModulePrint. */
Fp8Status fp8ModuleRunPipeline(Fp8Module *module, const char *pipeline);

typedef enum Fp8Format {
  FP8_FORMAT_TEXT = 0,
  FP8_FORMAT_TEXT_WITH_LOCATIONS = 1,
  FP8_FORMAT_BYTECODE = 2
} Fp8Format;
Fp8Status fp8ModulePrint(const Fp8Module *module, Fp8Format format,
                         Fp8Text **text);
/* The report of each kernel, in the JSON format of --fp8-report=format=json.
 * Kernels in phase 0 are lowered for `chip`. */
Fp8Status fp8ModuleReport(const Fp8Module *module, const char *chip,
                          Fp8Text **json);

/* Proves each kernel for all launches, in the JSON format of --fp8-prove=json=:
 * verdicts, reasons, traces, what to change, assumptions. A refuted kernel is
 * no error here. Kernels in phase 0 are lowered for `chip`; kernels in phase 3
 * and 4 are left out. */
Fp8Status fp8ModuleProve(const Fp8Module *module, const char *chip,
                         Fp8Text **json);

/* Chooses configurations of the one GEMM of `module`, which pins none and
 * outlives the chooser, as --fp8-choose-config does: `tuned` is the path of a
 * table of measurements, or NULL; `machine` the name of a GPU or the path of a
 * file with its constants, or NULL for the chip's; and `launch` "fastest",
 * "serial" or "programmatic". */
Fp8Status fp8ChooserCreate(const Fp8Module *module, const char *chip,
                           const char *tuned, const char *machine,
                           const char *launch, Fp8Chooser **chooser);
void fp8ChooserFree(Fp8Chooser *chooser);
/* The configuration for M, N and K, 0 where one is not known: the text of
 * `config <...>`, "" if the lowering chooses. It is valid until the next call.
 * After a first call for each N and K this compiles nothing and parses nothing.
 * One thread at a time may choose. */
Fp8Status fp8ChooserChoose(Fp8Chooser *chooser, int64_t m, int64_t n, int64_t k,
                           const char **config);

/* The constants of the chooser's machine, fitted to times of kernels on the GPU
 * called `gpu`: the text of a file that `machine` reads. `measured` is the path
 * of a table of the format of `tuned`, which may have many entries for one M, N
 * and K. A name `gpu` that is empty or not UTF-8 is an error. */
Fp8Status fp8ChooserFit(Fp8Chooser *chooser, const char *measured,
                        const char *gpu, Fp8Text **json);
/* The names of the GPUs whose constants are built in; NULL after the last. */
const char *fp8MachineName(size_t index);

typedef struct Fp8KernelObjectOptions {
  const char *kernel; /* NULL: the only one */
  int assemble;       /* not 0: a cubin, too, by NVIDIA's ptxas */
  const char *ptxas;  /* the program; NULL: searched for as fp8-opt does */
  int strict;         /* not 0: a spilled register or a warning is an error */
} Fp8KernelObjectOptions;

/* Compiles a kernel of a module in phase 4, which is not changed. `options` may
 * be NULL. */
Fp8Status fp8KernelObjectCreate(const Fp8Module *module,
                                const Fp8KernelObjectOptions *options,
                                Fp8KernelObject **object);
void fp8KernelObjectFree(Fp8KernelObject *object);
/* Valid as long as the object. */
const char *fp8KernelObjectName(const Fp8KernelObject *object);
const char *fp8KernelObjectChip(const Fp8KernelObject *object);
const char *fp8KernelObjectPTX(const Fp8KernelObject *object);
const char *fp8KernelObjectManifest(const Fp8KernelObject *object);
/* The certificate of the kernel's proof, in JSON, for fp8-check-proof; NULL if
 * the proof left none. */
const char *fp8KernelObjectCertificate(const Fp8KernelObject *object);
/* NULL, and 0 bytes, if there is none. */
const void *fp8KernelObjectCubin(const Fp8KernelObject *object, size_t *bytes);

typedef struct Fp8KernelResources {
  int64_t registers;         /* 32-bit registers of one thread */
  int64_t spillStoreBytes;   /* of one thread */
  int64_t spillLoadBytes;    /* of one thread */
  int64_t stackBytes;        /* of one thread */
  int64_t sharedMemoryBytes; /* static, of one CTA */
} Fp8KernelResources;
/* 0 if there is no cubin, else 1. */
int fp8KernelObjectResources(const Fp8KernelObject *object,
                             Fp8KernelResources *resources);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_COMPILER_H */
