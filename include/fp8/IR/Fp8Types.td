// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of the fp8 dialect: views and rings, then the linear ends, stages and warp handles.

#ifndef FP8_IR_FP8TYPES
#define FP8_IR_FP8TYPES

include "fp8/IR/Fp8Attrs.td"
include "fp8/IR/Fp8Dialect.td"
include "fp8/IR/Fp8Interfaces.td"

// Names values of the type in printed IR, unless their op names them.
class Fp8_NamesValues<string name> : NativeTypeTrait<"OpAsmTypeInterface::Trait", [{
    void getAsmName(::mlir::OpAsmSetNameFn setName) const { setName("}] # name # [{"); }
  }]> {
  let cppNamespace = "::mlir";
}

// Printed IR calls values of the type by `valueName`.
class Fp8_Type<string name, string typeMnemonic, list<Trait> traits = [], string valueName = typeMnemonic>
    : TypeDef<Fp8_Dialect, name, traits # [Fp8_NamesValues<valueName>]> {
  let mnemonic = typeMnemonic;
}

//===----------------------------------------------------------------------===//
// Views and rings
//===----------------------------------------------------------------------===//

def Fp8_TileType : Fp8_Type<"Tile", "tile"> {
  let summary = "a tile in shared memory";
  let description = [{
    A row-major tile of `rows x columns` elements in shared memory, its 16-byte chunks permuted by `swizzle`.

    (T1) Both extents are in 1..256, TMA's limit for a box (PTX ISA, tensor copies). (T2) A row is a multiple of 16 bytes. (T3) The length
    of a swizzled row divides the span of the swizzle (32, 64 or 128 bytes). (T4) The elements are f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32,
    f64, i8, i16, i32 or i64, which a tensor map can describe (CUDA driver API, CUtensorMapDataType).

    Example: `!fp8.tile<128x128xf8E4M3FN, swizzle_128b>`, `!fp8.tile<1x128xf32>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::fp8::tensor::Swizzle":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape()[0]; }
    int64_t getColumns() const { return getShape()[1]; }
    /// The length of a row in bytes.
    int64_t getRowBytes() const { return getColumns() * getElementType().getIntOrFloatBitWidth() / 8; }
    /// The size in bytes, without padding.
    int64_t getSizeInBytes() const { return getRows() * getRowBytes(); }
    /// The scales of 128 rows of an operand and of 128 elements of K, 32x16xf8E8M0FNU: row r has at 4*(r div 32) of row r mod 32 its four
    /// scales, each of 32 elements (PTX ISA, tcgen05.mma scale factors).
    static TileType getOfScales(::mlir::MLIRContext *context);
    /// The rows of an operand whose scales are in one tile.
    static constexpr int64_t kScaledRows = 128;
  }];
}

def Fp8_TensorMapType : Fp8_Type<"TensorMap", "tensor_map", [], "map"> {
  let summary = "a TMA descriptor whose box is a tile";
  let description = [{
    A 128-byte tensor map (CUtensorMap) that copies boxes of the tile's shape, element type and swizzle. `rank` is the rank of the tensor, 2
    to 5 (PTX ISA, tensors). The box has extent 1 along the dimensions outside rows and columns, so that a tile never crosses from one
    matrix of a batch into the next.

    Example: `!fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>`, `!fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>, rank = 3>`.
  }];
  let parameters = (ins "::mlir::fp8::TileType":$tile, DefaultValuedParameter<"int64_t", "2">:$rank);
  let assemblyFormat = "`<` qualified($tile) (`,` `rank` `=` $rank^)? `>`";
  let genVerifyDecl = 1;
}

def Fp8_TmemType : Fp8_Type<"Tmem", "tmem", [], "accumulator"> {
  let summary = "an accumulator in tensor memory";
  let description = [{
    `rows x columns` f32 values in tensor memory, the result of one tcgen05.mma (O1, O2). With `cta_group = 2` the values are in both CTAs
    of a pair, the first half of the rows in the leading CTA.

    Row m and column n of a CTA's part are at these places (PTX ISA, tcgen05 data path layouts). Of 128 rows in a CTA: lane m, column n
    (layouts A and D). Of the 64 rows of a single CTA: lane m mod 16 of quarter m div 16 (layout F). Of the 64 rows that a CTA has of a
    pair's 128: lane m, and for the right half of the columns lane 64 + m, column n - N/2 (layout B).

    An MMA has at least 64 rows. With `swapped` these are the columns of D, so that D may have fewer rows: the MMA takes B for A and A for B,
    and computes the transpose. Column n is then where row n is otherwise, and row m where column m is. (O5) The accumulator has 64 or 128
    columns and belongs to one CTA. Its rows are a multiple of 8 up to 120; with 128 columns, of 16 up to 112.

    With `scale_slots` the columns of tensor memory that follow hold the scales of so many products. Each has four for the MMA's rows, then
    four for each 128 of its columns. (O4) Each CTA has 128 of the MMA's rows then, and its columns are a multiple of 32 (PTX ISA,
    tcgen05.mma kind mxf8f6f4).

    Example: `!fp8.tmem<128x128xf32>`, `!fp8.tmem<256x128xf32, cta_group = 2>`, `!fp8.tmem<256x128xf32, cta_group = 2, scale_slots = 4>`,
    `!fp8.tmem<16x128xf32, swapped>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"int64_t", "1">:$ctaGroup, DefaultValuedParameter<"int64_t", "0">:$scaleSlots,
                        DefaultValuedParameter<"bool", "false">:$swapped);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The rows that lie in one CTA.
    int64_t getRowsPerCta() const { return getShape()[0] / getCtaGroup(); }
    /// The rows and columns of the MMA: those of the accumulator or, if the operands are swapped, its columns and rows.
    std::pair<int64_t, int64_t> getMmaShape() const;
    /// The layout of a CTA's part in the registers of the threads that read it.
    ::mlir::fp8::FragmentLayout getFragmentLayout() const;
    /// The columns that a tile of scales takes.
    static constexpr int64_t kScaleColumns = 4;
    /// The tiles of scales that so many columns of an MMA may touch, which begin at a multiple of their number: 128 columns one, 96 two.
    static int64_t countScaleTiles(int64_t columns);
    /// The tiles of scales of one product: one for the MMA's rows in a CTA, and those that its columns may touch.
    int64_t getNumScaleTiles() const;
    /// The columns of tensor memory of an MMA of so many rows and columns.
    static int64_t countColumns(int64_t rows, int64_t columns, int64_t ctaGroup, int64_t scaleSlots);
    /// The columns for the scales of one product.
    int64_t getColumnsOfScales() const { return kScaleColumns * getNumScaleTiles(); }
    /// The columns for sums and scales, up to a multiple of 16. Where each CTA has 64 of a pair's 128 rows, the sums take half the columns
    /// (PTX ISA, tcgen05 data path layout B). No kernel that is known to run has an accumulator at an odd multiple of 8.
    int64_t getColumns() const;
  }];
}

