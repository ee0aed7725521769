// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cluster family: work that one CTA of a cluster does for the others.

#ifndef FP8_IR_CLUSTER
#define FP8_IR_CLUSTER

include "fp8/IR/Fp8Base.td"

def Fp8_LeadingCtaOp : Fp8_Op<"leading_cta", [Fp8_RoleWork<"Any">, InLinearFunction, Fp8_LinearOpInterface,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>]> {
  let summary = "runs its body in the leading CTA of a pair or cluster";
  let description = [{
    The body runs in the leading CTA only: with `of pair`, in the CTA of even rank; with `of cluster`, in the CTA of rank 0. The operands
    become the body's arguments, and its yield gives the results, which have the same types. In the other CTAs the operands pass through to
    the results.

    (C1) The op is in a role. (C2) MMAs on the accumulators of a pair, and the consumers of a pair's pipeline, are in the leading CTA of the
    pair.

    ```mlir
    !ring = !fp8.pipeline<3, a: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>, cta_group = 2>
    func.func @drop_one(%end: !fp8.consumer<!ring>) attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
      fp8.role "mma" warps(1) (%e = %end) : !fp8.consumer<!ring> {
        %next = fp8.leading_cta of pair (%l = %e) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
          %stage = fp8.acquire %l : !fp8.consumer<!ring>
          %l2 = fp8.release %stage : !fp8.consumer_stage<!ring>
          fp8.yield %l2 : !fp8.consumer<!ring>
        }
        fp8.yield %next : !fp8.consumer<!ring>
      }
      return
    }
    ```
  }];
  let arguments = (ins Fp8_CtaGroupingAttr:$grouping, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // FP8_IR_CLUSTER
