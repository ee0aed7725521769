// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: barriers beside the rings
// kind: refused
// reports: 'fp8.shared_memory' op does a part of a hand-over .*\(B4\)
// why: A also signals a barrier that an idle ring has, for which nobody waits

!y = !fp8.pipeline<1>
!x = !fp8.pipeline<2>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index, %u: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %y_p, %y_c = fp8.pipeline : !fp8.producer<!y>, !fp8.consumer<!y>
      %x_p, %x_c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
      fp8.role "A" warps(1) (%y = %y_p, %x = %x_p) : !fp8.producer<!y>, !fp8.producer<!x> {
        %lane = gpu.lane_id
        %first = arith.cmpi eq, %lane, %c0 : index
        %shared = fp8.shared_memory
        %x3 = scf.for %k = %c0 to %t step %c1 iter_args(%x1 = %x) -> (!fp8.producer<!x>) {
          %x_stage = fp8.acquire %x1 : !fp8.producer<!x>
          %x2 = fp8.release %x_stage : !fp8.producer_stage<!x>
          scf.if %first {
            fp8.mbarrier_arrive %shared
          }
          scf.yield %x2 : !fp8.producer<!x>
        }
        fp8.close %y : !fp8.producer<!y>
        fp8.close %x3 : !fp8.producer<!x>
      }
      fp8.role "B" warps(1) (%x = %x_c) : !fp8.consumer<!x> {
        %lane = gpu.lane_id
        %first = arith.cmpi eq, %lane, %c0 : index
        %shared = fp8.shared_memory
        %x3 = scf.for %k = %c0 to %t step %c1 iter_args(%x1 = %x) -> (!fp8.consumer<!x>) {
          %x_stage = fp8.acquire %x1 : !fp8.consumer<!x>
          %x2 = fp8.release %x_stage : !fp8.consumer_stage<!x>
          scf.yield %x2 : !fp8.consumer<!x>
        }
        fp8.close %x3 : !fp8.consumer<!x>
      }
      fp8.role "C" warps(1) (%y = %y_c) : !fp8.consumer<!y> {
        fp8.close %y : !fp8.consumer<!y>
      }
      gpu.return
    }
  }
  func.func @launch(%t_size: memref<?xi32> {fp8.name = "t", fp8.access = "read"},
                    %u_size: memref<?xi32> {fp8.name = "u", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 96 : index
    %t = memref.dim %t_size, %zero : memref<?xi32>
    %u = memref.dim %u_size, %zero : memref<?xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%t : index, %u : index)
    return
  }
}
