// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole program: a GEMM for the GPU, and a main that makes operands, calls it and compares every element with loops on the host. docs/embedding.md says how
// it is compiled ("Host and device in one module").
//
// Operands are integers up to 4, scales powers of two between 1/4 and 2: products of a K block add up to multiples of 1 below 2^12, scaled blocks to multiples
// of 1/16 below 2^16. So every sum is exact in f32, in any order, and kernel and loops must agree to the bit.

!scales = memref<?x?xf32, strided<[?, 1], offset: ?>>

func.func @gemm(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"}, %a_scale: !scales {fp8.name = "a_scale", fp8.access = "read"},
                %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"}, %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                %d: memref<?x?xf32> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale : memref<?x?xf8E4M3FN>, !scales, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?xf32>)
  return
}

// Operands as e4m3 and as the numbers that these are.
memref.global "private" constant @codes : memref<8xi8> = dense<[0x00, 0x38, 0x40, 0x44, 0x48, 0xB8, 0xC0, 0xC4]>
memref.global "private" constant @numbers : memref<8xf32> = dense<[0.0, 1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0]>
memref.global "private" constant @powers : memref<4xf32> = dense<[0.25, 0.5, 1.0, 2.0]>

// A number below %count, a power of two, that no row and no column repeats.
func.func private @pick(%i: index, %j: index, %seed: index, %count: index) -> index {
  %p = arith.constant 1103515245 : index
  %q = arith.constant 69069 : index
  %c15 = arith.constant 15 : index
  %x = arith.muli %i, %p : index
  %y = arith.addi %j, %seed : index
  %z = arith.muli %y, %q : index
  %sum = arith.xori %x, %z : index
  %mixed = arith.muli %sum, %p : index
  %high = arith.shrui %mixed, %c15 : index
  %r = arith.remui %high, %count : index
  return %r : index
}

func.func private @fill_operand(%coded: memref<?x?xf8E4M3FN>, %plain: memref<?x?xf32>, %seed: index) {
  %c8 = arith.constant 8 : index
  %codes = memref.get_global @codes : memref<8xi8>
  %numbers = memref.get_global @numbers : memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%coded, %plain : memref<?x?xf8E4M3FN>, memref<?x?xf32>) {
  ^bb0(%unused0: f8E4M3FN, %unused1: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %which = func.call @pick(%i, %j, %seed, %c8) : (index, index, index, index) -> index
    %code = memref.load %codes[%which] : memref<8xi8>
    %element = arith.bitcast %code : i8 to f8E4M3FN
    %number = memref.load %numbers[%which] : memref<8xf32>
    linalg.yield %element, %number : f8E4M3FN, f32
  }
  return
}

func.func private @fill_scales(%scales: !scales, %seed: index) {
  %c4 = arith.constant 4 : index
  %powers = memref.get_global @powers : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%scales : !scales) {
  ^bb0(%unused: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %which = func.call @pick(%i, %j, %seed, %c4) : (index, index, index, index) -> index
    %power = memref.load %powers[%which] : memref<4xf32>
    linalg.yield %power : f32
  }
  return
}

// How many elements of %d are not what the loops compute.
func.func private @count_wrong(%a: memref<?x?xf32>, %a_scale: !scales, %b: memref<?x?xf32>, %b_scale: memref<?x?xf32>, %d: memref<?x?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %n = memref.dim %b, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %wrong = scf.for %i = %c0 to %m step %c1 iter_args(%w0 = %c0) -> (index) {
    %row = scf.for %j = %c0 to %n step %c1 iter_args(%w1 = %w0) -> (index) {
      %jb = arith.divui %j, %c128 : index
      %expected = scf.for %l = %c0 to %k step %c1 iter_args(%sum = %zero) -> (f32) {
        %kb = arith.divui %l, %c128 : index
        %x = memref.load %a[%i, %l] : memref<?x?xf32>
        %y = memref.load %b[%j, %l] : memref<?x?xf32>
        %sx = memref.load %a_scale[%kb, %i] : !scales
        %sy = memref.load %b_scale[%jb, %kb] : memref<?x?xf32>
        %xs = arith.mulf %x, %sx : f32
        %ys = arith.mulf %y, %sy : f32
        %product = arith.mulf %xs, %ys : f32
        %next = arith.addf %sum, %product : f32
        scf.yield %next : f32
      }
      %element = memref.load %d[%i, %j] : memref<?x?xf32>
      %differs = arith.cmpf une, %element, %expected : f32
      %one = arith.index_castui %differs : i1 to index
      %w2 = arith.addi %w1, %one : index
      scf.yield %w2 : index
    }
    scf.yield %row : index
  }
  return %wrong : index
}

