// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!acc = !fp8.output_pipeline<2, 128x128xf32>
!ring = !fp8.pipeline<3, a: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>, b: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>>

// CHECK-LABEL: func.func @kernel
func.func @kernel() attributes {fp8.linear} {
  // CHECK: %[[P:.*]], %[[C:.*]] = fp8.output_pipeline : !output_pipeline
  %p, %c = fp8.output_pipeline : !acc
  %ip, %ic = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
  // CHECK: fp8.role "mma" warps(1) (%{{.*}} = %[[P]], %{{.*}} = %{{.*}}) : !fp8.producer<!output_pipeline>, !fp8.consumer<!pipeline> {
  fp8.role "mma" warps(1) (%e = %p, %in = %ic) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
    // CHECK: fp8.mma_warp(%[[W:.*]] = %{{.*}}) : !fp8.producer<!output_pipeline> -> !fp8.consumer<!pipeline> {
    %rest = fp8.mma_warp(%w = %e) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
      // CHECK: fp8.per_k_stage(%[[ACC:.*]] = %[[W]], %[[IN:.*]] = %{{.*}}) : !fp8.mma_warp<!output_pipeline>, !fp8.consumer<!pipeline> -> (!fp8.mma_warp<!output_pipeline>, !fp8.consumer<!pipeline>) {
      %w1, %in1 = fp8.per_k_stage(%acc = %w, %stage = %in)
          : !fp8.mma_warp<!acc>, !fp8.consumer<!ring> -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
        // CHECK: fp8.accumulator %[[ACC]] : !fp8.mma_stage<!output_pipeline>
        %d = fp8.accumulator %acc : !fp8.mma_stage<!acc>
        %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
        %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
        // CHECK: fp8.mma %{{.*}}, %{{.*}}, %{{.*}} : !fp8.tmem<128x128xf32>, !tile, !tile
        fp8.mma %d, %a, %b : !fp8.tmem<128x128xf32>, !fp8.tile<128x128xf8E4M3FN, swizzle_128b>, !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
      }
      fp8.yield %w1, %in1 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
    }
    fp8.yield %rest : !fp8.consumer<!ring>
  }
  fp8.close %ip : !fp8.producer<!ring>
  fp8.close %c : !fp8.consumer<!acc>
  return
}

// One hand-over for each output tile: what goes on in between belongs to the body.
// CHECK-LABEL: func.func @tile
func.func @tile(%m: !fp8.mma_warp<!acc>, %e: !fp8.ready<!fp8.epilogue_warp<!acc>>) -> (!fp8.mma_warp<!acc>, !fp8.epilogue_warp<!acc>)
    attributes {fp8.linear} {
  // CHECK: fp8.produce(%[[S:.*]] = %{{.*}}) : !fp8.mma_warp<!output_pipeline> -> !fp8.mma_warp<!output_pipeline> {
  %m1 = fp8.produce(%s = %m) : !fp8.mma_warp<!acc> -> !fp8.mma_warp<!acc> {
    // CHECK-NEXT: fp8.accumulator %[[S]] : !fp8.mma_stage<!output_pipeline>
    %d = fp8.accumulator %s : !fp8.mma_stage<!acc>
  }
  // CHECK: fp8.consume(%[[T:.*]] = %{{.*}}) : !fp8.ready<!fp8.epilogue_warp<!output_pipeline>> -> !fp8.epilogue_warp<!output_pipeline> {
  %e1 = fp8.consume(%t = %e) : !fp8.ready<!fp8.epilogue_warp<!acc>> -> !fp8.epilogue_warp<!acc> {
    // CHECK-NEXT: fp8.accumulator %[[T]] : !fp8.epilogue_stage<!output_pipeline>
    %d = fp8.accumulator %t : !fp8.epilogue_stage<!acc>
  }
  return %m1, %e1 : !fp8.mma_warp<!acc>, !fp8.epilogue_warp<!acc>
}

!scaled_acc = !fp8.output_pipeline<1, 256x256xf32, cta_group = 2, scale_slots = 4>
!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!scales = !fp8.tile<32x16xf8E8M0FNU>

// The scales of a product: those of A, then those of each 128 rows of B; with B's first row in them, and the number of their slot.
// CHECK-LABEL: func.func @scaled
func.func @scaled(%m: !fp8.mma_stage<!scaled_acc>, %a: !tile, %b: !tile, %as: !scales, %bs0: !scales, %bs1: !scales, %more: i1, %slot: index)
    -> !fp8.mma_stage<!scaled_acc> attributes {fp8.linear} {
  %d = fp8.accumulator %m : !fp8.mma_stage<!scaled_acc>
  // CHECK: fp8.mma %{{.*}}, %[[A:.*]], %[[B:.*]] scaled_by(%[[S:.*]], %[[T:.*]], %[[U:.*]]) accumulate(%{{.*}}) : !fp8.tmem<256x256xf32, cta_group = 2, scale_slots = 4>, !tile, !tile
  fp8.mma %d, %a, %b scaled_by(%as, %bs0, %bs1) accumulate(%more) : !fp8.tmem<256x256xf32, cta_group = 2, scale_slots = 4>, !tile, !tile
  // CHECK: fp8.mma %{{.*}}, %[[A]], %[[B]] scaled_by(%[[S]], %[[T]], %[[U]]) from %[[ROW:.*]] at %[[ROW]] :
  fp8.mma %d, %a, %b scaled_by(%as, %bs0, %bs1) from %slot at %slot : !fp8.tmem<256x256xf32, cta_group = 2, scale_slots = 4>, !tile, !tile
  return %m : !fp8.mma_stage<!scaled_acc>
}

// The columns of D are the rows of the MMA.
!few = !fp8.tile<32x128xf8E4M3FN, swizzle_128b>
!many = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!inputs = !fp8.pipeline<3, a: !few, b: !many, a_scale: !scales, b_scale: !scales>
!columns = !fp8.output_pipeline<2, 32x128xf32, scale_slots = 3, swapped>
!staged = !fp8.tile<64x32xbf16, swizzle_64b>
// CHECK-LABEL: func.func @swapped
func.func @swapped(%out: !fp8.mma_stage<!columns>, %in: !fp8.consumer_stage<!inputs>, %queue: !fp8.store_queue<1, !staged, 4, of_warps>)
    -> (!fp8.mma_stage<!columns>, !fp8.consumer_stage<!inputs>) attributes {fp8.linear} {
  %row = arith.constant 96 : index
  %d = fp8.accumulator %out : !fp8.mma_stage<!columns>
  %a = fp8.tile %in["a"] : !fp8.consumer_stage<!inputs>
  %b = fp8.tile %in["b"] : !fp8.consumer_stage<!inputs>
  %as = fp8.tile %in["a_scale"] : !fp8.consumer_stage<!inputs>
  %bs = fp8.tile %in["b_scale"] : !fp8.consumer_stage<!inputs>
  // CHECK: fp8.mma %{{.*}}, %{{.*}}, %{{.*}} scaled_by(%{{.*}}, %{{.*}}) from %{{.*}} : !fp8.tmem<32x128xf32, scale_slots = 3, swapped>
  fp8.mma %d, %a, %b scaled_by(%bs, %as) from %row : !fp8.tmem<32x128xf32, scale_slots = 3, swapped>, !few, !many
  fp8.close %queue : !fp8.store_queue<1, !staged, 4, of_warps>
  return %out, %in : !fp8.mma_stage<!columns>, !fp8.consumer_stage<!inputs>
}
