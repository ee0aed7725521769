// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The warp family: roles, and the handles of MMA warps and epilogue warps, which allocate and hand over tensor memory.

#ifndef FP8_IR_WARP
#define FP8_IR_WARP

include "fp8/IR/Fp8Base.td"

def Fp8_YieldOp : Fp8_Op<"yield", [DeclareOpInterfaceMethods<Fp8_EarlierPhaseOpInterface, ["getLoweringPass"]>, Pure, Terminator, InLinearFunction, Fp8_LinearOpInterface,
    ParentOneOf<["RoleOp", "ProduceOp", "ConsumeOp", "PerKStageOp", "MmaWarpOp", "EpilogueWarpOp", "ForEachTileOp",
                  "LeadingCtaOp", "ConsumeExplicitOp", "MapOp", "BlockwiseGemmOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface, ["getMutableSuccessorOperands"]>]> {
  let summary = "ends an fp8 region";
  let description = [{
    Passes its operands to the results of a scope, or to the next iteration of a loop. In a role it takes ends, and closes them.

    ```mlir
    func.func @double(%x: !fp8.fragment<128x64xf32, 4>) attributes {fp8.linear} {
      %y = fp8.map(%e = %x) : !fp8.fragment<128x64xf32, 4> -> !fp8.fragment<128x64xf32, 4> {
        %sum = arith.addf %e, %e : f32
        fp8.yield %sum : f32
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Fp8_RoleOp : Fp8_Op<"role", [InEntryBlock, InLinearFunction, Fp8_LinearOpInterface,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>]> {
  let summary = "the work of a group of warps";
  let description = [{
    The roles divide the kernel's warps in the order of the text: the first role has warps 0 .. warps-1, and so on. Only those warps run the
    body. The body takes the ends of the rings that the role uses as arguments (L6: it captures no linear value). It gives them back by its
    yields, which close them, or closes them itself.

    (R1) The op is in the kernel's entry block. (R2) A role that reads tensor memory has a multiple of 4 warps and starts at a multiple of
    4, since warp w reaches only lanes 32*(w mod 4) .. +31 (PTX ISA, tcgen05 access restrictions). (R3) A role that starts copies into a
    pipeline, or MMAs, has one warp.

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

    /// The op that says which thread of the role this is; null in kernels whose rings are no barriers yet.
    ::mlir::fp8::RoleThreadOp getThread();
  }];
}

//===----------------------------------------------------------------------===//
// Linear forms (phase 2)
//===----------------------------------------------------------------------===//

def Fp8_CreateMmaWarpOp : Fp8_ConsumingOp<"create_mma_warp", [Fp8_HandleOpInterface, Fp8_RoleWork<"One">]> {
  let summary = "allocates the tensor memory of an output pipeline and announces it";
  let description = [{
    The whole warp allocates the columns of the ring, writes their address to shared memory and arrives at the hand-off barrier on which
    `fp8.wait_tmem` waits.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @allocate(%end: !fp8.producer<!acc>) -> !fp8.mma_warp<!acc> attributes {fp8.linear} {
      %warp = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      return %warp : !fp8.mma_warp<!acc>
    }
    ```
  }];
  let arguments = (ins Fp8_ProducerType:$end);
  let results = (outs Fp8_MmaWarpType:$warp);
  let assemblyFormat = "$end attr-dict `:` qualified(type($end)) `->` qualified(type($warp))";
  let hasVerifier = 1;
}

def Fp8_ReleaseMmaWarpOp : Fp8_ConsumingOp<"release_mma_warp", [Fp8_RoleWork<"Any">]> {
  let summary = "waits for the epilogue warps and frees the tensor memory";
  let description = [{
    Waits until every epilogue warp has been released, then frees the columns of tensor memory.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @free(%warp: !fp8.mma_warp<!acc>) attributes {fp8.linear} {
      fp8.release_mma_warp %warp : !fp8.mma_warp<!acc>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_MmaWarpType:$warp);
  let assemblyFormat = "$warp attr-dict `:` qualified(type($warp))";
}

def Fp8_WaitTmemOp : Fp8_Op<"wait_tmem", [Fp8_RoleWork<"Any">, InLinearFunction, Fp8_LinearOpInterface,
    MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "waits until the tensor memory is allocated";
  let description = [{
    Borrows the consumer end, waits until the MMA warp has allocated the tensor memory, and yields the evidence that
    `fp8.create_epilogue_warp` needs.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @meet(%end: !fp8.consumer<!acc>) -> (!fp8.consumer<!acc>, !fp8.tmem_ready<!acc>) attributes {fp8.linear} {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      return %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc>
    }
    ```
  }];
  let arguments = (ins Fp8_ConsumerType:$end);
  let results = (outs Fp8_TmemReadyType:$ready);
  let assemblyFormat = "$end attr-dict `:` qualified(type($end)) `->` qualified(type($ready))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
  }];
}

def Fp8_CreateEpilogueWarpOp : Fp8_ConsumingOp<"create_epilogue_warp", [Fp8_HandleOpInterface, Fp8_RoleWork<"Warpgroups">]> {
  let summary = "makes the epilogue warps' handle";
  let description = [{
    Consumes the end and the evidence that its tensor memory is allocated.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @create(%end: !fp8.consumer<!acc>) -> !fp8.epilogue_warp<!acc> attributes {fp8.linear} {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %warp = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      return %warp : !fp8.epilogue_warp<!acc>
    }
    ```
  }];
  let arguments = (ins Fp8_ConsumerType:$end, Fp8_TmemReadyType:$ready);
  let results = (outs Fp8_EpilogueWarpType:$warp);
  let assemblyFormat = "$end `,` $ready attr-dict `:` qualified(type($end)) `,` qualified(type($ready)) `->` qualified(type($warp))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool mayWait(::mlir::OpOperand &) { return false; }
  }];
}

def Fp8_ReleaseEpilogueWarpOp : Fp8_ConsumingOp<"release_epilogue_warp", [Fp8_RoleWork<"Any">]> {
  let summary = "tells the MMA warp that the tensor memory is no longer read";
  let description = [{
    Each warp arrives at the barrier on which `fp8.release_mma_warp` waits.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @leave(%warp: !fp8.epilogue_warp<!acc>) attributes {fp8.linear} {
      fp8.release_epilogue_warp %warp : !fp8.epilogue_warp<!acc>
      return
    }
    ```
  }];
  let arguments = (ins Fp8_EpilogueWarpType:$warp);
  let assemblyFormat = "$warp attr-dict `:` qualified(type($warp))";
}

//===----------------------------------------------------------------------===//
// Scoped forms (phase 1)
//===----------------------------------------------------------------------===//

class Fp8_WarpScopeOp<string mnemonic> : Fp8_BindingRegionOp<mnemonic, [Fp8_EarlierPhaseOpInterface, Fp8_LinearOpInterface]>;

def Fp8_MmaWarpOp : Fp8_WarpScopeOp<"mma_warp"> {
  let summary = "creates an MMA warp, runs the body, and releases it";
  let description = [{
    Creates an MMA warp from the producer end, passes it to the body, and releases the handle, which the body yields first. Results: the
    other values that the body yields.

    ```mlir
    !a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
    !ring = !fp8.pipeline<3, a: !a, b: !a>
    !acc = !fp8.output_pipeline<2, 128x128xf32>
    func.func @one(%end: !fp8.producer<!acc>, %in: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %in3 = fp8.mma_warp(%warp = %end) : !fp8.producer<!acc> -> !fp8.consumer<!ring> {
        %warp2, %in2 = fp8.per_k_stage(%stage = %warp, %input = %in) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
            -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
          %accumulator = fp8.accumulator %stage : !fp8.mma_stage<!acc>
          %at = fp8.tile %input["a"] : !fp8.consumer_stage<!ring>
          %bt = fp8.tile %input["b"] : !fp8.consumer_stage<!ring>
          fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x128xf32>, !a, !a
        }
        fp8.yield %warp2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
      }
      return %in3 : !fp8.consumer<!ring>
    }
    ```
  }];
}

def Fp8_EpilogueWarpOp : Fp8_WarpScopeOp<"epilogue_warp"> {
  let summary = "creates epilogue warps, runs the body, and releases them";
  let description = [{
    Waits for the tensor memory, creates the epilogue warps' handle from the consumer end, passes it to the body, and releases the handle,
    which the body yields first. Results: the other values that the body yields.

    ```mlir
    !acc = !fp8.output_pipeline<2, 128x64xf32>
    !sum = !fp8.fragment<128x64xf32, 4>
    func.func @one(%end: !fp8.consumer<!acc>) -> !sum attributes {fp8.linear} {
      %sum2 = fp8.epilogue_warp(%warp = %end) : !fp8.consumer<!acc> -> !sum {
        %warp2, %sum = fp8.consume(%stage = %warp) : !fp8.epilogue_warp<!acc> -> (!fp8.epilogue_warp<!acc>, !sum) {
          %accumulator = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
          %f = fp8.read %accumulator : !fp8.tmem<128x64xf32> -> !sum
          fp8.yield %f : !sum
        }
        fp8.yield %warp2, %sum : !fp8.epilogue_warp<!acc>, !sum
      }
      return %sum2 : !sum
    }
    ```
  }];
}

#endif // FP8_IR_WARP
