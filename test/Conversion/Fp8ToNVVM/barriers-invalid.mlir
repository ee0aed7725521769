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

!t = !fp8.tile<1x128xf32>
gpu.module @kernels {
  gpu.func @kernel(%map: !fp8.tensor_map<!t>, %i: index, %address: i32) kernel
      attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 1, registers = 255>} {
    // expected-error @+1 {{needs a coordinate for each dimension of its map in a kernel whose rings are barriers}}
    fp8.copy_tile %map[%i], %address, %address : !fp8.tensor_map<!t>
    gpu.return
  }
}
