// Names of functions and kernels are any bytes; in JSON U+FFFD stands for those that are not UTF-8. Kernels whose names are
// one text then keep their own events.
// RUN: fp8-opt %s --fp8-prove='chip=sm_90a json=%t.json' -o /dev/null
// RUN: %python -c 'import json, sys; [print(ascii(k["kernel"]), [role["name"] for role in k["events"]["roles"]], k["events"]["cluster"]) for k in json.load(open(sys.argv[1], encoding="utf-8"))["kernels"]]' %t.json | FileCheck %s --check-prefix=PROOF
// PROOF: 'g\ufffd_kernel' [{{.*}}] 1
// PROOF-NEXT: 'g\ufffd_kernel' [{{.*}}] 2
// RUN: fp8-opt %s --fp8-explain-config='chip=sm_90a format=json' -o /dev/null | FileCheck %s
// CHECK: "function": "g�"
func.func @"g\FE"(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<256x512xf8E4M3FN>, %bs: memref<2x4xf32>, %d: memref<256x256xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<256x512xf8E4M3FN>, memref<2x4xf32>)
    outs(%d : memref<256x256xbf16>)
  return
}
func.func @"g\FF"(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<256x512xf8E4M3FN>, %bs: memref<2x4xf32>, %d: memref<256x256xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<256x512xf8E4M3FN>, memref<2x4xf32>)
    outs(%d : memref<256x256xbf16>) config <tile = 128 x 128 x 128, cluster = 2 x 1>
  return
}
