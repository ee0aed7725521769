// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warpgroup family: products of tiles that four warps together compute in their registers (Hopper).

#ifndef FP8_IR_WARPGROUP
#define FP8_IR_WARPGROUP

include "fp8/IR/Fp8Base.td"

def Fp8_WarpgroupMmaOp : Fp8_Op<"warpgroup_mma", [InLinearFunction, Fp8_LinearOpInterface, Fp8_ViewReaderOpInterface, Fp8_Requires<"WarpgroupMma">,
    MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "D = A * B^T, or D += A * B^T, in the registers of warpgroups";
  let description = [{
    Starts the asynchronous product of some rows of A with all of B (wgmma.mma_async). Each warpgroup of the role owns the same number of
    consecutive rows of A, and multiplies 64 of them: those of part `part`, counted from 0. With `accumulate` the product is added to that
    fragment. With `into` the product overwrites the registers of that fragment, which is not read. `fp8.wait_mma` must wait for the product
    before the stage of the tiles is released (L9).

    (A1) A is M x K and B is N x K, K-major, `swizzle_128b`, each of f8E4M3FN or f8E5M2, or both of bf16 or f16. (A3) A row is 128 bytes,
    the span of the swizzle. (A4) A has 64 rows for each warpgroup, or a multiple of that, and the part exists. (A5) The product has 64 rows
    for each warpgroup and N columns.

    A product of layout `warpgroup_columns` swaps the operands: D^T = B * A^T. The rules on the rows of A then apply to the rows of B: B has
    64 rows for each warpgroup, or a multiple of that, and the part exists (A4); all of A is multiplied. The product has M rows, fewer than
    64, and 64 columns for each warpgroup (A5).

    The fragment of `accumulate` or `into` has the product's type (A5).

    ```mlir
    !a = !fp8.tile<256x128xf8E4M3FN, swizzle_128b>
    !b = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
    !ring = !fp8.pipeline<3, a: !a, b: !b>
    !product = !fp8.fragment<128x128xf32, 8, warpgroups>
    func.func @halves(%stage: !fp8.consumer_stage<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %first = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!product>
      %upper = fp8.wait_mma %first : !fp8.pending<!product>
      %second = fp8.warpgroup_mma %a, %b part 1 : !a, !b -> !fp8.pending<!product>
      %lower = fp8.wait_mma %second : !fp8.pending<!product>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }

    // Few rows: columns of the product are the rows of the instruction.
    !few = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
    !swapped = !fp8.pipeline<3, a: !few, b: !b>
    !columns = !fp8.fragment<16x64xf32, 4, warpgroup_columns>
    func.func @swapped(%stage: !fp8.consumer_stage<!swapped>) -> !fp8.consumer<!swapped> attributes {fp8.linear} {
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!swapped>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!swapped>
      %right = fp8.warpgroup_mma %a, %b part 1 : !few, !b -> !fp8.pending<!columns>
      %product = fp8.wait_mma %right : !fp8.pending<!columns>
      %next = fp8.release %stage : !fp8.consumer_stage<!swapped>
      return %next : !fp8.consumer<!swapped>
    }
    ```
  }];
  let arguments = (ins Fp8_TileType:$a, Fp8_TileType:$b, Optional<Fp8_FragmentType>:$accumulator,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$part, UnitAttr:$overwrites);
  let results = (outs Fp8_PendingType:$pending);
  let assemblyFormat = [{
    $a `,` $b (`part` $part^)? custom<Registers>($accumulator, type($accumulator), $overwrites) attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) `->` qualified(type($pending))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool lendsResult(::mlir::OpResult) { return true; }
  }];
}

def Fp8_WaitMmaOp : Fp8_ConsumingOp<"wait_mma", [Fp8_NamesResult<"product">,
    TypesMatchWith<"the result is the product", "pending", "fragment", "::llvm::cast<::mlir::fp8::PendingType>($_self).getFragment()">]> {
  let summary = "waits for a product in registers";
  let description = [{
    Waits until the product, and everything that the warpgroup started before it, is complete. The tiles that it reads may then be
    overwritten.

    ```mlir
    !half = !fp8.tile<64x64xbf16, swizzle_128b>
    !ring = !fp8.pipeline<3, a: !half, b: !half>
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    func.func @add(%stage: !fp8.consumer_stage<!ring>, %sum: !sum) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %pending = fp8.warpgroup_mma %a, %b accumulate(%sum : !sum) : !half, !half -> !fp8.pending<!sum>
      %next = fp8.wait_mma %pending : !fp8.pending<!sum>
      %end = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %end : !fp8.consumer<!ring>
    }
    ```
  }];
  let arguments = (ins Fp8_PendingType:$pending);
  let results = (outs Fp8_FragmentType:$fragment);
  let assemblyFormat = "$pending attr-dict `:` qualified(type($pending))";
}

#endif // FP8_IR_WARPGROUP
