// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fragment family: tiles in registers, computed from accumulators and from tiles in shared memory.

#ifndef FP8_IR_FRAGMENT
#define FP8_IR_FRAGMENT

include "fp8/IR/Fp8Base.td"

// An op by which the threads of a role read accumulators or tiles.
class Fp8_ViewReaderOp<string mnemonic, list<Trait> traits = []>
    : Fp8_Op<mnemonic, !listconcat([InLinearFunction, Fp8_ViewReaderOpInterface, MemoryEffects<[MemRead<Fp8_BarrierResource>]>],
                                   traits)>;

def Fp8_ZeroOp : Fp8_Op<"zero", [Pure, Fp8_NamesResult<"zero">]> {
  let summary = "a fragment of zeros";
  let results = (outs Fp8_FragmentType:$fragment);
  let description = [{
    ```mlir
    func.func @zeros() {
      %f = fp8.zero : !fp8.fragment<128x128xf32, 4>
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict `:` qualified(type($fragment))";
}

def Fp8_ReadOp : Fp8_ViewReaderOp<"read"> {
  let summary = "loads an accumulator into registers";
  let description = [{
    Loads the accumulator unchanged, for a GEMM that adds up all of K in tensor memory.

    (S1) A CTA's rows of the accumulator have the fragment's shape and layout.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x64xf32>
    func.func @whole(%stage: !fp8.epilogue_stage<!acc>) -> !fp8.epilogue_stage<!acc> attributes {fp8.linear} {
      %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %sum = fp8.read %accumulator : !fp8.tmem<128x64xf32> -> !fp8.fragment<128x64xf32, 4>
      return %stage : !fp8.epilogue_stage<!acc>
    }
    ```
  }];
  let arguments = (ins Fp8_TmemType:$accumulator);
  let results = (outs Fp8_FragmentType:$fragment);
  let assemblyFormat = "$accumulator attr-dict `:` qualified(type($accumulator)) `->` qualified(type($fragment))";
  let hasVerifier = 1;
}

