// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: programmatic launches
// kind: right
// passes: t=0; t=1; t=5
// why: each role reads its bound behind the wait for the kernel in front, which the lowering puts in front of what it reads

!x = !fp8.pipeline<2>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%data: memref<4096xi32>, %t: index) kernel attributes {fp8.linear, fp8.programmatic} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x_p, %x_c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
      fp8.role "P" warps(1) (%x = %x_p) : !fp8.producer<!x> {
        %three = arith.constant 3 : i32
        %raw = memref.load %data[%c1] : memref<4096xi32>
        %bits = arith.andi %raw, %three : i32
        %some = arith.index_castui %bits : i32 to index
        %n = arith.minui %some, %t : index
        %x3 = scf.for %k = %c0 to %n step %c1 iter_args(%x1 = %x) -> (!fp8.producer<!x>) {
          %x_stage = fp8.acquire %x1 : !fp8.producer<!x>
          %x2 = fp8.release %x_stage : !fp8.producer_stage<!x>
          scf.yield %x2 : !fp8.producer<!x>
        }
        fp8.close %x3 : !fp8.producer<!x>
      }
      fp8.role "C" warps(1) (%x = %x_c) : !fp8.consumer<!x> {
        %three = arith.constant 3 : i32
        %raw = memref.load %data[%c1] : memref<4096xi32>
        %bits = arith.andi %raw, %three : i32
        %some = arith.index_castui %bits : i32 to index
        %n = arith.minui %some, %t : index
        %x3 = scf.for %k = %c0 to %n step %c1 iter_args(%x1 = %x) -> (!fp8.consumer<!x>) {
          %x_stage = fp8.acquire %x1 : !fp8.consumer<!x>
          %x2 = fp8.release %x_stage : !fp8.consumer_stage<!x>
          scf.yield %x2 : !fp8.consumer<!x>
        }
        fp8.close %x3 : !fp8.consumer<!x>
      }
      gpu.return
    }
  }
  func.func @launch(%data: memref<4096xi32> {fp8.name = "data", fp8.access = "read"},
                    %t_size: memref<?xi32> {fp8.name = "t", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %t = memref.dim %t_size, %zero : memref<?xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%data : memref<4096xi32>, %t : index)
    return
  }
}
