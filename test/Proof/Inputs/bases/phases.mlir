// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: laps
// kind: refused
// source: fb-triton #3420
// reports: 'fp8.shared_memory' op does a part of a hand-over .*\(B4\)
// why: two roles meet u times for each of t tiles; the phase is counted through

!y = !fp8.pipeline<1>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index, %u: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %y_p, %y_p1, %y_c = fp8.pipeline : !fp8.producer<!y>, !fp8.producer<!y>, !fp8.consumer<!y>
      fp8.role "A" warps(1) (%y = %y_p) : !fp8.producer<!y> {
        %lane = gpu.lane_id
        %first = arith.cmpi eq, %lane, %c0 : index
        %shared = fp8.shared_memory
        scf.for %i = %c0 to %t step %c1 {
          scf.for %k = %c0 to %u step %c1 {
            %before = arith.muli %i, %u : index
            %phase = arith.addi %before, %k : index
            %odd = arith.andi %phase, %c1 : index
            %parity = arith.index_cast %odd : index to i32
            scf.if %first {
              fp8.mbarrier_arrive %shared
            }
            fp8.mbarrier_wait %shared, %parity
            fp8.sync warp
          }
        }
        fp8.close %y : !fp8.producer<!y>
      }
      fp8.role "B" warps(1) (%y = %y_p1) : !fp8.producer<!y> {
        %lane = gpu.lane_id
        %first = arith.cmpi eq, %lane, %c0 : index
        %shared = fp8.shared_memory
        scf.for %i = %c0 to %t step %c1 {
          scf.for %k = %c0 to %u step %c1 {
            %before = arith.muli %i, %u : index
            %phase = arith.addi %before, %k : index
            %odd = arith.andi %phase, %c1 : index
            %parity = arith.index_cast %odd : index to i32
            scf.if %first {
              fp8.mbarrier_arrive %shared
            }
            fp8.mbarrier_wait %shared, %parity
            fp8.sync warp
          }
        }
        fp8.close %y : !fp8.producer<!y>
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
