// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes on phase 4, the LLVM and NVVM dialects.

#ifndef FP8_TARGET_PASSES_TD
#define FP8_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def Fp8AttachKernelAttributes
    : Pass<"fp8-attach-kernel-attributes", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give kernels the argument attributes that gpu.func cannot carry";
  let description = [{
    A TMA descriptor is a 128-byte kernel parameter that the kernel names by
    its address in parameter space (CUDA driver API, `CUtensorMap`; PTX ISA
    5.5.8). In LLVM that takes three argument attributes, which `gpu.func`
    refuses or `convert-gpu-to-nvvm` drops; without them the kernel reads
    its descriptor from the wrong place, and nothing reports it.

    The pass reads the function attribute `fp8.tensor_map_args`, which lists
    the indices of such arguments and survives that conversion, and attaches
    `llvm.byval`, `nvvm.grid_constant` and `llvm.align = 64` to them.
    It also aligns dynamic shared memory (a zero-length external array in
    address space 3) to 1024 bytes, as the 128-byte swizzle of TMA and of the
    tensor cores demands (PTX ISA 5.5.6). Other functions and attributes stay as
    they are; the pass is idempotent.

    Before:

    ```mlir
    gpu.module @kernels {
      llvm.func @before(%a: !llvm.ptr, %n: i32)
          attributes {gpu.kernel, nvvm.kernel, fp8.tensor_map_args = array<i32: 0>} {
        llvm.return
      }
    }
    ```

    After:

    ```mlir
    gpu.module @kernels {
      llvm.func @after(%a: !llvm.ptr {llvm.align = 64 : i64,
                                      llvm.byval = !llvm.array<128 x i8>,
                                      nvvm.grid_constant}, %n: i32)
          attributes {gpu.kernel, nvvm.kernel, fp8.tensor_map_args = array<i32: 0>} {
        llvm.return
      }
    }
    ```
  }];
}

#endif // FP8_TARGET_PASSES_TD
