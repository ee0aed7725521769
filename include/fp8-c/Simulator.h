/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the simulator: a kernel and its launch manifest without a GPU.
 *
 * fp8-c/Common.h describes errors. */
#ifndef FP8_C_SIMULATOR_H
#define FP8_C_SIMULATOR_H

#include "fp8-c/Common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Fp8SimulatorOptions {
  uint64_t scheduleSeed;     /* the order of warps and of asynchronous work */
  int completeAtIssue;       /* not 0: asynchronous work completes at once */
  uint64_t stepLimit;        /* warp instructions */
  uint64_t gridLimit;        /* CTAs */
  uint32_t maxErrors;        /* after which a run stops; warnings are none */
  uint32_t multiprocessors;  /* that the device has; 0: those of the GPU that
                              * stands for the kernel's chip */
  uint32_t residentClusters; /* 0: some, as the seed chooses */
  uint32_t threads;          /* of the host; 0: one for each of its cores */
  int strict; /* not 0: warnings are errors; the default, for what a manifest
               * launches should keep the letter of the PTX ISA */
  uint64_t memoryLimit; /* bytes of all arguments together */
  /* Called up to 50 times a second, and at the end, with the number of CTAs
   * that have ended and of all CTAs. If it does not return 0, the run ends with
   * an error. NULL: no calls. */
  int (*progress)(uint64_t ended, uint64_t ctas, void *data);
  void *progressData;
} Fp8SimulatorOptions;

/* Sets the defaults of fp8-run. */
void fp8SimulatorOptionsInit(Fp8SimulatorOptions *options);

typedef struct Fp8SimulatorStatistics {
  uint64_t warpInstructions;
  uint64_t mmas;
  uint64_t tmaLoads, tmaLoadBytes;
  uint64_t tmaStores, tmaStoreBytes;
  uint64_t barrierPhases; /* of mbarriers, completed */
  uint64_t ctas;          /* run to their end */
  uint64_t scheduleHash;  /* tells orders of barrier events apart */
  uint64_t warnings;      /* against the letter of the PTX ISA, but harmless
                           * where they were seen */
} Fp8SimulatorStatistics;

/* Runs the kernel of `manifest` in `ptx` on arrays in the memory of this
 * process, and writes the results to the arrays that the kernel may write. A
 * broken rule of the barrier protocol, of TMA, of the tensor cores and so on is
 * an error, with its place in `name`; nothing is written then. `options` and
 * `statistics` may be NULL. Several threads may simulate at the same time. */
Fp8Status fp8Simulate(const char *ptx, size_t bytes, const char *name,
                      const char *manifest, const Fp8Argument *arguments,
                      size_t count, const Fp8SimulatorOptions *options,
                      Fp8SimulatorStatistics *statistics);

/* The same of a kernel that was compiled with --fp8-profile. Times are steps of
 * the simulator. An error, too: the kernel writes no stamps. */
Fp8Status fp8SimulateProfile(const char *ptx, size_t bytes, const char *name,
                             const char *manifest, const Fp8Argument *arguments,
                             size_t count, const Fp8SimulatorOptions *options,
                             Fp8SimulatorStatistics *statistics,
                             Fp8Timeline *timeline);

/* An array in the memory of this process for a buffer of a launch description.
 */
typedef struct Fp8GivenArray {
  const char *name; /* of the buffer */
  void *data;       /* the buffer's contents, before and after */
  uint64_t bytes;
  int readOnly; /* not 0: a kernel that stores to it is an error */
} Fp8GivenArray;

/* Runs any kernel in `ptx` as `description` says (docs/launch.schema.json), on
 * arrays that give its buffers their contents; the description's files are
 * relative to the working directory. What the kernel may write is written to
 * the arrays, unless a rule is broken, which is an error as for fp8Simulate; so
 * is a result that the description does not expect. `options` may be NULL:
 * then warnings are no errors.
 *
 * `report`, if not NULL, is what the run found, as JSON, also where it fails;
 * free it with fp8TextFree. It is NULL where nothing ran. It has "warnings" and
 * "errors", each a list of texts, and "expected", a list of comparisons. */
Fp8Status fp8SimulateLaunch(const char *ptx, size_t bytes, const char *name,
                            const char *description,
                            const Fp8GivenArray *arrays, size_t count,
                            const Fp8SimulatorOptions *options,
                            Fp8SimulatorStatistics *statistics,
                            Fp8Text **report);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_SIMULATOR_H */
