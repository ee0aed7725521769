// Hazards 1 to 13 of docs/evidence/Hazards.md: hand-overs that are left out, made twice, or made by some threads only.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics

// 2: an epilogue gives its end back without having signalled.
!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @epilogue_steps_unsignalled(%stage: !fp8.epilogue_stage<!acc>) -> !fp8.epilogue_warp<!acc> attributes {fp8.linear} {
  // expected-error @below {{'fp8.step' op operand #0 must be stage signalled by fp8.arrive}}
  %w = "fp8.step"(%stage) : (!fp8.epilogue_stage<!acc>) -> !fp8.epilogue_warp<!acc>
  return %w : !fp8.epilogue_warp<!acc>
}

// -----

// 2: an epilogue forgets the stage.
!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @epilogue_stage_dropped(%warp: !fp8.epilogue_warp<!acc>) attributes {fp8.linear} {
  // expected-error @below {{epilogue stage leaks: it is never consumed (L1); consume it with 'fp8.release'}}
  %stage = fp8.acquire %warp : !fp8.epilogue_warp<!acc>
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

// 5: two commits on a barrier that counts one.
!acc = !fp8.output_pipeline<2, 128x128xf32>
!stage = !fp8.mma_stage<!acc>
// expected-error @below {{mma stage is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @committed_twice(%stage: !stage) -> (!fp8.signalled<!stage>, !fp8.mma_warp<!acc>) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %signalled = fp8.arrive %stage : !stage
  // expected-note @below {{consumed again here}}
  %w = fp8.release %stage : !stage
  return %signalled, %w : !fp8.signalled<!stage>, !fp8.mma_warp<!acc>
}

// -----

// 6: the producer side's test skips the consumer side's wait.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @test_of_the_other_side(%p: !fp8.producer<!ring>, %c: !fp8.consumer<!ring>)
    -> (!fp8.producer<!ring>, !fp8.ready<!fp8.consumer<!ring>>) attributes {fp8.linear} {
  // expected-note @below {{this fp8.try_wait tests another end}}
  %done = fp8.try_wait %p : !fp8.producer<!ring>
  // expected-error @below {{'fp8.wait' op may be left out only where an fp8.try_wait on the same end returned true (X1)}}
  %ready = fp8.wait %c unless %done : !fp8.consumer<!ring>
  return %p, %ready : !fp8.producer<!ring>, !fp8.ready<!fp8.consumer<!ring>>
}

// -----

// 8: only the threads of one arm hand the accumulator back.
!acc = !fp8.output_pipeline<2, 128x128xf32>
!stage = !fp8.epilogue_stage<!acc>
// expected-error @below {{epilogue stage is consumed on one path but not on another (L4); consume it on both, or after they meet}}
func.func @some_threads_arrive(%stage: !stage, %mine: i1) attributes {fp8.linear} {
  // expected-note @below {{still alive when this 'scf.if' runs none of its regions}}
  scf.if %mine {
    // expected-note @below {{consumed here}}
    %w = fp8.release %stage : !stage
    fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
  }
  return
}

// -----

// 11: A's scales are read on the strength of another barrier, without a wait on their own.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @tile_of_an_end(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{'fp8.tile' op operand #0 must be producer or consumer stage of a pipeline}}
  %tile = "fp8.tile"(%end) {name = "s"} : (!fp8.consumer<!ring>) -> !fp8.tile<1x128xf32>
  return %end : !fp8.consumer<!ring>
}
