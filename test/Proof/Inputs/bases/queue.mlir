// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_100a
// family: work queues
// kind: right
// passes: tiles_m=1 tiles_n=1; tiles_m=3 tiles_n=4
// why: three roles take tiles from a work queue; the scheduler asks for the next when the load role has begun one

!w = !fp8.work_queue<2>
!turn = !fp8.pipeline<1>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%out: memref<4096xf32>, %tiles_m: index, %tiles_n: index) kernel attributes {fp8.linear, fp8.cluster = array<i64: 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %w_p, %w_c, %w_c1, %w_c2 = fp8.work_queue : !fp8.producer<!w>, !fp8.consumer<!w>, !fp8.consumer<!w>, !fp8.consumer<!w>
      %turn_p, %turn_c = fp8.pipeline : !fp8.producer<!turn>, !fp8.consumer<!turn>
      fp8.role "load" warps(1) (%w = %w_c, %turn = %turn_p) : !fp8.consumer<!w>, !fp8.producer<!turn> {
        %w1, %turn5 = fp8.for_each_tile clc (%tm, %tn) in (%tiles_m, %tiles_n) from(%w : !fp8.consumer<!w>) iter_args(%turn1 = %turn) -> (!fp8.producer<!turn>) {
          %turn4 = fp8.leading_cta of cluster (%turn2 = %turn1) : !fp8.producer<!turn> -> !fp8.producer<!turn> {
            %turn_stage = fp8.acquire %turn2 : !fp8.producer<!turn>
            %turn3 = fp8.release %turn_stage : !fp8.producer_stage<!turn>
            fp8.yield %turn3 : !fp8.producer<!turn>
          }
          fp8.yield %turn4 : !fp8.producer<!turn>
        }
        fp8.close %w1 : !fp8.consumer<!w>
        fp8.close %turn5 : !fp8.producer<!turn>
      }
      fp8.role "other" warps(1) (%w = %w_c1) : !fp8.consumer<!w> {
        %w1 = fp8.for_each_tile clc (%tm, %tn) in (%tiles_m, %tiles_n) from(%w : !fp8.consumer<!w>) {
          %x = arith.constant 1.0 : f32
        }
        fp8.close %w1 : !fp8.consumer<!w>
      }
      fp8.role "scheduler" warps(1) (%w = %w_c2, %ask = %w_p, %turn = %turn_c) : !fp8.consumer<!w>, !fp8.producer<!w>, !fp8.consumer<!turn> {
        %w1, %turn5, %ask5 = fp8.for_each_tile clc (%tm, %tn) in (%tiles_m, %tiles_n) from(%w : !fp8.consumer<!w>) iter_args(%turn1 = %turn, %ask1 = %ask) -> (!fp8.consumer<!turn>, !fp8.producer<!w>) {
          %turn4, %ask4 = fp8.leading_cta of cluster (%turn2 = %turn1, %ask2 = %ask1) : !fp8.consumer<!turn>, !fp8.producer<!w> -> (!fp8.consumer<!turn>, !fp8.producer<!w>) {
            %turn_stage = fp8.acquire %turn2 : !fp8.consumer<!turn>
            %turn3 = fp8.release %turn_stage : !fp8.consumer_stage<!turn>
            %ask_stage = fp8.acquire %ask2 : !fp8.producer<!w>
            fp8.request_work %ask_stage : !fp8.producer_stage<!w>
            %ask3 = fp8.release %ask_stage : !fp8.producer_stage<!w>
            fp8.yield %turn3, %ask3 : !fp8.consumer<!turn>, !fp8.producer<!w>
          }
          fp8.yield %turn4, %ask4 : !fp8.consumer<!turn>, !fp8.producer<!w>
        }
        fp8.close %w1 : !fp8.consumer<!w>
        fp8.close %ask5 : !fp8.producer<!w>
        fp8.close %turn5 : !fp8.consumer<!turn>
      }
      gpu.return
    }
  }
  func.func @launch(%out: memref<4096xf32> {fp8.name = "out", fp8.access = "write"},
                    %tiles_m_size: memref<?xi32> {fp8.name = "tiles_m", fp8.access = "read"},
                    %tiles_n_size: memref<?xi32> {fp8.name = "tiles_n", fp8.access = "read"}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 96 : index
    %tiles_m = memref.dim %tiles_m_size, %zero : memref<?xi32>
    %tiles_n = memref.dim %tiles_n_size, %zero : memref<?xi32>
    %grid = arith.muli %tiles_m, %tiles_n : index
    gpu.launch_func @kernels::@kernel blocks in (%grid, %one, %one) threads in (%threads, %one, %one) args(%out : memref<4096xf32>, %tiles_m : index, %tiles_n : index)
    return
  }
}
