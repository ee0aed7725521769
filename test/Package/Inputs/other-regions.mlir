// Handles and lent numbers in regions of dialects that fp8-opt does not have: mlir-opt loads fp8 beside them.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>

// expected-error @below {{consumer end is passed to 'async.yield', which does not declare what it does with it (L6); only branches, calls and ops with LinearOpInterface may take it}}
func.func @boxed(%end: !end) attributes {fp8.linear} {
  // expected-error @below {{holds handles and can be copied (L6); pass each handle as a value of its own}}
  %token, %box = async.execute -> !async.value<!end> {
    // expected-note @below {{used here}}
    async.yield %end : !end
  }
  return
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{'!async.value<!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>' holds handles and can be copied (L6); pass each handle as a value of its own}}
func.func @unboxed_twice(%box: !async.value<!end>) attributes {fp8.linear} {
  // expected-note @below {{made here}}
  %first = async.execute (%box as %end: !async.value<!end>) {
    // expected-error @above {{consumer end is made by 'async.execute', which does not declare what it does with linear values (L6); it must implement LinearOpInterface}}
    fp8.close %end : !end
    async.yield
  }
  // expected-note @below {{made here}}
  %second = async.execute (%box as %end: !async.value<!end>) {
    // expected-error @above {{consumer end is made by 'async.execute', which does not declare what it does with linear values (L6); it must implement LinearOpInterface}}
    fp8.close %end : !end
    async.yield
  }
  return
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{consumer end is captured by 'acc.parallel' (L6); pass it as an operand}}
func.func @closed_by_many(%end: !end) attributes {fp8.linear} {
  // expected-note @below {{captured here}}
  acc.parallel {
    fp8.close %end : !end
    acc.yield
  }
  return
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @counted_from_what_was_lent(%end: !end, %m: memref<?xf32>, %n: index) -> !end attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %stage = fp8.acquire %end : !end
  %slot = fp8.index %stage : !stage
  // expected-note @below {{consumed here}}
  // expected-note @below {{lent here}}
  %last = affine.for %i = %slot to %n iter_args(%s = %stage) -> !stage {
    %next = fp8.release %s : !stage
    %again = fp8.acquire %next : !end
    // expected-note @below {{used here}}
    %x = memref.load %m[%i] : memref<?xf32>
    affine.yield %again : !stage
  }
  %done = fp8.release %last : !stage
  return %done : !end
}

// -----

// affine.for and affine.if run where they stand: handles go through them.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
#set = affine_set<(d0) : (d0 >= 0)>
func.func @affine(%end: !end, %n: index) -> !end attributes {fp8.linear} {
  %last = affine.for %i = 0 to %n iter_args(%e = %end) -> !end {
    %stage = fp8.acquire %e : !end
    %next = fp8.release %stage : !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
    %same = affine.if #set(%i) -> !end {
      affine.yield %next : !end
    } else {
      affine.yield %next : !end
    }
    affine.yield %same : !end
  }
  return %last : !end
}

// -----

// A function that boxes what it returns. Its callers hold no handle, and nobody checks them.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{consumer end is passed to 'async.return', which does not declare what it does with it (L6); only branches, calls and ops with LinearOpInterface may take it}}
async.func @boxed_by_return(%end: !end) -> !async.value<!end> attributes {fp8.linear} {
  // expected-note @below {{used here}}
  return %end : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{a value of type '!async.value<!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>' holds handles and can be copied (L6); pass each handle as a value of its own}}
async.func private @declared_box() -> !async.value<!end> attributes {fp8.linear}

// -----

// A loop that never runs uses nothing, neither a handle nor what one lent.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @no_trips(%end: !end, %stage: !stage, %m: memref<?xf32>) -> !end attributes {fp8.linear} {
  %slot = fp8.index %stage : !stage
  affine.for %i = 0 to 0 {
    %cursor = fp8.index %end : !end
    %x = memref.load %m[%slot] : memref<?xf32>
  }
  fp8.close %end : !end
  %next = fp8.release %stage : !stage
  return %next : !end
}
