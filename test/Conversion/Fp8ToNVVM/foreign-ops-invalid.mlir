// What ops of other dialects may do in a kernel (K1, R4, K8).
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @whole_cta() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'gpu.barrier' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      gpu.barrier
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @nvvm_barrier(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'nvvm.barrier' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      nvvm.barrier
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @nvvm_barrier_of_some(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'nvvm.barrier' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      nvvm.barrier id = %x number_of_threads = %x
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @all_reduce(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'gpu.all_reduce' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      %sum = gpu.all_reduce add %x {} : (i32) -> (i32)
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @cluster(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'nvvm.cluster.arrive' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      nvvm.cluster.arrive
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @assembly(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inline_asm' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      llvm.inline_asm has_side_effects "{ .reg .pred p; barrier.cta.sync 3, 64; }", "" : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  func.func private @helper() {
    // expected-note @below {{the wait}}
    gpu.barrier
    return
  }
  gpu.func @called(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'func.call' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      func.call @helper() : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  func.func private @elsewhere()
  gpu.func @declared(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'func.call' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      func.call @elsewhere() : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @attribution(%x: i32) workgroup(%buffer: memref<32xf32, 3>
      // expected-error @above {{shared memory of a kernel is outside the layout of the kernel's rings (K1); add a tile to a pipeline}}
      ) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %e2 = arith.addi %x, %x : i32
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

// Ops of other dialects that stay within a warp, and memory of other spaces, are welcome.
!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  func.func private @twice(%x: i32) -> i32 {
    %y = arith.addi %x, %x : i32
    return %y : i32
  }
  gpu.func @welcome(%x: i32, %m: memref<?xi32>) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %c0 = arith.constant 0 : index
      %y = func.call @twice(%x) : (i32) -> i32
      %sum = gpu.subgroup_reduce add %y : (i32) -> i32
      nvvm.bar.warp.sync %x : i32
      nvvm.fence.mbarrier.init
      nvvm.cp.async.bulk.wait_group 0
      llvm.inline_asm has_side_effects "// bar.sync 0 stands in a comment\0Afence.proxy.async;", "" : () -> ()
      %z = llvm.inline_asm "bar.warp.sync 0xffffffff; mbarrier.test_wait.shared.b64 p, [$1], 0; mov.u32 $0, $1;", "=r,r" %sum : (i32) -> i32
      memref.store %z, %m[%c0] : memref<?xi32>
      gpu.printf "%d", %z : i32
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @unknown_memory(%x: i8) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // expected-error @below {{'gpu.dynamic_shared_memory' op is outside the layout of the kernel's rings (K1); add a tile to a pipeline}}
    %m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %x, %m[%c0] : memref<?xi8, #gpu.address_space<workgroup>>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @assembly_with_blank(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inline_asm' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      llvm.inline_asm has_side_effects "bar .sync 0;", "" : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @assembly_with_comment(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inline_asm' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      llvm.inline_asm has_side_effects "bar/* here */.sync 0;", "" : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @assembly_with_alternatives(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inline_asm' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      llvm.inline_asm has_side_effects "$(bar$|bar$).sync 0;", "" : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @assembly_with_registers(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inline_asm' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      llvm.inline_asm has_side_effects "setmaxnreg.inc.sync.aligned.u32 200;", "" : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @assembly_with_variable(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inline_asm' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      llvm.inline_asm has_side_effects ".shared .b8 buffer[64];", "" : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @intrinsic(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.call_intrinsic' op may wait for warps of other roles, which never execute it (K1); hand over through a ring}}
      llvm.call_intrinsic "llvm.nvvm.barrier.cluster.arrive"() : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  func.func private @buffered() {
    // expected-note @below {{the memory}}
    %m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    return
  }
  gpu.func @called_memory(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'func.call' op calls a function with its own shared memory, which is outside the layout of the kernel's rings (K1); add a tile to a pipeline}}
      func.call @buffered() : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @of_the_cluster(%x: i32) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inttoptr' op is outside the layout of the kernel's rings (K1); add a tile to a pipeline}}
      %address = llvm.inttoptr %x : i32 to !llvm.ptr<7>
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

// What ends threads, as text, as text of a function, and as an intrinsic.
!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @exit() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.inline_asm' op ends threads that the kernel still needs (K1); remove it, and let control flow reach the end}}
      llvm.inline_asm has_side_effects "exit;", "" : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  func.func private @leave() {
    // expected-note @below {{the end}}
    llvm.inline_asm has_side_effects "{ @p ret ; }", "" : () -> ()
    return
  }
  gpu.func @ret() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'func.call' op ends threads that the kernel still needs (K1); remove it, and let control flow reach the end}}
      func.call @leave() : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @exit_intrinsic() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-error @below {{'llvm.call_intrinsic' op ends threads that the kernel still needs (K1); remove it, and let control flow reach the end}}
      llvm.call_intrinsic "llvm.nvvm.exit"() : () -> ()
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{private memory of a kernel must be allocated in a role (K1); use memref.alloca}}
  gpu.func @private_attribution(%x: i32) private(%buffer: memref<32xf32, #gpu.address_space<private>>) kernel attributes {fp8.linear} {
    fp8.role "alone" warps(1) {
    }
    gpu.return
  }
}

// -----

// Lowering moves roles over what stands between them.
!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @barrier_behind_a_role() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // Every warp comes here.
    gpu.barrier
    // expected-note @below {{the first role}}
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    // expected-error @below {{'gpu.barrier' op may have effects and stands behind a role (R4), with which it has no order; move it into a role, or in front of the first one}}
    gpu.barrier
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @store_behind_a_role(%done: memref<1xf32>, %cond: i1) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    // expected-note @below {{the first role}}
    fp8.role "alone" warps(1) {
    }
    // expected-error @below {{'scf.if' op has effects and stands behind a role (R4)}}
    scf.if %cond {
      memref.store %one, %done[%c0] : memref<1xf32>
    }
    gpu.return
  }
}

