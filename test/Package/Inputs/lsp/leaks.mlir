// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// repair: %dropped = fp8.acquire
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!in = !fp8.consumer<!ring>
func.func @dropped(%end: !in) attributes {fp8.linear} {
  %dropped = fp8.acquire %end : !in
  return
}

// -----

// The end from before the stage goes on: what uses it uses the one that the release gives back.
// repair: %stage = fp8.acquire
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!in = !fp8.consumer<!ring>
func.func @loop(%first: !in, %n: index) -> !in attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%end = %first) -> (!in) {
    %stage = fp8.acquire %end : !in
    %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
    scf.yield %end : !in
  }
  return %last : !in
}

// -----

// A role's yield is left out, and a name is taken.
// repair: "read" warps(4) (%e = %ends#1)
// repair: %next = arith.constant
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
gpu.module @kernels {
  gpu.func @kernel() kernel attributes {fp8.linear} {
    %ends:2 = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %ends#1) : !fp8.consumer<!ring> {
      %next = arith.constant 0 : index
      %stage = fp8.acquire %e : !fp8.consumer<!ring>
    }
    fp8.role "write" warps(1) (%e = %ends#0) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

// repair: fp8.pipeline :
!ring = !fp8.pipeline<3>
func.func @ends() attributes {fp8.linear} {
  %in, %out = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
  fp8.close %in : !fp8.producer<!ring>
  return
}

// -----

// repair: fp8.warpgroup_mma
!half = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<3, a: !half, b: !half>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @product(%stage: !fp8.consumer_stage<!ring>, %sum: !sum) -> !fp8.consumer_stage<!ring> attributes {fp8.linear} {
  %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
  %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
  %pending = fp8.warpgroup_mma %a, %b accumulate(%sum : !sum) : !half, !half -> !fp8.pending<!sum>
  return %stage : !fp8.consumer_stage<!ring>
}

// -----

// repair: @warp(
!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @warp(%warp: !fp8.mma_warp<!acc>) attributes {fp8.linear} {
  return
}

// -----

// On one path of two.
// repair: %half = fp8.acquire
!ring = !fp8.pipeline<3>
!in = !fp8.consumer<!ring>
func.func @path(%end: !in, %stop: i1) attributes {fp8.linear} {
  %half = fp8.acquire %end : !in
  cf.cond_br %stop, ^stop, ^go
^stop:
  return
^go:
  %next = fp8.release %half : !fp8.consumer_stage<!ring>
  fp8.close %next : !in
  return
}
