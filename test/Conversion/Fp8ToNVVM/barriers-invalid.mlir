// What a kernel that enters with barriers must have.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op needs a #fp8.cta_plan in a kernel whose rings are barriers; --convert-fp8-rings-to-barriers writes it}}
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 1, registers = 255>} {
    // expected-error @+1 {{needs a #fp8.role_plan in a kernel whose rings are barriers}}
    fp8.role "load" warps(1) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 1, registers = 255>} {
    // expected-error @+1 {{needs an fp8.role_thread in a kernel whose rings are barriers}}
    fp8.role "load" warps(1) attributes {fp8.plan = #fp8.role_plan<>} {
    }
    gpu.return
  }
}

// -----

!half = !fp8.tile<64x64xbf16, swizzle_128b>
gpu.module @kernels {
  gpu.func @kernel(%address: i32) kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 4, registers = 255>} {
    %a = fp8.view_at %address : !half
    // expected-error @+1 {{needs an enclosing fp8.role in a kernel whose rings are barriers}}
    %product = fp8.warpgroup_mma %a, %a : !half, !half -> !fp8.pending<!fp8.fragment<64x64xf32, 4, warpgroups>>
    %sum = fp8.wait_mma %product {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!fp8.fragment<64x64xf32, 4, warpgroups>>
    gpu.return
  }
}

// -----

!half = !fp8.tile<64x64xbf16, swizzle_128b>
gpu.module @kernels {
  gpu.func @kernel(%address: i32) kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 4, registers = 255>} {
    %id = fp8.id warp
    fp8.role "multiply" warps(4) attributes {fp8.plan = #fp8.role_plan<>} {
      %leader, %warp, %lane = fp8.role_thread %id
      %a = fp8.view_at %address : !half
      %product = fp8.warpgroup_mma %a, %a : !half, !half -> !fp8.pending<!fp8.fragment<64x64xf32, 4, warpgroups>>
      // expected-error @+1 {{needs a #fp8.wait_plan in a kernel whose rings are barriers}}
      %sum = fp8.wait_mma %product : !fp8.pending<!fp8.fragment<64x64xf32, 4, warpgroups>>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{needs a role that gives up registers in a kernel whose rings are barriers}}
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 4, registers = 255, idle_registers = 40>} {
    %id = fp8.id warp
    fp8.role "multiply" warps(4) attributes {fp8.plan = #fp8.role_plan<registers = 240, takes>} {
      %leader, %warp, %lane = fp8.role_thread %id
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2, registers = 255>} {
    %id = fp8.id warp
    // expected-note @+1 {{the other role}}
    fp8.role "load" warps(1) attributes {fp8.plan = #fp8.role_plan<first_warp = 1>} {
      %leader, %warp, %lane = fp8.role_thread %id
    }
    // expected-error @+1 {{'fp8.role' op shares a warp with another role; plan the kernel again from phase 2}}
    fp8.role "read" warps(2) attributes {fp8.plan = #fp8.role_plan<>} {
      %leader, %warp, %lane = fp8.role_thread %id
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2, registers = 255>} {
    %id = fp8.id warp
    // expected-error @+1 {{'fp8.role' op has warps(2) from 1 on, but a launch starts 2; plan the kernel again from phase 2}}
    fp8.role "read" warps(2) attributes {fp8.plan = #fp8.role_plan<first_warp = 1>} {
      %leader, %warp, %lane = fp8.role_thread %id
    }
    gpu.return
  }
}

// -----

!half = !fp8.tile<64x64xbf16, swizzle_128b>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
gpu.module @kernels {
  gpu.func @kernel(%address: i32) kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 8, registers = 255>} {
    %id = fp8.id warp
    // expected-note @+1 {{role "multiply" has warps 0 to 7}}
    fp8.role "multiply" warps(8) attributes {fp8.plan = #fp8.role_plan<>} {
      %leader, %warp, %lane = fp8.role_thread %id
      %a = fp8.view_at %address : !half
      // expected-error @+1 {{works on a fragment of 4 warps, but its role has 8}}
      %product = fp8.warpgroup_mma %a, %a : !half, !half -> !fp8.pending<!sum>
      %sum = fp8.wait_mma %product {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!sum>
    }
    gpu.return
  }
}

// -----

!half = !fp8.tile<64x64xbf16, swizzle_128b>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
gpu.module @kernels {
  gpu.func @kernel(%address: i32) kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 4, registers = 255>} {
    %id = fp8.id warp
    fp8.role "multiply" warps(4) attributes {fp8.plan = #fp8.role_plan<>} {
      %a = fp8.view_at %address : !half
      // expected-error @+1 {{needs an fp8.role_thread in front of it in a kernel whose rings are barriers}}
      %product = fp8.warpgroup_mma %a, %a : !half, !half -> !fp8.pending<!sum>
      %sum = fp8.wait_mma %product {fp8.plan = #fp8.wait_plan<>} : !fp8.pending<!sum>
      %leader, %warp, %lane = fp8.role_thread %id
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kernel(%barrier: i32, %parity: i32) kernel
      attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 1, registers = 255>} {
    // expected-error @+1 {{needs the kernel's wait table, since it has a limit, in a kernel whose rings are barriers}}
    fp8.mbarrier_wait %barrier, %parity {limit = 1000 : i64}
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kernel(%scales: memref<?xf32>, %other: memref<?xf32>, %c: i1, %i: index, %address: i32) kernel
      attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 1, registers = 255>} {
    %source = arith.select %c, %scales, %other : memref<?xf32>
    // expected-error @+1 {{needs a source that is an argument of the kernel (M5) in a kernel whose rings are barriers}}
    fp8.copy_element %source[%i], %address : memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2, registers = 255>} {
    %id = fp8.id warp
    // expected-error @+1 {{'fp8.role' op has warps(1) from 9223372036854775807 on, but a launch starts 2; plan the kernel again from phase 2}}
    fp8.role "load" warps(1) attributes {fp8.plan = #fp8.role_plan<first_warp = 9223372036854775807>} {
      %leader, %warp, %lane = fp8.role_thread %id
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op is planned with 2305843009213693952 warps, but a CTA has 1 to 32; plan the kernel again from phase 2}}
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 2305843009213693952>} {
    gpu.return
  }
}
