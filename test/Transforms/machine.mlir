// The machine whose constants the cost model takes: the chip's, another that is built in, or one that a file describes.

// RUN: rm -rf %t && split-file %s %t
// RUN: %python -c 'import json, sys; one = json.load(open(sys.argv[1])); [json.dump(dict(one, **change), open(sys.argv[2] + "/" + name + ".json", "w")) for name, change in (("version", {"version": 9}), ("chip", {"chip": "sm_100a"}), ("unknown", {"constants": dict(one["constants"], tea=1)}), ("few", {"constants": {"launchUs": 2.4}}), ("far", {"constants": dict(one["constants"], launchUs=51)}), ("bare", {"constants": 1}))]' %S/Inputs/machine.json %t

// RUN: fp8-opt %t/gemm.mlir --fp8-explain-config="chip=sm_90a top=1" -o /dev/null | FileCheck %s --check-prefix=CHIP
// CHIP: @gemm for sm_90a (NVIDIA H200): M=64
// RUN: fp8-opt %t/gemm.mlir --fp8-explain-config="chip=sm_90a top=1 machine='NVIDIA H100 80GB HBM3'" -o /dev/null | FileCheck %s --check-prefix=NAME
// NAME: @gemm for sm_90a (NVIDIA H100 80GB HBM3): M=64
// RUN: fp8-opt %t/gemm.mlir --fp8-explain-config="chip=sm_90a top=1 machine=%S/Inputs/machine.json" -o /dev/null | FileCheck %s --check-prefix=FILE
// FILE: @gemm for sm_90a (NVIDIA H0, constants of '{{.*}}machine.json'): M=64 N=7168 K=2048
// A launch of 40 us.
// FILE: us, bound by {{.*}}, launch 38.16
// RUN: fp8-opt %t/gemm.mlir --fp8-explain-config="chip=sm_90a format=json top=1 machine=%S/Inputs/machine.json" -o /dev/null | FileCheck %s --check-prefix=DATA
// DATA: "constants": "{{.*}}machine.json"
// DATA: "machine": "NVIDIA H0"

// DEFINE: %{machine} = none
// DEFINE: %{refused} = not fp8-opt %t/gemm.mlir --fp8-choose-config="chip=sm_90a machine='%{machine}'" 2>&1 | FileCheck %s --check-prefix
// RUN: %{refused}=NONE
// NONE: error: --fp8-choose-config: machine 'none' is none that is built in, and no file that can be read: No such file or directory
// REDEFINE: %{machine} = NVIDIA B200
// RUN: %{refused}=OTHER
// OTHER: error: --fp8-choose-config: machine 'NVIDIA B200' does not have the chip sm_90a; use one that has, such as 'NVIDIA H200'
// REDEFINE: %{machine} = %t/gemm.mlir
// RUN: %{refused}=TEXT
// TEXT: error: --fp8-choose-config: the machine file '{{.*}}gemm.mlir' is not valid JSON: {{.*}}; 'python3 -m fp8 calibrate' writes another
// REDEFINE: %{machine} = %t/bare.json
// RUN: %{refused}=BARE
// BARE: error: --fp8-choose-config: the machine file '{{.*}}bare.json' needs a "version", "chip", "gpu" and "constants"; 'python3 -m fp8 calibrate' writes another
// REDEFINE: %{machine} = %t/version.json
// RUN: %{refused}=VERSION
// VERSION: error: --fp8-choose-config: the machine file '{{.*}}version.json' is of version 9, but this compiler reads version 7; 'python3 -m fp8 calibrate' writes another
// REDEFINE: %{machine} = %t/chip.json
// RUN: %{refused}=WRONG
// WRONG: error: --fp8-choose-config: the machine file '{{.*}}chip.json' is for sm_100a, but kernels are lowered for sm_90a; use one that was measured on that chip
// REDEFINE: %{machine} = %t/few.json
// RUN: %{refused}=FEW
// FEW: error: --fp8-choose-config: the machine file '{{.*}}few.json' is invalid: it lacks the constant 'multiprocessors'; 'python3 -m fp8 calibrate' writes another
// REDEFINE: %{machine} = %t/far.json
// RUN: %{refused}=FAR
// FAR: error: --fp8-choose-config: the machine file '{{.*}}far.json' is invalid: the constant 'launchUs' is 51.00, but must be 0.10 to 50.00; 'python3 -m fp8 calibrate' writes another
// REDEFINE: %{machine} = %t/unknown.json
// RUN: %{refused}=UNKNOWN
// UNKNOWN: error: --fp8-choose-config: the machine file '{{.*}}unknown.json' is invalid: it has an unknown constant 'tea'; 'python3 -m fp8 calibrate' writes another

//--- gemm.mlir
func.func @gemm(%a: memref<64x2048xf8E4M3FN>, %as: memref<16x64xf32>, %b: memref<7168x2048xf8E4M3FN>, %bs: memref<56x16xf32>, %d: memref<64x7168xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x2048xf8E4M3FN>, memref<16x64xf32>, memref<7168x2048xf8E4M3FN>, memref<56x16xf32>)
    outs(%d : memref<64x7168xbf16>)
  return
}
