// RUN: fp8-opt %s --fp8-structure-gemm | FileCheck %s

// The kernel: three roles over an input ring, a ring of A's scales and one of accumulators. A slot has the scales of eight K blocks, two
// laps of the accumulators.
// CHECK: !tile1 = !fp8.tile<8x128xf32>
// CHECK: !pipeline = !fp8.pipeline<5, a: !tile, b: !tile>
// CHECK: !pipeline1 = !fp8.pipeline<3, a_scale: !tile1>
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @gemm_kernels
// CHECK: gpu.func @gemm_kernel(%[[A:.*]]: !fp8.tensor_map<!tile>, %[[AS:.*]]: !fp8.tensor_map<!tile1>, %[[B:.*]]: !fp8.tensor_map<!tile>, %[[D:.*]]: !fp8.tensor_map<!tile2>, %[[BS:.*]]: memref<?x?xf32>, %[[TM:.*]]: index, %[[TN:.*]]: index, %[[KB:.*]]: index) kernel attributes {fp8.computes = {a = 0 : i64, a_scale = 1 : i64, b = 2 : i64, b_block = 128 : i64, b_scale = 4 : i64, blocks = 7 : i64, d = 3 : i64}, fp8.linear}
// CHECK: %[[INP:.*]], %[[INC:.*]] = fp8.pipeline : !fp8.producer<!pipeline>, !fp8.consumer<!pipeline>
// CHECK: %[[SCP:.*]], %[[SCC:.*]] = fp8.pipeline : !fp8.producer<!pipeline1>, !fp8.consumer<!pipeline1>
// CHECK: %[[MMA:.*]], %[[EPI:.*]] = fp8.output_pipeline : !output_pipeline
// CHECK: %[[Q:.*]] = fp8.store_queue : !store_queue
// CHECK: fp8.role "epilogue" warps(4) (%{{.*}} = %[[EPI]], %{{.*}} = %[[SCC]], %{{.*}} = %[[Q]])
// CHECK: fp8.epilogue_warp
// CHECK: fp8.for_each_tile persistent
// CHECK: fp8.zero
// CHECK: memref.load %[[BS]]
// The K blocks that do not fill a group come first, then the groups.
// CHECK: %[[REST:.*]] = arith.remui %[[KB]], %c8
// CHECK: scf.if
// CHECK: fp8.consume(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[REST]]
// CHECK: fp8.per_k_stage
// CHECK: fp8.promote %{{.*}} scales(%{{.*}}[%[[I]]], %{{.*}})
// CHECK: scf.for %{{.*}} = %[[REST]] to %[[KB]] step %c8
// CHECK: fp8.consume(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c8
// CHECK: fp8.per_k_stage
// CHECK: fp8.promote %{{.*}} scales(%{{.*}}[%[[I]]], %{{.*}})
// CHECK: fp8.store %{{.*}}, %[[D]][%{{.*}}, %{{.*}}] through
// CHECK: fp8.role "load" warps(1) (%{{.*}} = %[[INP]], %{{.*}} = %[[SCP]])
// CHECK: fp8.produce
// CHECK: fp8.tma_load %[[AS]]
// CHECK: fp8.produce
// CHECK: fp8.tma_load %[[A]]
// CHECK: fp8.tma_load %[[B]]
// CHECK: fp8.produce
// CHECK: fp8.tma_load %[[AS]]
// CHECK: fp8.produce
// CHECK: fp8.tma_load %[[A]]
// CHECK: fp8.tma_load %[[B]]
// CHECK: fp8.role "mma" warps(1) (%{{.*}} = %[[MMA]], %{{.*}} = %[[INC]])
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
// CHECK: fp8.promote %{{.*}} scales(%{{.*}}[%{{.*}}], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) : !fp8.fragment<128x192xf32, 4>
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

// A scale for each column comes by TMA, beside A's; bf16 as it is.
// CHECK: gpu.func @columns_kernel(%{{[^ ]*}}: !fp8.tensor_map<!tile>, %{{.*}}: !fp8.tensor_map<!tile{{[0-9]*}}>, %{{[^ ]*}}: !fp8.tensor_map<!tile{{[0-9]*}}>, %{{.*}}: !fp8.tensor_map<!tile{{[0-9]*}}>, %[[BS:[a-z0-9_]+]]: !fp8.tensor_map<!tile{{[0-9]*}}>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index)
// CHECK: fp8.role "epilogue"
// CHECK-NOT: memref.load
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: %[[ROW:.*]] = fp8.tile %{{.*}}["b_scale"]
// CHECK: fp8.promote %{{.*}} scales(%{{.*}}, row %[[ROW]]) : !fp8.fragment<128x64xf32, 4>, !fp8.tmem<128x64xf32>, !tile{{.*}}, !tile
// CHECK: fp8.role "load"
// CHECK: fp8.tma_load %[[BS]][%{{.*}}, %{{.*}}], %{{.*}}["b_scale"]
// CHECK-LABEL: func.func @columns
// CHECK: cf.assert %{{.*}}, "b_scale must have ceil(K/128) rows (G2)"
// CHECK: cf.assert %{{.*}}, "b_scale must have N columns (G2)"
// CHECK: cf.assert %{{.*}}, "the rows of b_scale must be a multiple of 16 bytes apart, because TMA copies them (G4)"
// CHECK: gpu.launch_func {{.*}} {fp8.problem_options = {b_block = 1 : i64}}
func.func @columns(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32, strided<[?, 1]>>, %b: memref<?x?xf8E4M3FN>,
                   %bs: memref<?x?xbf16, strided<[?, 1]>>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?xbf16, strided<[?, 1]>>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 64 x 128> {b_block = 1}
  return
}

