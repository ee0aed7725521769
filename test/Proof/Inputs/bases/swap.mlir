// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: rings that change places
// kind: right
// passes: t=0; t=1; t=2; t=9
// why: both roles take the two rings by turns

!x = !fp8.pipeline<2>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %even_p, %even_c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
      %odd_p, %odd_c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
      fp8.role "P" warps(1) (%even = %even_p, %odd = %odd_p) : !fp8.producer<!x>, !fp8.producer<!x> {
        %one, %other = scf.for %k = %c0 to %t step %c1 iter_args(%this = %even, %that = %odd) -> (!fp8.producer<!x>, !fp8.producer<!x>) {
          %stage = fp8.acquire %this : !fp8.producer<!x>
          %next = fp8.release %stage : !fp8.producer_stage<!x>
          scf.yield %that, %next : !fp8.producer<!x>, !fp8.producer<!x>
        }
        fp8.close %one : !fp8.producer<!x>
        fp8.close %other : !fp8.producer<!x>
      }
      fp8.role "C" warps(1) (%even = %even_c, %odd = %odd_c) : !fp8.consumer<!x>, !fp8.consumer<!x> {
        %one, %other = scf.for %k = %c0 to %t step %c1 iter_args(%this = %even, %that = %odd) -> (!fp8.consumer<!x>, !fp8.consumer<!x>) {
          %stage = fp8.acquire %this : !fp8.consumer<!x>
          %next = fp8.release %stage : !fp8.consumer_stage<!x>
          scf.yield %that, %next : !fp8.consumer<!x>, !fp8.consumer<!x>
        }
        fp8.close %one : !fp8.consumer<!x>
        fp8.close %other : !fp8.consumer<!x>
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
