// RUN: fp8-opt %s --fp8-explain-config="chip=sm_90a top=3" -o /dev/null | FileCheck %s
// RUN: fp8-opt %s --fp8-explain-config="chip=sm_90a tuned=%S/Inputs/tuned.json" -o /dev/null | FileCheck %s --check-prefix=TUNED
// RUN: fp8-opt %s --fp8-explain-config="chip=sm_90a format=json output=%t.json top=0" | FileCheck %s --check-prefix=SAME
// RUN: %python -c 'import json, sys; one = json.load(open(sys.argv[1]))[0]; print(one["m"], one["n"], one["k"], one["source"], one["config"], len(one["candidates"]) > 20, one["candidates"][0]["alone_us"] > one["candidates"][0]["us"], sorted(one["candidates"][0]["terms"]))' %t.json | FileCheck %s --check-prefix=JSON
// JSON: 64 2112 7168 model tile = 64 x 32 x 128, split_k = 2, launch = programmatic, signal = wait True True ['ahead', 'correction', 'depth', 'dram', 'epilogue', 'fill', 'l1', 'l2', 'launch', 'promotion', 'tensor', 'wait']

// The module goes on as it came.
// SAME: func.func @gemm
// SAME-NOT: config
// SAME: func.func @batch

// CHECK: @gemm for sm_90a (NVIDIA H200): M=64 N=2112 K=7168
// CHECK-NEXT: {{^}}  tile = 64 x 32 x 128, split_k = 2, launch = programmatic, signal = wait, by the model
// CHECK-NEXT: 'tile = 64 x 32 x 128, split_k = 2, launch = programmatic, signal = wait': 132 tiles in 1 wave of 132 CTAs, 100% full; 5.{{[0-9]+}} us, bound by dram (3.67), launch 1.62; 'tile = 64 x 64 x 128, split_k = 2, launch = programmatic, signal = wait' would take 5.{{[0-9]+}}, but alone 8.{{[0-9]+}} instead of 7.
// CHECK-NEXT: us alone launch epilogue fill wait ahead correction tensor promotion l1 l2 depth dram tiles waves bound config
// CHECK-NEXT: 5.{{[0-9]+}} 7.{{[0-9]+}} 1.62 {{.*}} 0.00 0.00 -0.{{[0-9]+}} 0.00 {{.*}} 3.67 132 1 dram tile = 64 x 32 x 128, split_k = 2, launch = programmatic, signal = wait
// CHECK-NEXT: 66 1 dram tile = 64 x 64 x 128, split_k = 2, launch = programmatic, signal = wait
// CHECK-NEXT: 88 1 dram tile = 64 x 48 x 128, split_k = 2, launch = programmatic, signal = wait
// TUNED: {{^}}  tile = 64 x 48 x 128, stages = 2, by the table
// TUNED-NEXT: from the tuned table; the model would choose 'tile = 64 x 32 x 128, split_k = 2, launch = programmatic, signal = wait': 132 tiles
func.func @gemm(%a: memref<64x7168xf8E4M3FN>, %as: memref<56x64xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<64x2112xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x7168xf8E4M3FN>, memref<56x64xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
    outs(%d : memref<64x2112xbf16>)
  return
}

// CHECK-NEXT: @batch for sm_90a (NVIDIA H200): M=4096 N=512 K=256 batch=3
// CHECK-NEXT: tile = 128 x 64 x 128, by the op
// CHECK-NEXT: pinned by the op; the model would choose 'tile
// CHECK-NEXT: us alone launch
// CHECK-COUNT-3: tile =
func.func @batch(%a: memref<3x?x256xf8E4M3FN>, %as: memref<3x2x?xf32>, %b: memref<3x512x256xf8E4M3FN>, %bs: memref<3x4x2xf32>, %d: memref<3x?x512xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<3x?x256xf8E4M3FN>, memref<3x2x?xf32>, memref<3x512x256xf8E4M3FN>, memref<3x4x2xf32>)
    outs(%d : memref<3x?x512xbf16>) config <tile = 128 x 64 x 128>
  return
}

// CHECK-NEXT: @dynamic for sm_90a (NVIDIA H200)
// CHECK-NEXT: no config
// CHECK-NEXT: M, N and K are unknown, so the lowering uses tiles of 128 x 128; state them with problem=MxNxK
func.func @dynamic(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}

// RUN: not fp8-opt %s --fp8-explain-config=format=xml -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: error: --fp8-explain-config: format must be text or json, but got 'xml'
// RUN: not fp8-opt %s --fp8-explain-config=output=%t/none/x -o /dev/null 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: error: --fp8-explain-config: cannot write '{{.*}}none/x': No such file or directory
// RUN: not fp8-opt %s --fp8-explain-config=problem=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROBLEM
// PROBLEM: error: --fp8-explain-config: problem must be MxNxK
