# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the ctypes module over libfp8runtime.so, on the driver without a GPU.

usage: runtime-test.py BUILD
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop()
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(SOURCE, "benchmark", "gpu"))
import runtime

LIBRARY = os.path.join(BUILD, "lib", "libfp8runtime.so")
FAKE = os.path.join(BUILD, "lib", "libfp8fakecuda.so")
KERNEL = os.path.join(SOURCE, "test", "Integration", "Inputs", "naive.sm_90a.ptx")
PARAMETERS = "8,8,8,8,8,4,4,4,4,4"


class Tensor:
    """As torch's, on the fake GPU, whose memory is the host's."""

    def __init__(self, *shape, stride=None):
        self.shape, self.strides = shape, stride or (shape[1], 1)
        self.memory = ctypes.create_string_buffer(4 * shape[0] * self.strides[0])

    def data_ptr(self):
        return ctypes.addressof(self.memory)

    def stride(self):
        return self.strides


def arguments(m=4, n=8, k=16):
    return [("f8E4M3FN", Tensor(m, k)), ("f32", Tensor(1, m, stride=(-(-m // 4) * 4, 1))), ("f8E4M3FN", Tensor(n, k)),
            ("f32", Tensor(1, 1)), ("bf16", Tensor(m, n))]


class Calls(unittest.TestCase):
    def setUp(self):
        file = tempfile.NamedTemporaryFile(mode="r", encoding="utf-8")
        self.addCleanup(file.close)
        self.log = file
        for name, value in (("FP8_FAKE_LOG", file.name), ("FP8_FAKE_PARAMETERS", PARAMETERS)):
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name)
        self.device = runtime.Device(runtime.Library(LIBRARY), driver=FAKE)

    def test_info(self):
        info = self.device.info()
        self.assertEqual((info.name, info.major, info.minor, info.driver_version), (b"Fake GPU", 9, 0, 13000))

    def test_enqueue(self):
        kernel = runtime.Kernel.load(self.device, KERNEL)
        launch = kernel.prepare(arguments())
        launch.enqueue(0x1230)
        self.assertRegex(self.log.read(), r"(?i)launch")

    def test_alone(self):
        """A kernel that its manifest calls programmatic is launched so, unless it is to run alone."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "early.ptx")
            shutil.copy(KERNEL, path)
            with open(KERNEL + ".json", encoding="utf-8") as file:
                manifest = json.load(file)
            manifest["launch"]["programmatic"] = True
            manifest["version"] = max(manifest["version"], 2)
            with open(path + ".json", "w", encoding="utf-8") as file:
                json.dump(manifest, file)
            for alone in (False, True):
                runtime.Kernel.load(self.device, path, alone).prepare(arguments()).enqueue(0x1230)
        launches = [line for line in self.log.read().splitlines() if "cuLaunchKernelEx" in line]
        self.assertEqual(["programmatic=1" in line for line in launches], [True, False])

    def test_a_serial_kernel_alone(self):
        """A manifest of version 1 has no key for programmatic launches."""
        runtime.Kernel.load(self.device, KERNEL, alone=True).prepare(arguments()).enqueue(0x1230)
        launches = [line for line in self.log.read().splitlines() if "cuLaunchKernel" in line]
        self.assertEqual(["programmatic=1" in line for line in launches], [False])

    def test_errors_have_the_message(self):
        kernel = runtime.Kernel.load(self.device, KERNEL)
        wrong = arguments()
        wrong[0] = ("f16", wrong[0][1])
        with self.assertRaisesRegex(runtime.RuntimeFailure, "f16"):
            kernel.prepare(wrong)
        with self.assertRaisesRegex(runtime.RuntimeFailure, "nonsense|manifest"):
            runtime.Kernel(self.device, b"nonsense", "{}")
        with self.assertRaisesRegex(runtime.RuntimeFailure, "/nowhere.so"):
            runtime.Device(self.device.library, driver="/nowhere.so")


class Carried(unittest.TestCase):
    def test_needs_the_c_library_and_gccs_only(self):
        told = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", told))
        self.assertTrue(needed)
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "libgcc_s.so.1"})

    def test_exports_the_c_api_only(self):
        told = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1] for line in told.splitlines()}
        declared = set()
        for header in ("Common.h", "Gemm.h", "Python.h", "Runtime.h"):
            with open(os.path.join(SOURCE, "include", "fp8-c", header), encoding="utf-8") as file:
                declared |= set(re.findall(r"\b(fp8[A-Z]\w*)\(", file.read()))
        self.assertEqual(names, declared)


if __name__ == "__main__":
    unittest.main()
