// RUN: fp8-opt %s --fp8-choose-config=chip=sm_90a | FileCheck %s
// RUN: fp8-opt %s --fp8-choose-config="chip=sm_90a problem=?x7168x2048" | FileCheck %s --check-prefix=HINT
// RUN: fp8-opt %s --fp8-choose-config="chip=sm_90a problem=64x7168x2048" | FileCheck %s --check-prefix=ALL
// RUN: fp8-opt %s --fp8-choose-config="chip=sm_90a tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=TUNED
// RUN: fp8-opt %s --fp8-choose-config | FileCheck %s --check-prefix=BLACKWELL
// RUN: fp8-opt %s --fp8-gemm-to-ptx="chip=sm_90a problem=64x7168x2048 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=PIPELINE

// No copy reaches far beyond M where the first tiles are not full; where there is one row of tiles, it does, and the table says nothing of that.
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=196x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=EDGE
// EDGE: config <tile = 128 x 24 x 128, stages = 2, edge = first>
// Few blocks are not worth the lanes' first loads of B scales. A B that is loaded early wants more than half of the SMs. Streams of B want most of them. Tiles of 144 and of 96 columns fill waves of N of 9216 alike; the wider are fewer.
// DEFINE: %{h100} = fp8-opt %t.mlir -o /dev/null --fp8-explain-config="chip=sm_90a machine='NVIDIA H100 80GB HBM3' top=0
// RUN: cp %fp8_source/examples/gemm.mlir %t.mlir
// RUN: %{h100} problem=512x4096x7168" | FileCheck %s --check-prefix=LANES
// LANES: tile = 128 x 128 x 128, b_scales = lanes, l2_promotion = 128, launch = programmatic
// RUN: %{h100} problem=512x4096x1920" | FileCheck %s --check-prefix=RING
// RING-NOT: lanes
// RING: tile = 128 x 128 x 128, l2_promotion = 128, launch = programmatic
// RING-NOT: lanes
// RUN: %{h100} problem=1x36864x18432" | FileCheck %s --check-prefix=STREAM
// STREAM: {{^}}  tile = 64 x 144 x 128, launch = programmatic, edge = fit, signal = wait, by the model
// STREAM: {{^}}{{.*}}tile = 64 x 96 x 128, launch = programmatic, signal = wait
// RUN: %{h100} problem=473x9216x7168" | FileCheck %s --check-prefix=NINTHS
// NINTHS: {{^}}  tile = 128 x 144 x 128, l2_promotion = 128, launch = programmatic, edge = first, by the model
// Rows beyond M save power, but a kernel for other M, too, may have too many of them.
// RUN: %{h100} problem=473x9216x7168 exact" | FileCheck %s --check-prefix=EXACT
// EXACT: {{^}}  tile = 128 x 144 x 128, l2_promotion = 128, launch = programmatic, by the model
// With 12 columns of tiles 11 rows are computed at a time.
// RUN: %{h100} problem=2816x2304x5120" | FileCheck %s --check-prefix=RECTANGLE
// RECTANGLE: {{^}}  tile = 128 x 192 x 128, band = 11, launch = programmatic, edge = first, by the model
// Three warpgroups compute 192 rows, where tiles of 128 or 256 would have many beyond M. Beside a residual ptxas spills their widest tile.
// RUN: %{h100} problem=513x4096x7168" | FileCheck %s --check-prefix=THREE
// RUN: fp8-opt %t.mlir -o /dev/null --fp8-explain-config="chip=sm_90a problem=513x4096x7168 top=0" | FileCheck %s --check-prefix=THREE
// THREE: {{^}}  tile = 192 x 96 x 128, b_scales = lanes, l2_promotion = 128, launch = programmatic, edge = first, signal = wait, by the model
// RUN: %{h100} problem=192x7168x2048" | FileCheck %s --check-prefix=ONE
// ONE: {{^}}  tile = 192 x 64 x 128, launch = programmatic, signal = wait, by the model
// RUN: %{h100} problem=1282x7168x2048" | FileCheck %s --check-prefix=WIDEST
// WIDEST: {{^}}  tile = 192 x 128 x 128,
// RUN: %python %S/../Run/Inputs/epilogues.py --print c=bf16,d=bf16 > %t.residual.mlir
// RUN: fp8-opt %t.residual.mlir -o /dev/null --fp8-explain-config="chip=sm_90a problem=1282x7168x2048 top=0" | FileCheck %s --check-prefix=RESIDUAL
// RESIDUAL-NOT: tile = 192 x 128 x 128,
// RESIDUAL: tile = 192 x 112 x 128,
// RESIDUAL-NOT: tile = 192 x 128 x 128,
// A product that reaches the power limit multiplies zeros beyond M, unless there are many of them. A kernel that serves every M never does.
// RUN: sed 's/%a: memref<?x?xf8/%a: memref<214x?xf8/; s/: memref<?x?xf8E4M3FN>, memref<?x?xf32, strided/: memref<214x?xf8E4M3FN>, memref<?x?xf32, strided/' %t.mlir > %t.214.mlir
// RUN: fp8-opt %t.214.mlir -o /dev/null --fp8-explain-config="chip=sm_90a problem=?x24576x16384 top=0" | FileCheck %s --check-prefix=ZEROS
// ZEROS: {{^}}  tile = 128 x 192 x 128, l2_promotion = 128, launch = programmatic, signal = wait, by the model
// ZEROS: would take {{[0-9.]+}}, its tensor
// RUN: fp8-opt %t.mlir -o /dev/null --fp8-explain-config="chip=sm_90a problem=214x24576x16384 top=0" | FileCheck %s --check-prefix=EVERY
// EVERY: {{^}}  tile = 128 x 192 x 128, l2_promotion = 128, launch = programmatic, edge = first, signal = wait, by the model
// RUN: fp8-opt %t.214.mlir -o /dev/null --fp8-explain-config="chip=sm_90a problem=?x24576x1024 top=0" | FileCheck %s --check-prefix=COOL
// COOL: {{^}}  tile = {{.*}}, edge = first{{.*}}, by the model
// An entry of the table has the edge that was measured, but for a kernel that serves every M.
// RUN: fp8-opt %t.214.mlir --fp8-choose-config="chip=sm_90a problem=?x5120x640 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=MEASURED
// MEASURED: config <tile = 128 x 56 x 128, stages = 2>
// RUN: fp8-opt %t.mlir --fp8-choose-config="chip=sm_90a problem=214x5120x640 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=SERVES
// SERVES: config <tile = 128 x 56 x 128, stages = 2, edge = first>
// One whose boxes fit keeps that for each M that it serves, however few rows M has: no copy reaches beyond them.
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=100x6144x640 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=FITS
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=70x6144x640 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=FITS
// FITS: config <tile = 128 x 32 x 128, stages = 2, edge = fit>
// One band has 9 to 18 rows of tiles, if products last and columns are many.
// RUN: %{h100} problem=1395x18432x4096" | FileCheck %s --check-prefix=BAND
// BAND: {{^}}  tile = 128 x 192 x 128, band = 18,
// RUN: %{h100} problem=1395x2112x4096" | FileCheck %s --check-prefix=BANDS
// RUN: %{h100} problem=1395x18432x1024" | FileCheck %s --check-prefix=BANDS
// BANDS-NOT: band = 18{{.*}}by the model
// BANDS: by the model
// RUN: %{h100} problem=1x4096x7168" | FileCheck %s --check-prefix=FEW
// FEW: {{^}}  tile = 16 x 64 x 128, split_k = 2, launch = programmatic, signal = wait, by the model
// The choice is the same where the caller promises that B is constant.
// RUN: sed 's/\("b[_scale]*", fp8.access = \)"read"/\1"constant"/' %fp8_source/examples/gemm.mlir > %t.mlir
// RUN: %{h100} problem=1x4096x7168" | FileCheck %s --check-prefix=FEW
// RUN: fp8-opt %t.mlir --fp8-choose-config="chip=sm_90a problem=117x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=NEAR

// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=117x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=NEAR
// NEAR: config <tile = 128 x 40 x 128, stages = 2>
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=116x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=FAR
// FAR-NOT: stages = 2
// Where the nearest entry has fewer rows of tiles, the next one serves.
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=74x5632x640 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=NEXT
// NEXT: config <tile = 80 x 64 x 128, stages = 2
// An entry of up to twice the M serves if its mean time is less. That of M = 180 has none, that of M = 190 takes too long alone, and 212 is more than twice 105.
// DEFINE: %{faster} = fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a tuned=%S/Inputs/tuned.json problem
// RUN: %{faster}=100x6656x640" | FileCheck %s --check-prefix=FASTER
// RUN: %{faster}=96x6656x640" | FileCheck %s --check-prefix=FASTER
// FASTER: config <tile = 80 x 64 x 128, stages = 2, edge = first>
// RUN: %{faster}=106x6656x640" | FileCheck %s --check-prefix=TWICE
// RUN: %{faster}=105x6656x640" | FileCheck %s --check-prefix=MORE
// MORE-NOT: tile = 56 x 64
// MORE: config <tile =
// Of two entries that are as near the larger M serves.
// RUN: %{faster}=43x2112x7168" | FileCheck %s --check-prefix=LARGER
// LARGER: config <tile = 48 x 64 x 128, stages = 2>
// TWICE: config <tile = 56 x 64 x 128, stages = 2, edge = first>
// It does not serve where more than eleven rows lie beyond M. That of M = 18 cannot be a kernel of the chip, so the next one serves.
// RUN: %{faster}=12x6784x640" | FileCheck %s --check-prefix=TWELVE
// RUN: %{faster}=13x6784x640" | FileCheck %s --check-prefix=ELEVEN
// TWELVE: config <tile = 16 x 64 x 128, stages = 2>
// ELEVEN: config <tile = 24 x 64 x 128, stages = 2>
// It was measured with one launch.
// RUN: %{faster}=100x6656x640 launch=programmatic" | FileCheck %s --check-prefix=LAUNCHED
// LAUNCHED: config <tile = 104 x 64 x 128, stages = 2, launch = programmatic>
// A serial launch is alone: what is predicted to take less than the entry does alone is taken.
// RUN: %{faster}=64x6912x640 launch=serial" | FileCheck %s --check-prefix=PREDICTED
// RUN: %{faster}=64x6912x640" | FileCheck %s --check-prefix=MEAN
// RUN: %{faster}=106x6656x640 launch=serial" | FileCheck %s --check-prefix=TWICE
// What was measured as the fastest of serial launches is taken, whatever is predicted.
// RUN: %{faster}=64x7040x640 launch=serial" | FileCheck %s --check-prefix=SERIAL
// SERIAL: config <tile = 64 x 56 x 128, stages = 2>
// RUN: %{faster}=64x7040x640" | FileCheck %s --check-prefix=MEAN
// PREDICTED-NOT: stages = 2
// PREDICTED: config <tile =
// MEAN: config <tile = 64 x 48 x 128, stages = 2>
// The M of the entry itself was measured, however far copies reach beyond it. For a larger M they reach less far.
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=17x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=OWN
// OWN: config <tile = 128 x 48 x 128, stages = 2>
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=18x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=OWN
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=10x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=OWN
// RUN: fp8-opt %fp8_source/examples/gemm.mlir --fp8-choose-config="chip=sm_90a problem=9x4608x512 tuned=%S/Inputs/tuned.json" | FileCheck %s --check-prefix=FAR

