// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: roles of several warps
// kind: refused
// source: triton #10035
// reports: 'fp8.shared_memory' op does a part of a hand-over .*\(B4\)
// why: four warps write, meet, and one thread signals for all; the barrier belongs to a ring that is not used otherwise

!y = !fp8.pipeline<1>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%scratch: memref<128xf32>, %out: memref<4096xf32>, %t: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c127 = arith.constant 127 : index
      %y_p, %y_c = fp8.pipeline : !fp8.producer<!y>, !fp8.consumer<!y>
      fp8.role "W" warps(4) {
        %id = arith.constant 6 : i32
        %shared = fp8.shared_memory
        %thread = gpu.thread_id x
        %lead = arith.cmpi eq, %thread, %c0 : index
        %zero = arith.constant 0 : i32
        %i = arith.index_cast %thread : index to i32
        %v = arith.uitofp %i : i32 to f32
        memref.store %v, %scratch[%thread] : memref<128xf32>
        fp8.named_barrier %id, 128
        scf.if %lead {
          fp8.mbarrier_arrive %shared
        }
      }
      fp8.role "R" warps(1) (%y = %y_p) : !fp8.producer<!y> {
        %shared = fp8.shared_memory
        %zero = arith.constant 0 : i32
        fp8.mbarrier_wait %shared, %zero
        %e = memref.load %scratch[%c127] : memref<128xf32>
        memref.store %e, %out[%c0] : memref<4096xf32>
        fp8.close %y : !fp8.producer<!y>
      }
      fp8.role "S" warps(1) (%y = %y_c) : !fp8.consumer<!y> {
        fp8.close %y : !fp8.consumer<!y>
      }
      gpu.return
    }
  }
  func.func @launch(%scratch: memref<128xf32> {fp8.name = "scratch", fp8.access = "write"},
                    %out: memref<4096xf32> {fp8.name = "out", fp8.access = "write"},
                    %t_size: memref<?xi32> {fp8.name = "t", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 192 : index
    %t = memref.dim %t_size, %zero : memref<?xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%scratch : memref<128xf32>, %out : memref<4096xf32>, %t : index)
    return
  }
}
