// RUN: rm -rf %t && split-file %s %t
// DEFINE: %{options} = chip=sm_90a
// DEFINE: %{refused} = not fp8-opt %t/gemm.mlir --fp8-choose-config="%{options}" 2>&1 | FileCheck %s --check-prefix

// RUN: not fp8-opt %t/gemm.mlir --fp8-choose-config=chip=sm_42 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'sm_42'; known are sm_90a, sm_100a, sm_100f, sm_103a, sm_110a
// REDEFINE: %{options} = problem=64x128
// RUN: %{refused}=PROBLEM
// REDEFINE: %{options} = problem=64x128x0
// RUN: %{refused}=PROBLEM
// REDEFINE: %{options} = problem=64x128x2147483648
// RUN: %{refused}=PROBLEM
// PROBLEM: error: --fp8-choose-config: problem must be MxNxK, such as 64x7168x2048, or ?x7168x2048 where M is unknown, but got '64x128{{.*}}'
// REDEFINE: %{options} = chip=sm_90a tuned=%t/none.json
// RUN: %{refused}=NONE
// NONE: error: --fp8-choose-config: cannot read the tuned table '{{.*}}none.json': No such file or directory
// REDEFINE: %{options} = chip=sm_90a tuned=%t/cut.json
// RUN: %{refused}=CUT
// CUT: error: --fp8-choose-config: the tuned table '{{.*}}cut.json' is not valid JSON: [{{.*}}]: {{.*}}
// REDEFINE: %{options} = chip=sm_90a tuned=%t/list.json
// RUN: %{refused}=LIST
// LIST: error: --fp8-choose-config: the tuned table '{{.*}}list.json' needs a "chip" and "entries"; './dev bench --tune' writes one
// REDEFINE: %{options} = chip=sm_100a tuned=%t/wrong.json
// RUN: %{refused}=OTHER
// OTHER: error: --fp8-choose-config: the tuned table '{{.*}}wrong.json' is for sm_90a, but kernels are lowered for sm_100a; use a table that was measured on that chip
// REDEFINE: %{options} = chip=sm_90a tuned=%t/wrong.json
// RUN: %{refused}=CONFIG
// CONFIG: error: --fp8-choose-config: entry 1 of the tuned table '{{.*}}wrong.json' is invalid: tile M must be a multiple of 8 up to 128, 192 or 256 with cta_group = 1, but got 65
// REDEFINE: %{options} = chip=sm_90a tuned=%t/short.json
// RUN: %{refused}=SHORT
// SHORT: error: --fp8-choose-config: entry 0 of the tuned table '{{.*}}short.json' is invalid: it needs m, n, k, config and us, and may have alone_us, more than 0 each
// REDEFINE: %{options} = chip=sm_90a tuned=%t/untimed.json
// RUN: %{refused}=UNTIMED
// UNTIMED: error: --fp8-choose-config: entry 0 of the tuned table '{{.*}}untimed.json' is invalid: serial and serial_us need each other, and serial_us is more than 0
// RUN: sed 's/"serial"/"serial_us": 2, "other"/' %t/untimed.json > %t/nameless.json
// REDEFINE: %{options} = chip=sm_90a tuned=%t/nameless.json
// RUN: %{refused}=UNTIMED-NAME
// UNTIMED-NAME: entry 0 of the tuned table '{{.*}}nameless.json' is invalid: serial and serial_us need each other, and serial_us is more than 0
// RUN: sed 's/56 x 128"}/56 x 128, launch = programmatic", "serial_us": 2}/' %t/untimed.json > %t/early.json
// REDEFINE: %{options} = chip=sm_90a tuned=%t/early.json
// RUN: %{refused}=EARLY
// EARLY: entry 0 of the tuned table '{{.*}}early.json' is invalid: serial has 'launch = programmatic'; leave that out there
// RUN: sed 's/56 x 128"}/57 x 128", "serial_us": 2}/' %t/untimed.json > %t/odd.json
// REDEFINE: %{options} = chip=sm_90a tuned=%t/odd.json
// RUN: %{refused}=ODD
// ODD: entry 0 of the tuned table '{{.*}}odd.json' is invalid: tile N must be a multiple of 8 {{.*}}, but got 57

//--- gemm.mlir
func.func @gemm(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}
//--- cut.json
{"chip": "sm_90a", "entries": [
//--- list.json
[1]
//--- wrong.json
{"chip": "sm_90a", "entries": [{"m": 1, "n": 8, "k": 16, "config": "tile = 64 x 16 x 128", "us": 1},
                               {"m": 1, "n": 8, "k": 16, "config": "tile = 65 x 16 x 128", "us": 1}]}
//--- untimed.json
{"chip": "sm_90a", "entries": [{"m": 1, "n": 8, "k": 16, "config": "tile = 64 x 16 x 128", "us": 1, "serial": "tile = 64 x 56 x 128"}]}
//--- short.json
{"chip": "sm_90a", "entries": [{"m": 1, "n": 8, "config": "tile = 64 x 16 x 128", "us": 1}]}
