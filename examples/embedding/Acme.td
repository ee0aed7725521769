// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dialect built on fp8: ops that handle linear values.

#ifndef ACME
#define ACME

include "fp8/IR/Fp8Base.td"

def Acme_Dialect : Dialect {
  let name = "acme";
  let cppNamespace = "::acme";
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Acme_AccumulateOp : Op<Acme_Dialect, "accumulate", [InLinearFunction, AllTypesMatch<["sum", "result"]>,
    DeclareOpInterfaceMethods<Fp8_LinearOpInterface, ["getLinearUse"]>]> {
  let summary = "adds a K block's scaled product to a fragment";
  let description = [{
    Multiplies the stage's tiles "a" and "b", scales the product by its A scales "s" and by `b_scale`, and adds it to `sum`. The stage is borrowed: whoever has
    acquired it releases it. `acme-lower` makes the fp8 ops of it.
  }];
  let arguments = (ins Fp8_FragmentType:$sum, Fp8_ConsumerStageType:$stage, F32:$b_scale);
  let results = (outs Fp8_FragmentType:$result);
  let assemblyFormat = "$sum `,` $stage `scaled` $b_scale attr-dict `:` qualified(type($sum)) `,` qualified(type($stage))";
}

def Acme_ReleaseLateOp : Op<Acme_Dialect, "release_late", [InLinearFunction, Fp8_LinearOpInterface, Fp8_RoleWork<"Any">,
    DeclareOpInterfaceMethods<Fp8_HandleOpInterface, ["getHandedOver"]>, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "hands a slot over after a while";
  let description = [{
    What `fp8.release` does, `ns` nanoseconds later: a test that delays one role finds out whether another one relies on its speed. fp8 counts the arrival and
    places the fence as for its own op; `acme-lower-planned` then makes `fp8.release` of it.
  }];
  let arguments = (ins Fp8_AnyStage:$stage, ConfinedAttr<I32Attr, [IntPositive]>:$ns);
  let results = (outs Fp8_AnyEnd:$end);
  let assemblyFormat = "$stage `after` $ns attr-dict `:` type($stage)";
}

def Acme_SkipOp : Op<Acme_Dialect, "skip", [InLinearFunction, Fp8_LinearOpInterface, Fp8_HandleOpInterface, Fp8_RoleWork<"Any">,
    DeclareOpInterfaceMethods<InferTypeOpInterface>, MemoryEffects<[MemRead<Fp8_BarrierResource>, MemWrite<Fp8_BarrierResource>]>]> {
  let summary = "hands the next slot back unread";
  let description = [{
    Waits for the end's next slot, unless the end is ready, and hands it back. `acme-lower` makes `fp8.acquire` and `fp8.release` of it.
  }];
  let arguments = (ins Fp8_AnyWaitable:$end);
  let results = (outs Fp8_AnyEnd:$next);
  let assemblyFormat = "$end attr-dict `:` type($end)";
}

#endif // ACME
