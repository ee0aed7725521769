// RUN: fp8-opt %s -split-input-file -verify-diagnostics

func.func @unknown_kind(%m: index) {
  // expected-error @below {{expected one_tile, persistent or clc, but got stream_k}}
  fp8.for_each_tile stream_k (%i, %j) in (%m, %m) {
  }
  return
}

// -----

func.func @three_variables(%m: index) {
  // expected-error @below {{expected two loop variables, the tile's row and column}}
  fp8.for_each_tile persistent (%i, %j, %k) in (%m, %m) {
  }
  return
}

// -----

func.func @no_queue(%m: index) {
  // expected-error @below {{takes its tiles from a work queue (W1); add 'from' with a consumer end of one}}
  fp8.for_each_tile clc (%i, %j) in (%m, %m) {
  }
  return
}

// -----

!work = !fp8.consumer<!fp8.work_queue<2>>
func.func @needless_queue(%m: index, %work: !work) -> !work attributes {fp8.linear} {
  // expected-error @below {{reads no work queue (W1); remove 'from'}}
  %r = fp8.for_each_tile persistent (%i, %j) in (%m, %m) from(%work : !work) {
  }
  return %r : !work
}

// -----

!end = !fp8.consumer<!fp8.pipeline<2, s: !fp8.tile<1x128xf32>>>
func.func @other_ring(%m: index, %end: !end) -> !end attributes {fp8.linear} {
  // expected-error @below {{takes its tiles from a work queue (W1); add 'from' with a consumer end of one}}
  %r = fp8.for_each_tile clc (%i, %j) in (%m, %m) from(%end : !end) {
  }
  return %r : !end
}

// -----

// expected-error @below {{a work queue has at least one stage and at most as many as shared memory has room for, 7264, but got 0}}
func.func private @no_stage(!fp8.producer<!fp8.work_queue<0>>)

// -----

!work = !fp8.work_queue<2>
func.func @two_schedulers() attributes {fp8.linear} {
  // expected-error @below {{must have one producer end, for the scheduler, but got 2}}
  %p, %q, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.producer<!work>, !fp8.consumer<!work>
  fp8.close %p : !fp8.producer<!work>
  fp8.close %q : !fp8.producer<!work>
  fp8.close %c : !fp8.consumer<!work>
  return
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
func.func @ask_a_pipeline(%stage: !fp8.producer_stage<!ring>) -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{expected a stage of a !fp8.work_queue, but got one of '!fp8.pipeline<2, s: !fp8.tile<1x128xf32>>'}}
  fp8.request_work %stage : !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

func.func @no_band(%m: index) {
  // expected-error @below {{attribute 'band' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  fp8.for_each_tile persistent band(0) (%i, %j) in (%m, %m) {
  }
  return
}

// -----

func.func @large_band(%m: index, %n: index) {
  // expected-error @below {{'fp8.for_each_tile' op a band has at most 256 rows of tiles, or columns (W5), but got 257; leave it out where one has all}}
  fp8.for_each_tile persistent band(257) (%i, %j) in (%m, %n) {
  }
  return
}
