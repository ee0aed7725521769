// RUN: fp8-opt %s --split-input-file --verify-diagnostics

func.func @twice() {
  %id = fp8.id warp
  fp8.role "load" warps(1) {
    // expected-error @+1 {{'fp8.role_thread' op must stand in the entry block of its role, once (B1); use the results of the first one}}
    %leader, %warp, %lane = fp8.role_thread %id
    %a, %b, %c = fp8.role_thread %id
    fp8.yield
  }
  return
}

// -----

func.func @outside() {
  %id = fp8.id warp
  // expected-error @+1 {{'fp8.role_thread' op expects parent op 'fp8.role'}}
  %leader, %warp, %lane = fp8.role_thread %id
  return
}

// -----

func.func @far(%barrier: i32) {
  // expected-error @+1 {{'fp8.mbarrier_expect' op tells a barrier of another CTA without arriving there (B2); add 'arrive'}}
  fp8.mbarrier_expect remote %barrier, 16
  return
}

// -----

func.func @far(%barrier: i32) {
  // expected-error @+1 {{'fp8.mbarrier_arrive' op arrives after copies, which it does at barriers of its own CTA alone (B3); remove 'remote'}}
  fp8.mbarrier_arrive remote after_copies %barrier
  return
}

// -----

func.func @barrier(%barrier: i32) {
  // expected-error @+1 {{attribute 'arrivals' failed to satisfy constraint}}
  fp8.mbarrier_init %barrier, 0
  return
}

// -----

!ring = !fp8.pipeline<2>
func.func @both() attributes {fp8.barriers, fp8.linear} {
  // expected-error @+1 {{'fp8.pipeline' op works on a ring in a kernel with 'fp8.barriers', whose rings are barriers already; remove the attribute, or the op}}
  %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
  fp8.close %p : !fp8.producer<!ring>
  fp8.close %c : !fp8.consumer<!ring>
  return
}

// -----

// expected-error @+1 {{attribute 'fp8.barriers' must be a unit attribute}}
func.func @number() attributes {fp8.barriers = 1} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has 'fp8.barriers' without 'fp8.linear', by which passes know a kernel; add the latter}}
func.func @alone() attributes {fp8.barriers} {
  return
}
