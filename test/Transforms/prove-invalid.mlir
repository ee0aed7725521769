// RUN: fp8-opt %s --fp8-prove --split-input-file --verify-diagnostics -o /dev/null

// Each role takes the rings in another order: with one slot more it would end.
!ring = !fp8.pipeline<1>
gpu.module @kernels {
  // expected-error @+2 {{kernel 'orders' does not end: roles wait for one another, with argument 0 = 1}}
  // expected-note @+1 {{taken for granted: issued copies and products complete; every warp is scheduled in the end; launch arguments are not negative, and index arithmetic does not wrap; loops in which no role waits or signals end, and their steps are positive}}
  gpu.func @orders(%n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %xp, %xc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // expected-note @+1 {{each of role "fill" and role "empty" waits before it fills a slot; let one fill one first}}
    %yp, %yc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%x0 = %xp, %y0 = %yc) : !fp8.producer<!ring>, !fp8.consumer<!ring> {
      %x9, %y9 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %x0, %y = %y0) -> (!fp8.producer<!ring>, !fp8.consumer<!ring>) {
        // expected-note @+1 {{role "fill" waits for slot 0 of a ring without tiles, which role "empty" has not filled in lap 0}}
        %ys = fp8.acquire %y : !fp8.consumer<!ring>
        %y1 = fp8.release %ys : !fp8.consumer_stage<!ring>
        %xs = fp8.acquire %x : !fp8.producer<!ring>
        %x1 = fp8.release %xs : !fp8.producer_stage<!ring>
        scf.yield %x1, %y1 : !fp8.producer<!ring>, !fp8.consumer<!ring>
      }
      fp8.close %x9 : !fp8.producer<!ring>
      fp8.close %y9 : !fp8.consumer<!ring>
    }
    fp8.role "empty" warps(1) (%x0 = %xc, %y0 = %yp) : !fp8.consumer<!ring>, !fp8.producer<!ring> {
      %x9, %y9 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %x0, %y = %y0) -> (!fp8.consumer<!ring>, !fp8.producer<!ring>) {
        // expected-note @+1 {{role "empty" waits for slot 0 of a ring without tiles, which role "fill" has not filled in lap 0}}
        %xs = fp8.acquire %x : !fp8.consumer<!ring>
        %x1 = fp8.release %xs : !fp8.consumer_stage<!ring>
        %ys = fp8.acquire %y : !fp8.producer<!ring>
        %y1 = fp8.release %ys : !fp8.producer_stage<!ring>
        scf.yield %x1, %y1 : !fp8.consumer<!ring>, !fp8.producer<!ring>
      }
      fp8.close %x9 : !fp8.consumer<!ring>
      fp8.close %y9 : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

// The consumer goes round once less from the third trip on.
!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // expected-error @+2 {{kernel 'fewer' does not end: roles wait for one another, with argument 0 = 5}}
  // expected-note @+1 {{taken for granted: issued copies and products complete; every warp is scheduled in the end; launch arguments are not negative, and index arithmetic does not wrap; loops in which no role waits or signals end, and their steps are positive}}
  gpu.func @fewer(%n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-note @+1 {{role "empty" has ended; let it take as many slots of this ring as role "fill"}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        // expected-note @+1 {{role "fill" needs slot 0 of a ring without tiles again, which role "empty" has not handed back in lap 1}}
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %most = arith.minui %n, %c2 : index
      %last = scf.for %i = %c0 to %most step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // expected-error @+2 {{kernel 'lanes' does not end: whether its steps take place depends on -the lane's number + 15, which differs among the threads of its role}}
  // expected-note @+1 {{taken for granted: issued copies and products complete; every warp is scheduled in the end; launch arguments are not negative, and index arithmetic does not wrap; loops in which no role waits or signals end, and their steps are positive}}
  gpu.func @lanes() kernel attributes {fp8.linear} {
    %c16 = arith.constant 16 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %lane = gpu.lane_id
      %low = arith.cmpi ult, %lane, %c16 : index
      // expected-note @+1 {{decide this by a value that is the same for all who take the op together}}
      %last = scf.if %low -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %end : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      } else {
        scf.yield %end : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
