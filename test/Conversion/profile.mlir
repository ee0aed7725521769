// The stamps are asked for on the module, so that kernels that a GEMM becomes later have them.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics --fp8-profile | FileCheck %s
// RUN: fp8-opt %s -split-input-file -verify-diagnostics --fp8-profile="ctas=2 stamps=64" --convert-fp8-rings-to-barriers | FileCheck %s --check-prefix=STAMPS
// RUN: fp8-opt %s -split-input-file -verify-diagnostics --fp8-profile="ctas=2 stamps=64" --convert-fp8-rings-to-barriers --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s --check-prefix=INSTRUCTIONS

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>

// CHECK: module attributes {fp8.profile = {ctas = 8 : i64, stamps = 512 : i64}}
// STAMPS: fp8.profile_table = {barriers = [
// STAMPS-SAME: ctas = 2 : i64, roles = [{first_warp = 0 : i64, name = "read", warps = 4 : i64}, {first_warp = 4 : i64, name = "load", warps = 1 : i64}], stamps = 64 : i64, variable = "fp8_profile"}
// Two CTAs of two roles: 4 * 64 stamps of 16 bytes, and 4 heads of 48 bytes.
// INSTRUCTIONS: llvm.mlir.global external @fp8_profile() {addr_space = 1 : i32, alignment = 64 : i64} : !llvm.array<536 x i64>
gpu.module @kernels {
  gpu.func @kernel(%map: !fp8.tensor_map<!fp8.tile<1x128xf32>>, %n: index) kernel attributes {fp8.linear} {
    // STAMPS: %[[CURSOR:.*]] = memref.alloca() : memref<10xi32>
    // STAMPS-NEXT: %[[TIME:.*]] = fp8.stamp_time
    // STAMPS-NEXT: %[[SINCE:.*]] = fp8.stamp_clock
    // A CTA finds its place while its threads wait for the one that sets up barriers.
    // STAMPS: %[[PLACE:.*]] = fp8.stamp_place
    // STAMPS-NEXT: fp8.sync cta
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // STAMPS: fp8.role "read"
    // STAMPS-NEXT: %[[LEADER:.*]], %[[WARP:.*]], %{{.*}} = fp8.role_thread
    // STAMPS-NEXT: fp8.stamp_begin %[[CURSOR]] at %[[PLACE]], %[[TIME]], %[[SINCE]] by %[[LEADER]], %[[WARP]] role 0 : memref<10xi32>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.consumer<!ring> {
        // STAMPS: scf.for
        // STAMPS: %[[SINCE:.*]] = fp8.stamp_wait %[[FULL:.*]], %{{.*}} by %[[LEADER]]
        // STAMPS-NEXT: %[[UNTIL:.*]] = fp8.stamp_clock by %[[LEADER]]
        // STAMPS-NEXT: fp8.stamp_waited %[[CURSOR]], %[[FULL]] since %[[SINCE]] until %[[UNTIL]] : memref<10xi32>
        // A wait that passes at once reads no clock. The role's work stays in front of it: one block.
        // INSTRUCTIONS: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred p; mov.b32 $0, 0; mbarrier.test_wait.parity.shared::cta.b64 p, [$1], $2; @p bra DONE; @$3 mov.u32 $0, %clock; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [$1], $2, 10000000; @!p bra WAIT; DONE: }"
        // Only the leader reads clocks.
        // INSTRUCTIONS: llvm.inline_asm has_side_effects {{.*}}"@$1 mov.u32 $0, %clock;", "=r,b"
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
        %x = fp8.read_element %row[0] : !fp8.tile<1x128xf32>
        // The stamp goes around the branch to the leader's arrival.
        // STAMPS: %[[WHEN:.*]] = fp8.stamp_clock by %[[LEADER]]
        // STAMPS-NEXT: scf.if %[[LEADER]] {
        // STAMPS-NEXT: fp8.mbarrier_arrive %[[EMPTY:.*]]
        // STAMPS-NEXT: }
        // STAMPS-NEXT: fp8.stamp_hand_over %[[CURSOR]], %[[EMPTY]] when %[[WHEN]] : memref<10xi32>
        // STAMPS-NEXT: %{{.*}} = fp8.advance
        // STAMPS-NEXT: fp8.stamp_write %[[CURSOR]] : memref<10xi32>
        // Warps without stamps branch around the store as one. Threads that write nothing begin with 64 stamps. A row has those of 4 units.
        // INSTRUCTIONS: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred p; .reg .b64 base; setp.ge.u32 p, $0, 64; @p bra.uni DONE; mov.b64 base, fp8_profile; .reg .b32 at; mad.lo.u32 at, $1, 64, $0; mad.wide.u32 base, at, 1, base; setp.lt.u32 p, $1, 64; @p st.global.v4.b32 [base+192], {$2, $3, $4, $5}; DONE: }"
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
      // STAMPS: fp8.stamp_end %[[CURSOR]] by %[[LEADER]] : memref<10xi32>
      // STAMPS-NEXT: }
    }
    // STAMPS: fp8.role "load"
    // STAMPS: fp8.stamp_begin {{.*}} role 1
    // The copies are issued before the stamp is written.
    // STAMPS: fp8.copy_tile
    // STAMPS: fp8.stamp_write
    // STAMPS: fp8.stamp_end
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.producer<!ring> {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        fp8.tma_load %map[%c0, %c0], %stage["s"] : !fp8.tensor_map<!fp8.tile<1x128xf32>>, !fp8.producer_stage<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    gpu.return
  }
}
