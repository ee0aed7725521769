// A helper whose only call can never take place goes with it.

// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx | FileCheck %s
// CHECK-NOT: .func
// CHECK: .entry kernel
// CHECK-NOT: .func

!ring = !fp8.pipeline<2>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    gpu.func @kernel() kernel attributes {fp8.linear} {
      %never = arith.constant false
      %producer, %consumer = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "load" warps(1) (%end = %producer) : !fp8.producer<!ring> {
        fp8.close %end : !fp8.producer<!ring>
      }
      fp8.role "use" warps(1) (%end = %consumer) : !fp8.consumer<!ring> {
        %last = scf.if %never -> (!fp8.consumer<!ring>) {
          %passed = func.call @pass(%end) : (!fp8.consumer<!ring>) -> !fp8.consumer<!ring>
          scf.yield %passed : !fp8.consumer<!ring>
        } else {
          scf.yield %end : !fp8.consumer<!ring>
        }
        fp8.close %last : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
}
