// Ops of another dialect on ends and stages (examples/embedding): the proof follows what they say by their interfaces, and names those that
// it cannot follow.

// RUN: split-file %s %t

// One that hands a slot over is a signal, and has the events of fp8.release.
// RUN: fp8-test-opt %t/hand.mlir --fp8-prove='chip=sm_90a json=%t/hand.json' -o /dev/null 2>&1 | FileCheck %s --check-prefix=HAND
// HAND: kernel 'hand' ends for all launches
// HAND: kernel 'hand' completes a phase in each lap
// HAND: kernel 'hand' keeps ownership for all launches
// RUN: sed 's/acme.release_late %%slot after 100/fp8.release %%slot/' %t/hand.mlir > %t/release.mlir
// RUN: fp8-opt %t/release.mlir --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx --no-manifest -o %t/release.ptx
// RUN: fp8-check-ptx %t/release.ptx %t/hand.json | FileCheck %s --check-prefix=SAME
// SAME: hand: agrees with its skeleton, which is proved

// One that may wait is named. This one hangs.
// RUN: fp8-test-opt %t/skip.mlir --fp8-prove='chip=sm_90a json=%t/skip.json' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SKIP
// SKIP: remark: the proof of kernel 'skip' is not complete: the proof does not know for what 'acme.skip' waits; convert it to ops of fp8 before the proof
// SKIP: skip.mlir:16:20: note: here
// SKIP-NOT: kernel 'skip' ends
// RUN: not fp8-test-opt %t/skip.mlir --fp8-prove='chip=sm_90a require' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REQUIRE
// REQUIRE: error: the proof of kernel 'skip' is not complete
// RUN: FileCheck %s --check-prefix=EVENTS --input-file=%t/skip.json
// Converted as the message says, it is refuted.
// RUN: not fp8-test-opt %t/skip.mlir --acme-lower --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOWERED
// LOWERED: error: kernel 'skip' does not end
// LOWERED: skip.mlir:16:20: note: role "empty" waits for slot 1 of a ring without tiles, which role "fill" has not filled in lap 0
// EVENTS: "events_obstacle"{{.*}}the comparison does not know what 'acme.skip' becomes

// No rule of the whole kernel counts the slots that it takes: not whether there are any (K4), nor whether the other side takes as many (K7).
// RUN: sed 's/%%slot = fp8.acquire %%e : !fp8.consumer<!ring>/%%next = acme.skip %%e : !fp8.consumer<!ring>/; /acme.release_late/d' %t/hand.mlir > %t/skips.mlir
// RUN: fp8-test-opt %t/skips.mlir --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNCOUNTED
// RUN: sed 's/%%p, %%c = .*/&\n      %%more = arith.addi %%often, %%c1 : index/; s/%%often\( step .*producer\)/%%more\1/; s/fp8.close %%last : !fp8.consumer/%%rest = acme.skip %%last : !fp8.consumer<!ring>\n        fp8.close %%rest : !fp8.consumer/' %t/hand.mlir > %t/rest.mlir
// RUN: fp8-test-opt %t/rest.mlir --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNCOUNTED
// UNCOUNTED: remark: the proof of kernel 'hand' is not complete: the proof does not know for what 'acme.skip' waits
// RUN: fp8-test-opt %t/rest.mlir --acme-lower --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=HAND

// One that takes a slot for which fp8.wait has waited may do anything with it.
// RUN: sed 's/%%rest = .*/%%ready = fp8.wait %%last : !fp8.consumer<!ring>\n        %%rest = acme.skip %%ready : !fp8.ready<!fp8.consumer<!ring>>/' %t/rest.mlir > %t/ready.mlir
// RUN: fp8-test-opt %t/ready.mlir --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNCOUNTED
// RUN: fp8-test-opt %t/ready.mlir --acme-lower --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=HAND

//--- hand.mlir
!ring = !fp8.pipeline<2>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @hand(%often: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
        %last = scf.for %i = %c0 to %often step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
          %slot = fp8.acquire %e : !fp8.producer<!ring>
          %next = fp8.release %slot : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        }
        fp8.close %last : !fp8.producer<!ring>
      }
      fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
        %last = scf.for %i = %c0 to %often step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
          %slot = fp8.acquire %e : !fp8.consumer<!ring>
          %next = acme.release_late %slot after 100 : !fp8.consumer_stage<!ring>
          scf.yield %next : !fp8.consumer<!ring>
        }
        fp8.close %last : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
}
//--- skip.mlir
!ring = !fp8.pipeline<2>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @skip(%often: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
        %slot = fp8.acquire %end : !fp8.producer<!ring>
        %next = fp8.release %slot : !fp8.producer_stage<!ring>
        fp8.close %next : !fp8.producer<!ring>
      }
      fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
        %slot = fp8.acquire %end : !fp8.consumer<!ring>
        %next = fp8.release %slot : !fp8.consumer_stage<!ring>
        %skipped = acme.skip %next : !fp8.consumer<!ring>
        fp8.close %skipped : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
}
