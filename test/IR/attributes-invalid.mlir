// RUN: fp8-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'func.func' op has an unknown attribute 'fp8.liner'}}
func.func private @misspelt() attributes {fp8.liner}

// -----

// expected-error @below {{'func.func' op attribute 'fp8.problem' must be a string}}
func.func private @problem() attributes {fp8.problem = 7}

// -----

// expected-error @below {{'func.func' op attribute 'fp8.problem_options' must be a dictionary of integers, on a gpu.launch_func}}
func.func private @options() attributes {fp8.problem_options = {b_block = 64}}

// -----

// expected-error @below {{'builtin.module' op attribute 'fp8.linear' must be on a function}}
module attributes {fp8.linear} {}

// -----

// expected-error @below {{'builtin.module' op attribute 'fp8.debug_waits' must be 1 to 3600000 milliseconds, on a module}}
module attributes {fp8.debug_waits = 0 : i64} {}

// -----

// expected-error @below {{'func.func' op attribute 'fp8.debug_waits' must be 1 to 3600000 milliseconds, on a module}}
func.func private @limit() attributes {fp8.debug_waits = 2000 : i64}

// -----

// expected-error @below {{'builtin.module' op attribute 'fp8.debug_waits' must be 1 to 3600000 milliseconds, on a module}}
module attributes {fp8.debug_waits = 2000 : ui32} {}

// -----

// expected-error @below {{'func.func' op attribute 'fp8.wait_table' must be a dictionary, on a function}}
func.func private @table() attributes {fp8.wait_table = 2000 : i64}

// -----

// expected-error @below {{'func.func' op attribute 'fp8.programmatic' must be a unit attribute}}
func.func private @early() attributes {fp8.programmatic = true}

// -----

// expected-error @below {{'func.func' op attribute 'fp8.constants' must be an array of i64, on an argument of a kernel}}
func.func private @one(%n: i32 {fp8.constants = 1 : i64})

// -----

// expected-error @below {{'func.func' op argument 1 has 'fp8.constants', and so must be i32, but is 'index'}}
func.func private @wide(%b: memref<8xf32>, %n: index {fp8.constants = array<i64: 0>})

// -----

// expected-error @below {{'func.func' op 'fp8.constants' of argument 1 names argument 2, but the kernel has 2}}
func.func private @beyond(%b: memref<8xf32>, %n: i32 {fp8.constants = array<i64: 2>})

// -----

// expected-error @below {{'func.func' op attribute 'fp8.signals_at_wait' must be on a kernel with 'fp8.programmatic'}}
func.func private @serial() attributes {fp8.signals_at_wait}

// -----

// expected-error @below {{a configuration has each field once, but 'stages' is given twice; remove one}}
func.func private @twice() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, stages = 2, stages = 3>}

// -----

// expected-error @below {{a configuration has each field once, but 'launch' is given twice; remove one}}
func.func private @apart() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, launch = serial, stages = 3, launch = programmatic>}

// -----

// expected-error @below {{expected a scheduler that is one_tile, persistent or clc}}
func.func private @scheduler() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, scheduler = static>}

// -----

// expected-error @below {{expected a launch that is serial or programmatic}}
func.func private @launch() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, launch = early>}

// -----

// expected-error @below {{expected cta_group, cluster, split_k, stages, accumulators, scheduler, band, b_scales, l2_promotion, launch, edge or signal}}
func.func private @no_field() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, tile = 128 x 128 x 128>}

// -----

// expected-error @below {{expected 'tile'}}
func.func private @no_tile() attributes {config = #fp8.gemm_config<stages = 2>}

// -----

// expected-error @below {{band must be 0 to 256, more than the multiprocessors of a GPU, but got 257}}
func.func private @band() attributes {config = #fp8.gemm_config<tile = 128 x 128 x 128, band = 257>}

// -----

// expected-error @below {{attribute 'fp8.profile' must be {ctas, stamps}, both at least 1 and below 2^31, on a module}}
module attributes {fp8.profile = {ctas = 1, stamps = 0}} {
}

// -----

// expected-error @below {{'func.func' op attribute 'fp8.name' of argument 1 must be a string, and not an empty one}}
func.func private @nameless(memref<4xf32> {fp8.name = "x"}, memref<4xf32> {fp8.name = ""})
