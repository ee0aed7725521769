# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The suite of the GoogleTest binaries that fp8_add_unittest makes; their names
# end in "Tests".

import os

import lit.formats

config.name = "fp8-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.test_source_root = config.test_exec_root = os.path.join(config.fp8_binary_dir, "unittests")
for variable in ("FP8_TEST_FULL", "FP8_PTXAS", "CUDA_HOME", "CUDA_PATH"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
