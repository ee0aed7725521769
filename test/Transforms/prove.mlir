// RUN: fp8-opt %s --fp8-prove=json=%t.json --verify-diagnostics -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json

// JSON: "assumptions": [
// JSON-NEXT: "issued copies and products complete"
// JSON: "kernel": "in_step"
// JSON: "verdict": "proved"
// JSON: "kernel": "remainders"
// JSON: "verdict": "proved"

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // expected-remark @+4 {{kernel 'in_step' ends for all launches}}
  // expected-remark @+3 {{kernel 'in_step' completes a phase in each lap}}
  // expected-remark @+2 {{kernel 'in_step' keeps ownership for all launches}}
  // expected-note @+1 {{taken for granted: issued copies and products complete; every warp}}
  gpu.func @in_step(%n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // One role goes in groups of four, with the remainder first; the other one by one.
  // expected-remark @+4 {{kernel 'remainders' ends for all launches}}
  // expected-remark @+3 {{kernel 'remainders' completes a phase in each lap}}
  // expected-remark @+2 {{kernel 'remainders' keeps ownership for all launches}}
  // expected-note @+1 {{taken for granted: issued copies and products complete; every warp}}
  gpu.func @remainders(%n: index, %tiles: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %cta = gpu.block_id x
      %ctas = gpu.grid_dim x
      %rest = arith.remui %n, %c4 : index
      %last = scf.for %tile = %cta to %tiles step %ctas iter_args(%e0 = %end) -> (!fp8.producer<!ring>) {
        %behind = scf.for %i = %c0 to %rest step %c1 iter_args(%e = %e0) -> (!fp8.producer<!ring>) {
          %stage = fp8.acquire %e : !fp8.producer<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        }
        %groups = scf.for %i = %rest to %n step %c4 iter_args(%e1 = %behind) -> (!fp8.producer<!ring>) {
          %group = scf.for %j = %c0 to %c4 step %c1 iter_args(%e = %e1) -> (!fp8.producer<!ring>) {
            %stage = fp8.acquire %e : !fp8.producer<!ring>
            %next = fp8.release %stage : !fp8.producer_stage<!ring>
            scf.yield %next : !fp8.producer<!ring>
          }
          scf.yield %group : !fp8.producer<!ring>
        }
        scf.yield %groups : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %cta = gpu.block_id x
      %ctas = gpu.grid_dim x
      %last = scf.for %tile = %cta to %tiles step %ctas iter_args(%e0 = %end) -> (!fp8.consumer<!ring>) {
        %one = scf.for %i = %c0 to %n step %c1 iter_args(%e = %e0) -> (!fp8.consumer<!ring>) {
          %stage = fp8.acquire %e : !fp8.consumer<!ring>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          scf.yield %next : !fp8.consumer<!ring>
        }
        scf.yield %one : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
