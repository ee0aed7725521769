// Promotion with one of several rows of A's scales in a role of several blocks: the scale is loaded where both the tile and the row's number are
// there, whichever was made later.
// RUN: fp8-opt %s --convert-fp8-to-nvvm | FileCheck %s

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<4x64xf32>
!d = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, b: !a, s: !s>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!queue = !fp8.store_queue<2, !d, 4>
gpu.module @kernels {
  // CHECK: gpu.func @kernel
  gpu.func @kernel(%am: !fp8.tensor_map<!a>, %sm: !fp8.tensor_map<!s>, %dm: !fp8.tensor_map<!d>, %scale: f32, %cond: i1, %row: index)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %queue = fp8.store_queue : !queue
    fp8.role "multiply" warps(4) (%in = %c, %q = %queue) : !fp8.consumer<!ring>, !queue {
      %zero = fp8.zero : !sum
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %x = fp8.warpgroup_mma %a, %b : !a, !a -> !fp8.pending<!sum>
      %f = fp8.wait_mma %x : !fp8.pending<!sum>
      // CHECK: cf.cond_br
      cf.cond_br %cond, ^one, ^both(%row : index)
    ^one:
      %next_row = arith.addi %row, %c1 : index
      cf.br ^both(%next_row : index)
    // The number is an argument of a later block than the tile's.
    // CHECK: ^bb{{[0-9]+}}(%[[ROW:.*]]: index):
    ^both(%chosen: index):
      // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[ROW]] : index to i32
      // CHECK: arith.muli %[[NUMBER]], %c256_i32
      // CHECK: llvm.load
      %sum = fp8.promote %zero, %f scales(%s[%chosen], %scale) : !sum, !sum, !s
      cf.br ^last
    // And here the tile is lent in a later block than the number's.
    // CHECK: ^bb
    ^last:
      // CHECK: arith.index_cast %[[ROW]] : index to i32
      // CHECK: llvm.load
      %again = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %twice = fp8.promote %sum, %f scales(%again[%chosen], %scale) : !sum, !sum, !s
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      %q2 = fp8.store %twice, %dm[%c0, %c0] through %q : !sum, !fp8.tensor_map<!d>, !queue
      fp8.close %next : !fp8.consumer<!ring>
      fp8.close %q2 : !queue
      fp8.yield
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["b"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0], %stage["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}
