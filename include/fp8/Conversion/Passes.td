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
    In a module with `fp8.debug_waits` waits give up after a while, and kernels get `fp8.wait_table`; see `--fp8-debug-waits`.

    For example:

    ```mlir
    !row = !fp8.tile<1x128xf32>
    !ring = !fp8.pipeline<2, s: !row>
    gpu.module @kernels {
      gpu.func @first(%map: !fp8.tensor_map<!row>, %out: memref<?xf32>) kernel attributes {fp8.linear} {
        %c0 = arith.constant 0 : index
        %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
          %stage = fp8.acquire %end : !fp8.consumer<!ring>
          %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
          %x = fp8.read_element %row[0] : !row
          memref.store %x, %out[%c0] : memref<?xf32>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
          %stage = fp8.acquire %end : !fp8.producer<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def Fp8DebugWaits : Pass<"fp8-debug-waits", "::mlir::ModuleOp"> {
  let summary = "makes the waits of kernels that are lowered later give up, and say what they waited for";
  let description = [{
    For a kernel that hangs on a GPU. Gives the module `fp8.debug_waits`, the limit in milliseconds; `convert-fp8-to-nvvm` then lowers every wait for an
    mbarrier (of rings, accumulators, work queues, and the one before tensor memory is freed) with a look at the clock after each try that failed: one at the
    beginning takes as long as ever. Where a phase has not come after that time, the first lane of the warp writes down its CTA, its warp, the
    barrier, the parity and how long it has waited, for others to do the same waits 50 ms, and traps. The launch manifest then has
    `debug_waits`: the names of roles, rings and barriers, and the variable through which the runtime and `fp8-run` read the records, which they print.

    Named barriers, cluster barriers and waits for stores have no such limit: nothing can interrupt them. `--fp8-gemm-to-ptx=debug-waits=MS` runs this pass.

    Requires: kernels in phase 0, 1 or 2; one that is lowered already is an error.

    Before:

    ```mlir
    module {
      func.func @before() { return }
    }
    ```

    After:

    ```mlir
    module attributes {fp8.debug_waits = 2000 : i64} {
      func.func @after() { return }
    }
    ```
  }];
  let options = [Option<"limit", "limit-ms", "int64_t", "2000", "milliseconds that a wait may take">];
}

def Fp8AttachChip : Pass<"fp8-attach-chip", "::mlir::ModuleOp"> {
  let summary = "names the chip that kernels are lowered for";
  let description = [{
    Gives each `gpu.module` without a target the `#nvvm.target` of the chip, with the PTX version that its
    instructions need. An unknown chip, and a kernel that needs what the chip has not, are errors; where the module has targets, what one of those has not.

    Before:

    ```mlir
    gpu.module @before {
    }
    ```

    After `chip=sm_90a`:

    ```mlir
    gpu.module @after [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx88", verifyTarget = false>] {
    }
    ```
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip, such as sm_100a">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // FP8_CONVERSION_PASSES
