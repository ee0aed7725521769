// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_100a
// family: tensor memory among CTAs
// kind: right
// passes: ctas=1; ctas=4
// why: each CTA allocates all columns at once, and needs no other CTA before it frees them

!low = !fp8.output_pipeline<4, 128x128xf32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%out: memref<4096xf32>, %ctas: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %low_p, %low_c = fp8.output_pipeline : !low
      fp8.role "epilogue" warps(4) (%low = %low_c) : !fp8.consumer<!low> {
        %low_tmem = fp8.wait_tmem %low : !fp8.consumer<!low> -> !fp8.tmem_ready<!low>
        %loww = fp8.create_epilogue_warp %low, %low_tmem : !fp8.consumer<!low>, !fp8.tmem_ready<!low> -> !fp8.epilogue_warp<!low>
        fp8.release_epilogue_warp %loww : !fp8.epilogue_warp<!low>
      }
      fp8.role "mma" warps(1) (%low = %low_p) : !fp8.producer<!low> {
        %loww = fp8.create_mma_warp %low : !fp8.producer<!low> -> !fp8.mma_warp<!low>
        fp8.release_mma_warp %loww : !fp8.mma_warp<!low>
      }
      gpu.return
    }
  }
  func.func @launch(%out: memref<4096xf32> {fp8.name = "out", fp8.access = "write"},
                    %ctas_size: memref<?xi32> {fp8.name = "ctas", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 160 : index
    %ctas = memref.dim %ctas_size, %zero : memref<?xi32>
    gpu.launch_func @kernels::@kernel blocks in (%ctas, %one, %one) threads in (%threads, %one, %one) args(%out : memref<4096xf32>, %ctas : index)
    return
  }
}
