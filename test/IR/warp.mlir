// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!acc = !fp8.output_pipeline<2, 128x128xf32>

// CHECK-LABEL: func.func @handles
func.func @handles() attributes {fp8.linear} {
  %p, %c = fp8.output_pipeline : !acc
  fp8.role "epilogue" warps(4) (%e = %c) : !fp8.consumer<!acc> {
    // CHECK: %[[READY:.*]] = fp8.wait_tmem %[[E:.*]] : !fp8.consumer<!output_pipeline> -> !fp8.tmem_ready<!output_pipeline>
    %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
    // CHECK: fp8.create_epilogue_warp %[[E]], %[[READY]] : !fp8.consumer<!output_pipeline>, !fp8.tmem_ready<!output_pipeline> -> !fp8.epilogue_warp<!output_pipeline>
    %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
    // CHECK: fp8.release_epilogue_warp
    fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
  }
  fp8.role "mma" warps(1) (%e = %p) : !fp8.producer<!acc> {
    // CHECK: fp8.create_mma_warp
    %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
    // CHECK: fp8.release_mma_warp
    fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
  }
  return
}
