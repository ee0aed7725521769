# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GEMM kernels on operands that torch makes on the GPU: right or not, by the rules
of docs/Numerics.md, in every element, in the bytes around D, and twice the same.

What launches is a parameter: Gpu here, in tests something that runs anywhere.
"""

import contextlib
import json
import math
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
# A packed folder has them beside this file.
sys.path.append(os.path.join(HERE, "..", "..", "benchmark", "gpu"))
import clock
import numerics
import operands
import runtime

POISON = 0xff  # of every type a NaN
GUARD_BYTES = 4096


def dtype_of(element):
    """torch's type of that name in MLIR."""
    return getattr(torch, numerics.element_types()[element]["name"])


def floors_of(kernel):
    """The Frobenius distance that a large D of a kernel for sm_90a may have, and what an approximate tanh adds to it
    (docs/Numerics.md)."""
    floors = numerics.element_types()[kernel.d]["floors"]
    return floors["fourteen_bits"], floors["tanh"] if kernel.function == "silu" else 0.0


class Gpu:
    """Launches by the runtime's C API."""

    device = "cuda"

    def __init__(self, directory):
        self.library = runtime.Library(os.path.join(directory, "libfp8runtime.so"))
        self.handle = runtime.Device(self.library)
        self.directory, self.loaded = directory, {}

    def enqueue(self, kernel, arguments):
        """To the current stream. Every launch is prepared anew, as a program does whose shapes change."""
        if kernel.name not in self.loaded:
            self.loaded[kernel.name] = runtime.Kernel.load(
                self.handle, os.path.join(self.directory, "gemms", kernel.name + ".cubin"))
        self.loaded[kernel.name].prepare(arguments).enqueue(torch.cuda.current_stream().cuda_stream)

    def wait(self):
        clock.await_all()

    def streams(self, count):
        return [torch.cuda.Stream() for _ in range(count)]

    def on(self, stream):
        return torch.cuda.stream(stream)

    def memory_in_use(self):
        """Bytes of the whole GPU, whoever took them."""
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        return total - free


class Kernel:
    """One of gemms/index.json: its name, its tile, and what it computes."""

    def __init__(self, entry):
        self.name, self.tile, self.group = entry["name"], entry["tile"], entry["group"]
        point = entry["point"]
        self.d, self.c, self.bias, self.function = point["d"], point["c"], point["bias"], point["function"]
        self.beta, self.scale, self.strided = bool(point["beta"]), bool(point["scale"]), bool(point.get("strided"))
        self.arguments = entry["arguments"]

    def __str__(self):
        return self.name


def read_kernels(directory):
    with open(os.path.join(directory, "gemms", "index.json"), encoding="utf-8") as file:
        return [Kernel(entry) for entry in json.load(file)]


class Output:
    """A D amid guard bytes; between its rows, too, where the kernel lets them lie apart."""

    def __init__(self, shape, kernel, device):
        m, n = shape
        self.dtype, self.name = dtype_of(kernel.d), kernel.d
        size = self.dtype.itemsize
        self.used = n * size
        pitch = -(-self.used // 16) * 16 + 32 if kernel.strided else self.used
        self.storage = torch.empty(2 * GUARD_BYTES + m * pitch, dtype=torch.uint8, device=device)
        self.rows = self.storage[GUARD_BYTES:GUARD_BYTES + m * pitch].view(m, pitch)
        self.view = self.rows.view(self.dtype)[:, :n]

    def poison(self):
        self.storage.fill_(POISON)

    def changed_guards(self):
        """Bytes around D, and between its rows, that are not as they were."""
        parts = self.storage[:GUARD_BYTES], self.storage[-GUARD_BYTES:], self.rows[:, self.used:]
        return sum(int((part != POISON).sum()) for part in parts)

    def values(self):
        return self.rows[:, :self.used].contiguous().view(self.dtype)


class Problem:
    """Operands of a shape, made from a seed, with all that may follow the sum; the reference of the sum."""

    def __init__(self, shape, seed, device):
        self.shape, self.device = shape, device
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)
        self.set = operands.OperandSet(shape, self.generator, device)
        self.set.d = None
        self.sums, self.magnitude = self.set.sums()
        # What is added and what scales D is such that all of it shows in D.
        self.spread = float(self.sums.square().mean().sqrt())

    def addend(self, rows, name):
        """(rows, N), rows a multiple of 16 bytes apart."""
        values = torch.randn(rows, self.shape[1], generator=self.generator, device=self.device) * self.spread
        return operands.strided_rows(values.clamp(-6e4, 6e4).to(dtype_of(name)), 16)

    def number(self, value):
        return torch.full((1, 1), value, dtype=torch.float32, device=self.device)

    def following(self, kernel, beta):
        """The operands of what follows the sum; with a beta of 0 all of C is NaN, since it is not read."""
        made = {}
        if kernel.c:
            made["c"] = self.addend(self.shape[0], kernel.c)
            if kernel.beta and beta == 0:
                made["c"].fill_(float("nan"))
        if kernel.beta:
            made["beta"] = self.number(beta)
        if kernel.bias:
            made["bias"] = self.addend(1, kernel.bias)
        if kernel.scale:
            # D of e4m3 is to reach its largest value now and then.
            made["d_scale"] = self.number((100.0 if kernel.d == "f8E4M3FN" else 8.0) / max(self.spread, 1e-30))
        return made

    def expected(self, kernel, following):
        """The reference and the bound on each element's error, without the rounding to D's type."""
        value, magnitude = self.sums, self.magnitude
        beta = float(following["beta"]) if kernel.beta else 1.0
        addends = [beta * following["c"].double()] if kernel.c and beta else []
        addends += [following["bias"].double()] if kernel.bias else []
        for addend in addends:
            value, magnitude = value + addend, magnitude + addend.abs()
        if kernel.function == "relu":
            value = value.clamp(min=0)
        elif kernel.function == "silu":
            magnitude = 1.1 * magnitude + value.abs() / 2
            value = value / 2 * torch.tanh(value / 2) + value / 2
        if kernel.scale:
            scale = float(following["d_scale"])
            value, magnitude = value * scale, magnitude * abs(scale)
        return value, magnitude * numerics.magnitude_share()

    def arguments(self, kernel, following, output):
        """In the manifest's order, each with its type."""
        values = dict(following, a=self.set.a, a_scale=self.set.a_scale, b=self.set.b, b_scale=self.set.b_scale,
                      d=output.view)
        return [(dtype, values[name]) for name, dtype in kernel.arguments]


