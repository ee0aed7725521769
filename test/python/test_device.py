# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens on a GPU, on the driver without one of test/Runtime: its memory is the host's and its kernels do nothing.

FP8_FAKECUDA and FP8_OLDCUDA name that driver and one that is too old. Each test has a process of its own, for one is a process's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import ctypes, dataclasses, gc, itertools, os
import fp8, numpy as np
from fp8 import _choice, _launch, _library
from fp8._device import get_device

class Foreign:
    '''An array of a package that nobody knows.'''

    def __init__(self, array, stream=None):
        self.keep = array
        kind = {1: "|u1", 2: "<u2"}.get(array.dtype.itemsize, array.dtype.str)
        self.__cuda_array_interface__ = {"shape": array.shape, "strides": array.strides, "typestr": kind, "data": (array.ctypes.data, False), "version": 3}
        if stream is not None:
            self.__cuda_array_interface__["stream"] = stream

def aligned(shape, dtype):
    memory = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 16, np.uint8)
    start = -memory.ctypes.data % 16
    return memory[start:][: memory.size - 16].view(dtype).reshape(shape)

m, n, k = 16, 32, 128
a, b = aligned((m, k), np.uint8), aligned((n, k), np.uint8)
a_scale, b_scale, c, d = aligned((1, m), np.float32), aligned((1, 1), np.float32), aligned((m, n), np.float32), aligned((m, n), np.float32)