// Blocks of 64 rows: a tile of 128 columns meets two. Scales in bf16 are widened when they are loaded.
// CHECK: gpu.func @blocks_of_64_kernel
// CHECK: arith.divui %{{.*}}, %c64
// CHECK-COUNT-2: arith.extf %{{.*}} : bf16 to f32
// CHECK: fp8.promote %{{.*}} scales(%{{.*}}, %{{[^,]*}}, %{{[^,]*}}) : !fp8.fragment<128x128xf32, 4>
// CHECK-LABEL: func.func @blocks_of_64
// CHECK: cf.assert %{{.*}}, "b_scale must have ceil(N/64) rows (G2)"
// CHECK: gpu.launch_func {{.*}} {fp8.problem_options = {b_block = 64 : i64}}
func.func @blocks_of_64(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xbf16>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xbf16>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xbf16>, memref<?x?xf8E4M3FN>, memref<?x?xbf16>)
    outs(%d : memref<?x?xbf16>) {b_block = 64}
  return
}

// A batch: the row of the grid says the matrix, and every copy's first coordinate is that.
// CHECK: gpu.func @batch_kernel(%[[A:[a-z0-9_]+]]: !fp8.tensor_map<!tile{{[0-9]*}}, rank = 3>, {{.*}}, %[[BS:[a-z0-9_]+]]: memref<?x?x?xf32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[ROWS:[a-z0-9_]+]]: index)
// CHECK: fp8.for_each_tile persistent band(8) (%[[ROW:[a-z0-9_]+]], %{{.*}}) in
// CHECK: %[[L:.*]] = arith.divui %[[ROW]], %[[ROWS]]
// CHECK: %[[M:.*]] = arith.remui %[[ROW]], %[[ROWS]]
// CHECK: memref.load %[[BS]][%[[L]], %{{.*}}, %{{.*}}]
// CHECK: arith.muli %[[M]], %c128
// CHECK: fp8.store %{{.*}}[%[[L]], %{{.*}}, %{{.*}}] through
// CHECK: fp8.role "load"
// CHECK: %[[L2:.*]] = arith.divui %{{.*}}, %[[ROWS]]
// CHECK: fp8.tma_load %[[A]][%[[L2]], %{{.*}}, %{{.*}}], %{{.*}}["a"]
// CHECK: fp8.tma_load %{{.*}}[%[[L2]], %{{.*}}, %{{.*}}], %{{.*}}["b"]
// CHECK: fp8.tma_load %{{.*}}[%[[L2]], %{{.*}}, %{{.*}}], %{{.*}}["a_scale"]
// CHECK-LABEL: func.func @batch
// CHECK: cf.assert %{{.*}}, "the rows of a_scale must be a multiple of 16 bytes apart, because TMA copies them (G4)"
// CHECK: cf.assert %{{.*}}, "the matrices of a_scale must be a multiple of 16 bytes apart, because TMA copies them (G4)"
// CHECK: cf.assert %{{.*}}, "the elements of b_scale must lie within 2^31 of one another (G2)"
// CHECK: cf.assert %{{.*}}, "the batch extent must be below 2^31, the range of TMA coordinates (G6)"
// CHECK: cf.assert %{{.*}}, "a and d must agree in the batch extent (G6)"
// CHECK: cf.assert %{{.*}}, "the tiles of a batch must be fewer than 2^31 (G6)"
// The grid of each product is a whole number of clusters, two tiles, high.
// CHECK: %[[HIGH:.*]] = arith.ceildivui %{{.*}}, %c2
// CHECK: %[[ROWS:.*]] = arith.muli %[[HIGH]], %c2
// CHECK: arith.muli %{{.*}}, %[[ROWS]]
// CHECK: gpu.launch_func
// CHECK-NOT: fp8.problem_options
func.func @batch(%a: memref<?x?x?xf8E4M3FN>, %as: memref<?x?x?xf32, strided<[?, ?, 1]>>, %b: memref<?x?x?xf8E4M3FN>, %bs: memref<?x?x?xf32>,
                 %d: memref<?x?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32, strided<[?, ?, 1]>>, memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>)
    outs(%d : memref<?x?x?xbf16>) config <tile = 128 x 128 x 128, cluster = 2 x 1>
  return
}

// L2 reads less ahead of copies of A and B, and of no other operand.
// CHECK-LABEL: func.func @promotion
// CHECK: fp8.tensor_map %{{[^ ]*}} l2_promotion 128 : memref<256x256xf8E4M3FN>
// CHECK: fp8.tensor_map %{{[^ ]*}} : memref<2x256xf32>
// CHECK: fp8.tensor_map %{{[^ ]*}} l2_promotion 128 : memref<128x256xf8E4M3FN>
// CHECK: fp8.tensor_map %{{[^ ]*}} : memref<256x128xbf16>
func.func @promotion(%a: memref<256x256xf8E4M3FN>, %as: memref<2x256xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<256x128xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x256xf8E4M3FN>, memref<2x256xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>)
    outs(%d : memref<256x128xbf16>) config <tile = 128 x 128 x 128, l2_promotion = 128>
  return
}

// Rows of B's scales with gaps: their elements are numbered in 32 bits.
// CHECK-LABEL: func.func @gaps
// CHECK: cf.assert %{{.*}}, "the elements of b_scale must lie within 2^31 of one another (G2)"
func.func @gaps(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xbf16, strided<[?, 1]>>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xbf16, strided<[?, 1]>>)
    outs(%d : memref<?x?xbf16>)
  return
}
