// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-pipeline-graph -o /dev/null | FileCheck %s
// RUN: fp8-opt %s --fp8-pipeline-graph="chip=sm_90a output=%t.dot" -o %t.mlir && FileCheck %s --check-prefix=HOPPER --input-file=%t.dot
// The module goes on as it came.
// RUN: fp8-opt %s -o %t.same.mlir && cmp %t.mlir %t.same.mlir
// RUN: not fp8-opt %s --fp8-pipeline-graph="chip=sm_90a output=%t/none/graph.dot" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: not fp8-opt %s --fp8-pipeline-graph=chip=sm_42 -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHIP
// What is drawn is what the report says: each arrival and each wait has an edge, and every edge joins a role that is drawn with a ring that is.
// RUN: fp8-opt %s --fp8-report="chip=sm_90a format=json output=%t.json" -o /dev/null
// RUN: %python %S/Inputs/check-graph.py %t.json %t.dot

// CHECK: digraph "gemm_kernel" {
// CHECK: label="gemm_kernel, 192 threads"
// CHECK: "role epilogue" [shape=box, style="rounded,filled", fillcolor="#dce9f7", label="epilogue\nwarps 0 to 3"];
// CHECK: "role load" [shape=box, {{.*}}, label="load\nwarp 4"];
// CHECK: ring0 [shape=box3d, fillcolor="#fdf3d8", label="pipeline a, b\n5 stages\n163840 bytes"];
// Data flow to the right; what is handed back is an edge of that direction, too, with its arrow at the back.
// CHECK-NEXT: "role load" -> ring0 [style=solid, color="#1b7837", fontcolor="#1b7837", label="full: 1 and 32768 bytes", tooltip="one thread, with the announcement of the bytes"];
// CHECK-NEXT: ring0 -> "role mma" [style=solid, {{.*}}, label="full", tooltip="lap n waits for parity n mod 2"];
// CHECK-NEXT: ring0 -> "role mma" [dir=back, style=dashed, color="#b35806", fontcolor="#b35806", label="empty: 1", tooltip="tcgen05.commit, when the MMAs that read it are complete"];
// CHECK-NEXT: "role load" -> ring0 [dir=back, style=dashed, {{.*}}, label="empty", tooltip="lap n waits for parity (n + 1) mod 2; lap 0 passes"];
// CHECK: label="output pipeline\n4 stages\n512 columns"];
// CHECK: ring2 -> "role epilogue" [dir=back, style=dotted, {{.*}}, label="hand-off (named): 128"
// CHECK: {{^}}}

// HOPPER: digraph "split_kernel" {
// HOPPER: label="exchange\n1 stage\n
// HOPPER-NEXT: "role multiply" -> ring2 [style=solid, {{.*}}, label="full: 1 and 16384 bytes"
// HOPPER: "role multiply" -> ring2 [style=dashed, {{.*}}, label="empty: 8"

// WRITE: error: --fp8-pipeline-graph: cannot write '{{.*}}graph.dot': {{[Nn]}}o such file or directory
// CHIP: error: unknown chip 'sm_42'
func.func @split(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?xbf16>)
    config <tile = 64 x 64 x 128, split_k = 2>
  return
}
