// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes on the way to phase 4, the LLVM and NVVM dialects, and on it.

#ifndef FP8_BACKEND_PASSES_TD
#define FP8_BACKEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def Fp8AttachKernelAttributes
    : Pass<"fp8-attach-kernel-attributes", "::mlir::gpu::GPUModuleOp"> {
  let summary = "gives kernels the argument attributes that gpu.func cannot carry";
  let description = [{
    A TMA descriptor is a 128-byte kernel parameter that the kernel names by its address in parameter space (CUDA driver API, `CUtensorMap`;
    PTX ISA 5.5.8). In LLVM such a parameter needs three argument attributes, which `gpu.func` rejects or `convert-gpu-to-nvvm` drops.
    Without them the kernel reads its descriptor from the wrong address, and no tool reports the error.

    The pass reads the function attribute `fp8.tensor_map_args`, which lists the indices of such arguments and survives that conversion, and
    attaches `llvm.byval`, `nvvm.grid_constant` and `llvm.align = 128` to them (`CUtensorMap` is so aligned since CUDA 13). It also aligns dynamic shared memory (a zero-length external
    array in address space 3) to 1024 bytes, as the 128-byte swizzle of TMA and of the tensor cores requires (PTX ISA 5.5.6). Other
    functions and attributes are unchanged. The pass is idempotent.

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
      llvm.func @after(%a: !llvm.ptr {llvm.align = 128 : i64,
                                      llvm.byval = !llvm.array<128 x i8>,
                                      nvvm.grid_constant}, %n: i32)
          attributes {gpu.kernel, nvvm.kernel, fp8.tensor_map_args = array<i32: 0>} {
        llvm.return
      }
    }
    ```
  }];
}

def Fp8GuardDivisions : Pass<"fp8-guard-divisions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "branches around divisions by a kernel's argument that is one";
  let description = [{
    A kernel finds the row and the column of a tile by a division. The GPU has no instruction for one, so it takes some 100 cycles in front of
    the first copy. Its divisor, the number of rows of tiles, is an argument of the kernel, and one where M is small. The pass puts a comparison in
    front of such a division. If the divisor is one, the quotient is the dividend and the remainder is zero.

    Requires: kernels as `gpu.func`, with divisions of the arith dialect. Ensures: each `arith.divui` and `arith.remui` whose divisor is an argument of
    the kernel stands in the `else` region of an `scf.if`, unless its block also divides by a computed value. Such a block takes that time anyway, and
    stays as it is. The pass is idempotent.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @before(%rows: index, %tile: index, %out: memref<?xindex>) kernel {
        %column = arith.divui %tile, %rows : index
        memref.store %column, %out[%tile] : memref<?xindex>
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    gpu.module @kernels {
      gpu.func @after(%rows: index, %tile: index, %out: memref<?xindex>) kernel {
        %one = arith.constant 1 : index
        %is_one = arith.cmpi eq, %rows, %one : index
        %place:2 = scf.if %is_one -> (index, index) {
          %zero = arith.constant 0 : index
          scf.yield %tile, %zero : index, index
        } else {
          %column = arith.divui %tile, %rows : index
          %row = arith.remui %tile, %rows : index
          scf.yield %column, %row : index, index
        }
        memref.store %place#0, %out[%tile] : memref<?xindex>
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def Fp8LowerLaunches : Pass<"fp8-lower-launches", "::mlir::ModuleOp"> {
  let summary = "embeds kernels, and launches them by a call of the runtime's C API";
  let description = [{
    Combines host and device code in one program. Each `gpu.launch_func` becomes a call of `fp8HostLaunch` (`fp8-c/Host.h`,
    `libfp8host.so`), which loads the kernel at its first launch, launches it and waits until it ends. PTX or a cubin (`emit`) and the
    launch manifest are constants of the module. A call that fails ends the program with a message, as `cf.assert` does.

    Requires: kernels as `--emit=ptx` requires them. A function that launches a kernel does nothing else, and its arguments are strided
    memrefs. The runtime performs its checks, which it finds in the manifest. Several functions may launch the same kernel.

    Ensures: no launched `gpu.module` remains, and the functions that launched them contain no op of the fp8 and gpu dialects, but memref,
    arith and llvm ops instead. Everything else is unchanged, including a `gpu.module` that nothing launches. MLIR's own passes lower the
    rest.

    Before:

    ```mlir
    module attributes {gpu.container_module} {
      gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
        llvm.func @scale(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
      }
      func.func @launch(%x: memref<?xf32> {fp8.name = "x", fp8.access = "readwrite"}) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c128 = arith.constant 128 : index
        %n = memref.dim %x, %c0 : memref<?xf32>
        %blocks = arith.ceildivui %n, %c128 : index
        gpu.launch_func @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1) args(%x : memref<?xf32>)
        return
      }
    }
    ```

    After, with the kernel as a constant:

    ```mlir-fragment
    llvm.mlir.global internal @scale() : !llvm.struct<(ptr, i64, ptr, ptr)> { ... }  // image, bytes, manifest, loaded
    func.func @launch(%x: memref<?xf32>) {
      %stack = llvm.intr.stacksave : !llvm.ptr
      %arguments = llvm.alloca %c1 x !llvm.struct<(ptr, i64, i64, ptr, ptr)> : (i64) -> !llvm.ptr
      ...                                                           // type, address, rank, shape and strides of x
      %kernel = llvm.mlir.addressof @scale : !llvm.ptr
      llvm.call @fp8HostLaunch(%kernel, %arguments, %c1) : (!llvm.ptr, !llvm.ptr, i64) -> ()
      llvm.intr.stackrestore %stack : !llvm.ptr
      return
    }
    ```
  }];
  let options = [
    Option<"kind", "emit", "::mlir::fp8::EmitKind", "::mlir::fp8::EmitKind::PTX", "the image to embed: ptx or cubin", [{
      ::llvm::cl::values(clEnumValN(::mlir::fp8::EmitKind::PTX, "ptx", "PTX, which the driver or the simulator compiles"),
                         clEnumValN(::mlir::fp8::EmitKind::Cubin, "cubin", "a cubin (runs ptxas)"))}]>,
    Option<"ptxas", "ptxas", "std::string", "", "the ptxas to run (default: $FP8_PTXAS, PATH, CUDA)">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

#endif // FP8_BACKEND_PASSES_TD
