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

// -----

func.func @address(%address: i32) {
  fp8.role "load" warps(1) {
    // expected-error @+1 {{'fp8.role_thread' op must read the number of its warp from an 'fp8.id warp' of the kernel's entry block (B1)}}
    %leader, %warp, %lane = fp8.role_thread %address
  }
  return
}

// -----

func.func @thread() {
  %id = fp8.id thread
  fp8.role "load" warps(1) {
    // expected-error @+1 {{'fp8.role_thread' op must read the number of its warp from an 'fp8.id warp' of the kernel's entry block (B1)}}
    %leader, %warp, %lane = fp8.role_thread %id
  }
  return
}

// -----

// expected-note @+1 {{the kernel}}
func.func @linear(%barrier: i32, %parity: i32) attributes {fp8.linear} {
  // expected-error @+1 {{'fp8.mbarrier_wait' op does a part of a hand-over in a kernel whose rings are no barriers yet (B4); hand over with fp8.acquire and fp8.release, or run --convert-fp8-rings-to-barriers before}}
  fp8.mbarrier_wait %barrier, %parity
  return
}

// -----

!t = !fp8.tile<1x128xf32>
func.func @coordinates(%map: !fp8.tensor_map<!t>, %i: index, %address: i32) {
  // expected-error @+1 {{'fp8.copy_tile' op expected two coordinates, row and column, but got 1}}
  fp8.copy_tile %map[%i], %address, %address : !fp8.tensor_map<!t>
  return
}

// -----

func.func @short(%scales: memref<?xbf16>, %i: index, %address: i32) {
  // expected-error @+1 {{'fp8.copy_element' op copies an element that must have 4 bytes, the fewest that cp.async copies (M3), but got 'bf16'}}
  fp8.copy_element %scales[%i], %address : memref<?xbf16>
  return
}

// -----

!tile = !fp8.tile<32x64xbf16, swizzle_128b>
!other = !fp8.tile<32x32xbf16, swizzle_64b>
func.func @store(%sum: !fp8.fragment<128x64xf32, 4>, %d: !fp8.tensor_map<!other>, %m: index, %slots: i32, %slot: i32) {
  // expected-error @+1 {{'fp8.store_at' op the map's box '!fp8.tile<32x32xbf16, swizzle_64b>' must be the queue's tile '!fp8.tile<32x64xbf16, swizzle_128b>' (Q1)}}
  %next = fp8.store_at %sum, %d[%m, %m] through %slots[%slot] of !fp8.store_queue<2, !tile, 4>
    : !fp8.fragment<128x64xf32, 4>, !fp8.tensor_map<!other>
  return
}

// -----

!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
!other = !fp8.fragment<64x128xf32, 4, warpgroups>
func.func @send(%sum: !other, %slot: i32, %barrier: i32) {
  // expected-error @+1 {{'fp8.send_shares' op the exchange is of}}
  fp8.send_shares %sum, %slot, %barrier of !fp8.exchange<4, !sum> : !other
  return
}

// -----

!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @add(%slots: i32) {
  // expected-error @+1 {{'fp8.add_shares' op yields a share of the exchange, which is '!fp8.fragment<64x16xf32, 4, warpgroups>' (J2), but its result is '!fp8.fragment<64x64xf32, 4, warpgroups>'}}
  %share = fp8.add_shares %slots of !fp8.exchange<4, !sum> : !sum
  return
}

// -----

func.func @threads(%id: i32) {
  // expected-error @+1 {{whose value is a multiple of 32}}
  fp8.named_barrier %id, 33
  return
}

// -----

func.func @columns(%slot: i32) {
  // expected-error @+1 {{attribute 'columns' failed to satisfy constraint}}
  %address = fp8.tmem_alloc %slot, 96
  return
}

// -----

func.func @bytes(%barrier: i32) {
  // expected-error @+1 {{attribute 'bytes' failed to satisfy constraint}}
  fp8.mbarrier_expect %barrier, 1048576
  return
}

// -----

func.func @whole(%x: index) {
  // expected-error @+1 {{operand #0 must be variadic of 32-bit float or fixed-length vector of 32-bit float values of length 2}}
  fp8.compute_here %x : index
  return
}
