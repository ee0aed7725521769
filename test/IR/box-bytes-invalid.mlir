// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!share = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !tile>

func.func @shared(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!share>, %bytes: i32 {fp8.box_bytes = 1 : i64}, %m: index) -> !fp8.producer<!ring>
    attributes {fp8.linear, fp8.cluster = array<i64: 1, 2>} {
  %stage = fp8.acquire %end : !fp8.producer<!ring>
  // expected-error @below {{copies a box whose bytes are an argument of the kernel, which CTAs cannot share (M7); remove multicast, or remove 'fp8.box_bytes'}}
  fp8.tma_load %map[%m, %m], %stage["a"] multicast along n : !fp8.tensor_map<!share>, !fp8.producer_stage<!ring>
  %next = fp8.release %stage : !fp8.producer_stage<!ring>
  return %next : !fp8.producer<!ring>
}

// -----

!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !tile, cta_group = 2>

func.func @pair(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 1 : i64}, %m: index) -> !fp8.producer<!ring>
    attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
  %stage = fp8.acquire %end : !fp8.producer<!ring>
  // expected-error @below {{which CTAs cannot share (M7); load into a ring of one CTA, or remove 'fp8.box_bytes'}}
  fp8.tma_load %map[%m, %m], %stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
  %next = fp8.release %stage : !fp8.producer_stage<!ring>
  return %next : !fp8.producer<!ring>
}

// -----

!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>

// expected-note @below {{'fp8.box_bytes' is an attribute of this kernel}}
func.func @chosen(%map: !fp8.tensor_map<!tile>, %other: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 0 : i64}, %c: i1) attributes {fp8.linear} {
  // expected-error @below {{uses tensor map 0, whose boxes have the bytes of argument 2; only fp8.tma_load and fp8.tma_prefetch may, since no other op counts such bytes (M7); pass a second map without 'fp8.box_bytes'}}
  %either = arith.select %c, %map, %other : !fp8.tensor_map<!tile>
  return
}

// -----

// expected-error @below {{'fp8.box_bytes' of argument 0 must name a tensor map, but argument 1 is 'index'}}
func.func @no_map(%bytes: i32 {fp8.box_bytes = 1 : i64}, %m: index) attributes {fp8.linear} {
  return
}

// -----

// expected-error @below {{'fp8.box_bytes' of argument 0 names argument 2, but the kernel has 2}}
func.func @no_argument(%bytes: i32 {fp8.box_bytes = 2 : i64}, %m: index) attributes {fp8.linear} {
  return
}

// -----

// expected-error @below {{argument 0 has 'fp8.box_bytes', and so must be i32, but is 'index'}}
func.func @wide(%bytes: index {fp8.box_bytes = 1 : i64}, %m: index) {
  return
}

// -----

// expected-error @below {{attribute 'fp8.box_bytes' must be an i64, on an argument of a kernel}}
func.func @text(%bytes: i32 {fp8.box_bytes = "a"}) {
  return
}

// -----

func.func @arrival(%barrier: i32, %bytes: i32) {
  // expected-error @below {{tells a number that the launch decides with an arrival (B5); remove 'arrive', and arrive behind the last number}}
  fp8.mbarrier_expect arrive %barrier, 128 as %bytes
  return
}

// -----

!tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !tile>

func.func @in_front(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 1 : i64}, %k: index) -> !fp8.producer<!ring>
    attributes {fp8.linear} {
  %row = arith.constant -1 : index
  %stage = fp8.acquire %end : !fp8.producer<!ring>
  // expected-error @below {{copies a box that fits the rows of the tensor, and so must not begin in front of them (M7), but begins at row -1; remove 'fp8.box_bytes'}}
  fp8.tma_load %map[%row, %k], %stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
  %next = fp8.release %stage : !fp8.producer_stage<!ring>
  return %next : !fp8.producer<!ring>
}

// -----

!tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>

// Expected bytes that an argument has are those of one copy.
func.func @constant(%map: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 0 : i64}, %k: index, %tile: i32, %barrier: i32)
    attributes {fp8.linear, fp8.barriers} {
  fp8.mbarrier_expect %barrier, 8192
  // expected-error @below {{copies a box whose bytes are argument 1 of the kernel, and so one fp8.mbarrier_expect in its block must tell its barrier of them (B6); add one, with 'as' and that argument, or remove what is one too many}}
  fp8.copy_tile %map[%k, %k], %tile, %barrier : !fp8.tensor_map<!tile>
  return
}

// -----

!tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>

func.func @elsewhere(%map: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 0 : i64}, %k: index, %tile: i32, %barrier: i32, %other: i32)
    attributes {fp8.linear, fp8.barriers} {
  // expected-error @below {{tells of the bytes of a box of tensor map 0, and so one fp8.copy_tile in its block must copy such a box to its barrier (B6); add one, or remove this}}
  fp8.mbarrier_expect %other, 8192 as %bytes
  fp8.copy_tile %map[%k, %k], %tile, %barrier : !fp8.tensor_map<!tile>
  return
}

// -----

!tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>

func.func @smaller(%map: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 0 : i64}, %k: index, %tile: i32, %barrier: i32)
    attributes {fp8.linear, fp8.barriers} {
  // expected-error @below {{tells of the bytes of a box of tensor map 0, which are 8192 at most (B6), but got 4096}}
  fp8.mbarrier_expect %barrier, 4096 as %bytes
  fp8.copy_tile %map[%k, %k], %tile, %barrier : !fp8.tensor_map<!tile>
  return
}

// -----

func.func @any(%bytes: i32, %barrier: i32) attributes {fp8.linear, fp8.barriers} {
  // expected-error @below {{tells a number that the launch decides, which must be an argument of the kernel with 'fp8.box_bytes' (B6); pass the bytes of a map as one}}
  fp8.mbarrier_expect %barrier, 8192 as %bytes
  return
}

// -----

func.func @computed(%bytes: i32, %barrier: i32) attributes {fp8.linear, fp8.barriers} {
  %sum = arith.addi %bytes, %bytes : i32
  // expected-error @below {{tells a number that the launch decides, which must be an argument of the kernel with 'fp8.box_bytes' (B6); pass the bytes of a map as one}}
  fp8.mbarrier_expect %barrier, 8192 as %sum
  return
}

// -----

!tile = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>

// expected-note @below {{'fp8.box_bytes' is an attribute of this kernel}}
func.func @chosen_box(%map: !fp8.tensor_map<!tile>, %other: !fp8.tensor_map<!tile>, %bytes: i32 {fp8.box_bytes = 0 : i64}, %c: i1)
    attributes {fp8.linear, fp8.barriers} {
  // expected-error @below {{uses tensor map 0, whose boxes have the bytes of argument 2; only fp8.copy_tile and prefetches may, since no other op counts such bytes (M7); pass a second map without 'fp8.box_bytes'}}
  %some = arith.select %c, %map, %other : !fp8.tensor_map<!tile>
  return
}
