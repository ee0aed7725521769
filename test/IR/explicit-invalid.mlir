// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @foreign_condition(%end: !fp8.consumer<!ring>) -> !fp8.ready<!fp8.consumer<!ring>> attributes {fp8.linear} {
  // expected-note @below {{this is not the result of an fp8.try_wait}}
  %true = arith.constant true
  // expected-error @below {{'fp8.wait' op may be left out only where an fp8.try_wait on the same end returned true (X1)}}
  %ready = fp8.wait %end unless %true : !fp8.consumer<!ring>
  return %ready : !fp8.ready<!fp8.consumer<!ring>>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @argument_condition(%end: !fp8.consumer<!ring>,
                              // expected-note @below {{this is not the result of an fp8.try_wait}}
                              %done: i1) -> !fp8.ready<!fp8.consumer<!ring>> attributes {fp8.linear} {
  // expected-error @below {{'fp8.wait' op may be left out only where an fp8.try_wait on the same end returned true (X1)}}
  %ready = fp8.wait %end unless %done : !fp8.consumer<!ring>
  return %ready : !fp8.ready<!fp8.consumer<!ring>>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
func.func @other_end(%a: !end, %b: !end) -> (!fp8.ready<!end>, !end) attributes {fp8.linear} {
  // expected-note @below {{this fp8.try_wait tests another end}}
  %done = fp8.try_wait %b : !end
  // expected-error @below {{'fp8.wait' op may be left out only where an fp8.try_wait on the same end returned true (X1)}}
  %ready = fp8.wait %a unless %done : !end
  return %ready, %b : !fp8.ready<!end>, !end
}

// -----

// The answer is lent: it does not go around a loop.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
func.func @carried_answer(%end: !end) -> !end attributes {fp8.linear} {
  // expected-error @below {{what 'fp8.try_wait' lends must not outlive its handle (L9)}}
  %done = fp8.try_wait %end : !end
  // expected-note @below {{passed on here}}
  cf.br ^next(%done : i1)
^next(%d: i1):
  return %end : !end
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @late_answer(%end: !fp8.consumer<!ring>) -> !fp8.ready<!fp8.consumer<!ring>>
    // expected-error @-1 {{consumer end was consumed before the last use of what it lent (L9)}}
    attributes {fp8.linear} {
  // expected-note @below {{lent here}}
  %done = fp8.try_wait %end : !fp8.consumer<!ring>
  // expected-note @below {{consumed here}}
  %ready = fp8.wait %end unless %done : !fp8.consumer<!ring>
  // expected-note @below {{used here}}
  scf.if %done {
  }
  return %ready : !fp8.ready<!fp8.consumer<!ring>>
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @try_bare_end(%end: !fp8.consumer<!acc>) -> !fp8.consumer<!acc> attributes {fp8.linear} {
  // expected-error @below {{'fp8.try_wait' op cannot wait for the end of an output pipeline, since its tensor memory is not allocated yet; make an mma warp or epilogue warps of the end first}}
  %done = fp8.try_wait %end : !fp8.consumer<!acc>
  return %end : !fp8.consumer<!acc>
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @wait_bare_end(%end: !fp8.producer<!acc>) -> !fp8.ready<!fp8.producer<!acc>> attributes {fp8.linear} {
  // expected-error @below {{'fp8.wait' op cannot wait for the end of an output pipeline, since its tensor memory is not allocated yet; make an mma warp or epilogue warps of the end first}}
  %ready = fp8.wait %end : !fp8.producer<!acc>
  return %ready : !fp8.ready<!fp8.producer<!acc>>
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @acquire_bare_end(%end: !fp8.ready<!fp8.producer<!acc>>) -> !fp8.producer_stage<!acc> attributes {fp8.linear} {
  // expected-error @below {{'fp8.acquire' op cannot acquire from the end of an output pipeline, since its tensor memory is not allocated yet; make an mma warp or epilogue warps of the end first}}
  %stage = fp8.acquire %end : !fp8.ready<!fp8.producer<!acc>>
  return %stage : !fp8.producer_stage<!acc>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @ready_leaks(%end: !fp8.consumer<!ring>) attributes {fp8.linear} {
  // expected-error @below {{ready end leaks: it is never consumed (L1); consume it with 'fp8.acquire'}}
  %ready = fp8.wait %end : !fp8.consumer<!ring>
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @wait_twice(%end: !fp8.consumer<!ring>) -> !fp8.ready<!fp8.consumer<!ring>> attributes {fp8.linear} {
  %ready = fp8.wait %end : !fp8.consumer<!ring>
  // expected-error @below {{'fp8.wait' op expected the end of a ring}}
  %again = fp8.wait %ready : !fp8.ready<!fp8.consumer<!ring>>
  return %again : !fp8.ready<!fp8.consumer<!ring>>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!stage = !fp8.consumer_stage<!ring>
// expected-error @below {{consumer stage is consumed twice (L1)}}
func.func @signal_twice(%stage: !stage) -> (!fp8.signalled<!stage>, !fp8.signalled<!stage>) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %a = fp8.arrive %stage : !stage
  // expected-note @below {{consumed again here}}
  %b = fp8.arrive %stage : !stage
  return %a, %b : !fp8.signalled<!stage>, !fp8.signalled<!stage>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!stage = !fp8.consumer_stage<!ring>
// expected-error @below {{consumer stage is consumed twice (L1)}}
func.func @signal_and_release(%stage: !stage) -> (!fp8.signalled<!stage>, !fp8.consumer<!ring>) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %a = fp8.arrive %stage : !stage
  // expected-note @below {{consumed again here}}
  %b = fp8.release %stage : !stage
  return %a, %b : !fp8.signalled<!stage>, !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!stage = !fp8.consumer_stage<!ring>
func.func @signal_the_signalled(%stage: !stage) -> !fp8.signalled<!stage> attributes {fp8.linear} {
  %a = fp8.arrive %stage : !stage
  // expected-error @below {{'fp8.arrive' op expected a stage of a ring}}
  %b = fp8.arrive %a : !fp8.signalled<!stage>
  return %b : !fp8.signalled<!stage>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @step_unsignalled(%stage: !fp8.consumer_stage<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{'fp8.step' op expected a stage that fp8.arrive signalled}}
  %end = fp8.step %stage : !fp8.consumer_stage<!ring>
  return %end : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @signalled_leaks(%stage: !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
  // expected-error @below {{signalled stage leaks: it is never consumed (L1); consume it with 'fp8.step'}}
  %signalled = fp8.arrive %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!stage = !fp8.consumer_stage<!ring>
func.func @view_after_arrive(%end: !fp8.consumer<!ring>, %frag: !fp8.fragment<128x128xf32, 4>, %acc: !fp8.tmem<128x128xf32>, %b: f32)
    -> !fp8.signalled<!stage> attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9)}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{lent here}}
  %tile = fp8.tile %stage["s"] : !stage
  // expected-note @below {{consumed here}}
  %signalled = fp8.arrive %stage : !stage
  // expected-note @below {{used here}}
  %sum = fp8.promote %frag, %acc scales(%tile, %b) : !fp8.fragment<128x128xf32, 4>, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  return %signalled : !fp8.signalled<!stage>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @yield_unsignalled(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{'fp8.consume_explicit' op must yield first, for each end, the stage that its body signalled: operand 0 must be '!fp8.signalled<!fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>', but got '!fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>'; signal it with fp8.arrive}}
  %next = fp8.consume_explicit(%stage = %end) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
    fp8.yield %stage : !fp8.consumer_stage<!ring>
  }
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @yield_nothing(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{'fp8.consume_explicit' op must yield first, for each end, the stage that its body signalled: operand 0 must be '!fp8.signalled<!fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>', but there is none; signal it with fp8.arrive}}
  %next = fp8.consume_explicit(%stage = %end) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
    %signalled = fp8.arrive %stage : !fp8.consumer_stage<!ring>
    fp8.yield
  }
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!stage = !fp8.consumer_stage<!ring>
func.func @one_path_unsignalled(%end: !fp8.consumer<!ring>, %cond: i1) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %next = fp8.consume_explicit(
      // expected-error @below {{consumer stage is consumed on one path but not on another (L4); consume it on both, or after they meet}}
      %stage = %end) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
    %s = scf.if %cond -> !fp8.signalled<!stage> {
      // expected-note @below {{consumed here}}
      %a = fp8.arrive %stage : !stage
      scf.yield %a : !fp8.signalled<!stage>
    } else {
      %b = func.call @signalled() : () -> !fp8.signalled<!stage>
      // expected-note @below {{still alive at the end of region #1 of this 'scf.if'}}
      scf.yield %b : !fp8.signalled<!stage>
    }
    fp8.yield %s : !fp8.signalled<!stage>
  }
  return %next : !fp8.consumer<!ring>
}
func.func private @signalled() -> !fp8.signalled<!stage> attributes {fp8.linear}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @explicit_producer(%end: !fp8.producer<!ring>) -> !fp8.producer<!ring> attributes {fp8.linear} {
  // expected-error @below {{'fp8.consume_explicit' op expected ends that empty slots (X3), but got '!fp8.producer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>'}}
  %next = fp8.consume_explicit(%stage = %end) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
    %signalled = fp8.arrive %stage : !fp8.producer_stage<!ring>
    fp8.yield %signalled : !fp8.signalled<!fp8.producer_stage<!ring>>
  }
  return %next : !fp8.producer<!ring>
}

// -----

func.func @no_end() attributes {fp8.linear} {
  // expected-error @below {{'fp8.consume_explicit' op expected at least one end to acquire a stage of}}
  fp8.consume_explicit {
    fp8.yield
  }
  return
}

// -----

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!stage = !fp8.producer_stage<!ring>
func.func @two_stages(%a: !stage, %b: !stage, %map: !fp8.tensor_map<!t>, %i: index) -> (!stage, !stage) attributes {fp8.linear} {
  // expected-note @below {{the tile}}
  %tile = fp8.tile %a["s"] : !stage
  // expected-note @below {{the barrier}}
  %full = fp8.mbarrier %b : !stage
  // expected-error @below {{'fp8.tma_copy' op the tile and the barrier must be lent by one producer stage, with fp8.tile and fp8.mbarrier (X2)}}
  fp8.tma_copy %map[%i, %i], %tile, %full : !fp8.tensor_map<!t>, !t
  return %a, %b : !stage, !stage
}

// -----

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!stage = !fp8.consumer_stage<!ring>
func.func @consumer_stage(%stage: !stage, %map: !fp8.tensor_map<!t>, %i: index) -> !stage attributes {fp8.linear} {
  // expected-note @below {{the tile}}
  %tile = fp8.tile %stage["s"] : !stage
  // expected-note @below {{the barrier}}
  %empty = fp8.mbarrier %stage : !stage
  // expected-error @below {{'fp8.tma_copy' op the tile and the barrier must be lent by one producer stage, with fp8.tile and fp8.mbarrier (X2)}}
  fp8.tma_copy %map[%i, %i], %tile, %empty : !fp8.tensor_map<!t>, !t
  return %stage : !stage
}

// -----

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!stage = !fp8.producer_stage<!ring>
func.func @foreign_tile(%stage: !stage, %map: !fp8.tensor_map<!t>, %i: index,
                        // expected-note @below {{the tile}}
                        %tile: !t) -> !stage attributes {fp8.linear} {
  // expected-note @below {{the barrier}}
  %full = fp8.mbarrier %stage : !stage
  // expected-error @below {{'fp8.tma_copy' op the tile and the barrier must be lent by one producer stage, with fp8.tile and fp8.mbarrier (X2)}}
  fp8.tma_copy %map[%i, %i], %tile, %full : !fp8.tensor_map<!t>, !t
  return %stage : !stage
}

// -----

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!stage = !fp8.producer_stage<!ring>
func.func @wrong_box(%stage: !stage, %map: !fp8.tensor_map<!fp8.tile<1x64xf32>>, %i: index) -> !stage attributes {fp8.linear} {
  %tile = fp8.tile %stage["s"] : !stage
  %full = fp8.mbarrier %stage : !stage
  // expected-error @below {{'fp8.tma_copy' op the map's box '!fp8.tile<1x64xf32>' must be the tile '!fp8.tile<1x128xf32>' (M1)}}
  fp8.tma_copy %map[%i, %i], %tile, %full : !fp8.tensor_map<!fp8.tile<1x64xf32>>, !t
  return %stage : !stage
}

// -----

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!stage = !fp8.producer_stage<!ring>
func.func @one_coordinate(%stage: !stage, %map: !fp8.tensor_map<!t>, %i: index) -> !stage attributes {fp8.linear} {
  %tile = fp8.tile %stage["s"] : !stage
  %full = fp8.mbarrier %stage : !stage
  // expected-error @below {{'fp8.tma_copy' op expected two coordinates, row and column, but got 1}}
  fp8.tma_copy %map[%i], %tile, %full : !fp8.tensor_map<!t>, !t
  return %stage : !stage
}

// -----

// The views die with the stage, the copy included.
!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!stage = !fp8.producer_stage<!ring>
func.func @copy_after_arrive(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!t>, %i: index) -> !fp8.signalled<!stage>
    attributes {fp8.linear} {
  // expected-error @below {{producer stage was consumed before the last use of what it lent (L9)}}
  %stage = fp8.acquire %end : !fp8.producer<!ring>
  %tile = fp8.tile %stage["s"] : !stage
  // expected-note @below {{lent here}}
  %full = fp8.mbarrier %stage : !stage
  // expected-note @below {{consumed here}}
  %signalled = fp8.arrive %stage : !stage
  // expected-note @below {{used here}}
  fp8.tma_copy %map[%i, %i], %tile, %full : !fp8.tensor_map<!t>, !t
  return %signalled : !fp8.signalled<!stage>
}

// -----

// expected-error @below {{only an end of a ring can be ready, but got 'index'}}
func.func private @ready_of_nothing(!fp8.ready<index>)

// -----

// expected-error @below {{only a stage of a ring can be signalled, but got '!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>'}}
func.func private @signalled_end(!fp8.signalled<!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>)
