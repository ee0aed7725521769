// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of a kernel, as attributes of its ops.

#ifndef FP8_IR_PLAN
#define FP8_IR_PLAN

include "fp8/IR/Fp8Dialect.td"

// An attribute that is a record of Plan.h. Fields that have their default are left out; a flag is its name alone.
class Fp8_PlanAttr<string record, string attrMnemonic, string what> : AttrDef<Fp8_Dialect, record> {
  let mnemonic = attrMnemonic;
  let summary = "what is derived for " # what;
  let parameters = (ins "::mlir::fp8::" # record:$plan);
  let hasCustomAssemblyFormat = 1;
}

def Fp8_CtaPlanAttr : Fp8_PlanAttr<"CtaPlan", "cta_plan", "the CTAs of a kernel"> {
  let description = [{
    On a kernel: what a launch of it needs.

    ```mlir
    func.func private @kernel() attributes {fp8.plan = #fp8.cta_plan<warps = 6, shared_memory = 98384, registers = 255>}
    ```
  }];
}

def Fp8_RolePlanAttr : Fp8_PlanAttr<"RolePlan", "role_plan", "a role"> {
  let description = [{
    On a role: its first warp, and the registers that its threads take or give up.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @kernel() attributes {fp8.linear} {
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> attributes {fp8.plan = #fp8.role_plan<registers = 240, takes>} {
        fp8.close %end : !fp8.consumer<!ring>
      }
      fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> attributes {fp8.plan = #fp8.role_plan<first_warp = 4, registers = 40>} {
        fp8.close %end : !fp8.producer<!ring>
      }
      return
    }
    ```
  }];
}

def Fp8_RingPlanAttr : Fp8_PlanAttr<"RingPlan", "ring_plan", "a ring, a store queue or an exchange"> {
  let description = [{
    On the op that makes the ring: what its barriers expect, and where they and its slots are in shared memory. On ops that hand over
    tensor memory or stage through a queue: the plan of that ring or queue.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @kernel() attributes {fp8.linear} {
      %p, %c = fp8.pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, bytes = 512, barriers = 1536>}
        : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.close %p : !fp8.producer<!ring>
      fp8.close %c : !fp8.consumer<!ring>
      return
    }
    ```
  }];
}

def Fp8_StagePlanAttr : Fp8_PlanAttr<"StagePlan", "stage_plan", "the hand-over of a stage"> {
  let description = [{
    On the ops that acquire a stage, fill it, or hand it over: what the hand-over depends on.

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end {fp8.plan = #fp8.stage_plan<used_by_threads, loaded_by_threads>} : !fp8.consumer<!ring>
      %next = fp8.release %stage {fp8.plan = #fp8.stage_plan<used_by_threads, loaded_by_threads>} : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
}

def Fp8_SumPlanAttr : Fp8_PlanAttr<"SumPlan", "sum_plan", "an addition to sums in registers"> {
  let description = [{
    On `fp8.promote`, where a later product of the block may take the registers of the one that is added: the addition is complete before that product starts.

    ```mlir
    !half = !fp8.tile<64x64xbf16, swizzle_128b>
    !scales = !fp8.tile<1x64xf32>
    !ring = !fp8.pipeline<3, a: !half, b: !half, s: !scales>
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    func.func @product(%stage: !fp8.consumer_stage<!ring>, %zero: !sum, %scale: f32) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %first = fp8.warpgroup_mma %a, %b : !half, !half -> !fp8.pending<!sum>
      %product = fp8.wait_mma %first : !fp8.pending<!sum>
      %sum = fp8.promote %zero, %product scales(%s, %scale) {fp8.plan = #fp8.sum_plan<before_product>} : !sum, !sum, !scales
      %second = fp8.warpgroup_mma %a, %b : !half, !half -> !fp8.pending<!sum>
      %late = fp8.wait_mma %second : !fp8.pending<!sum>
      %end = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %end : !fp8.consumer<!ring>
    }
    ```
  }];
}

def Fp8_WaitPlanAttr : Fp8_PlanAttr<"WaitPlan", "wait_plan", "a wait for a product in registers"> {
  let description = [{
    On `fp8.wait_mma`: the products that may still run when it ends.

    ```mlir
    !half = !fp8.tile<64x64xbf16, swizzle_128b>
    !ring = !fp8.pipeline<3, a: !half, b: !half>
    !sum = !fp8.fragment<64x64xf32, 4, warpgroups>
    func.func @product(%stage: !fp8.consumer_stage<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %first = fp8.warpgroup_mma %a, %b : !half, !half -> !fp8.pending<!sum>
      %second = fp8.warpgroup_mma %a, %b : !half, !half -> !fp8.pending<!sum>
      %early = fp8.wait_mma %first {fp8.plan = #fp8.wait_plan<behind = 1>} : !fp8.pending<!sum>
      %late = fp8.wait_mma %second {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!sum>
      %end = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %end : !fp8.consumer<!ring>
    }
    ```
  }];
}

#endif // FP8_IR_PLAN