def expect(spec):
    '''Tells the driver what parameters the kernel has, where rows of D have no gaps.'''
    kernel = fp8.compile(dataclasses.replace(spec, d_contiguous=True), problem=(m, n, k), assemble=False)
    sizes = [{"tensor_map": 128, "pointer": 8, "constant": 4}.get(p["kind"]) or int(p["type"][1:]) // 8 for p in kernel.manifest["parameters"]]
    os.environ["FP8_FAKE_PARAMETERS"] = ",".join(map(str, sizes))

def gemm(**options):
    fp8.gemm(*map(Foreign, (a, a_scale, b, b_scale)), d=Foreign(d), **options)

def log(call):
    with open(os.environ["FP8_FAKE_LOG"]) as file:
        return [line for line in file if line.startswith(call)]
"""


@pytest.fixture
def on_gpu(tmp_path):
    """Runs lines in a process whose GPU is the fake one, and returns what they print."""

    def run(lines, driver="FP8_FAKECUDA", **environment):
        path = os.environ.get(driver)
        assert path and os.path.isfile(path), f"{driver} must name a driver, but is {path!r}"
        script = BEGIN + textwrap.dedent(lines)
        variables = {**os.environ, "FP8_CUDA_LIBRARY": path, "FP8_FAKE_LOG": str(tmp_path / "log"), **environment}
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=variables, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run


def test_launches(on_gpu):
    assert on_gpu("""
        expect(fp8.GemmSpec(d_dtype="f32"))
        gemm()
        gemm()
        print(len(log("cuModuleLoadDataEx")), len(log("cuLaunchKernelEx")), fp8.device_info().chip)
    """) == "1 2 sm_90a\n"


def test_a_problem_that_is_new_asks_no_compiler(on_gpu):
    """If its configuration is known; in another process, too, for the cache has kernels by configuration."""
    lines = """
        from fp8._compiler import Module
        lowered, run = [], Module.run
        Module.run = lambda module, pipeline: lowered.append(pipeline) or run(module, pipeline)
        kernels = [_choice.kernel_for(fp8.GemmSpec(), "sm_90a", (rows, 4096, 7168)) for rows in MS]
        print(len({id(kernel) for kernel in kernels}), len(lowered) > 0)
    """
    assert on_gpu(lines.replace("MS", "(57, 60)"), FP8_CACHE_DIR=os.environ["FP8_CACHE_DIR"] + "/new") == "1 True\n"
    assert on_gpu(lines.replace("MS", "(58, 59, 61)"), FP8_CACHE_DIR=os.environ["FP8_CACHE_DIR"] + "/new") == "1 False\n"


def test_programmatic_launches(on_gpu):
    assert on_gpu("""
        for programmatic in (None, False, True):
            expect(fp8.GemmSpec(d_dtype="f32", programmatic=programmatic))
            gemm(programmatic=programmatic)
        print(["programmatic=1" in line for line in log("cuLaunchKernelEx")])
    """) == "[True, False, True]\n"


@pytest.mark.parametrize("capability, chip", [("9.0", "sm_90a"), ("10.0", "sm_100a"), ("10.3", "sm_103a"), ("8.9", "")])
def test_chips(on_gpu, capability, chip):
    assert on_gpu("print(fp8.device_info().chip)", FP8_FAKE_CAPABILITY=capability) == chip + "\n"


def test_an_old_driver(on_gpu):
    told = on_gpu("""
        try:
            fp8.device_info()
        except fp8.DeviceError as error:
            print(error)
        try:
            gemm()
        except fp8.DeviceError as error:
            print(error)
    """, driver="FP8_OLDCUDA")
    assert told.count("update it to CUDA 12.0 or later\n") == 2


@pytest.mark.parametrize("capability", ["8.9", "12.0"])
def test_a_gpu_that_no_kernel_is_for(on_gpu, capability):
    message = f"has compute capability {capability}, and kernels need 9.0 (Hopper), 10.0 or 10.3 (Blackwell): use a GPU that has, or simulate=True"
    assert message in on_gpu("""
        try:
            gemm()
        except fp8.DeviceError as error:
            print(error)
    """, FP8_FAKE_CAPABILITY=capability)


def test_a_launch_that_fails(on_gpu):
    assert on_gpu("""
        expect(fp8.GemmSpec(d_dtype="f32"))
        gemm()
        os.environ["FP8_FAKE_FAIL"] = "cuTensorMapEncodeTiled=1"
        try:
            gemm()
        except fp8.DeviceError as error:
            print("cuTensorMapEncodeTiled" in str(error))
    """) == "True\n"


def test_a_number_stays_on_the_device(on_gpu):
    """A captured graph reads it whenever it is replayed, however many others came since."""
    assert on_gpu("""
        expect(fp8.GemmSpec(d_dtype="f32", c_dtype="f32", beta=True))
        gemm(c=Foreign(c), beta=0.5)
        first = get_device(0).number(0.5)
        for index in range(1000):
            gemm(c=Foreign(c), beta=index + 2.0)
        gc.collect()
        print(get_device(0).number(0.5) == first, ctypes.c_float.from_address(first).value, len(log("cuMemFree")))
    """) == "True 0.5 0\n"


@pytest.mark.parametrize("beta", ["1e300", "np.float64(-1e39)", "10**400"])
def test_a_number_past_float32(on_gpu, beta):
    assert "is past the largest float32" in on_gpu(f"""
        try:
            gemm(c=Foreign(c), beta={beta})
        except ValueError as error:
            print(error)
    """)


def test_copies_are_made_by_those_who_can(on_gpu):
    assert on_gpu("""
        for wrong in ({"a": a[:, ::-1]}, {"a": aligned((m, k + 1), np.uint8)[:, 1:]}, {"d": aligned((m, n + 1), np.float32)[:, :n]}):
            operands = {"a": a, "a_scale": a_scale, "b": b, "b_scale": b_scale, "d": d, **wrong}
            try:
                fp8.gemm(**{name: Foreign(array) for name, array in operands.items()})
            except ValueError as error:
                print("only arrays of torch, cupy and numpy are copied" in str(error), next(iter(wrong)) in str(error))
    """) == "True True\n" * 3


def test_a_fork_leaves_the_parents_gpu_alone(on_gpu):
    assert on_gpu("""
        expect(fp8.GemmSpec(d_dtype="f32"))
        gemm()
        get_device(0).number(3.0)
        before = len(log("cu"))
        child = os.fork()
        if child == 0:
            _choice._kernels.entries.clear()
            get = get_device.__globals__["_devices"]
            get.clear()
            gc.collect()
            try:
                gemm()
            except fp8.DeviceError as error:
                os._exit(0 if "forked" in str(error) and len(log("cu")) == before else 1)
            os._exit(2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """) == "0\n"


def test_a_capture_is_not_ended(on_gpu):
    """What would have to be loaded or allocated is an error, as long as a CUDA graph is captured."""
    assert on_gpu("""
        import contextlib

        class Capturing:
            def is_capturing(self, index):
                return True

            def on(self, index, stream):
                return contextlib.nullcontext()

        expect(fp8.GemmSpec(d_dtype="f32", c_dtype="f32", beta=True))
        package = _launch.package
        for index in range(2):
            _launch.package = lambda array: Capturing()
            for beta in (0.5, 0.75):
                try:
                    gemm(c=Foreign(c), beta=beta)
                    print(beta, "captured")
                except fp8.DeviceError as error:
                    print(str(error).split("captured, and ")[1])
            _launch.package = package
            gemm(c=Foreign(c), beta=0.5)
    """).splitlines() == [
        "the kernel for these shapes is not on the GPU yet: make the same call once before the capture",
        "the kernel for these shapes is not on the GPU yet: make the same call once before the capture",
        "0.5 captured",
        "beta = 0.75 is not on the GPU yet: make the same call once before the capture",
    ]


def test_waits_for_the_stream_that_writes(on_gpu):
    """What the array interface says of its stream, unless it is the kernel's."""
    assert on_gpu("""
        expect(fp8.GemmSpec(d_dtype="f32"))
        for stream in (None, 1, 0x77, 0x88):
            fp8.gemm(Foreign(a, stream), *map(Foreign, (a_scale, b, b_scale)), d=Foreign(d), stream=0x88)
        fp8.gemm(Foreign(a, 1), *map(Foreign, (a_scale, b, b_scale)), d=Foreign(d))
        gemm(stream=0x99)  # what of the arrays is in no stream is not waited for
        fp8.gemm(*map(Foreign, (a, a_scale, b, b_scale)), d=Foreign(d, 0x55))
        print([line.split()[1] for line in log("cuEventRecord")])
        one = aligned((1,), np.float32)
        expect(fp8.GemmSpec(d_dtype="f32", c_dtype="f32", beta=True, d_scale=True))
        gemm(c=Foreign(c, 0x44), beta=Foreign(one, 0x66), d_scale=Foreign(one, 0x33))
        kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32"), problem=(m, n, k), assemble=False)
        expect(fp8.GemmSpec(d_dtype="f32"))
        kernel.launch(*map(Foreign, (a, a_scale, b, b_scale)), Foreign(d, 0x22), stream=0x77)
        print([line.split()[1] for line in log("cuEventRecord")][3:])
    """) == "['0x1', '0x77', '0x55']\n['0x44', '0x66', '0x33', '0x22']\n"


@pytest.mark.parametrize("stream", ["'0x77'", "1.5", "object()"])
def test_wrong_streams(on_gpu, stream):
    assert "it must be a stream of torch or cupy, or the address of one" in on_gpu(f"""
        try:
            gemm(stream={stream})
        except TypeError as error:
            print(error)
    """)


def test_streams_of_packages(on_gpu):
    assert on_gpu("""
        class Stream:
            ptr = 0x77

        expect(fp8.GemmSpec(d_dtype="f32"))
        gemm(stream=Stream())
        gemm(stream=np.int64(0x77))
        print(len(log("cuLaunchKernelEx")))
    """) == "2\n"


def test_a_choice_under_way_does_not_outlive_tuning(on_gpu):
    """A kernel that was chosen before is not kept for calls after."""
    assert on_gpu("""
        original = _choice.compile

        def slow(*arguments, **options):
            made = original(*arguments, **options)
            _choice.forget_choices()
            return made

        _choice.compile = slow
        expect(fp8.GemmSpec(d_dtype="f32"))
        gemm()
        print(len(_choice._kernels.entries))
    """) == "0\n"


def test_measurements_without_a_cache(on_gpu):
    """They last as long as the process."""
    assert on_gpu("""
        from fp8 import _measured
        for size in (16, 32):
            _measured.keep("gpu", fp8.GemmSpec(), (size, size, size), f"tile = {size}")
        print(_measured.find("gpu", fp8.GemmSpec(), (16, 16, 16)), _measured.find("gpu", fp8.GemmSpec(), (32, 32, 32)))
    """, FP8_CACHE_DIR="") == "tile = 16 tile = 32\n"


def test_memory_that_is_not_the_drivers(on_gpu):
    assert "cannot tell which GPU an address is on" in on_gpu("""
        try:
            gemm()
        except fp8.DeviceError as error:
            print(error)
    """, FP8_FAKE_FAIL="cuPointerGetAttribute=1")


def test_dlpack_is_told_the_stream(on_gpu):
    assert on_gpu("""
        class Packed:
            def __init__(self, array):
                self.array = array

            def __dlpack_device__(self):
                return 2, 0

            def __dlpack__(self, **options):
                print(options, end=" ")
                return self.array.__dlpack__()

        try:
            fp8.gemm(*map(Packed, (a, a_scale, b, b_scale)), d=Packed(d), stream=0x77)
        except fp8.DeviceError:
            pass  # the capsule says that it is in the host's memory
        try:
            fp8.gemm(*map(Packed, (a, a_scale, b, b_scale)), d=Packed(d))
        except fp8.DeviceError:
            pass
        print()
    """).startswith("{'stream': 119, 'max_version': (1, 0)} {'stream': 119, 'max_version': (1, 0)} ")


def test_tuning(on_gpu):
    """The fake driver's first launches are the quickest; what was measured is what is compiled then, in another process too."""
    lines = """
        expect(fp8.GemmSpec(d_dtype="f32", config="tile = 16 x 64 x 128"))
        spec = fp8.GemmSpec(d_dtype="f32")
        found = fp8.tune(np.int64(m), n, k, spec, top=3, progress=True) if os.environ["TUNE"] else ()
        tiles = [one.config.replace(", launch = programmatic", "").replace(", signal = wait", "") for one in found]
        print(len(found), len(set(tiles)), tiles.count(tiles[0]) if found else 0, [one.mean_us for one in found] == sorted(one.mean_us for one in found))
        print([early for early, _ in itertools.groupby("programmatic=1" in line for line in log("cuLaunchKernelEx"))])
        expect(spec)
        gemm()
        print(next(iter(_choice._kernels.entries.values())).mlir().split("config <")[1].split(">")[0], [one.config for one in found[:1]])
    """
    count, launches, chosen = on_gpu(lines, TUNE="1").splitlines()
    assert count == "5 3 3 True"  # of the best, both launches and both signals
    assert launches == str([True, False] * 4)  # each with its launch, then alone; the serial one, which comes fourth, once
    config = chosen.split(" ['")[0]
    assert chosen == f"{config} ['{config}']"
    assert on_gpu(lines, TUNE="").splitlines()[::2] == ["0 0 0 True", f"{config} []"]


@pytest.mark.parametrize("call, words", [
    ("fp8.tune(0, 32, 128)", "M, N and K are 0, 32 and 128"),
    ("fp8.tune(16, 32, 40)", "K a multiple of 16"),
    ("fp8.tune(16, 32, 128, fp8.GemmSpec(config='tile = 64 x 64 x 128'))", "the spec pins the configuration 'tile = 64 x 64 x 128'"),
])
def test_wrong_tuning(on_gpu, call, words):
    assert words in on_gpu(f"""
        try:
            {call}
        except ValueError as error:
            print(error)
    """)


def test_a_hang_while_tuning(on_gpu):
    """It is an error, and nothing that the kernel may use is freed: the driver would wait for it, where this one aborts."""
    assert "a graph of" in on_gpu("""
        expect(fp8.GemmSpec(config="tile = 16 x 64 x 128"))
        set_watchdog = _library.functions().fp8DeviceSetWatchdog
        set_watchdog.argtypes, set_watchdog.restype = [ctypes.c_void_p, ctypes.c_double], ctypes.c_int
        set_watchdog(get_device(0).handle, 0.1)
        try:
            fp8.tune(m, n, k, top=1)
        except fp8.HangError as error:
            print(error)
    """, FP8_FAKE_HANG="1")
