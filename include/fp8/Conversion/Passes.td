// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions into and out of the fp8 dialect.

#ifndef FP8_CONVERSION_PASSES
#define FP8_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLinalgToFp8 : Pass<"convert-linalg-to-fp8", "::mlir::ModuleOp"> {
  let summary = "converts linalg ops that compute a blockwise-scaled GEMM to GEMM ops (into phase 0)";
  let description = [{
    Finds sums over K of extended f8E4M3FN operands times the scales of their blocks, in f32, with the steps that follow the sum, and
    replaces them by one `fp8.blockwise_gemm`. The pass matches the indexing maps and the body of each op, not its name. Named ops,
    `linalg.contract`, `linalg.elementwise` and generics are therefore equivalent, and so are one op and several. The pass looks through
    expand_shape, collapse_shape, transposes, broadcasts and copies. `docs/embedding.md` lists what it accepts.

    The GEMM op takes the place of the last op that it replaces. The pass removes the replaced ops, with the buffers, fills and views that
    only they use. Values with other readers remain.

    The GEMM op computes the same sum. It may add the f32 terms in another order, and scales multiply the sum over a block instead of each
    product. The pass matches a GEMM of f8E4M3FN only if all of it is computed in f32 and rounded once at the end.

    Requires: D overlaps no operand that is another function argument or the result of another op. The pass checks, by the offsets of
    subviews, that D overlaps no operand in the same buffer, except that D may be C. A `beta` that is 0 when the kernel runs means that C is
    not read, so that its NaNs do not reach D. If a remaining op between the replaced ops may write or free an operand, the pass changes
    nothing. On tensors, an operand is a tensor of a memref (`bufferization.to_tensor` with `restrict`, in the same block), or another
    tensor, which `bufferization.to_buffer` turns into a memref. `bufferization.materialize_in_destination` writes the result to a memref.

    Ensures: a reduction of f8 products becomes a GEMM op that verifies, or is unchanged. If it is unchanged, a remark says why, with notes
    at the causes. If the GEMM op covers only some of the steps after the sum, a remark points at the first op that remains.

    Before:

    ```mlir
    func.func @before(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4xf32>, %d: memref<256x384xbf16>) {
      %zero = arith.constant 0.0 : f32
      %sum = memref.alloc() : memref<256x384xf32>
      linalg.fill ins(%zero : f32) outs(%sum : memref<256x384xf32>)
      linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                       affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                       affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>) outs(%sum : memref<256x384xf32>) {
      ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
        %x32 = arith.extf %x : f8E4M3FN to f32
        %y32 = arith.extf %y : f8E4M3FN to f32
        %left = arith.mulf %x32, %xs : f32
        %right = arith.mulf %y32, %ys : f32
        %product = arith.mulf %left, %right : f32
        %next = arith.addf %out, %product : f32
        linalg.yield %next : f32
      }
      linalg.map { arith.truncf } ins(%sum : memref<256x384xf32>) outs(%d : memref<256x384xbf16>)
      return
    }
    ```

    After:

    ```mlir
    func.func @after(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4xf32>, %d: memref<256x384xbf16>) {
      fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>)
        outs(%d : memref<256x384xbf16>)
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::fp8::Fp8Dialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertRingsToBarriers : Pass<"convert-fp8-rings-to-barriers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "takes the rings of linear kernels to barriers, parities and addresses (phase 2 to 3)";
  let description = [{
    Each ring becomes mbarriers and slots in shared memory, each end a cursor: the addresses of barriers and slots, a number and a parity, as i32 that loops carry. To acquire
    a stage is to wait at a barrier, to hand it over to arrive at one, or to have MMAs arrive when they are complete. Counts, bytes and offsets are those of the plan.

    A kernel without a plan is planned first (`--fp8-plan-kernels`, `--fp8-place-fences`, `--fp8-reuse-registers`). The plan that a kernel has must be the one that is
    derived from it now.

    Requires: kernels in phase 2, with no scoped op and no call that passes linear values (run `inline` before). Ensures: no value of the kernel is a handle of a ring, which `fp8.barriers`
    says; each role begins with `fp8.role_thread`; one thread runs what `fp8.copy_tile`, arrivals and commits say.

    Before:

    ```mlir
    !ring = !fp8.pipeline<1>
    gpu.module @before {
      gpu.func @kernel() kernel attributes {fp8.linear} {
        %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
          %stage = fp8.acquire %end : !fp8.producer<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          fp8.close %next : !fp8.producer<!ring>
        }
        fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
          %stage = fp8.acquire %end : !fp8.consumer<!ring>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          fp8.close %next : !fp8.consumer<!ring>
        }
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    gpu.module @after {
      gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2, shared_memory = 16, registers = 255>} {
        %c1_i32 = arith.constant 1 : i32
        %c8_i32 = arith.constant 8 : i32
        %c0_i32 = arith.constant 0 : i32
        %shared = fp8.shared_memory
        %id = fp8.id warp
        %id_0 = fp8.id thread
        %0 = arith.cmpi eq, %id_0, %c0_i32 : i32
        scf.if %0 {
          fp8.mbarrier_init %shared, 1
          %1 = arith.addi %shared, %c8_i32 : i32
          fp8.mbarrier_init %1, 1
          fp8.fence_mbarrier_init
        }
        fp8.sync cta
        fp8.role "fill" warps(1) attributes {fp8.plan = #fp8.role_plan<>} {
          %leader, %warp, %lane = fp8.role_thread %id
          %1 = arith.addi %shared, %c8_i32 : i32
          fp8.mbarrier_wait %1, %c1_i32
          fp8.sync warp
          scf.if %leader {
            fp8.mbarrier_arrive %shared
          }
        }
        fp8.role "empty" warps(1) attributes {fp8.plan = #fp8.role_plan<first_warp = 1>} {
          %leader, %warp, %lane = fp8.role_thread %id
          fp8.mbarrier_wait %shared, %c0_i32
          fp8.sync warp
          scf.if %leader {
            %1 = arith.addi %shared, %c8_i32 : i32
            fp8.mbarrier_arrive %1
          }
        }
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::fp8::Fp8Dialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ConvertFp8ToNVVM : Pass<"convert-fp8-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "takes kernels to instructions: of barriers, tensor memory and TMA (to the end of phase 3)";
  let description = [{
    Spells each op of a kernel as its instructions, by one pattern for each op; the order in which ops are visited changes nothing. Views become addresses, fragments and products
    registers. Then roles become branches on the warp number, with one elected lane for each warp, and deal out registers.

    A kernel that is linear still goes through `--convert-fp8-rings-to-barriers` first.

    Requires: kernels in phase 2, or with `fp8.barriers`. The latter carry what the conversion reads: a `#fp8.cta_plan` on the kernel, a
    `#fp8.role_plan` on each role, a `#fp8.ring_plan` on `fp8.store_at`, a `#fp8.wait_plan` on `fp8.wait_mma`. The body of a role is one block
    without arguments, and its `fp8.role_thread` stands in front of all that its warps do.

    Ensures: no op and no type of fp8 is left in a kernel. Kernels lose `fp8.linear` and what is derived of them; they get
    `known_block_size`, `fp8.tensor_map_args` and `fp8.shared_memory_bytes`, and launches of them the dynamic shared memory. Host code stays as it is.
    In a module with `fp8.debug_waits` waits give up after a while, and kernels get `fp8.wait_table`; see `--fp8-debug-waits`.
    Of a kernel with `fp8.profile_table` the stamps become predicated stores to a variable of the module; see `--fp8-profile`.

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
                           "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def Fp8DebugWaits : Pass<"fp8-debug-waits", "::mlir::ModuleOp"> {
  let summary = "makes waits of kernels that are lowered later time out and report what they waited for";
  let description = [{
    Helps to debug a kernel that hangs on a GPU. The pass sets `fp8.debug_waits` on the module, the limit in milliseconds.
    `convert-fp8-to-nvvm` then makes every wait for an mbarrier (of rings, accumulators, work queues, and before tensor memory is freed)
    check the clock after each failed try; the first try costs the same as without the pass. If a phase has not completed within the limit,
    the first lane of the warp records its CTA, its warp, the barrier, the parity and the time it waited, waits 50 ms for other warps to do
    the same, and traps. The launch manifest then has `debug_waits`: the names of roles, rings and barriers, and the variable through which
    the runtime and `fp8-run` read and print the records.

    Named barriers, cluster barriers and waits for stores have no such limit, because nothing can interrupt them.
    `--fp8-gemm-to-ptx=debug-waits=MS` runs this pass.

    Requires: kernels in phase 0, 1 or 2. A kernel that is already lowered is an error.

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
  let options = [Option<"limit", "limit-ms", "int64_t", "2000", "the time limit of a wait in milliseconds">];
}

def Fp8Profile : Pass<"fp8-profile", "::mlir::ModuleOp"> {
  let summary = "makes kernels that are lowered later write down what their roles wait for, and when";
  let description = [{
    Shows where a kernel's time goes. The pass sets `fp8.profile` on the module. `--convert-fp8-rings-to-barriers` then reads clocks around every wait for an mbarrier and in front
    of every arrival, and opens and closes each role with the time. A stamp has a wait and the arrival behind it: one thread of each role writes its 16 bytes to a variable of the module.

    The first `ctas` CTAs of the grid write up to `stamps` stamps for each role; later stamps are counted and not kept. The variable has 16 bytes a stamp and 48 a role for each of these
    CTAs; `fp8-run` prints its size. The launch manifest then has `profile`: the variable, its layout, and the names of roles, rings and barriers. `fp8-run --timeline=FILE` reads the
    stamps back and makes a trace and a summary of them (docs/Timeline.md).

    Named barriers, cluster barriers and waits for stores and products have no stamps: they count as work. `--fp8-gemm-to-ptx=profile` runs this pass.

    Requires: kernels in phase 0, 1 or 2. A kernel that is already lowered is an error.

    Before:

    ```mlir
    module {
      func.func @before() { return }
    }
    ```

    After:

    ```mlir
    module attributes {fp8.profile = {ctas = 8 : i64, stamps = 512 : i64}} {
      func.func @after() { return }
    }
    ```
  }];
  let options = [Option<"ctas", "ctas", "int64_t", "8", "how many CTAs write stamps, the first of the grid">,
                 Option<"stamps", "stamps", "int64_t", "512", "how many stamps each role of such a CTA may write">];
}

def Fp8AttachChip : Pass<"fp8-attach-chip", "::mlir::ModuleOp"> {
  let summary = "attaches the chip that kernels are lowered for";
  let description = [{
    Gives each `gpu.module` without a target the `#nvvm.target` of the chip, with the PTX version that its instructions need. An unknown
    chip is an error. So is the first op that requires a feature which the chip lacks (FeatureOpInterface; for ops of NVVM, their names). If
    the module has targets, each of them must have the feature.

    Requires: phase 2. Later, `--convert-fp8-to-nvvm` turns some ops into inline assembly, which only ptxas checks.

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
