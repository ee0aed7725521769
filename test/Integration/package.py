#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uses the Python package on a GPU as PyTorch's users do: from its wheel, eagerly, under torch.compile and in a CUDA graph.

usage: package.py DIR [--seconds=N] [--seed=N] [--only=torch|cupy|launches|none] [--times]

DIR has the wheel. Each result is judged element by element against a float64 reference, and those of torch's scaled_mm beside it; on cupy's
arrays too, where there is cupy. Where there is pytest, the package's tests of torch's tensors run, too. With --times, also what calls cost the host, and what programmatic launches gain. Prints a line for each test;
exit status 0 if none failed.
"""

import argparse
import atexit
import glob
import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

from package_report import report, torch_operands


def install(directory):
    """Unpacks the wheel, which is all that pip does with a pure one, and lets Python find it."""
    (wheel,) = glob.glob(os.path.join(directory, "fp8-*.whl"))
    place = tempfile.mkdtemp(prefix="fp8-wheel")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", place, wheel], capture_output=True)
    if done.returncode:
        zipfile.ZipFile(wheel).extractall(place)
    sys.path.insert(0, place)
    return place, "pip" if done.returncode == 0 else "unzip"


FORK = """
import os, sys
sys.path.insert(0, %r)
import torch, fp8
a = torch.ones(16, 128, device="cuda").to(torch.float8_e4m3fn)
s, t = torch.ones(1, 16, device="cuda"), torch.ones(1, 1, device="cuda")
fp8.gemm(a, s, a, t, scale_layout="k_major")
torch.cuda.synchronize()
child = os.fork()
if child == 0:
    try:
        fp8.device_info()
    except fp8.DeviceError as error:
        os._exit(7 if "forked" in str(error) else 8)
    os._exit(9)
sys.exit(0 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 else 1)
"""

COLD = """
import sys, time
sys.path.insert(0, %r)
import torch, fp8
a = torch.ones(%d, 2048, device="cuda").to(torch.float8_e4m3fn)
b = torch.ones(1024, 2048, device="cuda").to(torch.float8_e4m3fn)
s, t = torch.ones(16, %d, device="cuda"), torch.ones(8, 16, device="cuda")
torch.cuda.synchronize()
start = time.perf_counter()
d = fp8.gemm(a, s, b, t, scale_layout="k_major")
torch.cuda.synchronize()
taken = time.perf_counter() - start
assert (d == 2048).all()
print(taken)
"""


ORDER = """
import importlib, sys
sys.path.insert(0, %r)
for name in %r:
    importlib.import_module(name)
    if name == "fp8":
        sys.modules[name].verify("module {}")  # loads the library, and LLVM with it
import torch, fp8, triton, triton.language as tl

@triton.jit
def twice(x, size: tl.constexpr):
    at = tl.arange(0, size)
    tl.store(x + at, tl.load(x + at) * 2)

