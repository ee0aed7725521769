// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: CTAs that divide K
// kind: right
// passes: t=0; t=1; t=2; t=9
// why: two CTAs exchange sums t times

!sum = !fp8.fragment<64x32xf32, 4, warpgroups>
!share = !fp8.fragment<64x16xf32, 4, warpgroups>
!xc = !fp8.exchange<2, !sum>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index) kernel attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 2>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %xc_start = fp8.exchange : !xc
      fp8.role "add" warps(4) (%xc = %xc_start) : !xc {
        %sum = fp8.zero : !sum
        %xc3, %sum2 = scf.for %k = %c0 to %t step %c1 iter_args(%xc1 = %xc, %sum1 = %sum) -> (!xc, !sum) {
          %share, %xc2 = fp8.reduce_scatter %sum1 through %xc1 : !sum, !xc
          scf.yield %xc2, %sum1 : !xc, !sum
        }
        fp8.close %xc3 : !xc
      }
      gpu.return
    }
  }
  func.func @launch(%t_size: memref<?xi32> {fp8.name = "t", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %t = memref.dim %t_size, %zero : memref<?xi32>
    %two = arith.constant 2 : index
    gpu.launch_func @kernels::@kernel blocks in (%two, %one, %one) threads in (%threads, %one, %one) args(%t : index)
    return
  }
}
