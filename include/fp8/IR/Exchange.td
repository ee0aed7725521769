// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exchange family: CTAs that divide K add their sums up.

#ifndef FP8_IR_EXCHANGE
#define FP8_IR_EXCHANGE

include "fp8/IR/Fp8Base.td"

def Fp8_ExchangeOp : Fp8_Op<"exchange", [InEntryBlock, InLinearFunction, Fp8_LinearOpInterface, MemoryEffects<[MemAlloc<Fp8_BarrierResource>]>]> {
  let summary = "makes the place where the CTAs that divide K exchange sums";
  let description = [{
    Lays out, in the shared memory of each of the CTAs, a slot for the share that each of them sends it, and the two barriers that guard them. Like a pipeline, it stands in the
    kernel's entry block (P3).

    (J1) the kernel's clusters have as many CTAs along K as the exchange.

    ```mlir
    !exchange = !fp8.exchange<4, !fp8.fragment<64x64xf32, 4, warpgroups>>
    func.func @meet() attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 4>} {
      %exchange = fp8.exchange : !exchange
      fp8.close %exchange : !exchange
      return
    }
    ```
  }];
  let results = (outs Fp8_ExchangeType:$exchange);
  let assemblyFormat = "attr-dict `:` qualified(type($exchange))";
  let hasVerifier = 1;
}

def Fp8_ReduceScatterOp : Fp8_ConsumingOp<"reduce_scatter", [Fp8_HandleOpInterface, Fp8_RoleWork<"Warpgroups">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "adds the fragments of the CTAs that divide K up, and gives each a share";
  let description = [{
    The `r`th of the CTAs along K gets the `r`th of as many equal parts of the columns, of a fragment of layout `warpgroup_columns` of the rows, summed over the CTAs in the order of their numbers: the same sums every time. Each thread
    sends each CTA, its own too, its part of that CTA's share with `st.async`, whose bytes complete on the receiver's barrier (PTX ISA, `st.async`); what has come is read when all
    of it has, and a lane of each warp for each CTA then hands the slot back.

    (J2) the fragment is the exchange's.

    ```mlir
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    !exchange = !fp8.exchange<4, !sum>
    func.func @add(%sum: !sum, %exchange: !exchange) -> !exchange attributes {fp8.linear, fp8.cluster = array<i64: 1, 1, 4>} {
      %share, %next = fp8.reduce_scatter %sum through %exchange : !sum, !exchange
      return %next : !exchange
    }
    ```
  }];
  let arguments = (ins Fp8_FragmentType:$fragment, Fp8_ExchangeType:$exchange);
  let results = (outs Fp8_FragmentType:$share, Fp8_ExchangeType:$next);
  let assemblyFormat = "$fragment `through` $exchange attr-dict `:` qualified(type($fragment)) `,` qualified(type($exchange))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::OpResult getContinuation(::mlir::OpOperand &handle) {
      return handle.get() == getExchange() ? ::llvm::cast<::mlir::OpResult>(getNext()) : ::mlir::OpResult();
    }
  }];
}

#endif // FP8_IR_EXCHANGE