a = torch.ones(16, 128, device="cuda").to(torch.float8_e4m3fn)
s, t = torch.ones(1, 16, device="cuda"), torch.ones(1, 1, device="cuda")
d = fp8.gemm(a, s, a, t, scale_layout="k_major", d_dtype=torch.float32)
twice[(1,)](d, 256)
assert (d == 256).all(), d
fp8.compile(fp8.GemmSpec(config="tile = 64 x 16 x 128"), cache=False)
"""


def begin(script, environment):
    return subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def taken_by(process):
    """The seconds that the script prints."""
    printed, errors = process.communicate(timeout=120)
    if process.returncode:
        raise AssertionError("status %d: %s" % (process.returncode, errors[-300:]))
    return float(printed)


def check_processes(place):
    with report.test("package-fork"):
        done = subprocess.run([sys.executable, "-c", FORK % place], capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise AssertionError("status %d: %s" % (done.returncode, done.stderr[-300:]))
    # Triton has an LLVM of its own.
    for order in itertools.permutations(("torch", "triton", "fp8")):
        with report.test("package-import-" + "-".join(order)), tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(ORDER % (place, order))  # a file, for Triton reads the source of its kernels
            script.flush()
            done = subprocess.run([sys.executable, script.name], capture_output=True, text=True, timeout=120)
            if done.returncode:
                raise AssertionError("status %d: %s" % (done.returncode, done.stderr[-300:]))
    with report.test("package-cache") as tell, tempfile.TemporaryDirectory() as folder:
        for m in (64, 1024):
            script = COLD % (place, m, m)
            environment = dict(os.environ, FP8_CACHE_DIR=os.path.join(folder, str(m)))
            alone = dict(environment, FP8_CACHE_DIR=os.path.join(folder, "alone-%d" % m))
            first = taken_by(begin(script, alone))
            racing = [begin(script, environment) for _ in range(2)]
            cold = [taken_by(process) for process in racing]
            warm = taken_by(begin(script, environment))
            tell("M=%d: first call %.2f s, of two processes at once %.2f and %.2f s, from the disk's cache %.3f s" % (m, first, *cold, warm))
            if len(os.listdir(environment["FP8_CACHE_DIR"])) != 2:  # the kernel, and what was asked for
                raise AssertionError("the processes left %s" % os.listdir(environment["FP8_CACHE_DIR"]))


def check_training(directory, place):
    """The example compares the gradients of a layer with float64; a machine with compilers alone has no torch."""
    with report.test("package-training") as tell:
        done = subprocess.run([sys.executable, os.path.join(directory, "examples", "training.py")], capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, PYTHONPATH=place))
        if done.returncode:
            raise AssertionError("status %d: %s%s" % (done.returncode, done.stdout, done.stderr[-300:]))
        tell("; ".join(done.stdout.splitlines()))


def check_tests(directory, place):
    """The tests of tensors of PyTorch, which a machine with compilers alone skips; the driver of some is a stand-in that runs no kernel."""
    if importlib.util.find_spec("pytest") is None:
        print("SKIP: package-tests (there is no pytest)", flush=True)
        return
    tests = sorted(glob.glob(os.path.join(directory, "test", "python", "test_torch*.py")))
    stand_in = os.path.abspath(os.path.join(directory, "libfp8fakecuda.so"))
    environment = dict(os.environ, PYTHONPATH=place, PYTHONDONTWRITEBYTECODE="1", FP8_FAKECUDA=stand_in)
    with report.test("package-tests") as tell:
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], env=environment,
                              capture_output=True, text=True, timeout=180, check=False)
        if done.returncode:
            print(done.stdout, flush=True)
            raise AssertionError("\n".join([line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))] or [done.stderr[-300:]]))
        tell(done.stdout.splitlines()[-1])


def median_us(torch, call, repeats=2000):
    for _ in range(50):
        call()
    torch.cuda.synchronize()
    taken = []
    for index in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
        if index % 50 == 49:
            torch.cuda.synchronize()  # or the queue fills, and calls wait
    return sorted(taken)[repeats // 2] * 1e6


def time_calls(torch, fp8, generator):
    with report.test("package-times") as tell:
        for m, n, k in ((64, 1024, 1024), (1024, 1024, 1024)):
            a, sa, b, sb, by_torch = torch_operands(torch, m, n, k, generator)
            ours = median_us(torch, lambda: fp8.gemm(a, sa, b, sb, scale_layout="row_major"))
            theirs = median_us(torch, by_torch)
            again = median_us(torch, lambda: fp8.gemm(a, sa, b, sb, scale_layout="row_major"))
            tell("%dx%dx%d: a warm call takes the host %.1f and %.1f us, scaled_mm %.1f us" % (m, n, k, ours, again, theirs))


def main():
    parser = argparse.ArgumentParser(description="Uses the Python package on a GPU.")
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=300, help="what is not begun by then counts as failed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["torch", "cupy", "launches", "none"], help="these checks, and none of processes")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    place, how = install(options.directory)
    import torch

    import fp8
    import package_cupy
    import package_launches
    import package_torch

    groups = {"torch": package_torch.CHECKS, "cupy": package_cupy.CHECKS, "launches": package_launches.CHECKS}

    report.tell("package-install", None, "by %s, with torch %s; %r" % (how, torch.__version__, fp8.device_info()))
    generator = torch.Generator("cuda").manual_seed(options.seed)
    if options.times:  # first: once torch.compile was used, each call of a Python function costs more
        time_calls(torch, fp8, generator)
        package_launches.time_launches(torch, fp8, generator)
    for check in itertools.chain(*(checks for name, checks in groups.items() if options.only in (None, name))):
        if time.monotonic() > end:
            report.tell("package-" + check.__name__, "not begun in time")
            continue
        with report.whole("package-" + check.__name__):
            check(torch, fp8, generator)
    if not options.only:
        check_processes(place)
        check_training(options.directory, place)
        check_tests(options.directory, place)
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
