// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interfaces through which ops and types take part in the linearity rules. Dialects built on fp8 implement them too.

#ifndef FP8_IR_FP8INTERFACES
#define FP8_IR_FP8INTERFACES

include "mlir/IR/OpBase.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Fp8_LinearTypeInterface : TypeInterface<"LinearTypeInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    A type whose values must be consumed exactly once on every path (L1).
  }];
  let methods = [
    InterfaceMethod<"The name of a value of this type in diagnostics, such as \"producer stage\".",
      "::llvm::StringRef", "getHandleName">,
    InterfaceMethod<"The op that a user would write to consume the value, such as \"fp8.release\".",
      "::llvm::StringRef", "getConsumerName">
  ];
}

def Fp8_RingTypeInterface : TypeInterface<"RingTypeInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    A ring of slots, each guarded by a full and an empty barrier.
  }];
  let methods = [
    InterfaceMethod<"The number of slots, at least 1.", "int64_t", "getNumStages">
  ];
}

def Fp8_EndTypeInterface : TypeInterface<"EndTypeInterface", [Fp8_LinearTypeInterface]> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    One side's position in a ring: `fp8.acquire` takes it, and `fp8.release` gives it back, advanced by one slot.
  }];
  let methods = [
    InterfaceMethod<"The ring.", "::mlir::Type", "getRing">,
    InterfaceMethod<"The type of the stage that `fp8.acquire` takes from this end.", "::mlir::Type", "getStageType">,
    InterfaceMethod<"True if this side fills the slots, false if it empties them.", "bool", "isProducer">
  ];
}

def Fp8_StageTypeInterface : TypeInterface<"StageTypeInterface", [Fp8_LinearTypeInterface]> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    One acquired slot of a ring.
  }];
  let methods = [
    InterfaceMethod<"The ring.", "::mlir::Type", "getRing">,
    InterfaceMethod<"The type of the end that `fp8.release` gives back.", "::mlir::Type", "getEndType">
  ];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

def Fp8_LinearOpInterface : OpInterface<"LinearOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    What an op does with its linear operands (L6, L7). Ops that forward values along control flow (terminators, loops,
    branches, calls) need not implement it: forwarding a linear value transfers its ownership (L5).
  }];
  let methods = [
    InterfaceMethod<[{
        Whether the op consumes the linear operand (the default) or borrows it.
      }], "::mlir::fp8::LinearUse", "getLinearUse", (ins "::mlir::OpOperand &":$operand),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return ::mlir::fp8::LinearUse::Consume;
      }]>,
    InterfaceMethod<[{
        True if the op lends the result. A lent result is valid only while the linear operands that the op borrows are alive, and those
        behind the lent values that it uses (L9). A lent result that is linear must be consumed in that time.
      }], "bool", "lendsResult", (ins "::mlir::OpResult":$result), /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return false;
      }]>,
    InterfaceMethod<[{
        True if the op itself consumes this argument of one of its blocks when the region ends, so that the body may only
        borrow it.
      }], "bool", "managesArgument", (ins "::mlir::BlockArgument":$argument), /*methodBody=*/[{}],
      /*defaultImplementation=*/[{
        return false;
      }]>,
    InterfaceMethod<[{
        True if the op may wait until a slot of the ring end in this operand is handed over. By default an op that may access barriers may wait.
        The proof follows the waits of fp8's ops and takes no other op that may wait.
      }], "bool", "mayWait", (ins "::mlir::OpOperand &":$end), /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return ::mlir::fp8::mayAccessBarriers($_op);
      }]>,
    InterfaceMethod<[{
        True if the op's regions may not capture linear values from outside (a role runs on other warps).
      }], "bool", "refusesCapture", (ins), /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return false;
      }]>
  ];
}

def Fp8_HandleOpInterface : OpInterface<"HandleOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    An op that takes a handle (an end, a stage, a warp handle, a store queue) and gives it back as a result. The analyses follow a handle
    through these ops to derive counts, bytes and fences. An op of another dialect takes part by implementing this interface. Such an op
    must be lowered to fp8 ops before `--convert-fp8-to-nvvm`.
  }];
  let methods = [
    InterfaceMethod<[{
        The result that continues the handle in this operand; null if the handle ends here. By default the first result continues the first
        operand.
      }], "::mlir::OpResult", "getContinuation", (ins "::mlir::OpOperand &":$handle), /*methodBody=*/[{}],
      /*defaultImplementation=*/[{
        return handle.getOperandNumber() == 0 && $_op->getNumResults() ? $_op->getResult(0) : ::mlir::OpResult();
      }]>,
    InterfaceMethod<[{
        The stage whose slot the op hands over to the other side of its ring, as `fp8.release` does; null by default.
      }], "::mlir::Value", "getHandedOver", (ins), /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return ::mlir::Value();
      }]>
  ];
}

