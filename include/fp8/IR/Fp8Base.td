// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bases of the fp8 ops: the op class, its traits and the operand constraints.

#ifndef FP8_IR_FP8BASE
#define FP8_IR_FP8BASE

include "fp8/IR/Fp8Types.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// (L6) Linear values live only in functions that carry `fp8.linear`, where the whole-function check sees them.
def InLinearFunction : NativeOpTrait<"InLinearFunction"> {
  let cppNamespace = "::mlir::fp8::OpTrait";
}

// (P3, R1) The op belongs in the entry block of its kernel.
def InEntryBlock : NativeOpTrait<"InEntryBlock"> {
  let cppNamespace = "::mlir::fp8::OpTrait";
}

// (B4) The op belongs in kernels whose rings are barriers.
def InBarrierPhase : NativeOpTrait<"InBarrierPhase"> {
  let cppNamespace = "::mlir::fp8::OpTrait";
}

// The resource that waiting, signalling and asynchronous copies read and write. It keeps passes from reordering or removing them (L8).
def Fp8_BarrierResource : Resource<"::mlir::fp8::BarrierResource">;

// Names the result in printed IR, for ops whose result type gives no good name.
class Fp8_NamesResult<string name> : NativeOpTrait<"OpAsmOpInterface::Trait", [], [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) { setName(getResult(), "}] # name # [{"); }
  }]> {
  let cppNamespace = "::mlir";
}

// Names the arguments of an elementwise function in printed IR.
def Fp8_NamesElements : NativeOpTrait<"OpAsmOpInterface::Trait", [], [{
    void getAsmBlockArgumentNames(::mlir::Region &region, ::mlir::OpAsmSetValueNameFn setName) {
      for (::mlir::BlockArgument element : region.getArguments())
        setName(element, "x");
    }
  }]> {
  let cppNamespace = "::mlir";
}

class Fp8_Op<string mnemonic, list<Trait> traits = []> : Op<Fp8_Dialect, mnemonic, traits>;

// An op whose linear operands are all consumed.
class Fp8_ConsumingOp<string mnemonic, list<Trait> traits = []>
    : Fp8_Op<mnemonic, !listconcat(traits, [InLinearFunction, Fp8_LinearOpInterface,
                                            MemoryEffects<[MemRead<Fp8_BarrierResource>,
                                                           MemWrite<Fp8_BarrierResource>]>])>;

// An op whose linear operands are all borrowed, and whose results are lent.
class Fp8_BorrowingOp<string mnemonic, list<Trait> traits = []>
    : Fp8_Op<mnemonic, !listconcat(traits, [InLinearFunction, Fp8_LinearOpInterface])> {
  let extraClassDeclaration = [{
    ::mlir::fp8::LinearUse getLinearUse(::mlir::OpOperand &) { return ::mlir::fp8::LinearUse::Borrow; }
    bool lendsResult(::mlir::OpResult) { return true; }
  }];
}

def Fp8_AnyEnd : Type<CPred<"::llvm::isa<::mlir::fp8::EndTypeInterface>($_self)">,
                      "end of a ring (producer, consumer, mma warp or epilogue warp)">;
def Fp8_AnyStage : Type<CPred<"::llvm::isa<::mlir::fp8::StageTypeInterface>($_self)">, "stage of a ring">;
def Fp8_AnyWaitable : Type<CPred<"::mlir::fp8::getEndOf($_self)">, "end of a ring, or a ready end">;
def Fp8_AnySlot : Type<Or<[Fp8_AnyStage.predicate, Fp8_AnyWaitable.predicate]>, "stage, end or ready end of a ring">;
def Fp8_AnySignalled : Type<CPred<"::llvm::isa<::mlir::fp8::SignalledType>($_self)">, "stage signalled by fp8.arrive">;
def Fp8_AnyCloseable : Type<CPred<"::llvm::isa<::mlir::fp8::ProducerType, ::mlir::fp8::ConsumerType, "
                                  "::mlir::fp8::StoreQueueType, ::mlir::fp8::ExchangeType>($_self)">,
                            "producer end, consumer end, store queue or exchange">;
def Fp8_PayloadStage : Type<CPred<"::llvm::isa<::mlir::fp8::ProducerStageType, ::mlir::fp8::ConsumerStageType>($_self)">,
                            "producer or consumer stage of a pipeline">;
def Fp8_AccumulatorStage : Type<CPred<"::llvm::isa<::mlir::fp8::MmaStageType, ::mlir::fp8::EpilogueStageType>($_self)">,
                                "mma or epilogue stage of an output pipeline">;

def Fp8_ScaleTile
    : Type<CPred<"$_self == ::mlir::fp8::TileType::getOfScales($_self.getContext())">, "tile of 32x16xf8E8M0FNU, the scales of 128 rows",
           "::mlir::fp8::TileType">,
      BuildableType<"::mlir::fp8::TileType::getOfScales($_builder.getContext())">;

// Regions whose block arguments are bound to operands: `(%stage = %end, …) : types -> types { … }`.
class Fp8_BindingRegionOp<string mnemonic, list<Trait> traits = []>
    : Fp8_Op<mnemonic, !listconcat(traits, [InLinearFunction, SingleBlockImplicitTerminator<"::mlir::fp8::YieldOp">,
        DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>])> {
  let arguments = (ins Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // FP8_IR_FP8BASE
