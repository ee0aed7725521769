#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles the .cu files here to the .ptx files beside them. The committed ones come from nvcc 13.0; tests run on them,
# so that machines without nvcc run the same code. The .ptx files without a .cu are written by hand.
set -eu
cd "$(dirname "$0")"
nvcc=${FP8_NVCC:-nvcc}
compile() {
  echo "$nvcc -ptx -arch=$2 -std=c++17 -O3 $1.cu"
  "$nvcc" -ptx -arch="$2" -std=c++17 -O3 -o "$1.ptx.new" "$1.cu"
  { echo "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
    echo "// Compiled from $1.cu: nvcc -ptx -arch=$2 -std=c++17 -O3 -o $1.ptx $1.cu"
    cat "$1.ptx.new"; } > "$1.ptx"
  rm "$1.ptx.new"
}
for name in mbarrier_ring tma_load tma_store divergent warp_reduce histogram sgemm calls mma_gemm; do
  compile $name sm_90a
done
compile wgmma_gemm sm_90a
for name in tcgen05_gemm pair_gemm pair_gemm_m128 clc_tiles; do
  compile $name sm_100a
done
