// Ways by which what a borrow lends could outlive its handle (L9): found by the effects, types and interfaces of the ops that take it.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_reduce_escape(%e: !end, %m: memref<?xf32>) -> (!end, f32) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %r = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%c0) -> index {
    // expected-note @below {{passed on here}}
    scf.reduce(%slot : index) {
    ^bb0(%a: index, %b: index):
      %t = arith.addi %a, %b : index
      scf.reduce.return %t : index
    }
  }
  %n = fp8.release %s : !stage
  %x = memref.load %m[%r] : memref<?xf32>
  return %n, %x : !end, f32
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_linalg_fill_escape(%e: !end, %m: memref<?xf32>, %tn: tensor<1xindex>) -> (!end, f32) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %s = fp8.acquire %e : !end
  %slot = fp8.index %s : !stage
  // expected-note @below {{lent here}}
  %t = linalg.fill ins(%slot : index) outs(%tn : tensor<1xindex>) -> tensor<1xindex>
  // expected-note @below {{consumed here}}
  %n = fp8.release %s : !stage
  // expected-note @below {{used here}}
  %r = tensor.extract %t[%c0] : tensor<1xindex>
  %x = memref.load %m[%r] : memref<?xf32>
  return %n, %x : !end, f32
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_shfl(%e: !end, %m: memref<?xf32>) -> (!end, f32) attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %s = fp8.acquire %e : !end
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  %c0 = arith.constant 0 : i32
  %c31 = arith.constant 31 : i32
  %c-1 = arith.constant -1 : i32
  %j = nvvm.shfl.sync idx %c-1, %i, %c0, %c31 : i32 -> i32
  // expected-note @below {{lent here}}
  %r = arith.index_cast %j : i32 to index
  // expected-note @below {{consumed here}}
  %n = fp8.release %s : !stage
  // expected-note @below {{used here}}
  %x = memref.load %m[%r] : memref<?xf32>
  return %n, %x : !end, f32
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_subgroup_reduce(%e: !end, %m: memref<?xf32>) -> (!end, f32) attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %s = fp8.acquire %e : !end
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  %j = gpu.subgroup_reduce maxui %i : (i32) -> i32
  // expected-note @below {{lent here}}
  %r = arith.index_cast %j : i32 to index
  // expected-note @below {{consumed here}}
  %n = fp8.release %s : !stage
  // expected-note @below {{used here}}
  %x = memref.load %m[%r] : memref<?xf32>
  return %n, %x : !end, f32
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_llvm_cmpxchg(%e: !end, %p: !llvm.ptr) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  %c0 = arith.constant 0 : i32
  // expected-note @below {{passed on here}}
  %r = llvm.cmpxchg %p, %c0, %i acq_rel monotonic : !llvm.ptr, i32
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_llvm_atomicrmw(%e: !end, %p: !llvm.ptr) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i32
  // expected-note @below {{passed on here}}
  %r = llvm.atomicrmw xchg %p, %i acq_rel : !llvm.ptr, i32
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_vector_scatter(%e: !end, %m: memref<4xindex>, %iv: vector<4xindex>, %mask: vector<4xi1>) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %v = vector.broadcast %slot : index to vector<4xindex>
  // expected-note @below {{passed on here}}
  vector.scatter %m[%c0] [%iv], %mask, %v : memref<4xindex>, vector<4xindex>, vector<4xi1>, vector<4xindex>
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_vector_maskedstore(%e: !end, %m: memref<4xindex>, %mask: vector<4xi1>) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %v = vector.broadcast %slot : index to vector<4xindex>
  // expected-note @below {{passed on here}}
  vector.maskedstore %m[%c0], %mask, %v : memref<4xindex>, vector<4xi1>, vector<4xindex>
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_memref_alias_stored(%e: !end, %m: memref<?xf32>, %b: memref<1xmemref<?xf32, strided<[1], offset: ?>>>) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %v = memref.subview %m[%slot][%c1][1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  // expected-note @below {{passed on here}}
  memref.store %v, %b[%c0] : memref<1xmemref<?xf32, strided<[1], offset: ?>>>
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

#s = affine_map<(d0) -> ()>
#v = affine_map<(d0) -> (d0)>
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @lent_linalg_generic_memref(%e: !end, %m: memref<1xindex>) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  // expected-note @below {{passed on here}}
  linalg.generic {indexing_maps = [#v, #s, #v], iterator_types = ["parallel"]} ins(%m, %slot : memref<1xindex>, index) outs(%m : memref<1xindex>) {
  ^bb0(%z: index, %a: index, %b: index):
    linalg.yield %a : index
  }
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @address_stored_volatile(%e: !end, %p: !llvm.ptr, %q: !llvm.ptr) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i64
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // expected-note @below {{passed on here}}
  llvm.store volatile %a, %q : !llvm.ptr, !llvm.ptr
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

#v = affine_map<(d0) -> (d0)>
#s = affine_map<(d0) -> ()>
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @converted_and_stored(%e: !end, %m: memref<4xi32>) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  // expected-note @below {{passed on here}}
  linalg.generic {indexing_maps = [#s, #v], iterator_types = ["parallel"]} ins(%slot : index) outs(%m : memref<4xi32>) {
  ^bb0(%a: index, %b: i32):
    %c = arith.index_cast %a : index to i32
    linalg.yield %c : i32
  }
  %n = fp8.release %s : !stage
  return %n : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @tensor_becomes_memory(%e: !end, %t: tensor<1xindex>) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %e : !end
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %s : !stage
  %c0 = arith.constant 0 : index
  %u = tensor.insert %slot into %t[%c0] : tensor<1xindex>
  // expected-note @below {{passed on here}}
  %m = bufferization.to_buffer %u : tensor<1xindex> to memref<1xindex>
  %n = fp8.release %s : !stage
  return %n : !end
}
