// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerations and attributes of the fp8 dialect.

#ifndef FP8_IR_FP8ATTRS
#define FP8_IR_FP8ATTRS

include "fp8/IR/Fp8Dialect.td"

// Configurations have the enumeration too, so it is not generated here (fp8/Config/GemmConfig.h).
def Fp8_SchedulerKindAttr : AttrDef<Fp8_Dialect, "SchedulerKind"> {
  let mnemonic = "scheduler";
  let summary = "how output tiles are given to CTAs";
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
    I32EnumAttrCase<"WarpgroupColumns", 4, "warpgroup_columns">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_ClusterAxis : I32EnumAttr<"ClusterAxis", "a direction in which the CTAs of a cluster differ", [
    I32EnumAttrCase<"M", 0, "m">,
    I32EnumAttrCase<"N", 1, "n">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_ClusterAxisAttr : EnumAttr<Fp8_Dialect, Fp8_ClusterAxis, "axis">;

def Fp8_CtaGrouping : I32EnumAttr<"CtaGrouping", "CTAs of which one leads", [
    I32EnumAttrCase<"Pair", 0, "pair">,
    I32EnumAttrCase<"Cluster", 1, "cluster">]> {
  let cppNamespace = "::mlir::fp8";
  let genSpecializedAttr = 0;
}

def Fp8_CtaGroupingAttr : EnumAttr<Fp8_Dialect, Fp8_CtaGrouping, "grouping">;

def Fp8_GemmConfigAttr : AttrDef<Fp8_Dialect, "GemmConfig"> {
  let mnemonic = "gemm_config";
  let summary = "how a GEMM op is to be made into a kernel";
  let description = [{
    Pins what the lowering would otherwise choose. The tile, in elements, is what one MMA computes: of one CTA, or with `cta_group = 2` of a CTA pair. On Hopper a tile M below 64, the rows of
    an MMA, swaps the operands: columns of D are then the MMA's rows, and tile N is a multiple of 64. `cluster` counts CTAs along
    M and N. With `split_k` as many CTAs, a cluster of their own, divide the K blocks of a tile and then add their sums up. With `launch = programmatic` the kernel may start while the one in front of it in its stream ends (programmatic dependent launch); else it is `serial`.
    `stages` counts the slots of the ring with A and B, `accumulators` those in tensor memory; as many as fit, if left out. A slot holds one K block, or where one
    warpgroup alone multiplies into its registers up to four: as many as leave room for the stages, or for three. The tile comes first. The other fields stand in any order, each at most once, and may be left out.

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
