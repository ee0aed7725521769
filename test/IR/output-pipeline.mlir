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
