// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions out of the fp8 dialect.

#ifndef FP8_CONVERSION_PASSES
#define FP8_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertFp8ToNVVM : Pass<"convert-fp8-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "takes linear kernels to barriers, tensor memory and TMA (phase 2 to 3)";
  let description = [{
    Each ring becomes mbarriers and tiles in shared memory, each end a cursor: the ring's addresses, a slot and a phase bit, as SSA values that
    loops carry. Roles become branches on the warp number, with one elected lane for each warp. What the barriers expect, the bytes of
    the copies, the fences, the layout of shared memory and the columns of tensor memory are derived from the kernel.

    Requires: kernels in phase 2, with no scoped op and no call that passes linear values (run `inline` before). Kernels lose their `fp8.linear`; they get
    `known_block_size`, `fp8.tensor_map_args` and `fp8.shared_memory_bytes`, and launches of them the dynamic shared memory. Host code stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def Fp8AttachChip : Pass<"fp8-attach-chip", "::mlir::ModuleOp"> {
  let summary = "names the chip that kernels are lowered for";
  let description = [{
    Gives each `gpu.module` without a target the `#nvvm.target` of the chip, with the PTX version that its
    instructions need. An unknown chip, and a kernel that needs what the chip has not, are errors; where the module has targets, what one of those has not.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip, such as sm_100a">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // FP8_CONVERSION_PASSES
