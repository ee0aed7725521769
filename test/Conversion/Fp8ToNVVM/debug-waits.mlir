// In a module with fp8.debug_waits each wait looks at the clock where a try has failed, and gives up; in one without it nothing is there of it.
// RUN: fp8-opt %s --fp8-debug-waits=limit-ms=20 --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s --implicit-check-not=nvvm.mbarrier.try_wait
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s --check-prefix=PLAIN
// RUN: fp8-opt %s --fp8-debug-waits=limit-ms=2 --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s --check-prefix=SHORT

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>
!acc = !fp8.output_pipeline<2, 128x128xf32>

// The address of the records, 0 at first, and how many waits have given up.
// CHECK: llvm.mlir.global external @fp8_debug_waits() {addr_space = 1 : i32, alignment = 8 : i64} : !llvm.array<2 x i64> {
// CHECK-NEXT: %[[ZERO:.*]] = llvm.mlir.zero
// CHECK-NEXT: llvm.return %[[ZERO]]

// Names for the manifest: 3 tiles of 512 bytes, then the full barriers, then the empty ones.
// CHECK: gpu.func @kernel
// CHECK-SAME: fp8.wait_table = {barriers = [
// CHECK-SAME: {arrivals = [{count = 1 : i64, how = "one thread, with the announcement of the bytes", role = "load"}], bytes = 512 : i64, depth = 3 : i64, name = "full", offset = 1536 : i64, ring = "pipeline s"},
// CHECK-SAME: {arrivals = [{count = 4 : i64, how = "one lane of each warp, after its reads", role = "read"}], bytes = 0 : i64, depth = 3 : i64, name = "empty", offset = 1560 : i64, ring = "pipeline s"}],
// CHECK-SAME: limit_ms = 20 : i64, roles = [{first_warp = 0 : i64, name = "read", warps = 4 : i64}, {first_warp = 4 : i64, name = "load", warps = 1 : i64}], variable = "fp8_debug_waits"}

// PLAIN-NOT: fp8_debug_waits
// PLAIN-NOT: wait_table
// PLAIN-NOT: globaltimer
// PLAIN-NOT: trap
gpu.module @kernels {
  gpu.func @kernel(%map: !fp8.tensor_map<!tile>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.consumer<!ring> {
        // The loop carries the time to give up, which only a try that failed sets.
        // CHECK: scf.while (%[[CARRIED:.*]] = %c0_i64)
        // CHECK-NEXT: %[[POINTER:.*]] = llvm.inttoptr %[[BARRIER:.*]] : i32 to !llvm.ptr<3>
        // CHECK-NEXT: %[[DONE:.*]] = nvvm.mbarrier.try_wait %[[POINTER]], %[[PARITY:.*]], %c10000000_i32
        // CHECK: scf.condition(%{{.*}}) %[[CARRIED]] : i64
        // CHECK: ^bb0(%[[DEADLINE:.*]]: i64):
        // CHECK: %[[NOW:.*]] = nvvm.read.ptx.sreg.globaltimer : i64
        // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[DEADLINE]], %c0_i64
        // CHECK: %[[SUM:.*]] = arith.addi %[[NOW]], %c20000000_i64
        // CHECK: %[[UNTIL:.*]] = arith.select %[[FIRST]], %[[SUM]], %[[DEADLINE]]
        // CHECK: %[[LATE:.*]] = arith.cmpi uge, %[[NOW]], %[[UNTIL]]
        // The warp's first lane counts itself, leaves a record if somebody wants one and there is room,
        // CHECK: scf.if
        // CHECK: %[[NUMBER:.*]] = llvm.atomicrmw add %{{.*}}, %c1_i32 syncscope("device") monotonic
        // CHECK: %[[RECORDS:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr<1> -> i64
        // CHECK-DAG: arith.cmpi ne, %[[RECORDS]], %c0_i64
        // CHECK-DAG: arith.cmpi ult, %[[NUMBER]], %c64_i32
        // CHECK: scf.if
        // CHECK: %[[OFFSET:.*]] = arith.subi %[[BARRIER]], %{{.*}}
        // CHECK: llvm.store volatile %[[OFFSET]]
        // CHECK: llvm.store volatile %[[PARITY]]
        // CHECK: llvm.inline_asm has_side_effects{{.*}}%ctaid.x
        // CHECK: llvm.fence seq_cst
        // CHECK: llvm.store volatile %c1_i32
        // CHECK: llvm.fence seq_cst
        // and if it is the first, lets others do so before it ends the kernel.
        // CHECK: arith.cmpi eq, %[[NUMBER]], %c0_i32
        // CHECK: scf.if
        // CHECK: nvvm.nanosleep %c100000_i32
        // CHECK: llvm.intr.trap
        // CHECK: %[[NEXT:.*]] = arith.select %[[LATE]], %c-1_i64, %[[UNTIL]]
        // CHECK: scf.yield %[[NEXT]]
        // A limit below the time that the hardware may suspend a warp for shortens that.
        // SHORT: nvvm.mbarrier.try_wait %{{.*}}, %{{.*}}, %c2000000_i32
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      // The other halves of an acquire, and the waits of a close, give up as well.
      // CHECK: nvvm.mbarrier.test.wait
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: llvm.intr.trap
      %done = fp8.try_wait %end : !fp8.producer<!ring>
      %waited = fp8.wait %end unless %done : !fp8.producer<!ring>
      %stage = fp8.acquire %waited : !fp8.ready<!fp8.producer<!ring>>
      fp8.tma_load %map[%c0, %c0], %stage["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      %last = fp8.release %stage : !fp8.producer_stage<!ring>
      // CHECK: scf.for
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: llvm.intr.trap
      fp8.close %last : !fp8.producer<!ring>
    }
    gpu.return
  }
}