func.func private @try(%m: index, %n: index, %k: index) -> index {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %nan = arith.constant 0x7FC00000 : f32
  %blocks_n = arith.ceildivui %n, %c128 : index
  %blocks_k = arith.ceildivui %k, %c128 : index
  %a = memref.alloc(%m, %k) : memref<?x?xf8E4M3FN>
  %a_plain = memref.alloc(%m, %k) : memref<?x?xf32>
  %b = memref.alloc(%n, %k) : memref<?x?xf8E4M3FN>
  %b_plain = memref.alloc(%n, %k) : memref<?x?xf32>
  %b_scale = memref.alloc(%blocks_n, %blocks_k) : memref<?x?xf32>
  %d = memref.alloc(%m, %n) : memref<?x?xf32>
  // TMA reads rows that are a multiple of 16 bytes apart, from a multiple of 16 bytes on.
  %m_up = arith.ceildivui %m, %c4 : index
  %m_padded = arith.muli %m_up, %c4 : index
  %width = arith.addi %m_padded, %c16 : index
  %height = arith.addi %blocks_k, %c3 : index
  %all_scales = memref.alloc(%height, %width) : memref<?x?xf32>
  %a_scale = memref.subview %all_scales[%c3, %c8][%blocks_k, %m][1, 1] : memref<?x?xf32> to !scales

  %c11 = arith.constant 11 : index
  %c77 = arith.constant 77 : index
  call @fill_operand(%a, %a_plain, %c3) : (memref<?x?xf8E4M3FN>, memref<?x?xf32>, index) -> ()
  call @fill_operand(%b, %b_plain, %c11) : (memref<?x?xf8E4M3FN>, memref<?x?xf32>, index) -> ()
  call @fill_scales(%a_scale, %c77) : (!scales, index) -> ()
  %b_scale_view = memref.cast %b_scale : memref<?x?xf32> to !scales
  call @fill_scales(%b_scale_view, %c128) : (!scales, index) -> ()
  linalg.fill ins(%nan : f32) outs(%d : memref<?x?xf32>)

  call @gemm(%a, %a_scale, %b, %b_scale, %d) : (memref<?x?xf8E4M3FN>, !scales, memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf32>) -> ()
  %wrong = call @count_wrong(%a_plain, %a_scale, %b_plain, %b_scale, %d)
      : (memref<?x?xf32>, !scales, memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) -> index

  vector.print %m : index punctuation <no_punctuation>
  vector.print str " x "
  vector.print %n : index punctuation <no_punctuation>
  vector.print str " x "
  vector.print %k : index punctuation <no_punctuation>
  vector.print str ", wrong elements: "
  vector.print %wrong : index
  memref.dealloc %a : memref<?x?xf8E4M3FN>
  memref.dealloc %a_plain : memref<?x?xf32>
  memref.dealloc %b : memref<?x?xf8E4M3FN>
  memref.dealloc %b_plain : memref<?x?xf32>
  memref.dealloc %b_scale : memref<?x?xf32>
  memref.dealloc %d : memref<?x?xf32>
  memref.dealloc %all_scales : memref<?x?xf32>
  return %wrong : index
}

func.func @main() -> i32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c77 = arith.constant 77 : index
  %c128 = arith.constant 128 : index
  %c136 = arith.constant 136 : index
  %c200 = arith.constant 200 : index
  %c272 = arith.constant 272 : index
  %w0 = call @try(%c128, %c128, %c128) : (index, index, index) -> index
  %w1 = call @try(%c200, %c136, %c272) : (index, index, index) -> index
  %w2 = call @try(%c77, %c16, %c272) : (index, index, index) -> index
  %w3 = call @try(%c77, %c136, %c0) : (index, index, index) -> index
  %w4 = call @try(%c0, %c136, %c272) : (index, index, index) -> index
  %s1 = arith.addi %w0, %w1 : index
  %s2 = arith.addi %w2, %w3 : index
  %s3 = arith.addi %s1, %s2 : index
  %wrong = arith.addi %s3, %w4 : index
  %any = arith.cmpi ne, %wrong, %c0 : index
  %status = arith.extui %any : i1 to i32
  return %status : i32
}
