// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiler may hold: a kernel written by hand with ops of its own dialect, a GEMM as linalg, a GEMM op, a kernel of GPU ops alone, and
// functions of the host.

!a_tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!scale_tile = !fp8.tile<1x128xf32>
!d_tile = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<4, a: !a_tile, b: !a_tile, s: !scale_tile>
!queue = !fp8.store_queue<2, !d_tile, 8>
!sum = !fp8.fragment<128x128xf32, 8, warpgroups>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: !fp8.tensor_map<!a_tile>, %a_scale: !fp8.tensor_map<!scale_tile>, %b: !fp8.tensor_map<!a_tile>,
                   %d: !fp8.tensor_map<!d_tile>, %b_scale: memref<?x?xf32>, %tiles_m: index, %tiles_n: index,
                   %blocks: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c128 = arith.constant 128 : index
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      %queue = fp8.store_queue : !queue

      fp8.role "multiply" warps(8) (%end = %c, %q = %queue) : !fp8.consumer<!ring>, !queue {
        %end2, %q2 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n)
            iter_args(%e = %end, %qi = %q) -> (!fp8.consumer<!ring>, !queue) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c128 : index
          %zero = fp8.zero : !sum
          %e2, %sum = scf.for %kb = %c0 to %blocks step %c1 iter_args(%ek = %e, %f = %zero) -> (!fp8.consumer<!ring>, !sum) {
            %bs = memref.load %b_scale[%tn, %kb] : memref<?x?xf32>
            %stage = fp8.acquire %ek : !fp8.consumer<!ring>
            %f2 = acme.accumulate %f, %stage scaled %bs : !sum, !fp8.consumer_stage<!ring>
            %e3 = acme.release_late %stage after 100 : !fp8.consumer_stage<!ring>
            scf.yield %e3, %f2 : !fp8.consumer<!ring>, !sum
          }
          %q3 = fp8.store %sum, %d[%m, %n] through %qi : !sum, !fp8.tensor_map<!d_tile>, !queue
          fp8.yield %e2, %q3 : !fp8.consumer<!ring>, !queue
        }
        fp8.yield %end2, %q2 : !fp8.consumer<!ring>, !queue
      }

      fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
        %end2 = fp8.for_each_tile persistent (%tm, %tn) in (%tiles_m, %tiles_n) iter_args(%e = %end) -> (!fp8.producer<!ring>) {
          %m = arith.muli %tm, %c128 : index
          %n = arith.muli %tn, %c128 : index
          %e2 = scf.for %kb = %c0 to %blocks step %c1 iter_args(%ek = %e) -> (!fp8.producer<!ring>) {
            %k = arith.muli %kb, %c128 : index
            %e3 = fp8.produce(%stage = %ek) : !fp8.producer<!ring> -> (!fp8.producer<!ring>) {
              fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!ring>
              fp8.tma_load %a_scale[%kb, %m], %stage["s"] : !fp8.tensor_map<!scale_tile>, !fp8.producer_stage<!ring>
            }
            scf.yield %e3 : !fp8.producer<!ring>
          }
          fp8.yield %e2 : !fp8.producer<!ring>
        }
        fp8.yield %end2 : !fp8.producer<!ring>
      }
      gpu.return
    }
  }
  // A kernel of GPU ops alone, lowered beside the others.
  gpu.module @helpers {
    gpu.func @negate(%x: memref<?xf32>) kernel {
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %size = gpu.block_dim x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %thread : index
      %value = memref.load %x[%i] : memref<?xf32>
      %negated = arith.negf %value : f32
      memref.store %negated, %x[%i] : memref<?xf32>
      gpu.return
    }
  }

  // A function of the host that has nothing to do with kernels.
  func.func @clear(%x: memref<?x?xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%x : memref<?x?xf32>)
    return
  }

  // A GEMM as a front end writes it: every element of A and B upcast and multiplied by its block's scale, the products added up in f32.
  func.func @gemm_linalg(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                         %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                         %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                         %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                         %d: memref<?x?xf32> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%d : memref<?x?xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>,
                                     affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %a_scale, %b, %b_scale : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
        outs(%d : memref<?x?xf32>) {
      ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %sum: f32):
        %xf = arith.extf %x : f8E4M3FN to f32
        %yf = arith.extf %y : f8E4M3FN to f32
        %p = arith.mulf %xf, %xs : f32
        %q = arith.mulf %yf, %ys : f32
        %r = arith.mulf %p, %q : f32
        %next = arith.addf %sum, %r : f32
        linalg.yield %next : f32
    }
    return
  }

  func.func @gemm_op(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                     %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                     %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                     %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                     %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
      outs(%d : memref<?x?xbf16>)
    return
  }

  func.func @launch(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                    %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                    %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                    %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                    %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %c384 = arith.constant 384 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %tiles_m = arith.ceildivui %m, %c128 : index
    %tiles_n = arith.ceildivui %n, %c128 : index
    %blocks = arith.ceildivui %k, %c128 : index
    %tiles = arith.muli %tiles_m, %tiles_n : index
    %sms = fp8.multiprocessor_count
    %grid = arith.minui %tiles, %sms : index
    %map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_s = fp8.tensor_map %a_scale : memref<?x?xf32, strided<[?, 1]>> -> !fp8.tensor_map<!scale_tile>
    %map_b = fp8.tensor_map %b : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>
    %map_d = fp8.tensor_map %d : memref<?x?xbf16> -> !fp8.tensor_map<!d_tile>
    gpu.launch_func @kernels::@gemm blocks in (%grid, %c1, %c1) threads in (%c384, %c1, %c1)
      args(%map_a : !fp8.tensor_map<!a_tile>, %map_s : !fp8.tensor_map<!scale_tile>, %map_b : !fp8.tensor_map<!a_tile>,
           %map_d : !fp8.tensor_map<!d_tile>, %b_scale : memref<?x?xf32>, %tiles_m : index, %tiles_n : index, %blocks : index)
    return
  }
}