// Few rows, few columns: K is divided, so that nearly each SM has a tile.
// CHECK-LABEL: func.func @few
// CHECK: outs({{.*}}) config <tile = 48 x 64 x 128, split_k = 3, launch = programmatic, signal = wait>
// Types say more than a hint.
// ALL-LABEL: func.func @few
// ALL: outs({{.*}}) config <tile = 48 x 64 x 128, split_k = 3, launch = programmatic, signal = wait>
// The nearest M of the table that has as many eights of rows.
// TUNED-LABEL: func.func @few
// TUNED: outs({{.*}}) config <tile = 48 x 64 x 128, stages = 2>
// BLACKWELL-LABEL: func.func @few
// BLACKWELL: outs({{.*}}) config <tile = {{48|64}} x 64 x 128, split_k = {{2|4}}, launch = programmatic>
func.func @few(%a: memref<48x7168xf8E4M3FN>, %as: memref<56x48xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<48x2112xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<48x7168xf8E4M3FN>, memref<56x48xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
    outs(%d : memref<48x2112xbf16>)
  return
}

// Fewer rows than an MMA has: columns in their place.
// CHECK-LABEL: func.func @fewer
// CHECK: outs({{.*}}) config <tile = 16 x 64 x 128, launch = programmatic, signal = wait>
// TUNED-LABEL: func.func @fewer
// TUNED: outs({{.*}}) config <tile = 16 x 64 x 128, launch = programmatic, signal = wait>
// BLACKWELL-LABEL: func.func @fewer
// BLACKWELL: outs({{.*}}) config <tile = 16 x {{64|128}} x 128
func.func @fewer(%a: memref<12x2048xf8E4M3FN>, %as: memref<16x12xf32>, %b: memref<7168x2048xf8E4M3FN>, %bs: memref<56x16xf32>, %d: memref<12x7168xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<12x2048xf8E4M3FN>, memref<16x12xf32>, memref<7168x2048xf8E4M3FN>, memref<56x16xf32>)
    outs(%d : memref<12x7168xbf16>)
  return
}

