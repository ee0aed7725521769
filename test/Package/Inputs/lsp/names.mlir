// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hover: fp8.acquire
// hover: !fp8.consumer_stage
// hover: #fp8.gemm_config
// hover: arith.constant
// hover: %stage
// complete: %next = fp8.
// complete: (%end: !fp8.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @right(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  %zero = arith.constant 0 : index
  return %next : !fp8.consumer<!ring>
}

// complete: stages = 3, 
// complete: scheduler = 
func.func private @config() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, stages = 3, scheduler = clc>}
