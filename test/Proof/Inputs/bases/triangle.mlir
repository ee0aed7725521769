// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: cycles of three roles
// kind: right
// passes: t=0; t=1; t=2; t=9
// why: A starts each round and ends it; rings of one slot

!x = !fp8.pipeline<1>
!y = !fp8.pipeline<1>
!z = !fp8.pipeline<1>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x_p, %x_c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
      %y_p, %y_c = fp8.pipeline : !fp8.producer<!y>, !fp8.consumer<!y>
      %z_p, %z_c = fp8.pipeline : !fp8.producer<!z>, !fp8.consumer<!z>
      fp8.role "A" warps(1) (%x = %x_p, %z = %z_c) : !fp8.producer<!x>, !fp8.consumer<!z> {
        %x3, %z3 = scf.for %k = %c0 to %t step %c1 iter_args(%x1 = %x, %z1 = %z) -> (!fp8.producer<!x>, !fp8.consumer<!z>) {
          %x_stage = fp8.acquire %x1 : !fp8.producer<!x>
          %x2 = fp8.release %x_stage : !fp8.producer_stage<!x>
          %z_stage = fp8.acquire %z1 : !fp8.consumer<!z>
          %z2 = fp8.release %z_stage : !fp8.consumer_stage<!z>
          scf.yield %x2, %z2 : !fp8.producer<!x>, !fp8.consumer<!z>
        }
        fp8.close %x3 : !fp8.producer<!x>
        fp8.close %z3 : !fp8.consumer<!z>
      }
      fp8.role "B" warps(1) (%x = %x_c, %y = %y_p) : !fp8.consumer<!x>, !fp8.producer<!y> {
        %x3, %y3 = scf.for %k = %c0 to %t step %c1 iter_args(%x1 = %x, %y1 = %y) -> (!fp8.consumer<!x>, !fp8.producer<!y>) {
          %x_stage = fp8.acquire %x1 : !fp8.consumer<!x>
          %x2 = fp8.release %x_stage : !fp8.consumer_stage<!x>
          %y_stage = fp8.acquire %y1 : !fp8.producer<!y>
          %y2 = fp8.release %y_stage : !fp8.producer_stage<!y>
          scf.yield %x2, %y2 : !fp8.consumer<!x>, !fp8.producer<!y>
        }
        fp8.close %x3 : !fp8.consumer<!x>
        fp8.close %y3 : !fp8.producer<!y>
      }
      fp8.role "C" warps(1) (%y = %y_c, %z = %z_p) : !fp8.consumer<!y>, !fp8.producer<!z> {
        %y3, %z3 = scf.for %k = %c0 to %t step %c1 iter_args(%y1 = %y, %z1 = %z) -> (!fp8.consumer<!y>, !fp8.producer<!z>) {
          %y_stage = fp8.acquire %y1 : !fp8.consumer<!y>
          %y2 = fp8.release %y_stage : !fp8.consumer_stage<!y>
          %z_stage = fp8.acquire %z1 : !fp8.producer<!z>
          %z2 = fp8.release %z_stage : !fp8.producer_stage<!z>
          scf.yield %y2, %z2 : !fp8.consumer<!y>, !fp8.producer<!z>
        }
        fp8.close %y3 : !fp8.consumer<!y>
        fp8.close %z3 : !fp8.producer<!z>
      }
      gpu.return
    }
  }
  func.func @launch(%t_size: memref<?xi32> {fp8.name = "t", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 96 : index
    %t = memref.dim %t_size, %zero : memref<?xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%t : index)
    return
  }
}
