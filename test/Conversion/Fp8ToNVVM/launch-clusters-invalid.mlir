// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

// A work queue hands out whole clusters (PTX ISA, clusterlaunchcontrol.try_cancel), here those of one CTA.
!work = !fp8.work_queue<2>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @queue() kernel attributes {fp8.linear} {
      %p, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.consumer<!work>
      fp8.role "scheduler" warps(1) (%e = %p) : !fp8.producer<!work> {
        %s = fp8.acquire %e : !fp8.producer<!work>
        // expected-note @below {{what depends on it}}
        fp8.request_work %s : !fp8.producer_stage<!work>
        %n = fp8.release %s : !fp8.producer_stage<!work>
        fp8.close %n : !fp8.producer<!work>
      }
      fp8.role "load" warps(1) (%e = %c) : !fp8.consumer<!work> {
        %s = fp8.acquire %e : !fp8.consumer<!work>
        %more, %cluster = fp8.next_work %s : !fp8.consumer_stage<!work>
        %n = fp8.release %s : !fp8.consumer_stage<!work>
        fp8.close %n : !fp8.consumer<!work>
      }
      gpu.return
    }
  }
  func.func @together() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    // expected-error @below {{starts clusters, but kernel 'queue' is compiled for CTAs without, and depends on its cluster; state the CTAs of a cluster in 'fp8.cluster' on the kernel (C8)}}
    gpu.launch_func @m::@queue clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1)
    return
  }
}

// -----

// A kernel that asks for its place would be proved as if that were 0.
!ring = !fp8.pipeline<1, s: !fp8.tile<1x128xf32>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @place() kernel attributes {fp8.linear} {
      // expected-note @below {{what depends on it}}
      %x = gpu.cluster_block_id x
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
        gpu.printf "%d", %x : index
        fp8.close %e : !fp8.producer<!ring>
      }
      fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
        fp8.close %e : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
  func.func @together(%size: index) {
    %c1 = arith.constant 1 : index
    %c160 = arith.constant 160 : index
    // expected-error @below {{starts clusters, but kernel 'place' is compiled for CTAs without}}
    gpu.launch_func @m::@place clusters in (%size, %c1, %c1) blocks in (%size, %c1, %c1) threads in (%c160, %c1, %c1)
    return
  }
}

// -----

// A kernel with clusters is launched in these.
!ring = !fp8.pipeline<1, s: !fp8.tile<1x128xf32>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @four() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 2>} {
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
        fp8.close %e : !fp8.producer<!ring>
      }
      fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
        fp8.close %e : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
  func.func @launch() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c160 = arith.constant 160 : index
    // expected-error @below {{starts clusters of 2 CTAs along an axis where its kernel's clusters have 4; clusters extend along x, and 'fp8.cluster' states their number of CTAs}}
    gpu.launch_func @m::@four clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c160, %c1, %c1)
    return
  }
}
