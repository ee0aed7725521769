// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes that write what is derived from a linear kernel (within phase 2).

#ifndef FP8_PLANNING_PASSES
#define FP8_PLANNING_PASSES

include "mlir/Pass/PassBase.td"

def Fp8PlanKernels : Pass<"fp8-plan-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "writes on the ops of linear kernels what is derived for them";
  let description = [{
    Derives from the whole kernel what its text does not state, and writes it as `fp8.plan`: on the kernel its warps, registers and shared memory;
    on roles their warps and registers; on rings the arrivals and bytes that their barriers expect, and where they are in shared memory; on ops that
    acquire, fill or hand over a stage what the hand-over depends on. Errors name what is wrong with the kernel.

    Requires: kernels in phase 2. Ensures: every op of the kernel that takes part in a hand-over carries its plan. What changes the kernel afterwards
    makes the plan stale; `--convert-fp8-to-nvvm` derives the plan again and refuses one that differs.

    Before:

    ```mlir
    !ring = !fp8.pipeline<2>
    gpu.module @before {
      gpu.func @kernel() kernel attributes {fp8.linear} {
        %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
          %stage = fp8.acquire %end : !fp8.producer<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
          %stage = fp8.acquire %end : !fp8.consumer<!ring>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    !ring = !fp8.pipeline<2>
    gpu.module @after {
      gpu.func @kernel() kernel attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2, shared_memory = 32, registers = 255>} {
        %p, %c = fp8.pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 1>} : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
          %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<>} : !fp8.producer<!ring>
          %next = fp8.release %stage {fp8.plan = #fp8.stage_plan<converged>} : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 1>} {
          %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<>} : !fp8.consumer<!ring>
          %next = fp8.release %stage {fp8.plan = #fp8.stage_plan<>} : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Fp8PlaceFences : Pass<"fp8-place-fences", "::mlir::gpu::GPUModuleOp"> {
  let summary = "puts fences between reads of threads and copies into the same slot";
  let description = [{
    Puts `fp8.fence_async_proxy` in front of each hand-over of a slot that threads have loaded from and TMA fills again. A wait for a product
    that lies between the last load and the hand-over gets the fence in front of it instead: there it takes less time. One fence serves all slots
    that threads had read when it came: a fence takes some 30 cycles.

    Requires: kernels with the plan that `--fp8-plan-kernels` gives them; a plan that another pass has made stale is an error, and a kernel without a plan stays
    as it is. Ensures: no copy overwrites what a load still reads.

    Before:

    ```mlir
    #filled = #fp8.stage_plan<bytes = 512, bytes_at_acquire, overwritten_by_tma>
    #read = #fp8.stage_plan<used_by_threads, loaded_by_threads, overwritten_by_tma>
    #rings = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, bytes = 512, barriers = 1024>
    !row = !fp8.tile<1x128xf32>
    !ring = !fp8.pipeline<2, s: !row>
    gpu.module @before {
      gpu.func @kernel(%map: !fp8.tensor_map<!row>, %out: memref<?xf32>) kernel
          attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 5, shared_memory = 1056, registers = 255>} {
        %c0 = arith.constant 0 : index
        %p, %c = fp8.pipeline {fp8.plan = #rings} : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
          %stage = fp8.acquire %end {fp8.plan = #read} : !fp8.consumer<!ring>
          %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
          %x = fp8.read_element %row[0] : !row
          memref.store %x, %out[%c0] : memref<?xf32>
          %next = fp8.release %stage {fp8.plan = #read} : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 4>} {
          %stage = fp8.acquire %end {fp8.plan = #filled} : !fp8.producer<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["s"] {fp8.plan = #filled} : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage {fp8.plan = #filled} : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    #filled = #fp8.stage_plan<bytes = 512, bytes_at_acquire, overwritten_by_tma>
    #read = #fp8.stage_plan<used_by_threads, loaded_by_threads, overwritten_by_tma>
    #rings = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, bytes = 512, barriers = 1024>
    !row = !fp8.tile<1x128xf32>
    !ring = !fp8.pipeline<2, s: !row>
    gpu.module @after {
      gpu.func @kernel(%map: !fp8.tensor_map<!row>, %out: memref<?xf32>) kernel
          attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 5, shared_memory = 1056, registers = 255>} {
        %c0 = arith.constant 0 : index
        %p, %c = fp8.pipeline {fp8.plan = #rings} : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
          %stage = fp8.acquire %end {fp8.plan = #read} : !fp8.consumer<!ring>
          %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
          %x = fp8.read_element %row[0] : !row
          memref.store %x, %out[%c0] : memref<?xf32>
          fp8.fence_async_proxy
          %next = fp8.release %stage {fp8.plan = #read} : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 4>} {
          %stage = fp8.acquire %end {fp8.plan = #filled} : !fp8.producer<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["s"] {fp8.plan = #filled} : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage {fp8.plan = #filled} : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Fp8ReuseRegisters : Pass<"fp8-reuse-registers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lets products of warpgroups take the registers of earlier ones";
  let description = [{
    A product that adds to nothing can be computed into any registers. The pass names for each the product of its block that was waited for first and
    whose registers nobody has taken, if it has as many: `fp8.warpgroup_mma ... into(%old)`. Without it the register allocator may keep more
    products apart than a thread has registers for.

    Requires: kernels with the plan that `--fp8-plan-kernels` gives them; a kernel without a plan stays as it is.

    Before:

    ```mlir
    #filled = #fp8.stage_plan<bytes = 16384, bytes_at_acquire, overwritten_by_tma>
    #used = #fp8.stage_plan<used_by_threads, overwritten_by_tma>
    #rings = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, bytes = 16384, barriers = 32768>
    !half = !fp8.tile<64x64xbf16, swizzle_128b>
    !ring = !fp8.pipeline<2, a: !half, b: !half>
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    gpu.module @before {
      gpu.func @kernel(%map: !fp8.tensor_map<!half>) kernel
          attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 5, shared_memory = 32800, registers = 255>} {
        %c0 = arith.constant 0 : index
        %p, %c = fp8.pipeline {fp8.plan = #rings} : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "multiply" warps(4) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
          %stage = fp8.acquire %end {fp8.plan = #used} : !fp8.consumer<!ring>
          %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
          %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
          %first = fp8.warpgroup_mma %a, %b : !half, !half -> !fp8.pending<!sum>
          %one = fp8.wait_mma %first {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!sum>
          %second = fp8.warpgroup_mma %a, %b : !half, !half -> !fp8.pending<!sum>
          %two = fp8.wait_mma %second {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!sum>
          %next = fp8.release %stage {fp8.plan = #used} : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 4>} {
          %stage = fp8.acquire %end {fp8.plan = #filled} : !fp8.producer<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["a"] {fp8.plan = #filled} : !fp8.tensor_map<!half>, !fp8.producer_stage<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["b"] {fp8.plan = #filled} : !fp8.tensor_map<!half>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage {fp8.plan = #filled} : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    #filled = #fp8.stage_plan<bytes = 16384, bytes_at_acquire, overwritten_by_tma>
    #used = #fp8.stage_plan<used_by_threads, overwritten_by_tma>
    #rings = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, bytes = 16384, barriers = 32768>
    !half = !fp8.tile<64x64xbf16, swizzle_128b>
    !ring = !fp8.pipeline<2, a: !half, b: !half>
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    gpu.module @after {
      gpu.func @kernel(%map: !fp8.tensor_map<!half>) kernel
          attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 5, shared_memory = 32800, registers = 255>} {
        %c0 = arith.constant 0 : index
        %p, %c = fp8.pipeline {fp8.plan = #rings} : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "multiply" warps(4) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
          %stage = fp8.acquire %end {fp8.plan = #used} : !fp8.consumer<!ring>
          %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
          %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
          %first = fp8.warpgroup_mma %a, %b : !half, !half -> !fp8.pending<!sum>
          %one = fp8.wait_mma %first {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!sum>
          %second = fp8.warpgroup_mma %a, %b into(%one : !sum) : !half, !half -> !fp8.pending<!sum>
          %two = fp8.wait_mma %second {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!sum>
          %next = fp8.release %stage {fp8.plan = #used} : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 4>} {
          %stage = fp8.acquire %end {fp8.plan = #filled} : !fp8.producer<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["a"] {fp8.plan = #filled} : !fp8.tensor_map<!half>, !fp8.producer_stage<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["b"] {fp8.plan = #filled} : !fp8.tensor_map<!half>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage {fp8.plan = #filled} : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

#endif // FP8_PLANNING_PASSES
