// RUN: fp8-opt %s --fp8-structure-gemm | FileCheck %s

// What follows the sum: a ring of one bias, a ring of two tiles of C, and a role that fills them. Both roles read beta, and skip C
// where it is 0; the ends pass through the other arm. The function and the scale are one map; constants come along.
// CHECK: gpu.func @epilogue_kernel({{.*}}: index, %[[CM:[a-z0-9_]*]]: !fp8.tensor_map<!{{[a-z0-9]*}}>, %[[BM:[a-z0-9_]*]]: !fp8.tensor_map<!{{[a-z0-9]*}}>, %[[BETA:.*]]: memref<1x1xf32>, %[[SCALE:.*]]: memref<1x1xf32>) kernel
// CHECK: fp8.store_queue
// CHECK: %[[BIASP:.*]], %[[BIASC:.*]] = fp8.pipeline : !fp8.producer<![[BIASRING:[a-z0-9]*]]>
// CHECK: %[[CP:.*]], %[[CC:.*]] = fp8.pipeline : !fp8.producer<![[CRING:[a-z0-9]*]]>
// CHECK: fp8.work_queue : !fp8.producer<!fp8.work_queue<2>>, !fp8.consumer<!fp8.work_queue<2>>, !fp8.consumer<!fp8.work_queue<2>>, !fp8.consumer<!fp8.work_queue<2>>, !fp8.consumer<!fp8.work_queue<2>>, !fp8.consumer<!fp8.work_queue<2>>
// CHECK: fp8.role "epilogue" warps(4) (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %[[BIASC]], %{{.*}} = %[[CC]], %{{.*}} = %{{.*}})
// CHECK: fp8.promote
// CHECK: %[[BETAV:.*]] = memref.load %[[BETA]]
// CHECK: %[[SCALEV:.*]] = memref.load %[[SCALE]]
// CHECK: fp8.consume
// CHECK: fp8.add_row
// CHECK: %[[READ:.*]] = arith.cmpf une, %[[BETAV]], %{{.*}} : f32
// CHECK: scf.if %[[READ]] -> (!fp8.consumer<![[CRING]]>, !fp8.fragment<128x96xf32, 4>)
// CHECK: fp8.add_tile %{{.*}}[0], %{{.*}} scaled %[[BETAV]]
// CHECK: fp8.add_tile %{{.*}}[32], %{{.*}} scaled %[[BETAV]]
// CHECK: fp8.add_tile %{{.*}}[64], %{{.*}} scaled %[[BETAV]]
// CHECK-NOT: fp8.add_tile
// CHECK: else
// CHECK: %[[LIMIT:.*]] = arith.constant 6.0
// CHECK: fp8.map(%[[X:.*]] = %{{.*}})
// CHECK-NEXT: %[[Y:.*]] = arith.minimumf %[[X]], %[[LIMIT]]
// CHECK-NEXT: %[[Z:.*]] = arith.mulf %[[Y]], %[[SCALEV]]
// CHECK-NEXT: fp8.yield %[[Z]]
// CHECK: fp8.store
// CHECK: fp8.role "epilogue_load" warps(1) (%{{.*}} = %[[BIASP]], %{{.*}} = %[[CP]], %{{.*}} = %{{.*}})
// CHECK: memref.load %[[BETA]]
// CHECK: fp8.for_each_tile clc
// CHECK: fp8.tma_load %[[BM]]
// CHECK: scf.if
// CHECK-COUNT-3: fp8.tma_load %[[CM]]
// CHECK: else
// CHECK-LABEL: func.func @epilogue
// CHECK: cf.assert %{{.*}}, "c must have M rows (G7)"
// CHECK: cf.assert %{{.*}}, "c must have N columns (G7)"
// CHECK: cf.assert %{{.*}}, "bias must have N columns (G8)"
// CHECK: cf.assert %{{.*}}, "the rows of c must be a multiple of 16 bytes apart, because TMA copies them (G4)"
// CHECK: cf.assert %{{.*}}, "the rows of bias must be a multiple of 16 bytes apart, because TMA copies them (G4)"
func.func @epilogue(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>,
                    %c: memref<?x?xf16>, %beta: memref<1x1xf32>, %bias: memref<1x?xbf16>, %d: memref<?x?xf8E4M3FN>, %scale: memref<1x1xf32>) {
  %limit = arith.constant 6.0 : f32
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c scaled %beta : memref<?x?xf16>, memref<1x1xf32>) bias(%bias : memref<1x?xbf16>)
    outs(%d : memref<?x?xf8E4M3FN>) scale(%scale : memref<1x1xf32>) config <tile = 128 x 96 x 128, scheduler = clc> map (%x) {
      %y = arith.minimumf %x, %limit : f32
      fp8.yield %y : f32
    }
  return
}

// A residual without a factor is always read. In f32 it takes registers: eight warps share the rows.
// CHECK: gpu.func @residual_kernel
// CHECK-NOT: arith.cmpf
// CHECK: fp8.add_tile %{{.*}}[0], %{{[a-z0-9]*}} : !fp8.fragment<128x128xf32, 8>
// CHECK-NOT: fp8.map
// CHECK-LABEL: func.func @residual
func.func @residual(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>,
                    %c: memref<?x?xf32>, %d: memref<?x?xf32>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c : memref<?x?xf32>) outs(%d : memref<?x?xf32>)
  return
}