def Fp8_FragmentType : Fp8_Type<"Fragment", "fragment", [], "sum"> {
  let summary = "a tile of f32 values in the registers of a role";
  let description = [{
    A tile that the `warps` warps of a role hold in registers. The source of the fragment decides which part a thread holds. An accumulator
    read from tensor memory gives each thread part of one row, and a warp reaches only its own quarter of tensor memory (PTX ISA, tcgen05
    access restrictions). A product in registers belongs to a warpgroup, four warps (PTX ISA, wgmma register fragments).

    | layout | rows | warp w, lane l holds |
    |---|---|---|
    | `rows`, the default | 128 | row 32*(w mod 4) + l; with 8 warps the first four hold the left half of the columns |
    | `lane_halves` | 64 | row 16*w + l mod 16; lanes 0 to 15 hold the left half of the columns, 4 warps |
    | `warp_halves` | 64 | row 32*(w mod 2) + l; warps 0 and 1 hold the left half of the columns, 4 warps |
    | `warpgroups` | 64 for each of p parts of each of warps/4 warpgroups | of each part, rows 16*(w mod 4) + l div 4 and that plus 8, columns 8*j + 2*(l mod 4) and the next; the parts of warpgroup w div 4 are 64*p consecutive rows |
    | `warpgroup_columns` | 8 to 120, a multiple of 8 | the transpose of `warpgroups`, since the operands of the product are swapped: 64 columns for each of p parts of each of warps/4 warpgroups; of each part, columns 16*(w mod 4) + l div 4 and that plus 8, rows 8*j + 2*(l mod 4) and the next; the parts of warpgroup w div 4 are 64*p consecutive columns |
    | `quarter_columns` | 8 to 120, a multiple of 8 | columns 32*w + l div 4 and that plus 8, 16 and 24, rows 8*j + 2*(l mod 4) and the next; 128 columns, 4 warps |

    A `swapped` accumulator of 64 columns is read in the layout `warpgroup_columns`, one of 128 columns in `quarter_columns` (PTX ISA,
    tcgen05.ld, shape 16x256b).

    Example: `!fp8.fragment<128x128xf32, 4>`, `!fp8.fragment<64x128xf32, 4, warp_halves>`, `!fp8.fragment<256x128xf32, 8, warpgroups>`,
    `!fp8.fragment<16x128xf32, 4, warpgroup_columns>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "int64_t":$warps,
                        DefaultValuedParameter<"::mlir::fp8::FragmentLayout", "::mlir::fp8::FragmentLayout::Rows">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Which register of which thread holds which row and column ("fp8/IR/RegisterLayout.h").
    ::mlir::fp8::RegisterLayout getRegisterLayout() const;
    /// The elements that a thread holds.
    int64_t getColumnsPerThread() const;
    /// The consecutive rows that a warp holds.
    int64_t getRowsPerWarp() const;
    /// True if it consists of parts in the layouts of products in registers (wgmma). Some accumulators are read in these, too.
    bool isOfWarpgroups() const;
    /// True if the operands of the product were swapped: columns are the rows of the MMA.
    bool isSwapped() const;
    /// The parts of each warpgroup, of 64 rows each, or of 64 columns if swapped.
    int64_t getNumParts() const;
    /// The fragment with `extent` as its number of rows, or of columns if `axis` is 1.
    ::mlir::fp8::FragmentType withExtent(int64_t axis, int64_t extent) const;
  }];
}

def Fp8_PendingType : Fp8_Type<"Pending", "pending", [Fp8_LinearTypeInterface]> {
  let summary = "a product that warpgroups are computing into their registers (linear)";
  let description = [{
    Made by `fp8.warpgroup_mma`; `fp8.wait_mma` turns it into a fragment. Until then the warpgroups read the tiles, so that the stage that
    lent the tiles may not be released (L9).

    Example: `!fp8.pending<!fp8.fragment<64x128xf32, 4, warpgroups>>`.
  }];
  let parameters = (ins "::mlir::fp8::FragmentType":$fragment);
  let assemblyFormat = "`<` qualified($fragment) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getHandleName() const { return "pending product"; }
    ::llvm::StringRef getConsumerName() const { return "fp8.wait_mma"; }
  }];
}

def Fp8_PipelineType : Fp8_Type<"Pipeline", "pipeline", [DeclareTypeInterfaceMethods<Fp8_RingTypeInterface>]> {
  let summary = "a ring of shared-memory slots";
  let description = [{
    A ring of `numStages` slots; each slot holds one tile of each name. A ring without tiles only synchronises the two sides.

    With `cta_group = 2` the ring belongs to a CTA pair. Each CTA has its own tiles in each slot, and a slot is full when the tiles of both
    CTAs are. Only the leading CTA waits for that (C2).

    Example: `!fp8.pipeline<3, a: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>, s: !fp8.tile<1x128xf32>>`.
  }];
  let parameters = (ins "int64_t":$numStages, ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"::mlir::fp8::TileType">:$tiles, DefaultValuedParameter<"int64_t", "1">:$ctaGroup);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tile of that name, null if there is none.
    ::mlir::fp8::TileType getTile(::llvm::StringRef name) const;
  }];
}

def Fp8_OutputPipelineType
    : Fp8_Type<"OutputPipeline", "output_pipeline", [DeclareTypeInterfaceMethods<Fp8_RingTypeInterface>]> {
  let summary = "a ring of tensor-memory accumulators";
  let description = [{
    A ring of `numStages` accumulators of `rows x columns` f32 in tensor memory, of one CTA or, with `cta_group = 2`, of a CTA pair.

    (O1) `rows` is 64 or 128; for a pair, 128 or 256. (O2) `columns` is a multiple of 8 in 8..256; for a pair, or where a CTA has 128 rows,
    a multiple of 16 (PTX ISA, tcgen05.mma shapes). (O3) All stages fit the 512 columns of tensor memory; each takes its columns, up to a
    multiple of 16. With `scale_slots` a stage also has columns for scales (`!fp8.tmem`); (O4) each CTA has 128 of the MMA's rows, and
    its columns are a multiple of 32, then. With `swapped` the columns of D are the MMA's rows: (O5) there are 64 or 128 of one CTA, and
    the rows are a multiple of 8 up to 120; with 128 columns, of 16 up to 112.

    Example: `!fp8.output_pipeline<2, 128x128xf32>`, `!fp8.output_pipeline<4, 256x128xf32, cta_group = 2>`,
    `!fp8.output_pipeline<2, 256x128xf32, cta_group = 2, scale_slots = 4>`, `!fp8.output_pipeline<4, 16x128xf32, swapped>`.
  }];
  let parameters = (ins "int64_t":$numStages, ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"int64_t", "1">:$ctaGroup, DefaultValuedParameter<"int64_t", "0">:$scaleSlots,
                        DefaultValuedParameter<"bool", "false">:$swapped);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The accumulator of one stage.
    ::mlir::fp8::TmemType getAccumulator() const;
    /// The columns from one stage to the next.
    int64_t getStageColumns() const { return getAccumulator().getColumns(); }
    /// The columns that hold the whole ring: a power of two of at least 32 (PTX ISA, tcgen05.alloc).
    int64_t getRingColumns() const;
  }];
}

def Fp8_WorkQueueType : Fp8_Type<"WorkQueue", "work_queue", [DeclareTypeInterfaceMethods<Fp8_RingTypeInterface>]> {
  let summary = "a ring of answers of cluster launch control";
  let description = [{
    A ring of `numStages` slots, one answer each, in every CTA of a cluster. The leading CTA of the cluster sends a request, and every CTA
    gets the answer. A slot is empty when every CTA has read it (PTX ISA, clusterlaunchcontrol).

    Example: `!fp8.work_queue<2>`.
  }];
  let parameters = (ins "int64_t":$numStages);
  let assemblyFormat = "`<` $numStages `>`";
  let genVerifyDecl = 1;
}

def Fp8_MBarrierType : Fp8_Type<"MBarrier", "mbarrier"> {
  let summary = "a barrier of a ring";
  let description = [{
    An mbarrier in shared memory (PTX ISA, mbarrier); `fp8.mbarrier` lends it.
  }];
  let builderCall = "$_builder.getType<::mlir::fp8::MBarrierType>()";
}

//===----------------------------------------------------------------------===//
// Linear handles
//===----------------------------------------------------------------------===//

class Fp8_LinearType<string name, string typeMnemonic, list<Trait> traits, string valueName = typeMnemonic>
    : Fp8_Type<name, typeMnemonic, traits, valueName>;

// A linear type whose parameter is a ring, `!fp8.name<ring>`. The ring's own parser reports an invalid ring.
class Fp8_RingHandleType<string name, string typeMnemonic, string handle, string consumer, string ring,
                         list<Trait> traits, code declarations = "", string valueName = typeMnemonic>
    : Fp8_LinearType<name, typeMnemonic, traits, valueName> {
  let parameters = (ins ring:$ring);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getHandleName() const { return "}] # handle # [{"; }
    ::llvm::StringRef getConsumerName() const { return "}] # consumer # [{"; }
  }] # declarations;
  let extraClassDefinition = [{
    ::mlir::Type $cppClass::parse(::mlir::AsmParser &parser) { return parseRingHandle<$cppClass>(parser); }
    void $cppClass::print(::mlir::AsmPrinter &printer) const { printer << '<' << getRing() << '>'; }
  }];
}

class Fp8_RingEndType<string name, string typeMnemonic, string handle, string consumer, string ring, string producer>
    : Fp8_RingHandleType<name, typeMnemonic, handle, consumer, ring, [Fp8_EndTypeInterface], [{
    ::mlir::Type getStageType() const;
    bool isProducer() const { return }] # producer # [{; }
  }]>;

class Fp8_RingStageType<string name, string typeMnemonic, string handle, string ring>
    : Fp8_RingHandleType<name, typeMnemonic, handle, "fp8.release", ring, [Fp8_StageTypeInterface], [{
    ::mlir::Type getEndType() const;
  }], "stage">;

def Fp8_ProducerType
    : Fp8_RingEndType<"Producer", "producer", "producer end", "fp8.close", "::mlir::Type", "true"> {
  let summary = "the side of a ring that fills its slots (linear)";
  let genVerifyDecl = 1;
}
def Fp8_ConsumerType
    : Fp8_RingEndType<"Consumer", "consumer", "consumer end", "fp8.close", "::mlir::Type", "false"> {
  let summary = "a side of a ring that empties its slots (linear)";
  let genVerifyDecl = 1;
}
def Fp8_ProducerStageType
    : Fp8_RingStageType<"ProducerStage", "producer_stage", "producer stage", "::mlir::Type"> {
  let summary = "a slot that is being filled (linear)";
  let genVerifyDecl = 1;
}
def Fp8_ConsumerStageType
    : Fp8_RingStageType<"ConsumerStage", "consumer_stage", "consumer stage", "::mlir::Type"> {
  let summary = "a filled slot that is being read (linear)";
  let genVerifyDecl = 1;
}
def Fp8_MmaWarpType
    : Fp8_RingEndType<"MmaWarp", "mma_warp", "mma warp", "fp8.release_mma_warp", "::mlir::fp8::OutputPipelineType", "true"> {
  let summary = "the warp that owns the tensor memory of an output pipeline and fills its stages (linear)";
}
def Fp8_EpilogueWarpType
    : Fp8_RingEndType<"EpilogueWarp", "epilogue_warp", "epilogue warp", "fp8.release_epilogue_warp",
                      "::mlir::fp8::OutputPipelineType", "false"> {
  let summary = "the warps that read the stages of an output pipeline (linear)";
}
def Fp8_MmaStageType
    : Fp8_RingStageType<"MmaStage", "mma_stage", "mma stage", "::mlir::fp8::OutputPipelineType"> {
  let summary = "an accumulator that an MMA warp is filling (linear)";
}
def Fp8_EpilogueStageType
    : Fp8_RingStageType<"EpilogueStage", "epilogue_stage", "epilogue stage", "::mlir::fp8::OutputPipelineType"> {
  let summary = "a complete accumulator that the epilogue warps are reading (linear)";
}

def Fp8_TmemReadyType
    : Fp8_RingHandleType<"TmemReady", "tmem_ready", "tensor-memory evidence", "fp8.create_epilogue_warp",
                         "::mlir::fp8::OutputPipelineType", [Fp8_LinearTypeInterface]> {
  let summary = "evidence that the tensor memory of an output pipeline is allocated and its address visible (linear)";
}

def Fp8_StoreQueueType : Fp8_LinearType<"StoreQueue", "store_queue", [Fp8_LinearTypeInterface]> {
  let summary = "the staging tiles through which a role stores fragments by TMA (linear)";
  let description = [{
    Each of `warps` warps stages its own rows in a ring of `depth` slots and copies each slot out by TMA. A slot holds as many tiles as the
    warp's 32 lanes have rows for. A tile of 64 rows belongs to a warpgroup: each warpgroup has one ring, meets at a named barrier before
    and after it stages, and fills half of the slots at a time. A warp that holds columns of all rows stages 16 columns at a time (`warpgroup_columns`), or
    32 (`quarter_columns`), one tile in each slot. If there are 64 such rows, `of_warps` says that the tile is a warp's. Closing the queue
    waits until every copy has been written.

    Example: `!fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4>`, `!fp8.store_queue<4, !fp8.tile<64x64xbf16, swizzle_128b>, 8>`,
    `!fp8.store_queue<1, !fp8.tile<64x32xbf16, swizzle_64b>, 4, of_warps>`.
  }];
  let parameters = (ins "int64_t":$depth, "::mlir::fp8::TileType":$tile, "int64_t":$warps, DefaultValuedParameter<"bool", "false">:$ofWarps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The rows of a tile that belongs to a warpgroup, unless it says that it is a warp's.
    static constexpr int64_t kWarpgroupRows = 64;
    /// True if a warpgroup stages each tile, else a warp.
    bool isOfWarpgroups() const { return getTile().getRows() == kWarpgroupRows && !getOfWarps(); }
    ::llvm::StringRef getHandleName() const { return "store queue"; }
    ::llvm::StringRef getConsumerName() const { return "fp8.close"; }
  }];
}

def Fp8_ExchangeType : Fp8_LinearType<"Exchange", "exchange", [Fp8_LinearTypeInterface]> {
  let summary = "the shared memory through which CTAs that divide K exchange shares of their sums (linear)";
  let description = [{
    Each of `ctas` CTAs of a cluster holds the fragment, and gets a share: the sum of an equal part of the columns, or of the rows if the
    operands were swapped. (J2) The fragment is of layout `warpgroups`, `warpgroup_columns` or `quarter_columns`, and a share has a multiple
    of 8 columns (or rows).

    Example: `!fp8.exchange<4, !fp8.fragment<64x64xf32, 4, warpgroups>>`.
  }];
  let parameters = (ins "int64_t":$ctas, "::mlir::fp8::FragmentType":$fragment);
  let assemblyFormat = "`<` $ctas `,` qualified($fragment) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getHandleName() const { return "exchange"; }
    ::llvm::StringRef getConsumerName() const { return "fp8.close"; }
    /// The axis that the CTAs divide: 1, the columns; if swapped, 0, the rows.
    int64_t getAxis() const { return !getFragment().isSwapped(); }
    /// What each CTA gets.
    ::mlir::fp8::FragmentType getShare() const;
  }];
}

//===----------------------------------------------------------------------===//
// States of ends and stages
//===----------------------------------------------------------------------===//

// A linear type that is a state of the handle in its parameter, `!fp8.name<handle>`.
class Fp8_StateType<string name, string typeMnemonic, string handle, string consumer>
    : Fp8_LinearType<name, typeMnemonic, [Fp8_LinearTypeInterface]> {
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getHandleName() const { return "}] # handle # [{"; }
    ::llvm::StringRef getConsumerName() const { return "}] # consumer # [{"; }
  }];
}

def Fp8_ReadyType : Fp8_StateType<"Ready", "ready", "ready end", "fp8.acquire"> {
  let summary = "an end whose next slot has been waited for (linear)";
  let description = [{
    Made by `fp8.wait`; an `fp8.acquire` of it does not wait again. `end` is any end.

    Example: `!fp8.ready<!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>`.
  }];
  let parameters = (ins "::mlir::Type":$end);
}

def Fp8_SignalledType : Fp8_StateType<"Signalled", "signalled", "signalled stage", "fp8.step"> {
  let summary = "a stage that has been handed over, before its end advances (linear)";
  let description = [{
    Made by `fp8.arrive`; `fp8.step` turns it back into the end. `stage` is any stage.

    Example: `!fp8.signalled<!fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>>`.
  }];
  let parameters = (ins "::mlir::Type":$stage);
}

#endif // FP8_IR_FP8TYPES
