// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from phase 0 to phase 2.

#ifndef FP8_TRANSFORMS_PASSES
#define FP8_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

// What a structured kernel and the function that launches it are written in.
defvar StructuredDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::fp8::Fp8Dialect",
                             "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];

def Fp8ChooseConfig : Pass<"fp8-choose-config", "::mlir::ModuleOp"> {
  let summary = "gives GEMM ops without a config the one that is predicted to be the fastest";
  let description = [{
    Each `fp8.blockwise_gemm` that pins no `config` gets one, chosen for its extents and the `chip`: that of the table `tuned`, if it has the shape, else the
    one that takes least by the cost model. `docs/Chooser.md` says how. An op that pins one stays as it is. `launch` of `serial` or `programmatic` says how the
    kernels of chosen configurations are launched; else that is chosen, too.

    Extents are those of the op's types; of what they leave open, those of `problem`, MxNxK, each a number or `?`; where that leaves one open, too, 4096 is
    assumed, and one batch. If nothing at all is known of M, N and K the op stays as it is, and is lowered with tiles of 128 x 128. The kernel is right
    for all extents; the choice only makes it fast for some.

    Before:

    ```mlir
    func.func @before(%a: memref<64x7168xf8E4M3FN>, %as: memref<56x64xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<64x2112xbf16>) {
      fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x7168xf8E4M3FN>, memref<56x64xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
        outs(%d : memref<64x2112xbf16>)
      return
    }
    ```

    After `chip=sm_90a`:

    ```mlir
    func.func @after(%a: memref<64x7168xf8E4M3FN>, %as: memref<56x64xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<64x2112xbf16>) {
      fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x7168xf8E4M3FN>, memref<56x64xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
        outs(%d : memref<64x2112xbf16>) config <tile = 64 x 32 x 128, split_k = 2, launch = programmatic>
      return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip that kernels are made for">,
    Option<"problem", "problem", "std::string", "\"\"", "MxNxK, what extents to expect where types leave them open">,
    Option<"tuned", "tuned", "std::string", "\"\"", "a table of measured configurations, written by ./dev bench --tune">,
    Option<"launch", "launch", "std::string", "\"\"", "how kernels are launched: serial, programmatic or fastest (the default)">
  ];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Fp8ExplainConfig : Pass<"fp8-explain-config", "::mlir::ModuleOp"> {
  let summary = "prints what config each GEMM op gets, and why";
  let description = [{
    For each `fp8.blockwise_gemm`: the configuration that `fp8-choose-config` gives it or that it pins, the reason in a sentence, and the `top` candidates, the
    fastest first, with the terms of the cost model in microseconds. The module stays as it is.

    `chip`, `problem`, `tuned` and `launch` are those of `fp8-choose-config`; `top` of 0 prints all candidates. `format` is `text` or `json`; `output` names a file, `-` is
    standard output.

    For example:

    ```mlir
    func.func @gemm(%a: memref<64x7168xf8E4M3FN>, %as: memref<56x64xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<64x2112xbf16>) {
      fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x7168xf8E4M3FN>, memref<56x64xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
        outs(%d : memref<64x2112xbf16>)
      return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip that kernels are made for">,
    Option<"problem", "problem", "std::string", "\"\"", "MxNxK, what extents to expect where types leave them open">,
    Option<"tuned", "tuned", "std::string", "\"\"", "a table of measured configurations, written by ./dev bench --tune">,
    Option<"launch", "launch", "std::string", "\"\"", "how kernels are launched: serial, programmatic or fastest (the default)">,
    Option<"top", "top", "unsigned", "8", "the candidates to print, 0 for all">,
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "\"-\"", "the file to write, - for standard output">
  ];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Fp8StructureGemm : Pass<"fp8-structure-gemm", "::mlir::ModuleOp"> {
  let summary = "makes each GEMM op a structured kernel and its launch (phase 0 to 1)";
  let description = [{
    Replaces each `fp8.blockwise_gemm` by the checks of its operands' dynamic extents, the tensor maps and a
    `gpu.launch_func`, and adds a `gpu.module` with the kernel: a load role, an MMA role and an epilogue role, each over
    the same `fp8.for_each_tile`, tied together by an input pipeline and an output pipeline in their scoped forms. For a `chip` without tensor
    memory the roles are two: load, and one whose warpgroups multiply into registers, promote and store.

    What the op's `config` leaves open is chosen here: as many input stages as shared memory holds, as many accumulators as tensor
    memory does. What it pins and the chip has not is an error.

    Requires: the op stands in a function, its operands are memrefs. Other ops stay as they are.

    For example:

    ```mlir
    func.func @gemm(%a: memref<64x7168xf8E4M3FN>, %as: memref<56x64xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<64x2112xbf16>) {
      fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x7168xf8E4M3FN>, memref<56x64xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
        outs(%d : memref<64x2112xbf16>)
      return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip that kernels are made for">
  ];
  let dependentDialects = StructuredDialects;
}

def Fp8FlattenScopes : Pass<"fp8-flatten-scopes"> {
  let summary = "takes scoped ops to acquire and release (phase 1 to 2)";
  let description = [{
    `produce`, `consume` and `per_k_stage` become an `acquire` for each end, the body, and a `release` for each stage in the opposite
    order. `consume_explicit` becomes an `acquire` for each end, the body, and a `step` for each signalled stage. `mma_warp` and `epilogue_warp` become the creation of the handle, the body, and its release. The ends that a role yields are closed.

    Before:

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @before(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %next = fp8.consume(%stage = %end) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
        %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      }
      return %next : !fp8.consumer<!ring>
    }
    ```

    After:

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @after(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      return %next : !fp8.consumer<!ring>
    }
    ```
  }];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Fp8LowerTileLoops : Pass<"fp8-lower-tile-loops"> {
  let summary = "takes fp8.for_each_tile to scf.for over the CTA's tiles";
  let description = [{
    `persistent` becomes a loop from the CTA's number to the number of tiles in steps of the grid; `one_tile` becomes the body with the
    CTA's number as the tile.

    Before:

    ```mlir
    func.func @before(%m: index, %n: index) -> index {
      %zero = arith.constant 0 : index
      %row = fp8.for_each_tile one_tile (%tm, %tn) in (%m, %n) iter_args(%sum = %zero) -> (index) {
        %next = arith.addi %sum, %tm : index
        fp8.yield %next : index
      }
      return %row : index
    }
    ```

    After:

    ```mlir
    func.func @after(%m: index, %n: index) -> index {
      %zero = arith.constant 0 : index
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %tiles = arith.muli %m, %n : index
      %tm = arith.remui %block, %m : index
      %tn = arith.divui %block, %m : index
      %next = arith.addi %zero, %tm : index
      return %next : index
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def Fp8UnrollLaps : Pass<"fp8-unroll-laps"> {
  let summary = "unrolls loops that go around a ring a whole number of times";
  let description = [{
    An `scf.for` that carries the end of a ring, or the handle of a warp that works on one, and runs a fixed number of times that is a multiple of
    the ring's slots, becomes as many copies of its body. Each copy then has a slot of its own: what is around the loop comes back to the same slot, so that
    addresses need not be computed anew, and if the laps are even in number, nor do parities.

    Requires: phase 1 or 2. Loops of more than `max-trips` stay as they are, and so do loops that start products in the registers of warpgroups:
    the addresses of all slots would take registers that the sums need.

    Before:

    ```mlir
    !ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
    func.func @before(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %last = scf.for %i = %zero to %two step %one iter_args(%inner = %end) -> !fp8.consumer<!ring> {
        %stage = fp8.acquire %inner : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      return %last : !fp8.consumer<!ring>
    }
    ```

    After:

    ```mlir
    !ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
    func.func @after(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      %first = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %first : !fp8.consumer_stage<!ring>
      %second = fp8.acquire %next : !fp8.consumer<!ring>
      %last = fp8.release %second : !fp8.consumer_stage<!ring>
      return %last : !fp8.consumer<!ring>
    }
    ```
  }];
  let options = [
    Option<"maxTrips", "max-trips", "int64_t", "16", "the most trips of a loop that is unrolled">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def Fp8VerifyLinearity : Pass<"fp8-verify-linearity", "::mlir::ModuleOp"> {
  let summary = "refuses functions that handle linear values unchecked";
  let description = [{
    The linearity check runs on functions that carry `fp8.linear`, after every pass. MLIR shows the dialect no function without the
    attribute whose body has no fp8 op, though it may drop a handle. This pass looks at every function; pipelines begin with
    it. The module stays as it is.

    For example:

    ```mlir
    !ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
    func.func @pass_on(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
      return %end : !fp8.consumer<!ring>
    }
    ```
  }];
}

def Fp8Report : Pass<"fp8-report", "::mlir::ModuleOp"> {
  let summary = "prints what is derived for each kernel";
  let description = [{
    For each kernel: its roles and their warps; every barrier of every ring with who arrives, how and how often, who waits, the bytes that complete a phase, the rule of its
    parity; the budget of shared memory, tensor memory and registers. Kernels may be in phase 0 to 2: a copy of the module is taken to phase 2 and read, the module itself stays as it is.

    `format` is `text` or `json`; `output` names a file, `-` is standard output. `chip` is what kernels of phase 0 are made for, in the configuration that
    `fp8-choose-config` gives them for what their types say of their extents.

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
          fp8.yield %next : !fp8.consumer<!ring>
        }
        fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
          %stage = fp8.acquire %end : !fp8.producer<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          fp8.yield %next : !fp8.producer<!ring>
        }
        gpu.return
      }
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip that kernels are made for">,
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "\"-\"", "the file to write, - for standard output">
  ];
  let dependentDialects = StructuredDialects;
}

def Fp8PipelineGraph : Pass<"fp8-pipeline-graph", "::mlir::ModuleOp"> {
  let summary = "draws the roles, rings and barriers of each kernel";
  let description = [{
    Writes a graph for each kernel in the language of Graphviz: roles with their warps, rings with their stages and bytes, and an edge for each role that arrives at a barrier, with
    the count of its arrivals, or waits for one. What is handed over is drawn through, what is handed back dashed. Kernels may be in phase 0 to 2, as for `fp8-report`, from which it is taken.
    `dot -Tsvg` makes a picture of it.

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
          fp8.yield %next : !fp8.consumer<!ring>
        }
        fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
          %stage = fp8.acquire %end : !fp8.producer<!ring>
          fp8.tma_load %map[%c0, %c0], %stage["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          fp8.yield %next : !fp8.producer<!ring>
        }
        gpu.return
      }
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip that kernels are made for">,
    Option<"output", "output", "std::string", "\"-\"", "the file to write, - for standard output">
  ];
  let dependentDialects = StructuredDialects;
}

#endif // FP8_TRANSFORMS_PASSES
