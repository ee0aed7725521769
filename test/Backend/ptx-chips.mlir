// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each chip of the table gives PTX that ptxas takes.

// REQUIRES: ptxas
// RUN: fp8-opt %s --emit=cubin --kernel=hopper --no-manifest --ptxas=%ptxas -o %t.cubin
// RUN: fp8-opt %s --emit=cubin --kernel=blackwell --no-manifest --ptxas=%ptxas -o %t.cubin
// RUN: fp8-opt %s --emit=cubin --kernel=family --no-manifest --ptxas=%ptxas -o %t.cubin
// RUN: fp8-opt %s --emit=cubin --kernel=ultra --no-manifest --ptxas=%ptxas -o %t.cubin
// RUN: fp8-opt %s --emit=cubin --kernel=thor --no-manifest --ptxas=%ptxas -o %t.cubin
// RUN: fp8-opt %s --emit=ptx --kernel=hopper -o - | FileCheck %s --check-prefix=HOPPER
// RUN: fp8-opt %s --emit=ptx --kernel=blackwell -o - | FileCheck %s --check-prefix=BLACKWELL
// RUN: fp8-opt %s --emit=ptx --kernel=family -o - | FileCheck %s --check-prefix=FAMILY
// RUN: fp8-opt %s --emit=ptx --kernel=ultra -o - | FileCheck %s --check-prefix=ULTRA
// RUN: fp8-opt %s --emit=ptx --kernel=thor -o - | FileCheck %s --check-prefix=THOR

// HOPPER: .target sm_90a
// BLACKWELL: .target sm_100a
// FAMILY: .target sm_100f
// ULTRA: .target sm_103a
// THOR: .version 9.0
// THOR: .target sm_110a

gpu.module @m90 [#nvvm.target<chip = "sm_90a">] {
  llvm.func @hopper() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
}
gpu.module @m100 [#nvvm.target<chip = "sm_100a">] {
  llvm.func @blackwell() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
}
// LLVM 22's NVVM verifier knows tcgen05 on sm_100a and sm_101a only, hence the
// option; the backend takes all of them.
gpu.module @m100f [#nvvm.target<chip = "sm_100f", verifyTarget = false>] {
  llvm.func @family(%p: !llvm.ptr<6>) attributes {gpu.kernel, nvvm.kernel} {
    nvvm.tcgen05.relinquish_alloc_permit
    llvm.return
  }
}
gpu.module @m103 [#nvvm.target<chip = "sm_103a", verifyTarget = false>] {
  llvm.func @ultra(%p: !llvm.ptr<6>) attributes {gpu.kernel, nvvm.kernel} {
    nvvm.tcgen05.relinquish_alloc_permit
    llvm.return
  }
}
gpu.module @m110 [#nvvm.target<chip = "sm_110a", features = "+ptx90", verifyTarget = false>] {
  llvm.func @thor(%p: !llvm.ptr<6>) attributes {gpu.kernel, nvvm.kernel} {
    nvvm.tcgen05.relinquish_alloc_permit
    llvm.return
  }
}
