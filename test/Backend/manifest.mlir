// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch manifest: every operator, sizes and strides of arguments, both
// ways to pass a memref, static and dynamic layouts; the same bytes twice.

// RUN: fp8-opt %s --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx.json
// RUN: fp8-opt %s --emit=ptx -o %t2.ptx
// RUN: cmp %t.ptx.json %t2.ptx.json
// RUN: cmp %t.ptx %t2.ptx
// RUN: %python -c "import json; json.load(open(r'%t.ptx.json'))"

// CHECK: "arguments": [
// CHECK-NEXT: {
// CHECK-NEXT: "access": "read",
// CHECK-NEXT: "dtype": "f8E4M3FN",
// CHECK-NEXT: "name": "a",
// CHECK-NEXT: "shape": [
// CHECK-NEXT: null,
// CHECK-NEXT: null
// CHECK-NEXT: ],
// CHECK-NEXT: "strides": [
// CHECK-NEXT: null,
// CHECK-NEXT: 1
// CHECK-NEXT: ]
// CHECK: "access": "readwrite",
// CHECK-NEXT: "dtype": "bf16",
// CHECK-NEXT: "name": "arg1",
// CHECK-NEXT: "shape": [
// CHECK-NEXT: null,
// CHECK-NEXT: 64
// CHECK-NEXT: ],
// CHECK-NEXT: "strides": [
// CHECK-NEXT: 64,
// CHECK-NEXT: 1
// CHECK-NEXT: ]

// CHECK: "chip": "sm_100a",
// CHECK-NEXT: "constraints": [
// a has no layout, so its rows follow each other.
// CHECK-NEXT: {
// CHECK-NEXT: "condition": {
// CHECK-NEXT: "eq": [
// CHECK-NEXT: {
// CHECK-NEXT: "stride": [
// CHECK-NEXT: "a",
// CHECK-NEXT: 0
// CHECK: "dim": [
// CHECK-NEXT: "a",
// CHECK-NEXT: 1
// CHECK: "rule": "a must be contiguous"
// CHECK: "condition": {
// CHECK-NEXT: "and": [
// CHECK: "or": [
// CHECK: "lt": [
// CHECK: "rem": [
// CHECK: "ge": [
// CHECK: "ne": [
// CHECK: "rule": "K must be a multiple of 16"
// CHECK-NEXT: }
// CHECK-NEXT: ],
// CHECK-NEXT: "kernel": "kernel",

// CHECK-NEXT: "launch": {
// CHECK-NEXT: "block": [
// CHECK-NEXT: 192,
// CHECK-NEXT: 1,
// CHECK-NEXT: 1
// CHECK-NEXT: ],
// CHECK-NEXT: "cluster": [
// CHECK-NEXT: 16,
// CHECK-NEXT: 1,
// CHECK-NEXT: 1
// CHECK-NEXT: ],
// CHECK-NEXT: "grid": [
// CHECK-NEXT: {
// CHECK-NEXT: "ceildiv": [
// CHECK-NEXT: {
// CHECK-NEXT: "dim": [
// CHECK-NEXT: "a",
// CHECK-NEXT: 0
// CHECK-NEXT: ]
// CHECK-NEXT: },
// CHECK-NEXT: 128
// CHECK-NEXT: ]
// CHECK: "select": [
// CHECK: "ge": [
// CHECK: "max": [
// CHECK: "max": [
// CHECK: "min": [
// CHECK: "add": [
// CHECK: "floordiv": [
// CHECK: "sub": [
// CHECK: "non_portable_cluster": true,
// CHECK-NEXT: "shared_memory_bytes": 1024

// CHECK: "parameters": [
// CHECK-NEXT: {
// CHECK-NEXT: "argument": "a",
// CHECK-NEXT: "kind": "pointer"
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "argument": "arg1",
// CHECK-NEXT: "kind": "pointer"
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "kind": "scalar",
// CHECK-NEXT: "type": "i32",
// CHECK-NEXT: "value": {
// CHECK-NEXT: "mul": [
// CHECK: "kind": "scalar",
// CHECK-NEXT: "type": "i64",
// CHECK-NEXT: "value": {
// CHECK-NEXT: "stride": [
// CHECK-NEXT: "a",
// CHECK-NEXT: 0
// CHECK: "problem": "test",
// CHECK-NEXT: "producer": "fp8 {{[0-9.]+}}",
// CHECK-NEXT: "version": 1

module attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%a: !llvm.ptr<1>, %d: !llvm.ptr<1>, %n: i32, %s: i64) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"}, %d: memref<?x64xbf16>) attributes {fp8.problem = "test"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %c192 = arith.constant 192 : index
    %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a
        : memref<?x?xf8E4M3FN> -> memref<f8E4M3FN>, index, index, index, index, index
    %rem = arith.remui %k, %c16 : index
    %lt = arith.cmpi ult, %rem, %c1 : index
    %ge = arith.cmpi sge, %sizes#0, %c1 : index
    %ne = arith.cmpi ne, %k, %c1 : index
    %or = arith.ori %lt, %ge : i1
    %and = arith.andi %or, %ne : i1
    cf.assert %and, "K must be a multiple of 16"
    %grid = arith.ceildivui %m, %c128 : index
    %max = arith.maxui %m, %c1 : index
    %min = arith.minsi %m, %c1 : index
    %div = arith.floordivsi %m, %c16 : index
    %sub = arith.subi %m, %c1 : index
    %add = arith.addi %div, %sub : index
    %maxmin = arith.maxsi %min, %add : index
    %y = arith.select %ge, %max, %maxmin : index
    %mk = arith.muli %m, %k : index
    %n = arith.index_cast %mk : index to i32
    %shared = arith.constant 1024 : i32
    gpu.launch_func @module::@kernel clusters in (%c16, %c1, %c1) blocks in (%grid, %y, %c1) threads in (%c192, %c1, %c1)
        dynamic_shared_memory_size %shared args(%a : memref<?x?xf8E4M3FN>, %d : memref<?x64xbf16>, %n : i32, %strides#0 : index)
    return
  }
}
