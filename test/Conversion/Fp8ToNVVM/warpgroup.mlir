// Products in the registers of warpgroups: the asynchronous multiplication, the wait, promotion part by part, stores; registers dealt out.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<256x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x256xf32>
!row = !fp8.tile<1x16xbf16>
!c = !fp8.tile<256x16xf16, swizzle_32b>
!d = !fp8.tile<64x16xbf16, swizzle_32b>
!ring = !fp8.pipeline<2, a: !a, b: !b, s: !s, row: !row, c: !c>
!part = !fp8.fragment<128x16xf32, 8, warpgroups>
!sum = !fp8.fragment<256x16xf32, 8, warpgroups>
!queue = !fp8.store_queue<2, !d, 8>

// CHECK: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b>, %sm: !fp8.tensor_map<!s>, %rm: !fp8.tensor_map<!row>,
                   %cm: !fp8.tensor_map<!c>, %dm: !fp8.tensor_map<!d>, %scale: f32) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %queue = fp8.store_queue : !queue
    fp8.role "multiply" warps(8) (%in = %c, %q = %queue) : !fp8.consumer<!ring>, !queue {
      // Registers come from the load role's warpgroup.
      // CHECK: nvvm.setmaxregister {{.*}}increase 232
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %zero = fp8.zero : !sum
      // One asm orders the registers, starts four products of 32 bytes along K and commits them; the first overwrites.
      // CHECK: llvm.inline_asm has_side_effects "{{.*}}wgmma.fence.sync.aligned;{{.*}}setp.ne.b32 adds, 0, 0;{{.*}}wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {$0, $1, $2, $3, $4, $5, $6, $7}, $8, $9, adds, 1, 1;{{.*}}setp.ne.b32 adds, 1, 0;{{.*}}$14, $15, adds, 1, 1;\0Awgmma.commit_group.sync.aligned;{{.*}}"=f,=f,=f,=f,=f,=f,=f,=f,l,l,l,l,l,l,l,l
      %first = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!part>
      // The wait takes the registers and gives them back, so that no reader moves in front of it.
      // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
      %f0 = fp8.wait_mma %first : !fp8.pending<!part>
      // A thread has two rows of a part: two scales, each for every other pair. Sums of this part stay in front of the next product.
      // CHECK-COUNT-4: llvm.intr.fma
      // CHECK-NOT: llvm.intr.fma
      // CHECK: llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
      %s0 = fp8.promote %zero, %f0 scales(%s, %scale) : !sum, !part, !s
      // The second product takes the registers of the first, whose contents do not matter.
      // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 adds, 0, 0;{{.*}}, $16, $17, adds, 1, 1;{{.*}}"=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,l,l,l,l,l,l,l,l
      %second = fp8.warpgroup_mma %a, %b part 1 : !a, !b -> !fp8.pending<!part>
      // CHECK: wgmma.wait_group
      %f1 = fp8.wait_mma %second : !fp8.pending<!part>
      // CHECK-COUNT-4: llvm.intr.fma
      // CHECK-NOT: llvm.inline_asm
      %s1 = fp8.promote %s0 part 1, %f1 scales(%s, %scale) : !sum, !part, !s
      %row = fp8.tile %stage["row"] : !fp8.consumer_stage<!ring>
      // The same two pairs for all rows.
      // CHECK-COUNT-4: llvm.fpext %{{.*}} : bf16 to f32
      // CHECK-NOT: bf16 to f32
      %s2 = fp8.add_row %s1, %row : !sum, !row
      %ct = fp8.tile %stage["c"] : !fp8.consumer_stage<!ring>
      // CHECK-COUNT-16: llvm.fpext %{{.*}} : f16 to f32
      // CHECK-NOT: f16 to f32
      %s3 = fp8.add_tile %s2[0], %ct : !sum, !c
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      // Each part's 64 rows: a slot is waited for by the thread that issues the copies, staged between two meetings of the warpgroup, and copied out as one box.
      // On the first lap of the queue there is nothing to wait for.
      // CHECK-NOT: nvvm.cp.async.bulk.wait_group
      // CHECK: nvvm.stmatrix
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK: nvvm.barrier id = %[[MEET:.*]] number_of_threads = %[[THREADS:.*]]
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
      // CHECK-NOT: nvvm.cp.async.bulk.wait_group
      // CHECK: nvvm.stmatrix
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
      %q2 = fp8.store %s3, %dm[%c0, %c0] through %q : !sum, !fp8.tensor_map<!d>, !queue
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK: nvvm.barrier id = %[[MEET]] number_of_threads = %[[THREADS]]
      // CHECK: nvvm.stmatrix
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK: nvvm.stmatrix
      // CHECK-NOT: nvvm.stmatrix
      %q3 = fp8.store %s3, %dm[%c0, %c0] through %q2 : !sum, !fp8.tensor_map<!d>, !queue
      fp8.close %next : !fp8.consumer<!ring>
      fp8.close %q3 : !queue
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      // All warps of the third warpgroup hand registers over, those without a role as well.
      // CHECK: nvvm.setmaxregister {{.*}}decrease 40
      // CHECK: scf.if
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %bm[%c0, %c0], %stage["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0], %stage["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!ring>
      fp8.tma_load %rm[%c0, %c0], %stage["row"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      fp8.tma_load %cm[%c0, %c0], %stage["c"] : !fp8.tensor_map<!c>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}
