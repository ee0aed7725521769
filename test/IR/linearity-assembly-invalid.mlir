// What a borrow lends, given to assembly text (L9): the text may store it, or hand it back as an integer.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @number_at_an_integer(%e: !end, %q: i64) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  // expected-note @below {{passed on here}}
  llvm.inline_asm has_side_effects "st.global.u32 [$0], $1;", "l,r" %q, %i : (i64, i32) -> ()
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

// The text may name a variable.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @number_alone(%e: !end) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  // expected-note @below {{passed on here}}
  llvm.inline_asm has_side_effects "st.global.u32 [cell], $0;", "r,~{memory}" %i : (i32) -> ()
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @number_in_nvvm(%e: !end, %q: i64) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  // expected-note @below {{passed on here}}
  nvvm.inline_ptx "st.global.u32 [{$r0}], {$r1};" ro(%q, %i : i64, i32)
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @address_at_an_integer(%e: !end, %p: !llvm.ptr, %q: i64) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i64
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // expected-note @below {{passed on here}}
  llvm.inline_asm has_side_effects "st.global.u64 [$0], $1;", "l,l" %q, %a : (i64, !llvm.ptr) -> ()
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @address_to_integer(%e: !end, %p: !llvm.ptr) -> (!end, f32) attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %s = fp8.acquire %e : !end
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i64
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // expected-note @below {{lent here}}
  %q = llvm.inline_asm has_side_effects "mov.u64 $0, $1;", "=l,l" %a : (!llvm.ptr) -> i64
  // expected-note @below {{consumed here}}
  %n = fp8.release %s : !stage
  // expected-note @below {{used here}}
  %y = llvm.inttoptr %q : i64 to !llvm.ptr
  %x = llvm.load %y : !llvm.ptr -> f32
  return %n, %x : !end, f32
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @address_in_a_structure(%e: !end, %p: !llvm.ptr) -> (!end, f32) attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %s = fp8.acquire %e : !end
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i64
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // expected-note @below {{lent here}}
  %q = llvm.inline_asm has_side_effects "mov.u64 $0, $2; ld.global.f32 $1, [$2];", "=l,=f,l" %a : (!llvm.ptr) -> !llvm.struct<(ptr, f32)>
  // expected-note @below {{consumed here}}
  %n = fp8.release %s : !stage
  // expected-note @below {{used here}}
  %y = llvm.extractvalue %q[0] : !llvm.struct<(ptr, f32)>
  %x = llvm.load %y : !llvm.ptr -> f32
  return %n, %x : !end, f32
}

// -----

// Without effects it stores nothing, and computes with what it is given.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @number_handed_back(%e: !end, %m: memref<?xf32>) -> (!end, f32) attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %s = fp8.acquire %e : !end
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  %j = llvm.inline_asm "mov.u32 $0, $1;", "=r,r" %i : (i32) -> i32
  // expected-note @below {{lent here}}
  %r = arith.index_cast %j : i32 to index
  // expected-note @below {{consumed here}}
  %n = fp8.release %s : !stage
  // expected-note @below {{used here}}
  %x = memref.load %m[%r] : memref<?xf32>
  return %n, %x : !end, f32
}
