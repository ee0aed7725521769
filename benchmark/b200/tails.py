# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a GEMM with a residual on operands whose last byte is the last of its memory, so that an access behind it faults; rows of
C, D and a_scale lie apart. On Blackwell drivers encode the tensor maps of such operands wrongly (docs/Runtime.md).

usage: tails.py KERNEL LIBRARY --m=M --n=N --k=K [--seed=S]

KERNEL: PTX or a cubin, beside its manifest. The last line is JSON, as fp8-run's.
"""

import argparse
import ctypes
import json
import math
import os
import random
import struct
import sys

import numerics
import runtime
import sums

LAUNCHES = 20
PITCH = 16  # what rows are apart is a multiple of it, in bytes
POISON = 0xff
DRIVERS = ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1")


class Properties(ctypes.Structure):
    """CUmemAllocationProp of pinned memory on a device"""
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location_type", ctypes.c_int), ("location", ctypes.c_int),
                ("metadata", ctypes.c_void_p), ("flags", ctypes.c_uint8 * 8)]


class Access(ctypes.Structure):
    """CUmemAccessDesc: to read and write"""
    _fields_ = [("location_type", ctypes.c_int), ("location", ctypes.c_int), ("flags", ctypes.c_int)]


class Driver:
    """The functions for memory whose neighbours are not mapped."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        context = ctypes.c_void_p()
        self.call("cuInit", ctypes.c_uint(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(0))
        self.call("cuCtxSetCurrent", context)
        self.properties = Properties(type=1, location_type=1, location=0)
        unit = ctypes.c_size_t()
        self.call("cuMemGetAllocationGranularity", ctypes.byref(unit), ctypes.byref(self.properties), ctypes.c_int(0))
        self.unit = unit.value

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(ctypes.c_int(status), ctypes.byref(text))
            raise runtime.RuntimeFailure("%s fails with %s (%d)" % (name, (text.value or b"an error").decode(), status))

    def map(self):
        """The address of memory with nothing before and behind it."""
        address, handle, size = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t(self.unit)
        self.call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(3 * self.unit), ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
        begin = ctypes.c_uint64(address.value + self.unit)
        self.call("cuMemCreate", ctypes.byref(handle), size, ctypes.byref(self.properties), ctypes.c_uint64(0))
        self.call("cuMemMap", begin, size, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        self.call("cuMemSetAccess", begin, size, ctypes.byref(Access(1, 0, 3)), ctypes.c_size_t(1))
        return begin.value

    def upload(self, address, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def strided_bit(self, address, rows, columns, pitch):
        """Bit 85 of the map that the driver itself encodes for a small matrix of bf16 with gaps."""
        data = (ctypes.c_uint64 * 32)()
        start = (ctypes.addressof(data) + 63) // 64 * 64
        dims, strides = (ctypes.c_uint64 * 2)(columns, rows), (ctypes.c_uint64 * 1)(pitch)
        box, steps = (ctypes.c_uint32 * 2)(8, min(rows, 8)), (ctypes.c_uint32 * 2)(1, 1)
        self.call("cuTensorMapEncodeTiled", ctypes.c_void_p(start), ctypes.c_int(9), ctypes.c_uint32(2), ctypes.c_void_p(address), dims, strides, box, steps,
                  ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(0))
        return ctypes.c_uint64.from_address(start + 8).value >> 21 & 1


class Tensor:
    """Elements of `rows` x `columns`, rows `pitch` bytes apart, the last of which ends with its memory."""

    def __init__(self, rows, columns, size, pitch=None):
        self.shape, self.size = (rows, columns), size
        self.pitch = pitch or columns * size
        self.bytes = (rows - 1) * self.pitch + columns * size
        self.data, self.address = bytearray([POISON]) * self.bytes, None

    def place(self, driver, base):
        # TMA wants addresses that are multiples of 16: the memory ends so few bytes behind the last element.
        self.address = (base + driver.unit - self.bytes) // PITCH * PITCH
        self.slack = base + driver.unit - self.address - self.bytes
        driver.upload(self.address, bytes(self.data))

    def put(self, row, column, code):
        at = row * self.pitch + column * self.size
        self.data[at:at + self.size] = code

    def data_ptr(self):
        return self.address

    def stride(self):
        return (self.pitch // self.size, 1)


def padded(columns, size):
    """So many bytes that a row ends before the next one begins."""
    return (columns * size // PITCH + 2) * PITCH


def bf16_value(code):
    return struct.unpack("<f", struct.pack("<I", code << 16))[0]


def ulp_bf16(value):
    return 2.0 ** (max(math.frexp(value)[1] - 1, -126) - 7) if value else 2.0 ** -133


def e4m3_value(code):
    parts = sums.TYPES["e4m3"].parts(code)
    return parts[0] * 2.0 ** parts[1] if parts else 0.0


class Problem:
    """D = A * B^T + C, A scaled in blocks of 1 x 128 and B of 128 x 128, with operands of a seed."""

    def __init__(self, m, n, k, seed):
        self.m, self.n, self.k = m, n, k
        drawn = random.Random(seed)
        blocks = -(-k // 128)
        self.a, self.b = Tensor(m, k, 1), Tensor(n, k, 1)
        self.a_scale, self.b_scale = Tensor(blocks, m, 4, padded(m, 4)), Tensor(-(-n // 128), blocks, 4)
        self.c, self.d = Tensor(m, n, 2, padded(n, 2)), Tensor(m, n, 2, padded(n, 2))
        code = lambda: drawn.randrange(0x20, 0x50) | drawn.randrange(2) << 7
        self.values = [self.fill(tensor, code, lambda x: bytes([x]), e4m3_value) for tensor in (self.a, self.b)]
        scale = lambda: drawn.uniform(1, 2) * 2.0 ** drawn.randrange(-4, 4)
        self.scales = [self.fill(tensor, scale, lambda x: struct.pack("<f", x), lambda x: struct.unpack("<f", struct.pack("<f", x))[0])
                       for tensor in (self.a_scale, self.b_scale)]
        self.residual = self.fill(self.c, lambda: drawn.randrange(0x3f00, 0x4200) | drawn.randrange(2) << 15, lambda x: struct.pack("<H", x), bf16_value)

    @staticmethod
    def fill(tensor, draw, pack, value):
        """The values put into the tensor, row by row."""
        rows, columns = tensor.shape
        values = []
        for row in range(rows):
            codes = [draw() for _ in range(columns)]
            for column, code in enumerate(codes):
                tensor.put(row, column, pack(code))
            values.append([value(code) for code in codes])
        return values

    def arguments(self):
        return [("f8E4M3FN", self.a), ("f32", self.a_scale), ("f8E4M3FN", self.b), ("f32", self.b_scale), ("bf16", self.c), ("bf16", self.d)]

    def references(self):
        """(row, column, the sum in float64, the sum of the magnitudes) of every element."""
        (a, b), (a_scale, b_scale) = self.values, self.scales
        for i in range(self.m):
            for j in range(self.n):
                total, magnitude = self.residual[i][j], abs(self.residual[i][j])
                for block in range(len(a_scale)):
                    products = [x * y for x, y in zip(a[i][128 * block:128 * block + 128], b[j][128 * block:128 * block + 128])]
                    scale = a_scale[block][i] * b_scale[j // 128][block]
                    total += scale * sum(products)
                    magnitude += scale * sum(map(abs, products))
                yield i, j, total, magnitude

    def judge(self, data, share):
        """What the kernel left in D's memory against the reference: |d - reference| <= ulp + share * magnitude."""
        wrong, unwritten, worst, first = 0, 0, 0.0, None
        gaps = bytearray(data)
        for i, j, total, magnitude in self.references():
            at = i * self.d.pitch + 2 * j
            value = bf16_value(data[at] | data[at + 1] << 8)
            gaps[at:at + 2] = bytes([POISON] * 2)
            ratio = abs(value - total) / (ulp_bf16(total) + share * magnitude)
            unwritten += math.isnan(value)
            if not ratio <= 1:
                wrong += 1
                first = first or "d[%d,%d] is %g instead of %g" % (i, j, value, total)
            else:
                worst = max(worst, ratio)
        outside = sum(byte != POISON for byte in gaps)
        return {"ok": not wrong and not outside, "elements": self.m * self.n, "wrong": wrong, "unwritten": unwritten, "max_bound_ratio": worst, "outside": outside,
                "first": first}


def run(options):
    path = os.environ.get("FP8_CUDA_LIBRARY")
    library = runtime.Library(options.library)
    device = runtime.Device(library)  # says what is missing of the driver
    driver = Driver(path or next(name for name in DRIVERS if name.startswith("lib") or os.path.exists(name)))
    with open(options.kernel, "rb") as image, open(os.path.splitext(options.kernel)[0] + ".json", encoding="utf-8") as manifest:
        kernel = runtime.Kernel(device, image.read(), manifest.read())
    problem = Problem(options.m, options.n, options.k, options.seed)
    for _, tensor in problem.arguments():
        tensor.place(driver, driver.map())
    told = {"ok": True, "slack_bytes": problem.d.slack, "map_bit_85": driver.strided_bit(problem.d.address, options.m, options.n, problem.d.pitch)}
    launch = kernel.prepare(problem.arguments())
    share = numerics.functions(options.library).fp8MagnitudeShare()
    for index in range(LAUNCHES):
        driver.upload(problem.d.address, bytes([POISON]) * problem.d.bytes)
        launch.run()
        data = driver.download(problem.d.address, problem.d.bytes)
        if index == 0:
            first, result = data, problem.judge(data, share)
            told.update(result)
            if result["outside"]:
                told["error"] = "the kernel wrote outside of 'd', %d bytes between its rows" % result["outside"]
            elif result["wrong"]:
                told["error"] = "wrong result: %s" % result["first"]
        elif data != first:
            told.update(ok=False, error="wrong result: launch %d left other bytes than the first" % index)
        if not told["ok"]:
            break
    return told


def main():
    parser = argparse.ArgumentParser(description="Operands at the end of their memory.")
    parser.add_argument("kernel")
    parser.add_argument("library")
    for name in ("m", "n", "k"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        told = run(options)
    except (runtime.RuntimeFailure, OSError) as error:
        told = {"ok": False, "error": str(error)}
        print("tails.py: error: %s" % error, file=sys.stderr)
    print(json.dumps(told), flush=True)
    os._exit(0 if told["ok"] else 1)  # cleaning up could wait for a kernel that hangs


if __name__ == "__main__":
    main()
