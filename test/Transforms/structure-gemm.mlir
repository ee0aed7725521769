// RUN: fp8-opt %s --fp8-structure-gemm | FileCheck %s

// The kernel: three roles over one input ring and one ring of accumulators.
// CHECK: !pipeline = !fp8.pipeline<5, a: !tile, b: !tile, a_scale: !tile1>
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @gemm_kernels
// CHECK: gpu.func @gemm_kernel(%[[A:.*]]: !fp8.tensor_map<!tile>, %[[AS:.*]]: !fp8.tensor_map<!tile1>, %[[B:.*]]: !fp8.tensor_map<!tile>, %[[D:.*]]: !fp8.tensor_map<!tile2>, %[[BS:.*]]: memref<?x?xf32>, %[[TM:.*]]: index, %[[TN:.*]]: index, %[[KB:.*]]: index) kernel attributes {fp8.linear}
// CHECK: %[[IN:.*]]:3 = fp8.pipeline : !fp8.producer<!pipeline>, !fp8.consumer<!pipeline>, !fp8.consumer<!pipeline>
// CHECK: %[[MMA:.*]], %[[EPI:.*]] = fp8.output_pipeline : !output_pipeline
// CHECK: %[[Q:.*]] = fp8.store_queue : !store_queue
// CHECK: fp8.role "epilogue" warps(4) (%{{.*}} = %[[EPI]], %{{.*}} = %[[IN]]#2, %{{.*}} = %[[Q]])
// CHECK: fp8.epilogue_warp
// CHECK: fp8.for_each_tile persistent
// CHECK: fp8.zero
// CHECK: memref.load %[[BS]]
// CHECK: fp8.per_k_stage
// CHECK: fp8.promote
// CHECK: fp8.store %{{.*}}, %[[D]][%{{.*}}, %{{.*}}] through
// CHECK: fp8.role "load" warps(1) (%{{.*}} = %[[IN]]#0)
// CHECK: fp8.produce
// CHECK: fp8.tma_load %[[A]]
// CHECK: fp8.tma_load %[[B]]
// CHECK: fp8.tma_load %[[AS]]
// CHECK: fp8.role "mma" warps(1) (%{{.*}} = %[[MMA]], %{{.*}} = %[[IN]]#1)
// CHECK: fp8.mma_warp
// CHECK: fp8.mma

// The host: what is dynamic is asserted, then the launch.
// CHECK-LABEL: func.func @gemm
// CHECK: cf.assert %{{.*}}, "M must be below 2^31, the range of TMA coordinates (G4)"
// CHECK: cf.assert %{{.*}}, "a and b must agree in K"
// CHECK: cf.assert %{{.*}}, "K must be a multiple of 16 (G4)"
// CHECK: cf.assert %{{.*}}, "a_scale must have ceil(K/128) rows (G2)"
// CHECK: cf.assert %{{.*}}, "the rows of a_scale must be a multiple of 16 bytes apart, because TMA copies them (G4)"
// CHECK: fp8.tensor_map
// CHECK: fp8.multiprocessor_count
// CHECK: gpu.launch_func @gemm_kernels::@gemm_kernel
func.func @gemm(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32, strided<[?, 1]>>, %b: memref<?x?xf8E4M3FN>,
                %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}

// What the config pins is kept; static extents need no check; a tile that straddles B scales loads two, for 64 columns each.
// CHECK: gpu.func @pinned_kernel
// CHECK: fp8.for_each_tile one_tile
// CHECK-COUNT-2: memref.load
// CHECK: fp8.promote %{{.*}} scales(%{{.*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) : !fp8.fragment<128x192xf32, 4>
// CHECK-LABEL: func.func @pinned
// CHECK-NOT: cf.assert
// CHECK-NOT: fp8.multiprocessor_count
// CHECK: gpu.launch_func
func.func @pinned(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>,
                  %bs: memref<3x4xf32>, %d: memref<256x384xf32>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>)
    outs(%d : memref<256x384xf32>) config <tile = 128 x 192 x 128, stages = 2, accumulators = 2, scheduler = one_tile>
  return
}