class Judgement:
    """Whether a D is right: `problem` says why not."""

    def __init__(self, output, kernel, value, bound, terms):
        d = output.values()
        # Of `terms` numbers, whose magnitudes add up to S, the sum would have at least the square of S / sqrt(terms) if their signs
        # were random. Where D has few elements and they happen to be smaller, its error is not.
        least = float(torch.linalg.vector_norm(bound)) / numerics.magnitude_share() / math.sqrt(terms)
        most = torch.finfo(output.dtype).max
        if numerics.element_types()[kernel.d]["saturates"]:
            value = value.clamp(-most, most)
        bound = bound + operands.ulp(value, output.dtype)
        got = d.float().double()
        error = (got - value).abs()
        # At the edge of the type's range, the largest value and infinity are both right.
        edge = got.isinf() & (got.sign() == value.sign()) & (value.abs() + bound > most)
        bad = ~((error <= bound) | edge)  # NaN is never right
        self.elements, wrong = d.numel(), int(bad.sum())
        ratio = (error / bound).masked_fill(edge, 0)
        self.worst = float(ratio.amax().nan_to_num(math.inf))
        rounded = value.to(output.dtype).float().double()
        finite = got.isfinite() & rounded.isfinite()
        distance = (got - rounded).masked_fill(~finite, 0)
        rounded = rounded.masked_fill(~finite, 0)
        norm = max(float(torch.linalg.vector_norm(rounded)), least)
        self.frobenius = float(torch.linalg.vector_norm(distance)) / norm if norm else 0.0
        # The floors are of large results; the error of few elements may be a few times the usual one.
        floor, of_tanh = floors_of(kernel)
        self.floor = floor * (1 + 4 / math.sqrt(self.elements)) + of_tanh
        # One flipped rounding of the largest element.
        self.floor += float(operands.ulp(rounded.abs().amax(), output.dtype)) / norm if norm else math.inf
        guards = output.changed_guards()
        self.problem = None
        if wrong:
            row, column = divmod(int(bad.flatten().int().argmax()), d.shape[1])
            self.problem = "%d of %d elements are wrong; first: d[%d,%d] is %g instead of %g, within %g" % (
                wrong, self.elements, row, column, got[row, column], value[row, column], bound[row, column])
        elif self.frobenius > self.floor:
            self.problem = "the Frobenius distance is %.3g, more than the floor %.3g" % (self.frobenius, self.floor)
        elif guards:
            self.problem = "%d bytes around D, or between its rows, were written" % guards


def different_bytes(first, second):
    return int((first != second).sum())


def check(gpu, problem, kernel, beta):
    """Runs the kernel twice; the judgement, and the bytes that D's memory then has."""
    output = Output(problem.shape[:2], kernel, gpu.device)
    following = problem.following(kernel, beta)
    arguments = problem.arguments(kernel, following, output)
    outcomes = []
    for _ in range(2):
        output.poison()
        gpu.enqueue(kernel, arguments)
        gpu.wait()
        outcomes.append(output.storage.clone())
    judgement = Judgement(output, kernel, *problem.expected(kernel, following), problem.shape[2] + 2)
    differing = different_bytes(*outcomes)
    if differing and not judgement.problem:
        judgement.problem = "%d bytes of D are others the second time" % differing
    return judgement, output, arguments


class Report:
    """A line for each test, and the count of those that failed."""

    def __init__(self):
        self.failed = 0

    def tell(self, name, problem, more=""):
        print("%s: %s %s" % ("FAIL" if problem else "PASS", name, problem or more), flush=True)
        self.failed += problem is not None

    @contextlib.contextmanager
    def guarded(self, name):
        """A hang ends the process, since cleaning up would wait for the kernel; so does a lost context."""
        try:
            yield
        except clock.DeviceHang as error:
            self.tell(name, "hangs: %s" % error)
            sys.stdout.flush()
            os._exit(3)
        except (runtime.RuntimeFailure, RuntimeError) as error:
            self.tell(name, str(error).strip().splitlines()[0])
            try:
                torch.zeros(1, device="cuda" if torch.cuda.is_available() else "cpu").sum().item()
            except RuntimeError:
                self.tell(name, "the context is lost; nothing more is run")
                sys.stdout.flush()
                os._exit(4)
