// A role that looks for slots of two rings, and takes those that are there. It does what two roles would do, so one order decides, if each ring
// has its own numbers and waits for its own slots, and the loop ends when nothing is left.

// RUN: fp8-opt %s --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s
// CHECK: kernel 'polls' ends for all launches
// CHECK: a role that looks for a slot again and again sees that it is there

// The loop ends with the first ring, however much of the second is done.
// RUN: sed 's/arith.ori %more_x, %more_y/arith.ori %more_x, %more_x/' %s | fp8-opt - --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// The second ring's number counts what was done of the first.
// RUN: sed 's/%j1 = arith.addi %j, %c1/%j1 = arith.addi %i2, %c1/' %s | fp8-opt - --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// One number goes on as both, so that fewer values are left behind the guard.
// RUN: sed 's/scf.condition(%more) %x, %y, %i, %j/scf.condition(%more) %x, %y, %i, %i/' %s | fp8-opt - --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// Warps of a role may see different slots.
// RUN: sed 's/"fill" warps(1)/"fill" warps(2)/' %s | fp8-opt - --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the proof of kernel 'polls' is not complete: whether its steps take place depends on fp8.try_wait

// In turn the role waits for ever, since nobody takes a slot of x before y has all of its slots. When it looks, it does not.
// RUN: sed 's/"take y"/"take"/; /^ *.. BEGIN X/,/^ *.. END X/d; s/(%y0 = %y_c) : !fp8.consumer<!y>/(%y0 = %y_c, %x0 = %x_c) : !fp8.consumer<!y>, !fp8.consumer<!x>/; s,// LAST,%x1 = scf.for %i = %c0 to %often step %c1 iter_args(%xi = %x0) -> (!fp8.consumer<!x>) { %xs = fp8.acquire %xi : !fp8.consumer<!x> %xn = fp8.release %xs : !fp8.consumer_stage<!x> scf.yield %xn : !fp8.consumer<!x> } fp8.close %x1 : !fp8.consumer<!x>,' %s > %t.mlir
// RUN: fp8-opt %t.mlir --fp8-prove=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=IN-TURN
// IN-TURN: the proof of kernel 'polls' is not complete: some roles wait for one another

!x = !fp8.pipeline<2>
!y = !fp8.pipeline<1>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @polls(%often: index) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x_p, %x_c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
      %y_p, %y_c = fp8.pipeline : !fp8.producer<!y>, !fp8.consumer<!y>
      fp8.role "fill" warps(1) (%x0 = %x_p, %y0 = %y_p) : !fp8.producer<!x>, !fp8.producer<!y> {
        %x1, %y1, %last:2 = scf.while (%x = %x0, %y = %y0, %i = %c0, %j = %c0) : (!fp8.producer<!x>, !fp8.producer<!y>, index, index)
            -> (!fp8.producer<!x>, !fp8.producer<!y>, index, index) {
          %more_x = arith.cmpi ult, %i, %often : index
          %more_y = arith.cmpi ult, %j, %often : index
          %more = arith.ori %more_x, %more_y : i1
          scf.condition(%more) %x, %y, %i, %j : !fp8.producer<!x>, !fp8.producer<!y>, index, index
        } do {
        ^bb0(%x: !fp8.producer<!x>, %y: !fp8.producer<!y>, %i: index, %j: index):
          %again_x = arith.cmpi ult, %i, %often : index
          %x_free = fp8.try_wait %x : !fp8.producer<!x>
          %fill_x = arith.andi %again_x, %x_free : i1
          %x2, %i2 = scf.if %fill_x -> (!fp8.producer<!x>, index) {
            %ready = fp8.wait %x unless %x_free : !fp8.producer<!x>
            %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!x>>
            %next = fp8.release %stage : !fp8.producer_stage<!x>
            %i1 = arith.addi %i, %c1 : index
            scf.yield %next, %i1 : !fp8.producer<!x>, index
          } else {
            scf.yield %x, %i : !fp8.producer<!x>, index
          }
          %again_y = arith.cmpi ult, %j, %often : index
          %y_free = fp8.try_wait %y : !fp8.producer<!y>
          %fill_y = arith.andi %again_y, %y_free : i1
          %y2, %j2 = scf.if %fill_y -> (!fp8.producer<!y>, index) {
            %ready = fp8.wait %y unless %y_free : !fp8.producer<!y>
            %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!y>>
            %next = fp8.release %stage : !fp8.producer_stage<!y>
            %j1 = arith.addi %j, %c1 : index
            scf.yield %next, %j1 : !fp8.producer<!y>, index
          } else {
            scf.yield %y, %j : !fp8.producer<!y>, index
          }
          scf.yield %x2, %y2, %i2, %j2 : !fp8.producer<!x>, !fp8.producer<!y>, index, index
        }
        fp8.close %x1 : !fp8.producer<!x>
        fp8.close %y1 : !fp8.producer<!y>
      }
      // BEGIN X
      fp8.role "take x" warps(1) (%x0 = %x_c) : !fp8.consumer<!x> {
        %x1 = scf.for %i = %c0 to %often step %c1 iter_args(%x = %x0) -> (!fp8.consumer<!x>) {
          %stage = fp8.acquire %x : !fp8.consumer<!x>
          %next = fp8.release %stage : !fp8.consumer_stage<!x>
          scf.yield %next : !fp8.consumer<!x>
        }
        fp8.close %x1 : !fp8.consumer<!x>
      }
      // END X
      fp8.role "take y" warps(1) (%y0 = %y_c) : !fp8.consumer<!y> {
        %y1 = scf.for %i = %c0 to %often step %c1 iter_args(%y = %y0) -> (!fp8.consumer<!y>) {
          %stage = fp8.acquire %y : !fp8.consumer<!y>
          %next = fp8.release %stage : !fp8.consumer_stage<!y>
          scf.yield %next : !fp8.consumer<!y>
        }
        fp8.close %y1 : !fp8.consumer<!y>
        // LAST
      }
      gpu.return
    }
  }
}
