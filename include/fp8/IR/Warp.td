// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warp family: role regions, and the MMA-warp and epilogue-warp handles with their tensor-memory hand-off.

#ifndef FP8_IR_WARP
#define FP8_IR_WARP

include "fp8/IR/Fp8Base.td"

def Fp8_YieldOp : Fp8_Op<"yield", [Pure, Terminator, InLinearFunction, Fp8_LinearOpInterface,
    ParentOneOf<["RoleOp", "ProduceOp", "ConsumeOp", "PerKStageOp", "MmaWarpOp", "EpilogueWarpOp", "ForEachTileOp",
                  "LeadingCtaOp", "ConsumeExplicitOp", "MapOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface, ["getMutableSuccessorOperands"]>]> {
  let summary = "ends an fp8 region";
  let description = [{
    Passes the operands on: to the results of a scope, to the next iteration of a loop. In a role it takes ends, which are closed.
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Fp8_RoleOp : Fp8_Op<"role", [InLinearFunction, Fp8_LinearOpInterface,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>]> {
  let summary = "what a group of warps does";
  let description = [{
    The kernel's warps are dealt to its roles in the order of the text: the first role has warps 0 .. warps-1, and so on. The body runs on
    those warps alone. It takes the ends of the rings that the role works on as arguments (L6: it captures no linear value) and gives
    them back by its yields, which close them, or closes them itself.

    (R1) the op stands in the kernel's entry block; (R2) a role that reads tensor memory has a multiple of 4 warps and starts at a multiple of 4, since warp w reaches lanes 32*(w mod 4) .. +31
    only (PTX ISA, tcgen05 access restrictions); (R3) a role that issues copies into a pipeline or MMAs has one warp.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @kernel() attributes {fp8.linear} {
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
        fp8.yield %end : !fp8.producer<!ring>
      }
      fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
        fp8.close %end : !fp8.consumer<!ring>
      }
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<32>]>:$warps, Variadic<AnyType>:$inits);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool refusesCapture() { return true; }
  }];
}

//===----------------------------------------------------------------------===//
// Linear forms (phase 2)
//===----------------------------------------------------------------------===//

def Fp8_CreateMmaWarpOp : Fp8_ConsumingOp<"create_mma_warp"> {
  let summary = "allocates the tensor memory of an output pipeline and announces it";
  let description = [{
    The whole warp allocates the columns of the ring, writes their address to shared memory and arrives at the hand-off barrier on which
    `fp8.wait_tmem` waits.
  }];
  let arguments = (ins Fp8_ProducerType:$end);
  let results = (outs Fp8_MmaWarpType:$warp);
  let assemblyFormat = "$end attr-dict `:` qualified(type($end)) `->` qualified(type($warp))";
  let hasVerifier = 1;
}

def Fp8_ReleaseMmaWarpOp : Fp8_ConsumingOp<"release_mma_warp"> {
  let summary = "waits for the epilogue warps and frees the tensor memory";
  let description = [{
    Waits until every epilogue warp has been released, then frees the columns.
  }];
  let arguments = (ins Fp8_MmaWarpType:$warp);
  let assemblyFormat = "$warp attr-dict `:` qualified(type($warp))";
}

def Fp8_WaitTmemOp : Fp8_Op<"wait_tmem", [InLinearFunction, Fp8_LinearOpInterface,
    MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "waits until the tensor memory is allocated";
  let description = [{
    Borrows the consumer end, waits for the MMA warp's announcement and yields the evidence that `fp8.create_epilogue_warp` needs.
  }];
  let arguments = (ins Fp8_ConsumerType:$end);
  let results = (outs Fp8_TmemReadyType:$ready);
  let assemblyFormat = "$end attr-dict `:` qualified(type($end)) `->` qualified(type($ready))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
  }];
}

def Fp8_CreateEpilogueWarpOp : Fp8_ConsumingOp<"create_epilogue_warp"> {
  let summary = "makes the epilogue warps' handle";
  let description = [{
    Consumes the end and the evidence that its tensor memory is there.
  }];
  let arguments = (ins Fp8_ConsumerType:$end, Fp8_TmemReadyType:$ready);
  let results = (outs Fp8_EpilogueWarpType:$warp);
  let assemblyFormat = "$end `,` $ready attr-dict `:` qualified(type($end)) `,` qualified(type($ready)) `->` qualified(type($warp))";
  let hasVerifier = 1;
}

def Fp8_ReleaseEpilogueWarpOp : Fp8_ConsumingOp<"release_epilogue_warp"> {
  let summary = "tells the MMA warp that the tensor memory is no longer read";
  let description = [{
    Each warp arrives at the barrier on which `fp8.release_mma_warp` waits.
  }];
  let arguments = (ins Fp8_EpilogueWarpType:$warp);
  let assemblyFormat = "$warp attr-dict `:` qualified(type($warp))";
}

//===----------------------------------------------------------------------===//
// Scoped forms (phase 1)
//===----------------------------------------------------------------------===//

class Fp8_WarpScopeOp<string mnemonic> : Fp8_BindingRegionOp<mnemonic, [Fp8_LinearOpInterface]>;

def Fp8_MmaWarpOp : Fp8_WarpScopeOp<"mma_warp"> {
  let summary = "an MMA warp for the length of the body";
  let description = [{
    Makes an MMA warp of the producer end, hands it to the body, and releases the handle that the body yields first. Results: what else
    the body yields.
  }];
}

def Fp8_EpilogueWarpOp : Fp8_WarpScopeOp<"epilogue_warp"> {
  let summary = "epilogue warps for the length of the body";
  let description = [{
    Waits for the tensor memory, makes the epilogue warps' handle of the consumer end, hands it to the body, and releases the handle
    that the body yields first. Results: what else the body yields.
  }];
}

#endif // FP8_IR_WARP
