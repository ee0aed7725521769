// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// chip: sm_90a
// family: stages held at once
// kind: right
// passes: t=0; t=1; t=2; t=3; t=10
// why: M gives each slot of ab back one trip late, through an end of its own (late): two slots at once, and ab has two

!ab = !fp8.pipeline<2>
!turn = !fp8.pipeline<1>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%t: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %ab_p, %ab_c, %ab_c1, %ab_c2 = fp8.pipeline : !fp8.producer<!ab>, !fp8.consumer<!ab>, !fp8.consumer<!ab>, !fp8.consumer<!ab>
      %turn_p, %turn_c = fp8.pipeline : !fp8.producer<!turn>, !fp8.consumer<!turn>
      fp8.role "P" warps(1) (%ab = %ab_p) : !fp8.producer<!ab> {
        %ab3 = scf.for %k = %c0 to %t step %c1 iter_args(%ab1 = %ab) -> (!fp8.producer<!ab>) {
          %ab_stage = fp8.acquire %ab1 : !fp8.producer<!ab>
          %ab2 = fp8.release %ab_stage : !fp8.producer_stage<!ab>
          scf.yield %ab2 : !fp8.producer<!ab>
        }
        fp8.close %ab3 : !fp8.producer<!ab>
      }
      fp8.role "M" warps(1) (%ab = %ab_c, %late = %ab_c1, %turn = %turn_p) : !fp8.consumer<!ab>, !fp8.consumer<!ab>, !fp8.producer<!turn> {
        %ab3, %turn3, %late4 = scf.for %k = %c0 to %t step %c1 iter_args(%ab1 = %ab, %turn1 = %turn, %late1 = %late) -> (!fp8.consumer<!ab>, !fp8.producer<!turn>, !fp8.consumer<!ab>) {
          %ab_stage = fp8.acquire %ab1 : !fp8.consumer<!ab>
          %ab2 = fp8.release %ab_stage : !fp8.consumer_stage<!ab>
          %turn_stage = fp8.acquire %turn1 : !fp8.producer<!turn>
          %turn2 = fp8.release %turn_stage : !fp8.producer_stage<!turn>
          %due = arith.cmpi uge, %k, %c1 : index
          %late3 = scf.if %due -> (!fp8.consumer<!ab>) {
            %late_stage = fp8.acquire %late1 : !fp8.consumer<!ab>
            %late2 = fp8.release %late_stage : !fp8.consumer_stage<!ab>
            scf.yield %late2 : !fp8.consumer<!ab>
          } else {
            scf.yield %late1 : !fp8.consumer<!ab>
          }
          scf.yield %ab2, %turn2, %late3 : !fp8.consumer<!ab>, !fp8.producer<!turn>, !fp8.consumer<!ab>
        }
        %rest = arith.minui %t, %c1 : index
        %late7 = scf.for %k = %c0 to %rest step %c1 iter_args(%late5 = %late4) -> (!fp8.consumer<!ab>) {
          %late_stage1 = fp8.acquire %late5 : !fp8.consumer<!ab>
          %late6 = fp8.release %late_stage1 : !fp8.consumer_stage<!ab>
          scf.yield %late6 : !fp8.consumer<!ab>
        }
        fp8.close %ab3 : !fp8.consumer<!ab>
        fp8.close %late7 : !fp8.consumer<!ab>
        fp8.close %turn3 : !fp8.producer<!turn>
      }
      fp8.role "E" warps(1) (%turn = %turn_c, %sc = %ab_c2) : !fp8.consumer<!turn>, !fp8.consumer<!ab> {
        %turn3, %sc3 = scf.for %k = %c0 to %t step %c1 iter_args(%turn1 = %turn, %sc1 = %sc) -> (!fp8.consumer<!turn>, !fp8.consumer<!ab>) {
          %turn_stage = fp8.acquire %turn1 : !fp8.consumer<!turn>
          %sc_stage = fp8.acquire %sc1 : !fp8.consumer<!ab>
          %sc2 = fp8.release %sc_stage : !fp8.consumer_stage<!ab>
          %turn2 = fp8.release %turn_stage : !fp8.consumer_stage<!turn>
          scf.yield %turn2, %sc2 : !fp8.consumer<!turn>, !fp8.consumer<!ab>
        }
        fp8.close %turn3 : !fp8.consumer<!turn>
        fp8.close %sc3 : !fp8.consumer<!ab>
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
