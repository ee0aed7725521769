// Whole laps of a ring lead back to the values that a cursor set out with.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!tile = !fp8.tile<1x128xf32>
!three = !fp8.pipeline<3, s: !tile>
!four = !fp8.pipeline<4, s: !tile>

// CHECK: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%map: !fp8.tensor_map<!tile>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p3, %e3 = fp8.pipeline : !fp8.producer<!three>, !fp8.consumer<!three>
    %p4, %e4 = fp8.pipeline : !fp8.producer<!four>, !fp8.consumer<!four>
    // One lap of three: the slot stays, slot 0 since it began there, and the parity flips once.
    // CHECK: nvvm.elect.sync
    // CHECK: scf.for %{{.*}} iter_args(%[[P:.*]] = %c0_i32) -> (i32)
    // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P]], %{{.*}}
    // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P]], %{{.*}}
    // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P]], %{{.*}}
    // CHECK: %[[FLIPPED:.*]] = arith.xori %[[P]], %c1_i32
    // CHECK: scf.yield %[[FLIPPED]] : i32
    fp8.role "three" warps(4) (%end = %e3) : !fp8.consumer<!three> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.consumer<!three> {
        %s0 = fp8.acquire %e : !fp8.consumer<!three>
        %n0 = fp8.release %s0 : !fp8.consumer_stage<!three>
        %s1 = fp8.acquire %n0 : !fp8.consumer<!three>
        %n1 = fp8.release %s1 : !fp8.consumer_stage<!three>
        %s2 = fp8.acquire %n1 : !fp8.consumer<!three>
        %n2 = fp8.release %s2 : !fp8.consumer_stage<!three>
        scf.yield %n2 : !fp8.consumer<!three>
      }
      fp8.close %last : !fp8.consumer<!three>
    }
    // Two laps of four, from where another loop left off: this one carries nothing.
    // CHECK: nvvm.elect.sync
    // CHECK: %[[COUNT:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %c0_i32) -> (i32)
    // CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
    // CHECK-COUNT-8: nvvm.mbarrier.try_wait
    // CHECK-NOT: nvvm.mbarrier.try_wait
    // CHECK: nvvm.elect.sync
    fp8.role "four" warps(4) (%end = %e4) : !fp8.consumer<!four> {
      %from = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.consumer<!four> {
        %s = fp8.acquire %e : !fp8.consumer<!four>
        %next = fp8.release %s : !fp8.consumer_stage<!four>
        scf.yield %next : !fp8.consumer<!four>
      }
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %from) -> !fp8.consumer<!four> {
        %s0 = fp8.acquire %e : !fp8.consumer<!four>
        %n0 = fp8.release %s0 : !fp8.consumer_stage<!four>
        %s1 = fp8.acquire %n0 : !fp8.consumer<!four>
        %n1 = fp8.release %s1 : !fp8.consumer_stage<!four>
        %s2 = fp8.acquire %n1 : !fp8.consumer<!four>
        %n2 = fp8.release %s2 : !fp8.consumer_stage<!four>
        %s3 = fp8.acquire %n2 : !fp8.consumer<!four>
        %n3 = fp8.release %s3 : !fp8.consumer_stage<!four>
        %s4 = fp8.acquire %n3 : !fp8.consumer<!four>
        %n4 = fp8.release %s4 : !fp8.consumer_stage<!four>
        %s5 = fp8.acquire %n4 : !fp8.consumer<!four>
        %n5 = fp8.release %s5 : !fp8.consumer_stage<!four>
        %s6 = fp8.acquire %n5 : !fp8.consumer<!four>
        %n6 = fp8.release %s6 : !fp8.consumer_stage<!four>
        %s7 = fp8.acquire %n6 : !fp8.consumer<!four>
        %n7 = fp8.release %s7 : !fp8.consumer_stage<!four>
        scf.yield %n7 : !fp8.consumer<!four>
      }
      fp8.close %last : !fp8.consumer<!four>
    }
    fp8.role "load" warps(1) (%a = %p3, %b = %p4) : !fp8.producer<!three>, !fp8.producer<!four> {
      %sa = fp8.acquire %a : !fp8.producer<!three>
      fp8.tma_load %map[%c0, %c0], %sa["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!three>
      %na = fp8.release %sa : !fp8.producer_stage<!three>
      fp8.close %na : !fp8.producer<!three>
      %sb = fp8.acquire %b : !fp8.producer<!four>
      fp8.tma_load %map[%c0, %c0], %sb["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!four>
      %nb = fp8.release %sb : !fp8.producer_stage<!four>
      fp8.close %nb : !fp8.producer<!four>
    }
    gpu.return
  }
}
