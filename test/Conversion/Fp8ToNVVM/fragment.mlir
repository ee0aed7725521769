// Reading accumulators and tiles, and computing on what was read.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!half = !fp8.tile<128x64xbf16, swizzle_128b>
!quarter = !fp8.tile<128x32xf32, swizzle_128b>
!row = !fp8.tile<1x128xf16>
!scales = !fp8.tile<1x128xbf16>
!d = !fp8.tile<32x32xf8E4M3FN, swizzle_32b>
!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<1, half: !half, quarter: !quarter, row: !row, scales: !scales, a: !a>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!sum = !fp8.fragment<128x128xf32, 8>
!queue = !fp8.store_queue<2, !d, 8>

// CHECK: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%dm: !fp8.tensor_map<!d>, %hm: !fp8.tensor_map<!half>, %qm: !fp8.tensor_map<!quarter>,
                   %rm: !fp8.tensor_map<!row>, %sm: !fp8.tensor_map<!scales>, %am: !fp8.tensor_map<!a>, %beta: f32, %out: f32)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %ce, %cm = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>
    %accp, %accc = fp8.output_pipeline : !acc
    %queue = fp8.store_queue : !queue
    fp8.role "epilogue" warps(8) (%e = %accc, %in = %ce, %q = %queue) : !fp8.consumer<!acc>, !fp8.consumer<!ring>, !queue {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %is = fp8.acquire %in : !fp8.consumer<!ring>
      %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      // A thread owns 64 columns: two loads, one wait.
      // CHECK-COUNT-2: nvvm.tcgen05.ld
      // CHECK: "tcgen05.wait::ld.sync.aligned;"
      // CHECK-NOT: tcgen05
      %f0 = fp8.read %accumulator : !fp8.tmem<128x128xf32> -> !sum
      %half = fp8.tile %is["half"] : !fp8.consumer_stage<!ring>
      // The right half is that of the second four warps: eight chunks of eight bf16, fused with the sums; the others pass theirs on.
      // CHECK: %[[FROM:.*]] = arith.addi %[[FIRST:.*]], %c-64_i32 : i32
      // CHECK: %[[OWNS:.*]] = arith.cmpi ult, %[[FROM]], %c64_i32 : i32
      // CHECK: scf.if %[[OWNS]]
      // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
      // CHECK: llvm.intr.fma
      // CHECK: } else {
      // CHECK-NEXT: scf.yield
      %f1 = fp8.add_tile %f0[64], %half scaled %beta : !sum, !half
      // Columns 32 to 63: the second half of the first four warps' sums, 16 pairs; not scaled.
      // CHECK: scf.if
      // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      // CHECK-NOT: llvm.load
      // CHECK: arith.addf %{{.*}} : vector<2xf32>
      // CHECK: } else {
      %quarter = fp8.tile %is["quarter"] : !fp8.consumer_stage<!ring>
      %f2 = fp8.add_tile %f1[32], %quarter : !sum, !quarter
      // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xf16>
      // CHECK-NOT: llvm.load
      %row = fp8.tile %is["row"] : !fp8.consumer_stage<!ring>
      %f3 = fp8.add_row %f2, %row : !sum, !row
      // Scales in bf16 are widened, and a row's are multiplied by A's for each pair of columns.
      // CHECK: %[[AS:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> bf16
      // CHECK: llvm.fpext %[[AS]] : bf16 to f32
      // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
      // CHECK: arith.mulf %{{.*}} : vector<2xf32>
      // CHECK-COUNT-2: nvvm.tcgen05.ld
      // CHECK-COUNT-32: llvm.intr.fma
      %scales = fp8.tile %is["scales"] : !fp8.consumer_stage<!ring>
      %f4 = fp8.promote %f3, %accumulator scales(%scales, row %scales) : !sum, !fp8.tmem<128x128xf32>, !scales, !scales
      // Two values, one for each half: which one a warp takes is decided once.
      // CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[FIRST]], %c64_i32 : i32
      // CHECK: arith.select %[[SECOND]], %{{.*}}, %{{.*}} : f32
      // CHECK-NOT: arith.select
      // CHECK: nvvm.fence.proxy
      %f5 = fp8.promote %f4, %accumulator scales(%scales, %beta, %out) : !sum, !fp8.tmem<128x128xf32>, !scales
      %in1 = fp8.release %is : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      %q1 = fp8.store %f5, %dm[%c0, %c0] through %q : !sum, !fp8.tensor_map<!d>, !queue
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
      fp8.close %in1 : !fp8.consumer<!ring>
      fp8.close %q1 : !queue
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %is = fp8.acquire %in : !fp8.producer<!ring>
      fp8.tma_load %hm[%c0, %c0], %is["half"] : !fp8.tensor_map<!half>, !fp8.producer_stage<!ring>
      fp8.tma_load %qm[%c0, %c0], %is["quarter"] : !fp8.tensor_map<!quarter>, !fp8.producer_stage<!ring>
      fp8.tma_load %rm[%c0, %c0], %is["row"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0], %is["scales"] : !fp8.tensor_map<!scales>, !fp8.producer_stage<!ring>
      fp8.tma_load %am[%c0, %c0], %is["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      %in1 = fp8.release %is : !fp8.producer_stage<!ring>
      fp8.close %in1 : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %accp, %in = %cm) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %stage = fp8.acquire %w : !fp8.mma_warp<!acc>
      %is = fp8.acquire %in : !fp8.consumer<!ring>
      %d = fp8.accumulator %stage : !fp8.mma_stage<!acc>
      %a = fp8.tile %is["a"] : !fp8.consumer_stage<!ring>
      fp8.mma %d, %a, %a : !fp8.tmem<128x128xf32>, !a, !a
      %in1 = fp8.release %is : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      fp8.close %in1 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// The body of a map once for each element, with the instructions that approximate; a store that rounds to f8E4M3FN.
// CHECK-LABEL: gpu.func @map
// CHECK: %[[X:.*]] = llvm.extractelement %{{.*}} : vector<2xf32>
// CHECK: %[[Y:.*]] = llvm.extractelement %{{.*}} : vector<2xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK: llvm.inline_asm "tanh.approx.f32 $0, $1;", "=f,f" %[[SUM]] : (f32) -> f32
// CHECK: llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f"
// CHECK: %[[LOG2E:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f" %[[LOG2E]]
// CHECK: llvm.inline_asm "rsqrt.approx.f32 $0, $1;", "=f,f"
// CHECK: llvm.intr.fma({{.*}}) : (f32, f32, f32) -> f32
// CHECK-COUNT-15: tanh.approx
// CHECK-NOT: tanh.approx
// The pair's second element is the upper half; four make a word.
// CHECK-DAG: %[[HIGH:.*]] = llvm.extractelement %[[PAIR:.*]][%c0_i32 : i32] : vector<2xf32>
// CHECK-DAG: %[[LOW:.*]] = llvm.extractelement %[[PAIR]][%c1_i32 : i32] : vector<2xf32>
// CHECK: llvm.inline_asm "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f" %[[LOW]], %[[HIGH]] : (f32, f32) -> i16
// CHECK-COUNT-7: cvt.rn.satfinite.e4m3x2.f32
// CHECK-NOT: cvt.rn.satfinite.e4m3x2.f32
!small = !fp8.fragment<128x16xf32, 4>
!dm = !fp8.tile<32x16xf8E4M3FN>
!sacc = !fp8.output_pipeline<1, 128x16xf32>
!squeue = !fp8.store_queue<1, !dm, 4>
!b = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!operands = !fp8.pipeline<1, a: !a, b: !b>
gpu.module @maps {
  gpu.func @map(%map: !fp8.tensor_map<!dm>, %am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b>, %v: f32)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!operands>, !fp8.consumer<!operands>
    %accp, %accc = fp8.output_pipeline : !sacc
    %queue = fp8.store_queue : !squeue
    fp8.role "epilogue" warps(4) (%e = %accc, %q = %queue) : !fp8.consumer<!sacc>, !squeue {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!sacc> -> !fp8.tmem_ready<!sacc>
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!sacc>, !fp8.tmem_ready<!sacc> -> !fp8.epilogue_warp<!sacc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!sacc>
      %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!sacc>
      %f = fp8.read %accumulator : !fp8.tmem<128x16xf32> -> !small
      %zero = fp8.zero : !small
      %g = fp8.map(%x = %f, %y = %zero) : !small, !small -> !small {
        %sum = arith.addf %x, %y : f32
        %t = math.tanh %sum : f32
        %two = math.exp2 %t : f32
        %e0 = math.exp %two : f32
        %r = math.rsqrt %e0 : f32
        %z = math.fma %r, %v, %x : f32
        fp8.yield %z : f32
      }
      %w1 = fp8.release %stage : !fp8.epilogue_stage<!sacc>
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!sacc>
      %q1 = fp8.store %g, %map[%c0, %c0] through %q : !small, !fp8.tensor_map<!dm>, !squeue
      fp8.close %q1 : !squeue
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!operands> {
      %is = fp8.acquire %in : !fp8.producer<!operands>
      fp8.tma_load %am[%c0, %c0], %is["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!operands>
      fp8.tma_load %bm[%c0, %c0], %is["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!operands>
      %in1 = fp8.release %is : !fp8.producer_stage<!operands>
      fp8.close %in1 : !fp8.producer<!operands>
    }
    fp8.role "mma" warps(1) (%e = %accp, %in = %c) : !fp8.producer<!sacc>, !fp8.consumer<!operands> {
      %w = fp8.create_mma_warp %e : !fp8.producer<!sacc> -> !fp8.mma_warp<!sacc>
      %stage = fp8.acquire %w : !fp8.mma_warp<!sacc>
      %is = fp8.acquire %in : !fp8.consumer<!operands>
      %d = fp8.accumulator %stage : !fp8.mma_stage<!sacc>
      %ta = fp8.tile %is["a"] : !fp8.consumer_stage<!operands>
      %tb = fp8.tile %is["b"] : !fp8.consumer_stage<!operands>
      fp8.mma %d, %ta, %tb : !fp8.tmem<128x16xf32>, !a, !b
      %in1 = fp8.release %is : !fp8.consumer_stage<!operands>
      %w1 = fp8.release %stage : !fp8.mma_stage<!sacc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!sacc>
      fp8.close %in1 : !fp8.consumer<!operands>
    }
    gpu.return
  }
}
