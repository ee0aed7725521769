// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: rates
// kind: right
// passes: t=0; t=1; t=8; t=9; t=16; t=19
// why: one slot of sf for eight of ab, filled right in front of the first

!ab = !fp8.pipeline<2>
!sf = !fp8.pipeline<1>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %ab_p, %ab_c = fp8.pipeline : !fp8.producer<!ab>, !fp8.consumer<!ab>
      %sf_p, %sf_c = fp8.pipeline : !fp8.producer<!sf>, !fp8.consumer<!sf>
      fp8.role "P" warps(1) (%ab = %ab_p, %sf = %sf_p) : !fp8.producer<!ab>, !fp8.producer<!sf> {
        %sf4, %ab3 = scf.for %k = %c0 to %t step %c1 iter_args(%sf1 = %sf, %ab1 = %ab) -> (!fp8.producer<!sf>, !fp8.producer<!ab>) {
          %in = arith.remui %k, %c8 : index
          %first = arith.cmpi eq, %in, %c0 : index
          %sf3 = scf.if %first -> (!fp8.producer<!sf>) {
            %sf_stage = fp8.acquire %sf1 : !fp8.producer<!sf>
            %sf2 = fp8.release %sf_stage : !fp8.producer_stage<!sf>
            scf.yield %sf2 : !fp8.producer<!sf>
          } else {
            scf.yield %sf1 : !fp8.producer<!sf>
          }
          %ab_stage = fp8.acquire %ab1 : !fp8.producer<!ab>
          %ab2 = fp8.release %ab_stage : !fp8.producer_stage<!ab>
          scf.yield %sf3, %ab2 : !fp8.producer<!sf>, !fp8.producer<!ab>
        }
        fp8.close %ab3 : !fp8.producer<!ab>
        fp8.close %sf4 : !fp8.producer<!sf>
      }
      fp8.role "E" warps(1) (%ab = %ab_c, %sf = %sf_c) : !fp8.consumer<!ab>, !fp8.consumer<!sf> {
        %groups = arith.ceildivui %t, %c8 : index
        %sf3, %ab5 = scf.for %g = %c0 to %groups step %c1 iter_args(%sf1 = %sf, %ab1 = %ab) -> (!fp8.consumer<!sf>, !fp8.consumer<!ab>) {
          %sf_stage = fp8.acquire %sf1 : !fp8.consumer<!sf>
          %start = arith.muli %g, %c8 : index
          %left = arith.subi %t, %start : index
          %count = arith.minui %left, %c8 : index
          %ab4 = scf.for %k = %c0 to %count step %c1 iter_args(%ab2 = %ab1) -> (!fp8.consumer<!ab>) {
            %ab_stage = fp8.acquire %ab2 : !fp8.consumer<!ab>
            %ab3 = fp8.release %ab_stage : !fp8.consumer_stage<!ab>
            scf.yield %ab3 : !fp8.consumer<!ab>
          }
          %sf2 = fp8.release %sf_stage : !fp8.consumer_stage<!sf>
          scf.yield %sf2, %ab4 : !fp8.consumer<!sf>, !fp8.consumer<!ab>
        }
        fp8.close %ab5 : !fp8.consumer<!ab>
        fp8.close %sf3 : !fp8.consumer<!sf>
      }
      gpu.return
    }
  }
  func.func @launch(%t_size: memref<?xi32> {fp8.name = "t", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %t = memref.dim %t_size, %zero : memref<?xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%t : index)
    return
  }
}
