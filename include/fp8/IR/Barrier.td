// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The barrier family: what a hand-over consists of, each part an op. Passes behind `--fp8-plan-kernels` write these ops.

#ifndef FP8_IR_BARRIER
#define FP8_IR_BARRIER

include "fp8/IR/Fp8Base.td"

def Fp8_FenceAsyncProxyOp
    : Fp8_Op<"fence_async_proxy", [MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "orders what a thread did in shared memory before what copies and MMAs do there next";
  let description = [{
    Threads reach shared memory through the generic proxy, TMA and MMAs through the async proxy (PTX ISA, fence.proxy.async). Without the fence, loads
    may still be under way when a copy overwrites what they read, although their thread has arrived at the slot's barrier.
    `--fp8-place-fences` puts one in front of each hand-over that needs it.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %x = fp8.read_element %row[0] : !fp8.tile<1x128xf32>
      fp8.fence_async_proxy
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // FP8_IR_BARRIER
