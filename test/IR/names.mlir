// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

// Values are named by their types, by their ops where those know more, and so are what loops of other dialects carry.

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!row = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, a: !a, a_scale: !row>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!sum = !fp8.fragment<128x128xf32, 4>

// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %map: !fp8.tensor_map<!{{.*}}>, %arg0: index)
func.func @kernel(%m: !fp8.tensor_map<!row>, %n: index) attributes {fp8.linear} {
  // CHECK: %producer, %consumer = fp8.pipeline
  %0, %1 = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
  // CHECK: %producer_0, %consumer_1 = fp8.output_pipeline
  %2, %3 = fp8.output_pipeline : !acc
  // CHECK: %store_queue = fp8.store_queue
  %4 = fp8.store_queue : !fp8.store_queue<2, !fp8.tile<32x32xf32, swizzle_128b>, 4>
  fp8.close %4 : !fp8.store_queue<2, !fp8.tile<32x32xf32, swizzle_128b>, 4>
  fp8.close %2 : !fp8.producer<!acc>
  fp8.close %3 : !fp8.consumer<!acc>
  // CHECK: fp8.role "load" warps(1) (%[[P:producer_[0-9]+]] = %producer)
  fp8.role "load" warps(1) (%5 = %0) : !fp8.producer<!ring> {
    // CHECK: fp8.for_each_tile persistent (%row, %column) in (%{{.*}}, %{{.*}}) iter_args(%[[CARRIED:producer_[0-9]+]] = %[[P]])
    %6 = fp8.for_each_tile persistent (%7, %8) in (%n, %n) iter_args(%9 = %5) -> (!fp8.producer<!ring>) {
      // CHECK: fp8.produce(%stage = %[[CARRIED]])
      %10 = fp8.produce(%11 = %9) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
        // CHECK: %slot = fp8.index %stage
        %12 = fp8.index %11 : !fp8.producer_stage<!ring>
        fp8.tma_load %m[%7, %8], %11["a_scale"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      }
      fp8.yield %10 : !fp8.producer<!ring>
    }
    fp8.yield %6 : !fp8.producer<!ring>
  }
  fp8.close %1 : !fp8.consumer<!ring>
  return
}

// CHECK-LABEL: func.func @promote(
// CHECK-SAME: %consumer: !fp8.consumer<!{{.*}}>, %epilogue_warp: !fp8.epilogue_warp<!{{.*}}>
func.func @promote(%0: !fp8.consumer<!ring>, %1: !fp8.epilogue_warp<!acc>, %n: index, %s: f32) -> (!fp8.consumer<!ring>, !fp8.epilogue_warp<!acc>)
    attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %zero = fp8.zero
  %2 = fp8.zero : !sum
  // CHECK: %{{consumer_[0-9]+}}, %{{epilogue_warp_[0-9]+}}, %sum = scf.for
  // CHECK-SAME: iter_args(%[[C:consumer_[0-9]+]] = %consumer, %[[W:epilogue_warp_[0-9]+]] = %epilogue_warp, %[[SUM:sum_[0-9]+]] = %zero)
  %3:3 = scf.for %i = %c0 to %n step %c1 iter_args(%4 = %0, %5 = %1, %6 = %2) -> (!fp8.consumer<!ring>, !fp8.epilogue_warp<!acc>, !sum) {
    // CHECK: %done = fp8.try_wait %[[C]]
    %done = fp8.try_wait %4 : !fp8.consumer<!ring>
    // CHECK: %ready = fp8.wait %[[C]] unless %done
    %7 = fp8.wait %4 unless %done : !fp8.consumer<!ring>
    // CHECK: %stage = fp8.acquire %ready
    %8 = fp8.acquire %7 : !fp8.ready<!fp8.consumer<!ring>>
    // CHECK: %[[S:stage_[0-9]+]] = fp8.acquire %[[W]]
    %9 = fp8.acquire %5 : !fp8.epilogue_warp<!acc>
    // CHECK: %accumulator = fp8.accumulator %[[S]]
    %10 = fp8.accumulator %9 : !fp8.epilogue_stage<!acc>
    // CHECK: %a_scale = fp8.tile %stage["a_scale"]
    %11 = fp8.tile %8["a_scale"] : !fp8.consumer_stage<!ring>
    // CHECK: %element = fp8.read_element %a_scale[0]
    %12 = fp8.read_element %11[0] : !row
    // CHECK: %sum_{{[0-9]+}} = fp8.add_row %[[SUM]]
    %13 = fp8.add_row %6, %11 : !sum, !row
    // CHECK: fp8.map(%x = %sum_{{[0-9]+}})
    %14 = fp8.map(%15 = %13) : !sum -> !sum {
      %16 = arith.mulf %15, %s : f32
      fp8.yield %16 : f32
    }
    // CHECK: %epilogue_warp_{{[0-9]+}} = fp8.release %[[S]]
    %17 = fp8.release %9 : !fp8.epilogue_stage<!acc>
    // CHECK: %signalled = fp8.arrive %stage
    %18 = fp8.arrive %8 : !fp8.consumer_stage<!ring>
    // CHECK: %consumer_{{[0-9]+}} = fp8.step %signalled
    %19 = fp8.step %18 : !fp8.signalled<!fp8.consumer_stage<!ring>>
    scf.yield %19, %17, %14 : !fp8.consumer<!ring>, !fp8.epilogue_warp<!acc>, !sum
  }
  return %3#0, %3#1 : !fp8.consumer<!ring>, !fp8.epilogue_warp<!acc>
}

!wide = !fp8.fragment<64x128xf32, 4, warpgroups>

// CHECK-LABEL: func.func @product(
func.func @product(%0: !fp8.pending<!wide>) attributes {fp8.linear} {
  // CHECK: %product = fp8.wait_mma %pending
  %1 = fp8.wait_mma %0 : !fp8.pending<!wide>
  return
}

// CHECK-LABEL: func.func @host(
func.func @host(%0: memref<?x128xf32>) -> index {
  // CHECK: %map = fp8.tensor_map %arg0
  %1 = fp8.tensor_map %0 : memref<?x128xf32> -> !fp8.tensor_map<!row>
  // CHECK: %multiprocessors = fp8.multiprocessor_count
  %2 = fp8.multiprocessor_count
  return %2 : index
}