// An entry of the table that is no kernel is passed over.
// CHECK-LABEL: func.func @many
// CHECK: outs({{.*}}) config <tile = 128 x 176 x 128, band = 11, launch = programmatic>
// TUNED-LABEL: func.func @many
// TUNED: outs({{.*}}) config <tile = 128 x 176 x 128, band = 11, launch = programmatic>
// BLACKWELL-LABEL: func.func @many
// BLACKWELL: outs({{.*}}) config <tile = 256 x {{[0-9]+}} x 128, cta_group = 2
func.func @many(%a: memref<4096x7168xf8E4M3FN>, %as: memref<56x4096xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<4096x2112xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<4096x7168xf8E4M3FN>, memref<56x4096xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
    outs(%d : memref<4096x2112xbf16>)
  return
}

// What is pinned stays.
// CHECK-LABEL: func.func @pinned
// CHECK: outs({{.*}}) config <tile = 64 x 8 x 128, stages = 3>
func.func @pinned(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 64 x 8 x 128, stages = 3>
  return
}

// Nothing known, nothing chosen; what a hint leaves open is taken to be 4096.
// CHECK-LABEL: func.func @dynamic
// CHECK: outs({{.*}} : memref<?x?xbf16>){{$}}
// HINT-LABEL: func.func @dynamic
// HINT: outs({{.*}}) config <tile = 256 x 128 x 128, cluster = 1 x 2, launch = programmatic, edge = first>
// ALL-LABEL: func.func @dynamic
// ALL: outs({{.*}}) config <tile = 64 x 64 x 128, launch = programmatic, signal = wait>
// TUNED-LABEL: func.func @dynamic
// TUNED: outs({{.*}} : memref<?x?xbf16>){{$}}
// A kernel of one warpgroup, with roles that load A, load B and wait; the lowering's has two warpgroups.
// PIPELINE: gpu.launch_func @dynamic_kernels::@dynamic_kernel {{.*}} threads in (%c224,
func.func @dynamic(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}

// Any operand may know: M comes from A's scales, N from B, K from A; the tiles of all of a batch count.
// CHECK-LABEL: func.func @partly
// CHECK: outs({{.*}}) config <tile = 128 x 192 x 128, l2_promotion = 128, launch = programmatic, edge = first, signal = wait>
// TUNED-LABEL: func.func @partly
// TUNED: outs({{.*}}) config <tile = 128 x 192 x 128, l2_promotion = 128, launch = programmatic, edge = first, signal = wait>
func.func @partly(%a: memref<64x?x7168xf8E4M3FN>, %as: memref<?x56x256xf32>, %b: memref<?x2112x?xf8E4M3FN>, %bs: memref<?x17x?xf32>, %d: memref<?x?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x?x7168xf8E4M3FN>, memref<?x56x256xf32>, memref<?x2112x?xf8E4M3FN>, memref<?x17x?xf32>)
    outs(%d : memref<?x?x?xbf16>)
  return
}

// Rows of 24 bytes, which TMA does not copy, are no candidates.
// CHECK-LABEL: func.func @bytes
// CHECK: outs({{.*}}) config <tile = 64 x 32 x 128, split_k = 2, launch = programmatic, signal = wait>
func.func @bytes(%a: memref<64x7168xf8E4M3FN>, %as: memref<56x64xf32>, %b: memref<2112x7168xf8E4M3FN>, %bs: memref<17x56xf32>, %d: memref<64x2112xf8E4M3FN>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x7168xf8E4M3FN>, memref<56x64xf32>, memref<2112x7168xf8E4M3FN>, memref<17x56xf32>)
    outs(%d : memref<64x2112xf8E4M3FN>)
  return
}
