# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The suite of the GoogleTest binaries that fp8_add_unittest makes.

import os

import lit.formats


class UnitTests(lit.formats.GoogleTest):
    """GoogleTest binaries by name, whatever else lies in their directory."""

    def getTestsInDirectory(self, suite, path_in_suite, lit_config, local_config):
        for test in super().getTestsInDirectory(suite, path_in_suite, lit_config, local_config):
            if os.path.basename(test.file_path) in local_config.unittests:
                yield test


config.name = "fp8-unit"
config.test_format = UnitTests(".", "")
config.test_source_root = config.test_exec_root = os.path.join(config.fp8_binary_dir, "unittests")
for variable in ("FP8_TEST_FULL", "FP8_PTXAS", "CUDA_HOME", "CUDA_PATH"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
