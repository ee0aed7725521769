// What a kernel may not do with elements: read those that nobody copied (K6), copy what is not in global memory (M5), or store there (Q5).
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<2, s: !fp8.tile<1x4xf32>>
gpu.module @kernels {
  gpu.func @other_column(%scales: memref<?xf32>, %i: index, %out: memref<?xf32>) kernel attributes {fp8.linear} {
    // expected-note @below {{the ring}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%in = %c) : !fp8.consumer<!ring> {
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      // expected-error @below {{reads elements of tile 's', into which nobody copies (K6); copy them}}
      %element = fp8.read_element %tile[1] : !fp8.tile<1x4xf32>
      memref.store %element, %out[%i] : memref<?xf32>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      fp8.load_element %scales[%i], %stage["s", 2] : memref<?xf32>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x4xf32>>
gpu.module @kernels {
  gpu.func @from_the_stack(%i: index) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %stack = memref.alloca() : memref<4xf32>
    fp8.role "read" warps(4) (%in = %c) : !fp8.consumer<!ring> {
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      // expected-error @below {{copies from a memref that is not an argument of the kernel (M5); pass one, since arguments are in global memory}}
      fp8.load_element %stack[%i], %stage["s", 0] : memref<4xf32>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!tile = !fp8.tile<32x32xf32, swizzle_128b>
!queue = !fp8.store_queue<1, !tile, 4>
gpu.module @kernels {
  gpu.func @rest_on_the_stack(%map: !fp8.tensor_map<!tile>, %i: index) kernel attributes {fp8.linear} {
    %queue = fp8.store_queue : !queue
    %stack = memref.alloca() : memref<4x4xf32>
    fp8.role "store" warps(4) (%q = %queue) : !queue {
      %zero = fp8.zero : !fp8.fragment<128x32xf32, 4>
      // expected-error @below {{stores the rest of its rows to a memref that is not an argument of the kernel (Q5); pass one, since arguments are in global memory}}
      %next = fp8.store %zero, %map[%i, %i] through %q rest(%stack : memref<4x4xf32>) : !fp8.fragment<128x32xf32, 4>, !fp8.tensor_map<!tile>, !queue
      fp8.close %next : !queue
    }
    gpu.return
  }
}
