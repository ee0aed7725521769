// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exchange family: CTAs that divide K add up their sums.

#ifndef FP8_IR_EXCHANGE
#define FP8_IR_EXCHANGE

include "fp8/IR/Fp8Base.td"

def Fp8_ExchangeOp : Fp8_Op<"exchange", [InEntryBlock, InLinearFunction, Fp8_LinearOpInterface, MemoryEffects<[MemAlloc<Fp8_BarrierResource>]>]> {
  let summary = "makes the shared memory and barriers through which CTAs that divide K exchange sums";
  let description = [{
    Reserves, in the shared memory of each CTA, one slot for each CTA that sends it a share, and the two barriers that guard the slots. The
    op is in the kernel's entry block (P3), as `fp8.pipeline` is.

    (J1) The kernel's clusters have as many CTAs along K as the exchange.

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
  let summary = "adds up the fragments of the CTAs that divide K, and gives each CTA a share of the sum";
  let description = [{
    Divides the columns of the fragment into as many equal parts as there are CTAs along K; if the operands were swapped, the rows. CTA `r`
    gets part `r`, summed over the CTAs in the order of their numbers, so that the result is reproducible. Each thread sends each CTA (its
    own included) that CTA's part with `st.async`, whose bytes complete on the receiver's barrier (PTX ISA, `st.async`). A CTA reads the
    parts once all have arrived. Each warp then hands the slots back, with one lane for each CTA.

    (J2) The fragment has the exchange's fragment type.

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
