// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from phase 0 to phase 2.

#ifndef FP8_TRANSFORMS_PASSES
#define FP8_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

// The dialects of a structured kernel and of the function that launches it.
defvar StructuredDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::fp8::Fp8Dialect",
                             "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];

def Fp8ChooseConfig : Pass<"fp8-choose-config", "::mlir::ModuleOp"> {
  let summary = "gives each GEMM op without a config the one with the least predicted mean time";
  let description = [{
    Gives each `fp8.blockwise_gemm` that pins no `config` one for its extents and the `chip`: the entry of the table `tuned`, if it has the
    shape, else the config with the least mean time in the cost model (`docs/Chooser.md`). An op that pins a config is unchanged. `launch`,
    `serial` or `programmatic`, sets how kernels of chosen configurations are launched. Without it the pass chooses that too.
    `machine` names the GPU whose constants the model takes, such as `NVIDIA H200`, or a file with them. Without it they are the chip's.

    The extents come from the op's types. `problem`, MxNxK with a number or `?` for each extent, fills in what the types leave open. For an
    extent that is still open the pass assumes 4096, and one batch. If nothing is known of M, N and K, the op is unchanged, and the lowering
    uses tiles of 128 x 128. The kernel is right for all extents; the config affects its speed only.

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
        outs(%d : memref<64x2112xbf16>) config <tile = 64 x 32 x 128, split_k = 2, launch = programmatic, signal = wait>
      return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip to lower kernels for">,
    Option<"problem", "problem", "std::string", "\"\"", "MxNxK, the extents to assume where types leave them open">,
    Option<"tuned", "tuned", "std::string", "\"\"", "a table of measured configurations, which ./dev bench --tune writes">,
    Option<"machine", "machine", "std::string", "\"\"", "the GPU whose constants the cost model takes: a name, or a file that python3 -m fp8 calibrate wrote">,
    Option<"launch", "launch", "std::string", "\"\"", "how to launch kernels: serial, programmatic or fastest (the default)">,
    Option<"exact", "exact", "bool", "false", "take the M of problem to be exact, as fp8.gemm does; otherwise the kernel is for other M, too">
  ];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Fp8ExplainConfig : Pass<"fp8-explain-config", "::mlir::ModuleOp"> {
  let summary = "prints what config each GEMM op gets, and why";
  let description = [{
    Prints, for each `fp8.blockwise_gemm`, the configuration that `fp8-choose-config` gives it or that it pins, the reason in one sentence,
    and the `top` candidates, the best first, with the terms of the cost model in microseconds. `alone` is the time of a launch that starts when
    the preceding kernel has ended; the choice counts it, too. The module is unchanged.

    `chip`, `problem`, `tuned`, `machine` and `launch` are as in `fp8-choose-config`. `top = 0` prints all candidates. `format` is `text` or `json`.
    `output` names a file; `-` is standard output.

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
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip to lower kernels for">,
    Option<"problem", "problem", "std::string", "\"\"", "MxNxK, the extents to assume where types leave them open">,
    Option<"tuned", "tuned", "std::string", "\"\"", "a table of measured configurations, which ./dev bench --tune writes">,
    Option<"machine", "machine", "std::string", "\"\"", "the GPU whose constants the cost model takes: a name, or a file that python3 -m fp8 calibrate wrote">,
    Option<"launch", "launch", "std::string", "\"\"", "how to launch kernels: serial, programmatic or fastest (the default)">,
    Option<"top", "top", "unsigned", "8", "how many candidates to print; 0: all">,
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "\"-\"", "the file to write; -: standard output">,
    Option<"exact", "exact", "bool", "false", "take the M of problem to be exact, as fp8.gemm does; otherwise the kernel is for other M, too">
  ];
  let dependentDialects = ["::mlir::fp8::Fp8Dialect"];
}

def Fp8StructureGemm : Pass<"fp8-structure-gemm", "::mlir::ModuleOp"> {
  let summary = "turns each GEMM op into a structured kernel and its launch (phase 0 to 1)";
  let description = [{
    Replaces each `fp8.blockwise_gemm` by checks of its operands' dynamic extents, the tensor maps and a `gpu.launch_func`, and adds a
    `gpu.module` with the kernel. The kernel has a load role, an MMA role and an epilogue role. Each runs the same `fp8.for_each_tile`; an
    input pipeline and an output pipeline in their scoped forms connect them. For a `chip` without tensor memory the kernel has two roles: a
    load role, and one whose warpgroups multiply into registers, promote and store.

    The pass chooses what the op's `config` leaves open: as many input stages as shared memory holds, and as many accumulators as tensor
    memory holds. A pinned field that requires a feature which the chip lacks is an error.

    Requires: the op is in a function, and its operands are memrefs. Other ops are unchanged.

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
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip to lower kernels for">
  ];
  let dependentDialects = StructuredDialects;
}

def Fp8LowerIndex : Pass<"fp8-lower-index"> {
  let summary = "takes ops of the index dialect to those of arith";
  let description = [{
    Replaces each op of the index dialect by the op of arith that computes the same. Later passes, the proof and the launch manifest know
    integers by the ops of arith. `index.sizeof` has no such op and is unchanged.

    Before:

    ```mlir
    func.func @before(%n: index) -> index {
      %c4 = index.constant 4
      %groups = index.divu %n, %c4
      return %groups : index
    }
    ```

    After:

    ```mlir
    func.func @after(%n: index) -> index {
      %c4 = arith.constant 4 : index
      %groups = arith.divui %n, %c4 : index
      return %groups : index
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Fp8FoldViews : Pass<"fp8-fold-views"> {
  let summary = "lets loads and stores of elements access arrays instead of views";
  let description = [{
    Replaces the array of a `memref.load` or a `memref.store` that is made by `memref.subview` or `memref.cast` by the array that the view
    is of, with the indices there. The proof knows arrays by the arguments of the kernel. Views that nobody uses any more go.

    Before:

    ```mlir
    func.func @before(%rows: memref<?x8xf32>, %row: index, %i: index) -> f32 {
      %view = memref.subview %rows[%row, 4] [1, 4] [1, 1] : memref<?x8xf32> to memref<4xf32, strided<[1], offset: ?>>
      %x = memref.load %view[%i] : memref<4xf32, strided<[1], offset: ?>>
      return %x : f32
    }
    ```

    After:

    ```mlir
    func.func @after(%rows: memref<?x8xf32>, %row: index, %i: index) -> f32 {
      %c4 = arith.constant 4 : index
      %column = arith.addi %i, %c4 : index
      %x = memref.load %rows[%row, %column] : memref<?x8xf32>
      return %x : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Fp8FlattenScopes : Pass<"fp8-flatten-scopes"> {
  let summary = "lowers scoped ops to acquire and release (phase 1 to 2)";
  let description = [{
    `produce`, `consume` and `per_k_stage` become an `acquire` for each end, the body, and a `release` for each stage in the opposite order.
    `consume_explicit` becomes an `acquire` for each end, the body, and a `step` for each signalled stage. `mma_warp` and `epilogue_warp`
    become the op that creates the handle, the body, and the op that releases it. An `fp8.close` closes each end that a role yields.

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
  let summary = "lowers fp8.for_each_tile to scf.for over the CTA's tiles";
  let description = [{
    `persistent` becomes a loop from the CTA's number to the number of tiles, with the grid size as its step. `one_tile` becomes the body,
    with the CTA's number as the tile.

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
  let summary = "unrolls loops over the slots of a ring that have few trips";
  let description = [{
    Unrolls each `scf.for` that carries an end or a stage of a ring, or a warp handle, and has a constant trip count that is a multiple of the
    ring's slots. Each copy of the body then uses a fixed slot. After the loop the end is back at the slot where it began, so that the lowering
    need not recompute addresses; after an even number of laps, it need not recompute parities either.

    A loop that starts products in the registers of warpgroups is unrolled if its trip count is no such multiple, two warpgroups have
    products of 128 columns, and each product has one B scale. With fixed slots the addresses of all slots would take registers that the sums
    need.

    Requires: phase 1 or 2. Loops with more than `max-trips` trips are unchanged, and so are all of a module with `--fp8-profile`: stamps in each
    copy would take registers.

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
    Option<"maxTrips", "max-trips", "int64_t", "16", "the largest trip count of a loop to unroll">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def Fp8UnswitchScales : Pass<"fp8-unswitch-scales", "::mlir::ModuleOp"> {
  let summary = "copies loops of products for each place where a block of B scales can end in a tile";
  let description = [{
    A tile whose columns lie in two blocks of B scales multiplies each part of its columns by the scale of one of them. Which block that is
    depends on where the first block ends in the tile, so the body of a loop over K blocks selects a scale for each part. This pass copies
    the loop, and chooses a copy before it. `n` columns at which a part begins make `n + 1` copies.

    A select has the form `split > column ? first : second`, with a constant column. Its result is a B scale of `fp8.promote`, and the loop does
    not compute `split`. The pass copies the outermost such loop, if its products are in the registers of warpgroups, with the operands not
    swapped, and if it needs at most eight copies.

    Requires: phase 1 or 2. A module with `--fp8-profile` is unchanged: stamps in each copy would take registers.

    Before:

    ```mlir
    !a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
    !b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
    !s = !fp8.tile<1x128xf32>
    !sum = !fp8.fragment<128x96xf32, 8, warpgroups>
    func.func @before(%a: !a, %b: !b, %s: !s, %sum: !sum, %scales: memref<?x2xf32>, %split: index, %count: index) -> !sum
        attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c48 = arith.constant 48 : index
      %result = scf.for %i = %c0 to %count step %c1 iter_args(%sums = %sum) -> !sum {
        %first = memref.load %scales[%i, %c0] : memref<?x2xf32>
        %second = memref.load %scales[%i, %c1] : memref<?x2xf32>
        %is_first = arith.cmpi ugt, %split, %c48 : index
        %right = arith.select %is_first, %first, %second : f32
        %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
        %product = fp8.wait_mma %pending : !fp8.pending<!sum>
        %more = fp8.promote %sums, %product scales(%s, %first, %right) : !sum, !sum, !s
        scf.yield %more : !sum
      }
      return %result : !sum
    }
    ```

    After:

    ```mlir
    !a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
    !b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
    !s = !fp8.tile<1x128xf32>
    !sum = !fp8.fragment<128x96xf32, 8, warpgroups>
    func.func @after(%a: !a, %b: !b, %s: !s, %sum: !sum, %scales: memref<?x2xf32>, %split: index, %count: index) -> !sum
        attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c48 = arith.constant 48 : index
      %is_first = arith.cmpi ugt, %split, %c48 : index
      %result = scf.if %is_first -> !sum {
        %one = scf.for %i = %c0 to %count step %c1 iter_args(%sums = %sum) -> !sum {
          %first = memref.load %scales[%i, %c0] : memref<?x2xf32>
          %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
          %product = fp8.wait_mma %pending : !fp8.pending<!sum>
          %more = fp8.promote %sums, %product scales(%s, %first, %first) : !sum, !sum, !s
          scf.yield %more : !sum
        }
        scf.yield %one : !sum
      } else {
        %two = scf.for %i = %c0 to %count step %c1 iter_args(%sums = %sum) -> !sum {
          %first = memref.load %scales[%i, %c0] : memref<?x2xf32>
          %second = memref.load %scales[%i, %c1] : memref<?x2xf32>
          %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
          %product = fp8.wait_mma %pending : !fp8.pending<!sum>
          %more = fp8.promote %sums, %product scales(%s, %first, %second) : !sum, !sum, !s
          scf.yield %more : !sum
        }
        scf.yield %two : !sum
      }
      return %result : !sum
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def Fp8VerifyLinearity : Pass<"fp8-verify-linearity", "::mlir::ModuleOp"> {
  let summary = "rejects functions that use linear values without fp8.linear";
  let description = [{
    The linearity check runs after every pass, on functions with `fp8.linear`. MLIR calls no hook of the dialect for a function without the
    attribute whose body has no fp8 op, though such a function may drop a handle. This pass visits every function; pipelines begin with it.
    The module is unchanged.

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
  let summary = "prints roles, barriers and budgets of each kernel";
  let description = [{
    Prints, for each kernel: its roles and their warps; for every barrier of every ring, who arrives, how and how often, who waits, the
    bytes that complete a phase, and the rule of its parity; the budget of shared memory, tensor memory and registers. Kernels may be in
    phase 0 to 2. The pass lowers a copy of the module to phase 2 and reads it; the module is unchanged.

    `format` is `text` or `json`. `output` names a file; `-` is standard output. Kernels in phase 0 are lowered for `chip`, with the
    configuration that `fp8-choose-config` chooses for the extents in their types.

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
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip to lower kernels for">,
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "\"-\"", "the file to write; -: standard output">
  ];
  let dependentDialects = StructuredDialects;
}

def Fp8Prove : Pass<"fp8-prove", "::mlir::ModuleOp"> {
  let summary = "proves that the roles of each kernel end, for every launch";
  let description = [{
    Proves, for all launch arguments, that no role of a kernel waits forever, and that what a ring holds is taken out of it. Rings make roles a network of bounded channels,
    in which all runs of a launch do the same steps; the pass makes one run with symbolic arguments, and leaves loops behind by induction.
    If the roles end, the pass also proves that each lap of a slot completes one phase of its barriers, that roles read only what was written, with no two accesses to one place without an order, and of a kernel that says what it
    computes that it computes this.

    A kernel that does not end is an error. It names the smallest launch that was found, and where each role stands then. What could not be shown is a remark, with
    `require` an error. Kernels may be in phase 0 to 2. The pass lowers a copy of the module to phase 2 and reads it; the module is unchanged. Kernels in phase 0 are
    lowered for `chip`.

    For example, of this kernel the pass proves that it ends, however large `%n` is:

    ```mlir
    !ring = !fp8.pipeline<1>
    gpu.module @kernels {
      gpu.func @kernel(%n: index) kernel attributes {fp8.linear} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
        fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
          %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
            %stage = fp8.acquire %e : !fp8.producer<!ring>
            %next = fp8.release %stage : !fp8.producer_stage<!ring>
            scf.yield %next : !fp8.producer<!ring>
          }
          fp8.close %last : !fp8.producer<!ring>
        }
        fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
          %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
            %stage = fp8.acquire %e : !fp8.consumer<!ring>
            %next = fp8.release %stage : !fp8.consumer_stage<!ring>
            scf.yield %next : !fp8.consumer<!ring>
          }
          fp8.close %last : !fp8.consumer<!ring>
        }
        gpu.return
      }
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip for which kernels in phase 0 are lowered">,
    Option<"json", "json", "std::string", "\"\"", "the file to write verdicts to, as JSON; -: standard output">,
    Option<"certificate", "certificate", "std::string", "\"\"", "the file to write the certificate of the module's kernel to, for fp8-check-proof; -: standard output. "
           "Without a complete proof none is written">,
    Option<"required", "require", "bool", "false", "whether a proof that is not complete is an error">
  ];
  let dependentDialects = StructuredDialects;
}

def Fp8VerifyProtocol : Pass<"fp8-verify-protocol", "::mlir::gpu::GPUModuleOp"> {
  let summary = "refuses kernels for which some launch does not end";
  let description = [{
    Proves each kernel in phase 2 as `fp8-prove` does, without a copy, and says nothing about one that is proved. A kernel that does not end is an error, and a proof
    that is not complete a remark. `--fp8-gemm-to-ptx` runs this pass, unless `prove=false`.

    With `require` a proof that is not complete is an error, and so is a kernel in phase 3, which has no rings to prove anything about. Without it the pass ignores such
    kernels.

    For example, the pass accepts this kernel:

    ```mlir
    !ring = !fp8.pipeline<1>
    gpu.module @kernels {
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
  }];
  let options = [
    Option<"required", "require", "bool", "false", "whether a proof that is not complete is an error">
  ];
}

def Fp8PipelineGraph : Pass<"fp8-pipeline-graph", "::mlir::ModuleOp"> {
  let summary = "draws the roles, rings and barriers of each kernel";
  let description = [{
    Writes a graph for each kernel in the language of Graphviz: roles with their warps, rings with their stages and bytes, and an edge for
    each role that arrives at a barrier, with the count of its arrivals, or waits for one. A hand-over has a solid edge, a hand-back a
    dashed edge. Kernels may be in phase 0 to 2, as for `fp8-report`, whose data the graph shows. `dot -Tsvg` draws it.

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
    Option<"chip", "chip", "std::string", "\"sm_100a\"", "the chip to lower kernels for">,
    Option<"output", "output", "std::string", "\"-\"", "the file to write; -: standard output">
  ];
  let dependentDialects = StructuredDialects;
}

#endif // FP8_TRANSFORMS_PASSES
