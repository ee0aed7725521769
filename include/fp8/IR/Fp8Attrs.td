// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerations and attributes of the fp8 dialect.

#ifndef FP8_IR_FP8ATTRS
#define FP8_IR_FP8ATTRS

include "fp8/IR/Fp8Dialect.td"

// fp8/Config/GemmConfig.h defines the enumeration, since configurations use it without MLIR.
def Fp8_SchedulerKindAttr : AttrDef<Fp8_Dialect, "SchedulerKind"> {
  let mnemonic = "scheduler";
  let summary = "how output tiles are assigned to CTAs";
  let parameters = (ins "::mlir::fp8::SchedulerKind":$value);
  let hasCustomAssemblyFormat = 1;
  let returnType = "::mlir::fp8::SchedulerKind";
  let convertFromStorage = "$_self.getValue()";
}

def Fp8_FragmentLayout : I32EnumAttr<"FragmentLayout", "which part of a tile each thread of a role holds", [
    I32EnumAttrCase<"Rows", 0, "rows">,
    I32EnumAttrCase<"LaneHalves", 1, "lane_halves">,
    I32EnumAttrCase<"WarpHalves", 2, "warp_halves">,
    I32EnumAttrCase<"Warpgroups", 3, "warpgroups">,
    I32EnumAttrCase<"WarpgroupColumns", 4, "warpgroup_columns">,
    I32EnumAttrCase<"QuarterColumns", 5, "quarter_columns">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_ClusterAxis : I32EnumAttr<"ClusterAxis", "an axis of a cluster", [
    I32EnumAttrCase<"M", 0, "m">,
    I32EnumAttrCase<"N", 1, "n">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_ClusterAxisAttr : EnumAttr<Fp8_Dialect, Fp8_ClusterAxis, "axis">;

def Fp8_CtaGrouping : I32EnumAttr<"CtaGrouping", "a group of CTAs with a leading CTA", [
    I32EnumAttrCase<"Pair", 0, "pair">,
    I32EnumAttrCase<"Cluster", 1, "cluster">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_CtaGroupingAttr : EnumAttr<Fp8_Dialect, Fp8_CtaGrouping, "grouping">;

def Fp8_IdKind : I32EnumAttr<"IdKind", "what fp8.id numbers", [
    I32EnumAttrCase<"Thread", 0, "thread">,
    I32EnumAttrCase<"Warp", 1, "warp">,
    I32EnumAttrCase<"Cta", 2, "cta">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_IdKindAttr : EnumAttr<Fp8_Dialect, Fp8_IdKind, "id_kind">;

def Fp8_SyncScope : I32EnumAttr<"SyncScope", "the threads that wait for one another", [
    I32EnumAttrCase<"Warp", 0, "warp">,
    I32EnumAttrCase<"Cta", 1, "cta">,
    I32EnumAttrCase<"ClusterStart", 2, "cluster_start">,
    I32EnumAttrCase<"ClusterEnd", 3, "cluster_end">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_SyncScopeAttr : EnumAttr<Fp8_Dialect, Fp8_SyncScope, "sync_scope">;

def Fp8_GridDependency : I32EnumAttr<"GridDependency", "what a kernel does about its neighbours in the stream", [
    I32EnumAttrCase<"Wait", 0, "wait">,
    I32EnumAttrCase<"StartNext", 1, "start_next">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_GridDependencyAttr : EnumAttr<Fp8_Dialect, Fp8_GridDependency, "grid_dependency">;

def Fp8_FenceSide : I32EnumAttr<"FenceSide", "on which side of a synchronisation a fence stands", [
    I32EnumAttrCase<"Before", 0, "before">,
    I32EnumAttrCase<"After", 1, "after">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_FenceSideAttr : EnumAttr<Fp8_Dialect, Fp8_FenceSide, "fence_side">;

def Fp8_GemmConfigAttr : AttrDef<Fp8_Dialect, "GemmConfig"> {
  let mnemonic = "gemm_config";
  let summary = "the configuration of the kernel that a GEMM op becomes";
  let description = [{
    Pins choices that the lowering makes otherwise. `tile` is what one MMA computes, in elements: the tile of one CTA, or with
    `cta_group = 2` of a CTA pair. A tile M that is no multiple of 64, the rows of an MMA, swaps the operands: the columns of D are then the MMA's
    rows, and tile N is a multiple of 64. So does a tile M below 128 where tensor cores apply the scales, since such an MMA has 128 rows. `cluster` counts the CTAs along M and N. With `split_k = n`, n CTAs form a cluster, divide the K
    blocks of a tile, and then add up their sums. With `launch = programmatic` the kernel may start while the preceding kernel in its stream
    ends (programmatic dependent launch); the default is `serial`. With `signal = wait` such a kernel lets the following one start as soon as the
    preceding one has ended; by default, with `signal = store`, it does so in front of its last store. `stages` counts the slots of the ring of A and B, `accumulators` the
    slots in tensor memory; the default of both is as many as fit. A slot holds one K block. Where a single warpgroup multiplies into its
    registers, a slot holds up to four K blocks: as many as leave room for `stages` slots, or for three if `stages` is left out. The tile
    comes first. The other fields are optional and come in any order, each at most once.

    ```mlir
    func.func @config() attributes {config = #fp8.gemm_config<tile = 256 x 128 x 128, cta_group = 2, cluster = 2 x 2, stages = 3,
                                                              accumulators = 2, scheduler = persistent, launch = programmatic>} { return }
    func.func @split() attributes {config = #fp8.gemm_config<tile = 64 x 64 x 128, split_k = 4>} { return }
    func.func @swapped() attributes {config = #fp8.gemm_config<tile = 16 x 128 x 128>} { return }
    ```
  }];
  let parameters = (ins "::mlir::fp8::GemmConfig":$value);
  let returnType = "::mlir::fp8::GemmConfig";
  let convertFromStorage = "$_self.getValue()";
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // FP8_IR_FP8ATTRS