def Fp8_PromoteOp : Fp8_ViewReaderOp<"promote", [AllTypesMatch<["fragment", "result"]>, AttrSizedOperandSegments]> {
  let summary = "adds a scaled accumulator to a fragment";
  let description = [{
    `result[m, n] = fragment[m, n] + (a_scale[a_row, m] * b_scale(n)) * partial[m, n]`: one f32 multiplication for the scales and one fused
    multiply-add for each element. The accumulator is in tensor memory, or is a product in the registers of warpgroups. Such a product may
    be one `part` of the fragment; the other parts are unchanged. A tile may hold the A scales of several K blocks, one row for each;
    `a_row` selects the row. The B scales are values, each for an equal part of the columns, in order; or a row in shared memory with one
    scale for each column. Scales in bf16 are widened exactly.

    (S1) A CTA's rows of `partial`, or the rows of a part, have the fragment's shape and layout. (S2) `a_scale` is an unswizzled 1 x M tile
    of f32 or bf16, or with `a_row` a tile of several such rows. (S3) The B scales are values that divide the columns into equal parts, each
    a multiple of 2 columns; of 8 in the layout `warpgroups`, of 64 in `warpgroup_columns`, of 32 in `quarter_columns`. Or (S4) they are an unswizzled 1 x N tile of f32
    or bf16, (F5) of which a thread's part is a multiple of 16 bytes.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x192xf32>
    !ring = !fp8.pipeline<3, a: !fp8.tile<1x128xf32>, b: !fp8.tile<1x192xf32>>
    !sum = !fp8.fragment<128x192xf32, 4>
    func.func @thirds(%stage: !fp8.epilogue_stage<!acc>, %in: !fp8.consumer_stage<!ring>, %sum: !sum, %b0: f32, %b1: f32, %b2: f32)
        -> (!fp8.epilogue_stage<!acc>, !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
      %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %a = fp8.tile %in["a"] : !fp8.consumer_stage<!ring>
      // One B scale for 64 columns each.
      %next = fp8.promote %sum, %partial scales(%a, %b0, %b1, %b2) : !sum, !fp8.tmem<128x192xf32>, !fp8.tile<1x128xf32>
      // One for each column.
      %b = fp8.tile %in["b"] : !fp8.consumer_stage<!ring>
      %last = fp8.promote %next, %partial scales(%a, row %b) : !sum, !fp8.tmem<128x192xf32>, !fp8.tile<1x128xf32>, !fp8.tile<1x192xf32>
      return %stage, %in : !fp8.epilogue_stage<!acc>, !fp8.consumer_stage<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_FragmentType:$fragment, AnyTypeOf<[Fp8_TmemType, Fp8_FragmentType]>:$partial, Fp8_TileType:$a_scale,
                       Optional<Index>:$a_row, Variadic<F32>:$b_scales, Optional<Fp8_TileType>:$b_row,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$part);
  let results = (outs Fp8_FragmentType:$result);
  let assemblyFormat = [{
    $fragment (`part` $part^)? `,` $partial `scales` `(` $a_scale (`[` $a_row^ `]`)? `,` (`row` $b_row^):($b_scales)? `)` attr-dict
    `:` qualified(type($fragment)) `,` qualified(type($partial)) `,` qualified(type($a_scale)) (`,` qualified(type($b_row))^)?
  }];
  let hasVerifier = 1;
}

def Fp8_AddTileOp : Fp8_ViewReaderOp<"add_tile", [AllTypesMatch<["fragment", "result"]>]> {
  let summary = "adds a tile in shared memory to some columns of a fragment";
  let description = [{
    `result[m, column + j] = fragment[m, column + j] + scale * tile[m, j]`, as one fused multiply-add, or without `scaled` as an addition.
    The other columns are unchanged. The op adds a residual, D = A*B + beta*C, for which TMA copies C. It reads C whatever the scale is: a
    kernel that must not read C where beta is zero skips the op.

    (F1) The tile has the fragment's rows and f32, bf16 or f16 elements. (F2) Its columns, from `column` on, are columns of the fragment.
    (F3) They begin at an even column, and are within the columns of one thread or a multiple of these; in the layout `warpgroups` they
    begin and end at multiples of 8, in `warpgroup_columns` at multiples of 16, in `quarter_columns` of 32. (F5) In the other layouts, a thread's part of a row is a
    multiple of 16 bytes.

    ```mlir
    !ring = !fp8.pipeline<2, c: !fp8.tile<128x64xbf16, swizzle_128b>>
    !sum = !fp8.fragment<128x128xf32, 4>
    func.func @residual(%in: !fp8.consumer_stage<!ring>, %sum: !sum, %beta: f32) -> !fp8.consumer_stage<!ring> attributes {fp8.linear} {
      %c = fp8.tile %in["c"] : !fp8.consumer_stage<!ring>
      %d = fp8.add_tile %sum[64], %c scaled %beta : !sum, !fp8.tile<128x64xbf16, swizzle_128b>
      return %in : !fp8.consumer_stage<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_FragmentType:$fragment, Fp8_TileType:$tile, Optional<F32>:$scale,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$column);
  let results = (outs Fp8_FragmentType:$result);
  let assemblyFormat = [{
    $fragment `[` $column `]` `,` $tile (`scaled` $scale^)? attr-dict `:` qualified(type($fragment)) `,` qualified(type($tile))
  }];
  let hasVerifier = 1;
}

def Fp8_AddRowOp : Fp8_ViewReaderOp<"add_row", [AllTypesMatch<["fragment", "result"]>]> {
  let summary = "adds a row in shared memory to each row of a fragment";
  let description = [{
    `result[m, n] = fragment[m, n] + row[0, n]`: a bias for each column.

    (F4) The row is an unswizzled 1 x N tile of f32, bf16 or f16. (F5) A thread's part of it is a multiple of 16 bytes.

    ```mlir
    !ring = !fp8.pipeline<1, bias: !fp8.tile<1x128xf32>>
    !sum = !fp8.fragment<128x128xf32, 4>
    func.func @bias(%in: !fp8.consumer_stage<!ring>, %sum: !sum) -> !fp8.consumer_stage<!ring> attributes {fp8.linear} {
      %row = fp8.tile %in["bias"] : !fp8.consumer_stage<!ring>
      %d = fp8.add_row %sum, %row : !sum, !fp8.tile<1x128xf32>
      return %in : !fp8.consumer_stage<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_FragmentType:$fragment, Fp8_TileType:$row);
  let results = (outs Fp8_FragmentType:$result);
  let assemblyFormat = "$fragment `,` $row attr-dict `:` qualified(type($fragment)) `,` qualified(type($row))";
  let hasVerifier = 1;
}

def Fp8_ReadElementOp : Fp8_ViewReaderOp<"read_element", [Fp8_NamesResult<"element">]> {
  let summary = "reads an element of a row in shared memory";
  let description = [{
    Every thread of the role gets the same element, such as a B scale.

    (F6) The row is an unswizzled 1 x N tile of f32. (F7) The column is inside the row.

    ```mlir
    !ring = !fp8.pipeline<3, b_scale: !fp8.tile<1x4xf32>>
    func.func @scale(%in: !fp8.consumer_stage<!ring>) -> (f32, !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
      %row = fp8.tile %in["b_scale"] : !fp8.consumer_stage<!ring>
      %scale = fp8.read_element %row[0] : !fp8.tile<1x4xf32>
      return %scale, %in : f32, !fp8.consumer_stage<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_TileType:$row, ConfinedAttr<I64Attr, [IntNonNegative]>:$column);
  let results = (outs F32:$element);
  let assemblyFormat = "$row `[` $column `]` attr-dict `:` qualified(type($row))";
  let hasVerifier = 1;
}

def Fp8_MapOp : Fp8_Op<"map", [InLinearFunction, Pure, SingleBlock, Fp8_NamesElements]> {
  let summary = "computes each element of a fragment from the same element of other fragments";
  let description = [{
    Runs the body for every element, in registers. The block's arguments are the operands' elements at one place, and the yielded value is
    the result's element there. The body may use values from outside.

    (E1) There is at least one operand, and all have the result's type. (E2) The body has an f32 argument for each operand and yields one
    f32. (E3) Its ops are pure and have no regions. (E4) Instructions exist for its ops. The ops of the math dialect are absf, ceil, exp,
    exp2, floor, fma, rsqrt, sqrt and tanh, on f32. Those of the arith dialect are all but remf, scaling_extf and scaling_truncf, on f16,
    bf16, f32, f64, index and integers of at most 64 bits, addui_extended not on index. No op names a rounding mode other than to the
    nearest. exp, exp2, rsqrt and tanh are approximations (PTX ISA, ex2.approx, rsqrt.approx, tanh.approx).

    ```mlir
    !sum = !fp8.fragment<128x128xf32, 4>
    func.func @silu(%sum: !sum, %scale: f32) attributes {fp8.linear} {
      // x * sigmoid(x) = h * tanh(h) + h, h = x / 2; then an output scale.
      %half = arith.constant 0.5 : f32
      %d = fp8.map(%x = %sum) : !sum -> !sum {
        %h = arith.mulf %x, %half : f32
        %t = math.tanh %h : f32
        %y = math.fma %h, %t, %h : f32
        %scaled = arith.mulf %y, %scale : f32
        fp8.yield %scaled : f32
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Fp8_FragmentType>:$inits);
  let results = (outs Fp8_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

#endif // FP8_IR_FRAGMENT
