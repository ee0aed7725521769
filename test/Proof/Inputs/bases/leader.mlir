// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: clusters and multicast
// kind: right
// passes: t=0; t=1; t=2; t=9
// why: both CTAs pass slots of x, the leading one of y as well

!x = !fp8.pipeline<2>
!y = !fp8.pipeline<2>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x_p, %x_c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
      %y_p, %y_c = fp8.pipeline : !fp8.producer<!y>, !fp8.consumer<!y>
      fp8.role "P" warps(1) (%x = %x_p, %y = %y_p) : !fp8.producer<!x>, !fp8.producer<!y> {
        %x3, %y5 = scf.for %k = %c0 to %t step %c1 iter_args(%x1 = %x, %y1 = %y) -> (!fp8.producer<!x>, !fp8.producer<!y>) {
          %x_stage = fp8.acquire %x1 : !fp8.producer<!x>
          %x2 = fp8.release %x_stage : !fp8.producer_stage<!x>
          %y4 = fp8.leading_cta of cluster (%y2 = %y1) : !fp8.producer<!y> -> !fp8.producer<!y> {
            %y_stage = fp8.acquire %y2 : !fp8.producer<!y>
            %y3 = fp8.release %y_stage : !fp8.producer_stage<!y>
            fp8.yield %y3 : !fp8.producer<!y>
          }
          scf.yield %x2, %y4 : !fp8.producer<!x>, !fp8.producer<!y>
        }
        fp8.close %x3 : !fp8.producer<!x>
        fp8.close %y5 : !fp8.producer<!y>
      }
      fp8.role "C" warps(1) (%x = %x_c, %y = %y_c) : !fp8.consumer<!x>, !fp8.consumer<!y> {
        %x3, %y5 = scf.for %k = %c0 to %t step %c1 iter_args(%x1 = %x, %y1 = %y) -> (!fp8.consumer<!x>, !fp8.consumer<!y>) {
          %x_stage = fp8.acquire %x1 : !fp8.consumer<!x>
          %x2 = fp8.release %x_stage : !fp8.consumer_stage<!x>
          %y4 = fp8.leading_cta of cluster (%y2 = %y1) : !fp8.consumer<!y> -> !fp8.consumer<!y> {
            %y_stage = fp8.acquire %y2 : !fp8.consumer<!y>
            %y3 = fp8.release %y_stage : !fp8.consumer_stage<!y>
            fp8.yield %y3 : !fp8.consumer<!y>
          }
          scf.yield %x2, %y4 : !fp8.consumer<!x>, !fp8.consumer<!y>
        }
        fp8.close %x3 : !fp8.consumer<!x>
        fp8.close %y5 : !fp8.consumer<!y>
      }
      gpu.return
    }
  }
  func.func @launch(%t_size: memref<?xi32> {fp8.name = "t", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %t = memref.dim %t_size, %zero : memref<?xi32>
    %two = arith.constant 2 : index
    gpu.launch_func @kernels::@kernel blocks in (%two, %one, %one) threads in (%threads, %one, %one) args(%t : index)
    return
  }
}