def Fp8_RingOpInterface : OpInterface<"RingOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    An op that makes a ring. Its results are the ring's ends.
  }];
  let methods = [
    InterfaceMethod<"The ring's type.", "::mlir::Type", "getRing", (ins), /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return ::llvm::cast<::mlir::fp8::EndTypeInterface>($_op->getResult(0).getType()).getRing();
      }]>
  ];
}

def Fp8_RoleWorkOpInterface : OpInterface<"RoleWorkOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    Work of the warps of a role; the op must be in a role. Ops that copy tiles (TileCopyOpInterface) or read views (ViewReaderOpInterface)
    are such work without implementing this interface.
  }];
  let methods = [
    InterfaceMethod<"The warps that the role must have.", "::mlir::fp8::RoleWarps", "getRoleWarps">
  ];
}

// The role of the op must have `warps`, an enumerator of RoleWarps.
class Fp8_NeedsRole<string warps> : ParamNativeOpTrait<"NeedsRole", "::mlir::fp8::RoleWarps::" # warps> {
  let cppNamespace = "::mlir::fp8::OpTrait";
}
class Fp8_RoleWork<string warps> : TraitList<[Fp8_RoleWorkOpInterface, Fp8_NeedsRole<warps>]>;

def Fp8_EarlierPhaseOpInterface : OpInterface<"EarlierPhaseOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    An op that no kernel in phase 2 contains.
  }];
  let methods = [
    InterfaceMethod<"The pass that lowers the op to phase 2, with its dashes; empty if this instance of the op may remain.", "::llvm::StringRef", "getLoweringPass", (ins),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return "--fp8-flatten-scopes";
      }]>
  ];
}

def Fp8_TileCopyOpInterface : OpInterface<"TileCopyOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    An op that starts an asynchronous copy into a tile of a producer stage and counts its bytes on the stage's full barrier. The barrier
    expects the sum of the bytes of these ops.
  }];
  let methods = [
    InterfaceMethod<"The stage that the copy fills.", "::mlir::Value", "getFilledStage">,
    InterfaceMethod<"The bytes that the copy adds to the barrier's transaction count.", "int64_t", "getBytes">,
    InterfaceMethod<"The argument of the kernel that has these bytes, if the launch decides them; null if they are always `getBytes`.",
      "::mlir::BlockArgument", "getLaunchBytes", (ins), /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return {};
      }]>
  ];
}

def Fp8_ViewReaderOpInterface : OpInterface<"ViewReaderOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    An op by which the threads of a role read what stages lend. Its reads are complete when the op is, so that the release of the stage
    waits for the threads only. The op is in a role with a multiple of four warps (R2).
  }];
  let methods = [
    InterfaceMethod<"The tiles and accumulators that the op reads; by default all its operands of these types.",
      "::llvm::SmallVector<::mlir::Value>", "getViewsRead", (ins), /*methodBody=*/[{}], /*defaultImplementation=*/[{
        return ::mlir::fp8::getViewOperands($_op);
      }]>
  ];
}

def Fp8_FeatureOpInterface : OpInterface<"FeatureOpInterface"> {
  let cppNamespace = "::mlir::fp8";
  let description = [{
    An op whose instructions do not exist on every chip. `--fp8-attach-chip` reports the first op of a kernel that requires a feature the
    chip lacks.
  }];
  let methods = [
    InterfaceMethod<"The features that a chip must have.", "::fp8::chip::FeatureSet", "getRequiredFeatures">
  ];
}

// The op always requires `feature`, an enumerator of fp8::chip::Feature.
class Fp8_RequiresFeature<string feature>
    : ParamNativeOpTrait<"RequiresFeature", "::fp8::chip::Feature::" # feature> {
  let cppNamespace = "::mlir::fp8::OpTrait";
}
class Fp8_Requires<string feature> : TraitList<[Fp8_FeatureOpInterface, Fp8_RequiresFeature<feature>]>;

#endif // FP8_IR_FP8INTERFACES
