// How chosen kernels are launched (docs/Chooser.md).
// RUN: rm -rf %t && split-file %s %t
// DEFINE: %{chip} = sm_90a
// DEFINE: %{options} =
// DEFINE: %{choose} = fp8-opt %t/gemm.mlir --fp8-choose-config="chip=%{chip} %{options}" | FileCheck %s --check-prefix

// All gain by an early start, on either engine.
// REDEFINE: %{options} = problem=64x7168x2048
// RUN: %{choose}=EARLY
// REDEFINE: %{options} = problem=1x4096x7168
// RUN: %{choose}=EARLY
// REDEFINE: %{options} = problem=4096x2112x7168
// RUN: %{choose}=EARLY
// REDEFINE: %{chip} = sm_100a
// RUN: %{choose}=EARLY
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{options} = problem=?x2112x7168
// RUN: %{choose}=EARLY
// EARLY: config <tile = {{.*}}, launch = programmatic{{(, edge = first)?(, signal = wait)?}}>
// A tie is serial, on a GPU where a start gains nothing.
// RUN: sed 's/"earlyUs": 0.8/"earlyUs": 0/' %S/Inputs/machine.json > %t/machine.json
// REDEFINE: %{options} = problem=64x7168x2048 machine=%t/machine.json
// RUN: %{choose}=SERIAL
// SERIAL: config <tile = {{[0-9x ]+(, (cta_group|cluster|split_k) = [0-9x ]+)*(, edge = first)?}}>

// Who says how gets it, also for a tile that has no other reason to be pinned.
// REDEFINE: %{options} = problem=64x7168x2048 launch=serial
// RUN: %{choose}=SERIAL
// REDEFINE: %{options} = problem=4096x7168x2048 launch=programmatic
// RUN: %{choose}=EARLY
// REDEFINE: %{options} = launch=programmatic
// RUN: %{choose}=DEFAULT
// DEFAULT: config <tile = 128 x 128 x 128, launch = programmatic>
// REDEFINE: %{options} = launch=serial
// RUN: %{choose}=NONE
// REDEFINE: %{options} = launch=fastest
// RUN: %{choose}=NONE
// NONE-NOT: config
// NONE: return
// RUN: fp8-opt %t/gemm.mlir --fp8-explain-config="chip=sm_90a launch=programmatic" -o /dev/null | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: tile = 128 x 128 x 128, launch = programmatic, by the lowering
// EXPLAIN-NEXT: M, N and K are unknown, so the lowering uses tiles of 128 x 128
// RUN: not fp8-opt %t/gemm.mlir --fp8-choose-config=launch=early 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: --fp8-choose-config: launch must be serial, programmatic or fastest, but got 'early'

// What a table has was measured for its rows of tiles; for others the model says.
// REDEFINE: %{options} = problem=12x7168x2048 tuned=%t/tuned.json
// RUN: %{choose}=MEASURED
// MEASURED: config <tile = 16 x 64 x 128, launch = programmatic>
// REDEFINE: %{options} = problem=24x7168x2048 tuned=%t/tuned.json
// RUN: %{choose}=OTHER
// OTHER: config <tile = 24 x 64 x 128, launch = programmatic, signal = wait>
// REDEFINE: %{options} = problem=12x7168x2048 tuned=%t/tuned.json launch=serial
// RUN: %{choose}=LATE
// LATE: config <tile = 16 x 64 x 128>
// Up to eleven rows beyond M are no reason to leave the table.
// REDEFINE: %{options} = problem=117x7168x2048 tuned=%t/tuned.json
// RUN: %{choose}=FITS
// FITS: config <tile = 128 x 56 x 128>
// REDEFINE: %{options} = problem=116x7168x2048 tuned=%t/tuned.json
// RUN: %{choose}=BEYOND
// BEYOND: config <tile = 64 x {{[0-9]+}} x 128, launch = programmatic, edge = first, signal = wait>

// The pipeline hands the option on.
// RUN: fp8-opt %t/gemm.mlir --fp8-gemm-to-ptx="chip=sm_90a problem=64x7168x2048 phase=op launch=serial" | FileCheck %s --check-prefix=SERIAL

//--- gemm.mlir
func.func @gemm(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}
//--- tuned.json
{"chip": "sm_90a", "gpu": "made up", "entries": [
  {"m": 16, "n": 7168, "k": 2048, "config": "tile = 16 x 64 x 128, launch = programmatic", "us": 1.0},
  {"m": 128, "n": 7168, "k": 2048, "config": "tile = 128 x 56 x 128", "us": 1.0}
]}
