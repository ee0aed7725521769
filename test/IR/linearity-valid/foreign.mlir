// Tricky programs that keep the rules: regions of ops that fp8 does not know.
// RUN: fp8-opt %s --verify-roundtrip -allow-unregistered-dialect -o /dev/null

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>

// A handle from outside is alive around a region of another dialect.
func.func @foreign_region(%x: !end) -> !end attributes {fp8.linear} {
  "foreign.region"() ({
  ^bb0(%i: index):
    "foreign.end"(%i) : (index) -> ()
  }) : () -> ()
  return %x : !end
}

// A number that a slot lends is stored nowhere: it says where to store another number, is printed, and chooses what is read.
func.func @lent_number_is_an_address(%x: !end, %m: memref<4xf32>, %table: memref<4xindex>, %w: index, %v: f32, %p: !llvm.ptr) -> (!end, f32, f32, f32) attributes {fp8.linear} {
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  memref.store %v, %m[%slot] : memref<4xf32>
  memref.store %w, %table[%slot] : memref<4xindex>
  %old = memref.atomic_rmw addf %v, %m[%slot] : (f32, memref<4xf32>) -> f32
  gpu.printf "slot %d\n", %slot : index
  %data = memref.load %m[%slot] : memref<4xf32>
  %i = arith.index_cast %slot : index to i64
  %address = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %more = llvm.load %address : !llvm.ptr -> f32
  %n = fp8.release %s : !stage
  return %n, %old, %data, %more : !end, f32, f32, f32
}

// What is read through a lent address is data.
func.func @lent_view_is_copied(%x: !end, %m: memref<?xf32>, %to: memref<1xf32, strided<[1], offset: ?>>) -> !end attributes {fp8.linear} {
  %c1 = arith.constant 1 : index
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  %view = memref.subview %m[%slot][1][1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
  memref.copy %view, %to : memref<1xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  %n = fp8.release %s : !stage
  return %n : !end
}

// So is a pointer that is read there, and what assembly reads there as a float. What a lent number decides between is its own.
func.func @data_lives_on(%x: !end, %p: !llvm.ptr, %q: !llvm.ptr, %v: f32, %w: f32) -> (!end, f32, f32, f32) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  %i = arith.index_cast %slot : index to i64
  %address = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %other = llvm.load %address : !llvm.ptr -> !llvm.ptr
  %float = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.inline_asm has_side_effects "st.global.f32 [$0], $1;", "l,f" %float, %v : (!llvm.ptr, f32) -> ()
  %read = llvm.inline_asm has_side_effects "ld.global.f32 $0, [$1];", "=f,l" %float : (!llvm.ptr) -> f32
  %first = arith.cmpi eq, %slot, %c0 : index
  %chosen = arith.select %first, %v, %w : f32
  %n = fp8.release %s : !stage
  %data = llvm.load %other : !llvm.ptr -> f32
  return %n, %read, %chosen, %data : !end, f32, f32, f32
}

// A region that may run elsewhere captures what was read in front of it.
#map = affine_map<(d0) -> (d0)>
func.func @read_in_front(%x: !end, %m: memref<?xf32>, %t: tensor<4xf32>) -> (!end, tensor<4xf32>) attributes {fp8.linear} {
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  %value = memref.load %m[%slot] : memref<?xf32>
  %r = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%t : tensor<4xf32>) {
  ^bb0(%z: f32):
    linalg.yield %value : f32
  } -> tensor<4xf32>
  %n = fp8.release %s : !stage
  return %n, %r : !end, tensor<4xf32>
}
