// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fp8 dialect, and the bases that its types, attributes and ops share.

#ifndef FP8_IR_FP8DIALECT
#define FP8_IR_FP8DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Fp8_Dialect : Dialect {
  let name = "fp8";
  let cppNamespace = "::mlir::fp8";
  let summary = "warp-specialised GPU kernels whose pipelines, stages and warp handles are linear";
  let description = [{
    A warp-specialised kernel is a set of *roles* (groups of warps) that pass tiles to one another through *rings*: a pipeline over shared
    memory, or an output pipeline over tensor memory. Each role holds one *end* of each ring that it uses. To use a slot, a role *acquires*
    a stage from the end. To hand the slot over to the other side, it *releases* the stage, which gives back the end, advanced by one slot.

    Ends, stages and warp handles are **linear**: each is consumed exactly once on every path.

    | label | rule |
    |---|---|
    | L1 | a linear value is consumed exactly once on every path |
    | L2 | a linear value is not used after it was consumed |
    | L3 | a linear value from outside a loop is consumed inside only through the loop's carried arguments |
    | L4 | the arms of a branch agree on what they consume |
    | L5 | block arguments, region results, function arguments and results transfer ownership |
    | L6 | a linear value is not captured by a role, stored, cast, or passed to an op that does not declare what it does with it |
    | L7 | an op that borrows a linear value says so through `LinearOpInterface` |
    | L8 | effects are declared, so that stock passes keep L1 to L7 |
    | L9 | what a borrow lends (a tile, an accumulator, an index) is not used after its handle is consumed and does not outlive it through yields, block arguments, memory or calls |

    A function that contains linear values carries the unit attribute `fp8.linear`. The verifier checks the rules on the whole function,
    after every pass.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The unit attribute on functions that contain linear values.
    static constexpr ::llvm::StringLiteral kLinearAttrName = "fp8.linear";
    /// The unit attribute on kernels whose rings are barriers (`--convert-fp8-rings-to-barriers`): of linear values they have products in registers alone.
    static constexpr ::llvm::StringLiteral kBarriersAttrName = "fp8.barriers";
    /// On a kernel: the CTAs of its clusters along M and N, `array<i64: 2, 1>`. Clusters lie along x; a CTA's rank in its cluster is (its number along M)
    /// + (CTAs along M) * (its number along N). Without it a CTA is alone.
    static constexpr ::llvm::StringLiteral kClusterAttrName = "fp8.cluster";
    /// On a kernel, a unit attribute: the kernel may be launched before the preceding kernel in its stream has ended. It waits for that kernel before it
    /// touches global memory, and lets the next kernel start early (PTX ISA, griddepcontrol). The launch passes the attribute on to the manifest.
    static constexpr ::llvm::StringLiteral kProgrammaticAttrName = "fp8.programmatic";
    /// On a kernel with `fp8.programmatic`, a unit attribute: it lets the next kernel start right behind its wait. Without it
    /// the kernel does so in front of its last store. A kernel that takes tensor memory, which must be its own by then, may not have it.
    static constexpr ::llvm::StringLiteral kSignalsAtWaitAttrName = "fp8.signals_at_wait";
    /// On the ops of a kernel: what `--fp8-plan-kernels` has derived for them, one of the attributes of Plan.td.
    static constexpr ::llvm::StringLiteral kPlanAttrName = "fp8.plan";
    /// On a host function: which problem the kernel solves ("blockwise_gemm", "gemm"); it travels to the launch manifest.
    static constexpr ::llvm::StringLiteral kProblemAttrName = "fp8.problem";
    /// On a launch: what the problem leaves open, integers by name ({b_block = 64}); they travel to the launch manifest.
    static constexpr ::llvm::StringLiteral kProblemOptionsAttrName = "fp8.problem_options";
    /// On a host function's argument: its name in the launch manifest.
    static constexpr ::llvm::StringLiteral kNameAttrName = "fp8.name";
    /// On a kernel: the indices of the arguments that are tensor maps.
    static constexpr ::llvm::StringLiteral kTensorMapArgsAttrName = "fp8.tensor_map_args";
    /// On a kernel: the dynamic shared memory that it needs, in bytes.
    static constexpr ::llvm::StringLiteral kSharedMemoryAttrName = "fp8.shared_memory_bytes";
    /// On a module: the milliseconds after which the waits of kernels that are lowered in it give up; see `--fp8-debug-waits`.
    static constexpr ::llvm::StringLiteral kDebugWaitsAttrName = "fp8.debug_waits";
    static constexpr int64_t kMaxDebugWaits = 3600 * 1000;
    /// On a lowered kernel whose waits give up: what their records mean. It travels to the launch manifest.
    static constexpr ::llvm::StringLiteral kWaitTableAttrName = "fp8.wait_table";

  private:
    void registerTypes();
    void registerAttributes();

  public:
  }];
}

#endif // FP8_IR_FP8DIALECT