// -----

// The lowering gives index 32 bits.
gpu.module @m {
  gpu.func @large_index(%x: index, %out: memref<?xf32>) kernel attributes {fp8.linear} {
    fp8.role "alone" warps(1) {
      %one = arith.constant 1.0 : f32
      %all = arith.constant 4294967295 : index
      %less = arith.constant -2147483648 : index
      // expected-error @below {{8589934592 needs more than the 32 bits that index has in a kernel (K8); use i64}}
      %far = arith.constant 8589934592 : index
      %at = arith.remui %far, %x : index
      memref.store %one, %out[%at] : memref<?xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @pointer_as_index(%out: memref<?xf32>) kernel attributes {fp8.linear} {
    fp8.role "alone" warps(1) {
      // expected-error @below {{'memref.extract_aligned_pointer_as_index' op gives 64 bits of a pointer as index, which has 32 in a kernel (K8); access the memory by its memref}}
      %p = memref.extract_aligned_pointer_as_index %out : memref<?xf32> -> index
    }
    gpu.return
  }
}

// -----

// Another block is behind the roles, too.
gpu.module @m {
  gpu.func @store_in_a_later_block(%done: memref<1xf32>, %cond: i1) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    // expected-note @below {{the first role}}
    fp8.role "alone" warps(1) {
    }
    cf.cond_br %cond, ^store, ^end
  ^store:
    // expected-error @below {{'memref.store' op has effects and stands behind a role (R4)}}
    memref.store %one, %done[%c0] : memref<1xf32>
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

// Constants of functions that are called, and of vectors.
gpu.module @m {
  func.func private @far(%x: index) -> index attributes {no_inline} {
    // expected-error @below {{4294967297 needs more than the 32 bits that index has in a kernel (K8); use i64}}
    %c = arith.constant dense<[1, 4294967297]> : vector<2xindex>
    %y = vector.extract %c[1] : index from vector<2xindex>
    return %y : index
  }
  gpu.func @calls_far(%x: index, %out: memref<?xindex>) kernel attributes {fp8.linear} {
    fp8.role "alone" warps(1) {
      %c0 = arith.constant 0 : index
      %y = func.call @far(%x) : (index) -> index
      memref.store %y, %out[%c0] : memref<?xindex>
    }
    gpu.return
  }
}
