/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API from MLIR to numbers: compiles examples/gemm.mlir for a chip, runs
 * the kernel on the simulator and compares D with a loop.
 *
 * cc examples/c/gemm.c -Iinclude -Lbuild/lib -lfp8 -Wl,-rpath,$PWD/build/lib \
 *   -lm -o gemm && ./gemm examples/gemm.mlir sm_90a */

#include "fp8-c/Compiler.h"
#include "fp8-c/Simulator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 72, N = 136, K = 272, BLOCKS = (K + 127) / 128 };

static uint8_t a[M][K], b[N][K];
static float aScale[BLOCKS][M], bScale[(N + 127) / 128][BLOCKS];
static uint16_t d[M][N]; /* bf16 */

/* Some numbers, and their codes in e4m3. */
static const float values[] = {0, 0.5f, 1, 1.5f, 2, -1, -3};
static const uint8_t codes[] = {0x00, 0x30, 0x38, 0x3c, 0x40, 0xb8, 0xc4};

static size_t pickA(int m, int k) { return (size_t)(m * 5 + k * k) % 7; }
static size_t pickB(int n, int k) { return (size_t)(n * 3 + k * 2) % 7; }

static void fillOperands(void) {
  for (int m = 0; m < M; ++m)
    for (int k = 0; k < K; ++k)
      a[m][k] = codes[pickA(m, k)];
  for (int n = 0; n < N; ++n)
    for (int k = 0; k < K; ++k)
      b[n][k] = codes[pickB(n, k)];
  for (int block = 0; block < BLOCKS; ++block) {
    for (int m = 0; m < M; ++m)
      aScale[block][m] = 1.0f + (float)((m + block) % 3);
    for (int row = 0; row < (N + 127) / 128; ++row)
      bScale[row][block] = 0.25f + (float)row + (float)block;
  }
}

static double computeElement(int m, int n) {
  double sum = 0;
  for (int k = 0; k < K; ++k)
    sum += (double)aScale[k / 128][m] * bScale[n / 128][k / 128] *
           values[pickA(m, k)] * values[pickB(n, k)];
  return sum;
}

/* The elements of D that differ by more than rounding to bf16 does. */
static int countWrong(void) {
  int wrong = 0;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      uint32_t bits = (uint32_t)d[m][n] << 16;
      float got;
      memcpy(&got, &bits, sizeof got);
      double expected = computeElement(m, n);
      wrong += !(fabs(got - expected) <= fabs(expected) / 256);
    }
  return wrong;
}

static Fp8Status simulate(const Fp8KernelObject *kernel,
                          Fp8SimulatorStatistics *statistics) {
  const int64_t aShape[] = {M, K}, aStrides[] = {K, 1};
  const int64_t aScaleShape[] = {BLOCKS, M}, aScaleStrides[] = {M, 1};
  const int64_t bShape[] = {N, K}, bStrides[] = {K, 1};
  const int64_t bScaleShape[] = {(N + 127) / 128, BLOCKS};
  const int64_t bScaleStrides[] = {BLOCKS, 1};
  const int64_t dShape[] = {M, N}, dStrides[] = {N, 1};
  const Fp8Argument arguments[] = {
      {"f8E4M3FN", (uint64_t)(uintptr_t)a, 2, aShape, aStrides},
      {"f32", (uint64_t)(uintptr_t)aScale, 2, aScaleShape, aScaleStrides},
      {"f8E4M3FN", (uint64_t)(uintptr_t)b, 2, bShape, bStrides},
      {"f32", (uint64_t)(uintptr_t)bScale, 2, bScaleShape, bScaleStrides},
      {"bf16", (uint64_t)(uintptr_t)d, 2, dShape, dStrides}};
  const char *ptx = fp8KernelObjectPTX(kernel);
  return fp8Simulate(ptx, strlen(ptx), "gemm.ptx",
                     fp8KernelObjectManifest(kernel), arguments, 5, NULL,
                     statistics);
}

/* The text of a file, for the caller to free; NULL if it cannot be read. */
static char *readFile(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  char *text = malloc(1 << 20);
  *bytes = file && text ? fread(text, 1, 1 << 20, file) : 0;
  if (file)
    fclose(file);
  if (*bytes)
    return text;
  free(text);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: gemm FILE CHIP\n");
    return 2;
  }
  size_t bytes;
  char *text = readFile(argv[1], &bytes);
  if (!text) {
    fprintf(stderr, "error: cannot read %s\n", argv[1]);
    return 2;
  }
  char pipeline[64];
  snprintf(pipeline, sizeof pipeline, "fp8-gemm-to-ptx{chip=%s}", argv[2]);
  fillOperands();

  Fp8Context *context = NULL;
  Fp8Module *module = NULL;
  Fp8KernelObject *kernel = NULL;
  Fp8SimulatorStatistics statistics;
  int status = 1;
  if (fp8ContextCreate(&context) ||
      fp8ModuleParse(context, text, bytes, argv[1], &module) ||
      fp8ModuleRunPipeline(module, pipeline) ||
      fp8KernelObjectCreate(module, NULL, &kernel) ||
      simulate(kernel, &statistics)) {
    fprintf(stderr, "error: %s\n", fp8LastError());
  } else {
    int wrong = countWrong();
    printf("%s for %s: %llu MMAs, %d of %d elements wrong\n",
           fp8KernelObjectName(kernel), fp8KernelObjectChip(kernel),
           (unsigned long long)statistics.mmas, wrong, M * N);
    status = wrong != 0;
  }
  fp8KernelObjectFree(kernel);
  fp8ModuleFree(module);
  fp8ContextFree(context);
  free(text);
  return status;
}
