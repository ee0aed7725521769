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
