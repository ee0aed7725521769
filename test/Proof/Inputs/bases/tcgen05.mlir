// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_100a
// family: Blackwell: an accumulator for each block
// kind: right
// passes: m=128 n=64 k=0; m=128 n=64 k=128; m=128 n=64 k=400; m=128 n=64 k=1168; m=200 n=104 k=304
// why: a ring of tiles, one of scales, one of accumulators: each block has a slot of each

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b_tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<32x32xbf16, swizzle_64b>
!sum = !fp8.fragment<128x64xf32, 4>
!ab = !fp8.pipeline<2, a: !a_tile, b: !b_tile>
!s = !fp8.pipeline<2, s: !s_tile>
!acc = !fp8.output_pipeline<2, 128x64xf32>
!queue = !fp8.store_queue<1, !d_tile, 4>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%map_a: !fp8.tensor_map<!a_tile>, %map_s: !fp8.tensor_map<!s_tile>, %map_b: !fp8.tensor_map<!b_tile>, %map_d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>, %tiles_m: index, %blocks: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %tile = gpu.block_id x
      %tm = arith.remui %tile, %tiles_m : index
      %tn = arith.divui %tile, %tiles_m : index
      %m = arith.muli %tm, %c128 : index
      %n = arith.muli %tn, %c64 : index
      %nb = arith.divui %n, %c128 : index
      %ab_p, %ab_c = fp8.pipeline : !fp8.producer<!ab>, !fp8.consumer<!ab>
      %s_p, %s_c = fp8.pipeline : !fp8.producer<!s>, !fp8.consumer<!s>
      %acc_p, %acc_c = fp8.output_pipeline : !acc
      %queue_empty = fp8.store_queue : !queue
      fp8.role "epilogue" warps(4) (%acc = %acc_c, %s = %s_c, %queue = %queue_empty) : !fp8.consumer<!acc>, !fp8.consumer<!s>, !queue {
        %acc_tmem = fp8.wait_tmem %acc : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
        %accw = fp8.create_epilogue_warp %acc, %acc_tmem : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
        %sum = fp8.zero : !sum
        %acc3, %s3, %sum3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%acc1 = %accw, %s1 = %s, %sum1 = %sum) -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !sum) {
          %bs = memref.load %b_scale[%nb, %block] : memref<?x?xf32>
          %acc_stage = fp8.acquire %acc1 : !fp8.epilogue_warp<!acc>
          %s_stage = fp8.acquire %s1 : !fp8.consumer<!s>
          %partial = fp8.accumulator %acc_stage : !fp8.epilogue_stage<!acc>
          %as = fp8.tile %s_stage["s"] : !fp8.consumer_stage<!s>
          %sum2 = fp8.promote %sum1, %partial scales(%as, %bs) : !sum, !fp8.tmem<128x64xf32>, !s_tile
          %acc2 = fp8.release %acc_stage : !fp8.epilogue_stage<!acc>
          %s2 = fp8.release %s_stage : !fp8.consumer_stage<!s>
          scf.yield %acc2, %s2, %sum2 : !fp8.epilogue_warp<!acc>, !fp8.consumer<!s>, !sum
        }
        %queue1 = fp8.store %sum3, %map_d[%m, %n] through %queue : !sum, !fp8.tensor_map<!d_tile>, !queue
        fp8.release_epilogue_warp %acc3 : !fp8.epilogue_warp<!acc>
        fp8.close %s3 : !fp8.consumer<!s>
        fp8.close %queue1 : !queue
      }
      fp8.role "mma" warps(1) (%acc = %acc_p, %ab = %ab_c) : !fp8.producer<!acc>, !fp8.consumer<!ab> {
        %accw = fp8.create_mma_warp %acc : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
        %acc3, %ab3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%acc1 = %accw, %ab1 = %ab) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ab>) {
          %acc_stage = fp8.acquire %acc1 : !fp8.mma_warp<!acc>
          %ab_stage = fp8.acquire %ab1 : !fp8.consumer<!ab>
          %accumulator = fp8.accumulator %acc_stage : !fp8.mma_stage<!acc>
          %at = fp8.tile %ab_stage["a"] : !fp8.consumer_stage<!ab>
          %bt = fp8.tile %ab_stage["b"] : !fp8.consumer_stage<!ab>
          fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x64xf32>, !a_tile, !b_tile
          %ab2 = fp8.release %ab_stage : !fp8.consumer_stage<!ab>
          %acc2 = fp8.release %acc_stage : !fp8.mma_stage<!acc>
          scf.yield %acc2, %ab2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ab>
        }
        fp8.release_mma_warp %acc3 : !fp8.mma_warp<!acc>
        fp8.close %ab3 : !fp8.consumer<!ab>
      }
      fp8.role "load" warps(1) (%ab = %ab_p, %s = %s_p) : !fp8.producer<!ab>, !fp8.producer<!s> {
        %ab3, %s3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%ab1 = %ab, %s1 = %s) -> (!fp8.producer<!ab>, !fp8.producer<!s>) {
          %k = arith.muli %block, %c128 : index
          %ab_stage = fp8.acquire %ab1 : !fp8.producer<!ab>
          fp8.tma_load %map_a[%m, %k], %ab_stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ab>
          fp8.tma_load %map_b[%n, %k], %ab_stage["b"] : !fp8.tensor_map<!b_tile>, !fp8.producer_stage<!ab>
          %ab2 = fp8.release %ab_stage : !fp8.producer_stage<!ab>
          %s_stage = fp8.acquire %s1 : !fp8.producer<!s>
          fp8.tma_load %map_s[%block, %m], %s_stage["s"] : !fp8.tensor_map<!s_tile>, !fp8.producer_stage<!s>
          %s2 = fp8.release %s_stage : !fp8.producer_stage<!s>
          scf.yield %ab2, %s2 : !fp8.producer<!ab>, !fp8.producer<!s>
        }
        fp8.close %ab3 : !fp8.producer<!ab>
        fp8.close %s3 : !fp8.producer<!s>
      }
      gpu.return
    }
  }
  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 192 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %m = memref.dim %a, %zero : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %zero : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %one : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c64 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!s_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!b_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@kernel blocks in (%tiles, %one, %one) threads in (%threads, %one, %one)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!s_tile>, %map_b : !fp8.tensor_map<!b_tile>, %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>, %tiles_m : index, %blocks : index)
    return
  }
}
