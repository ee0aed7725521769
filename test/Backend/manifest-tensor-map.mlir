// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps and device properties in the launch manifest.

// RUN: fp8-opt %s --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx.json

// CHECK: "grid": [
// CHECK-NEXT: {
// CHECK-NEXT: "device": "multiprocessor_count"
// CHECK-NEXT: },

// CHECK: "parameters": [
// CHECK-NEXT: {
// CHECK-NEXT: "argument": "a",
// CHECK-NEXT: "box": [
// CHECK-NEXT: 128,
// CHECK-NEXT: 64
// CHECK-NEXT: ],
// CHECK-NEXT: "dims": [
// CHECK-NEXT: {
// CHECK-NEXT: "dim": [
// CHECK-NEXT: "a",
// CHECK-NEXT: 1
// CHECK-NEXT: ]
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "dim": [
// CHECK-NEXT: "a",
// CHECK-NEXT: 0
// CHECK-NEXT: ]
// CHECK-NEXT: }
// CHECK-NEXT: ],
// CHECK-NEXT: "dtype": "f8E4M3FN",
// CHECK-NEXT: "element_strides": [
// CHECK-NEXT: 1,
// CHECK-NEXT: 1
// CHECK-NEXT: ],
// CHECK-NEXT: "interleave": "none",
// CHECK-NEXT: "kind": "tensor_map",
// CHECK-NEXT: "l2_promotion": "256B",
// CHECK-NEXT: "oob_fill": "zero",
// CHECK-NEXT: "strides_bytes": [
// CHECK-NEXT: {
// CHECK-NEXT: "stride": [
// CHECK-NEXT: "a",
// CHECK-NEXT: 0
// CHECK-NEXT: ]
// CHECK-NEXT: }
// CHECK-NEXT: ],
// CHECK-NEXT: "swizzle": "128B"
// CHECK-NEXT: },

// CHECK: "argument": "s",
// CHECK: "strides_bytes": [
// CHECK-NEXT: {
// CHECK-NEXT: "mul": [
// CHECK-NEXT: {
// CHECK-NEXT: "stride": [
// CHECK-NEXT: "s",
// CHECK-NEXT: 0
// CHECK-NEXT: ]
// CHECK-NEXT: },
// CHECK-NEXT: 4
// CHECK: "swizzle": "none"

// CHECK: "argument": "d",
// CHECK: "dims": [
// CHECK-NEXT: 512,
// CHECK-NEXT: 256
// CHECK: "strides_bytes": [
// CHECK-NEXT: 1024
// CHECK-NEXT: ],

// A batch: of the outermost dimension the box takes one place. Static strides are products.
// CHECK: "argument": "c",
// CHECK-NEXT: "box": [
// CHECK-NEXT: 64,
// CHECK-NEXT: 32,
// CHECK-NEXT: 1
// CHECK-NEXT: ],
// CHECK-NEXT: "dims": [
// CHECK-NEXT: 512,
// CHECK-NEXT: {
// CHECK-NEXT: "dim": [
// CHECK-NEXT: "c",
// CHECK-NEXT: 1
// CHECK-NEXT: ]
// CHECK-NEXT: },
// CHECK-NEXT: 9
// CHECK: "element_strides": [
// CHECK-NEXT: 1,
// CHECK-NEXT: 1,
// CHECK-NEXT: 1
// CHECK: "strides_bytes": [
// CHECK-NEXT: 1024,
// CHECK-NEXT: {
// CHECK-NEXT: "mul": [
// CHECK-NEXT: {
// CHECK-NEXT: "stride": [
// CHECK-NEXT: "c",
// CHECK-NEXT: 0
// CHECK-NEXT: ]
// CHECK-NEXT: },
// CHECK-NEXT: 2

// What the problem leaves open is of version 2.
// CHECK: "problem": "blockwise_gemm",
// CHECK-NEXT: "problem_options": {
// CHECK-NEXT: "b_block": 64
// CHECK: "version": 2

module attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%a: !llvm.ptr, %s: !llvm.ptr, %d: !llvm.ptr, %c: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?x?xf8E4M3FN, strided<[?, 1]>> {fp8.name = "a"}, %s: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "s"},
                  %d: memref<256x512xbf16> {fp8.name = "d"},
                  %c: memref<9x?x512xbf16, strided<[?, 512, 1]>> {fp8.name = "c"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c1 = arith.constant 1 : index
    %c192 = arith.constant 192 : index
    %grid = fp8.multiprocessor_count
    %am = fp8.tensor_map %a : memref<?x?xf8E4M3FN, strided<[?, 1]>> -> !fp8.tensor_map<!fp8.tile<64x128xf8E4M3FN, swizzle_128b>>
    %sm = fp8.tensor_map %s : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
    %dm = fp8.tensor_map %d : memref<256x512xbf16> -> !fp8.tensor_map<!fp8.tile<32x64xbf16, swizzle_128b>>
    %cm = fp8.tensor_map %c : memref<9x?x512xbf16, strided<[?, 512, 1]>> -> !fp8.tensor_map<!fp8.tile<32x64xbf16, swizzle_128b>, rank = 3>
    gpu.launch_func @module::@kernel blocks in (%grid, %c1, %c1) threads in (%c192, %c1, %c1)
        args(%am : !fp8.tensor_map<!fp8.tile<64x128xf8E4M3FN, swizzle_128b>>, %sm : !fp8.tensor_map<!fp8.tile<1x128xf32>>,
             %dm : !fp8.tensor_map<!fp8.tile<32x64xbf16, swizzle_128b>>, %cm : !fp8.tensor_map<!fp8.tile<32x64xbf16, swizzle_128b>, rank = 3>)
        {fp8.problem_options = {b_block = 64}}
    return
  }
}
