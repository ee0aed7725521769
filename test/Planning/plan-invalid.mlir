// RUN: fp8-opt %s --convert-fp8-to-nvvm --split-input-file --verify-diagnostics
// A stale plan places no fences.
// RUN: not fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-place-fences))' --split-input-file 2>&1 | FileCheck %s
// CHECK: has the plan #fp8.ring_plan
// CHECK: has no plan, but the kernel as it is now needs #fp8.stage_plan<>
// CHECK-NOT: op needs an fp8.fence_async_proxy

!ring = !fp8.pipeline<2>

// A count that the roles do not make.
gpu.module @kernels {
  gpu.func @stale() kernel attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2, shared_memory = 32, registers = 255>} {
    // expected-error @+1 {{has the plan #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 2>, but the kernel as it is now needs #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 1>; run --fp8-plan-kernels behind all that changes the kernel}}
    %p, %c = fp8.pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 2>} : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
      %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<>} : !fp8.producer<!ring>
      %next = fp8.release %stage {fp8.plan = #fp8.stage_plan<>} : !fp8.producer_stage<!ring>
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

// -----

!ring = !fp8.pipeline<2>

// An op that came behind the plan.
gpu.module @kernels {
  gpu.func @unplanned() kernel attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2, shared_memory = 32, registers = 255>} {
    %p, %c = fp8.pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 1>} : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
      %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<>} : !fp8.producer<!ring>
      %next = fp8.release %stage {fp8.plan = #fp8.stage_plan<converged>} : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 1>} {
      %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<>} : !fp8.consumer<!ring>
      // expected-error @+1 {{has no plan, but the kernel as it is now needs #fp8.stage_plan<>; run --fp8-plan-kernels behind all that changes the kernel}}
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!row = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, s: !row>

// A fence that is missing: the next copy overwrites what the load may still read.
gpu.module @kernels {
  gpu.func @unfenced(%s: !fp8.tensor_map<!row>, %out: memref<?xf32>) kernel
      attributes {fp8.linear, fp8.plan = #fp8.cta_plan<warps = 5, shared_memory = 1056, registers = 255>} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, bytes = 512, barriers = 1024>}
      : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<>} {
      %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<used_by_threads, loaded_by_threads, overwritten_by_tma>} : !fp8.consumer<!ring>
      %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %x = fp8.read_element %row[0] : !row
      memref.store %x, %out[%c0] : memref<?xf32>
      // expected-error @+1 {{needs an fp8.fence_async_proxy before it, since TMA overwrites what threads have read; run --fp8-place-fences}}
      %next = fp8.release %stage {fp8.plan = #fp8.stage_plan<used_by_threads, loaded_by_threads, overwritten_by_tma>} : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 4>} {
      %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<bytes = 512, bytes_at_acquire, overwritten_by_tma>} : !fp8.producer<!ring>
      fp8.tma_load %s[%c0, %c0], %stage["s"] {fp8.plan = #fp8.stage_plan<bytes = 512, bytes_at_acquire, overwritten_by_tma>}
        : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage {fp8.plan = #fp8.stage_plan<bytes = 512, bytes_at_acquire, overwritten_by_tma>} : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

// expected-error @+1 {{attribute 'fp8.plan' must be a plan; --fp8-plan-kernels writes it}}
func.func private @number() attributes {fp8.plan = 1}

// -----

// expected-error @+1 {{expected one of warps, idle_warps, shared_memory, registers, idle_registers}}
func.func private @field() attributes {fp8.plan = #fp8.cta_plan<warp = 1>}

// -----

// expected-error @+1 {{field 'warps' is given twice}}
func.func private @twice() attributes {fp8.plan = #fp8.cta_plan<warps = 1, warps = 2>}
