# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls are told apart by, and launches without ctypes: the builtins of include/fp8-c/Python.h, on the driver without a GPU."""

from __future__ import annotations

from test_device import on_gpu  # a fixture

EXCHANGE = """
from fp8 import _description
from fp8._dlpack import _DLTensor

class Tensor:
    '''An array as torch describes it; `place` is a DLDeviceType and the number of the device.'''

    def __init__(self, array, dtype="float32", place=(2, 0)):
        self.array, self.dtype, self.shape, self.place = array, "torch." + dtype, array.shape, place
        self.strides = (ctypes.c_int64 * array.ndim)(*self.stride())
        self.extents = (ctypes.c_int64 * array.ndim)(*array.shape)

    def stride(self):
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def get_device(self):
        return self.place[1] if self.place[0] == 2 else -1

    def data_ptr(self):
        return self.array.ctypes.data

CODES = {"torch.float32": (2, 32), "torch.float8_e4m3fn": (10, 8), "torch.bfloat16": (4, 16), "torch.uint8": (1, 8)}
begin_of_float8 = 8  # bytes in front of what the table describes of such arrays

@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_DLTensor))
def describe(given, tensor):
    if not isinstance(given, Tensor):
        return -1
    into, begin = tensor.contents, begin_of_float8 if "float8" in given.dtype else 0
    into.data, into.byte_offset, into.ndim, into.lanes = given.data_ptr() - begin, begin, len(given.shape), 1
    into.device_type, into.device_id = given.place
    into.code, into.bits = CODES[given.dtype]
    into.shape = ctypes.cast(given.extents, ctypes.POINTER(ctypes.c_int64))
    into.strides = ctypes.cast(given.strides, ctypes.POINTER(ctypes.c_int64))
    return 0

def table(major, previous=0):
    return (ctypes.c_uint64 * 7)(major, previous, 0, 0, 0, ctypes.cast(describe, ctypes.c_void_p).value, 0)

newest = table(1)
made = _library.describe_by(ctypes.addressof(newest))
f32, bytes3 = aligned((4, 64), np.float32), aligned((2, 3, 64), np.uint8)
"""


def test_descriptions(on_gpu):
    """What the exchange API tells makes the same description as the attributes, whatever is left out."""
    assert on_gpu(EXCHANGE + """
operands = {
    "whole": Tensor(f32), "part": Tensor(f32[:3, 1:9]), "transposed": Tensor(f32.T), "batch": Tensor(bytes3, "float8_e4m3fn"),
    "row": Tensor(f32[0], "float32", (2, 5)), "bits": Tensor(bytes3[0], "uint8"), "none": None,
}
for names in (["whole"], ["whole", "batch", "part"], ["none", "row", "none", "bits", "none"], ["transposed", "none"], [], ["none"] * 9, list(operands)):
    tensors = [operands[name] for name in names]
    print(len(made(*tensors)) // 64, made(*tensors) == _description.describe_attributes(*tensors))
keys = {_description.key_of(made(operand)) for operand in operands.values()}
print(len(keys), _description.key_of(made(Tensor(f32))) == _description.key_of(made(Tensor(aligned((4, 64), np.float32)))))
import struct
key = _description.key_of(made(operands["part"], operands["batch"]))
words = struct.unpack("=14q", key)
print(words[1:7], words[8:14], key[0], key[56], _description.count_arrays(key), list(_description.BEGIN.values())[:2])
""").splitlines() == ["1 True", "3 True", "4 True", "1 True", "0 True", "0 True", "6 True", "7 True",
                      "(3, 8, 0, 64, 1, 0) (2, 3, 64, 192, 64, 1) 2 3 2 [0, 7]"]


def test_descriptions_of_tiles(on_gpu):
    """Arrays of rank 4 and 5, as scales in tiles are, have two extents a word, and others than contiguous ones no description."""
    assert on_gpu(EXCHANGE + """
import struct
tiles, batch = aligned((3, 7, 32, 16), np.uint8), aligned((2, 3, 1, 32, 16), np.uint8)
for array in (tiles, batch, tiles[:1], tiles[:2]):
    made_of = made(Tensor(array, "uint8"), Tensor(f32))
    print(made_of == _description.describe_attributes(Tensor(array, "uint8"), Tensor(f32)), struct.unpack("=14q", _description.key_of(made_of))[1:7])
for array in (tiles[:, :3], tiles.swapaxes(2, 3), batch[:, 1:]):
    print(made(Tensor(array, "uint8")), _description.describe_attributes(Tensor(array, "uint8")))
""").splitlines() == [
        f"True ({3 | 7 << 32}, {32 | 16 << 32}, 0, 0, 0, 0)",
        f"True ({2 | 3 << 32}, {1 | 32 << 32}, 16, 0, 0, 0)",
        f"True ({1 | 7 << 32}, {32 | 16 << 32}, 0, 0, 0, 0)",
        f"True ({2 | 7 << 32}, {32 | 16 << 32}, 0, 0, 0, 0)",
        *["b'' b''"] * 3,
    ]


def test_what_cannot_be_described(on_gpu):
    """Arrays of others, of the host, of other ranks and without memory; and tables of versions to come."""
    assert on_gpu(EXCHANGE + """
wrong = 3, Tensor(f32, "float32", (1, 0)), Tensor(aligned((1, 2, 3, 4, 1, 1), np.float32)), Tensor(np.zeros((), np.float32))
print([made(Tensor(f32), operand) for operand in wrong], [_description.describe_attributes(Tensor(f32), operand) for operand in wrong])
print(made(*[Tensor(f32)] * 17), len(made(*[Tensor(f32)] * 16)))
Tensor.data_ptr = lambda self: 0
print(made(Tensor(f32)), _description.describe_attributes(Tensor(f32)))
newer = table(2, ctypes.addressof(newest))
alone = table(2)
print(_library.describe_by(ctypes.addressof(newer)) is None, _library.describe_by(ctypes.addressof(alone)) is None, _library.describe_by(0) is None)
""").splitlines() == [
        f"{[b''] * 4} {[b''] * 4}",
        "b'' 1024",
        "b'' b''",
        "False True True",
    ]


def test_launches_by_places(on_gpu):
    """Each argument gets the address of its place; the last stands for D."""
    assert on_gpu("""
        import struct
        spec = fp8.GemmSpec(d_dtype="f32")
        expect(spec)
        os.environ["FP8_FAKE_WORD"] = "0"
        kernel = fp8.compile(spec, problem=(m, n, k), assemble=False)
        arrays = kernel._bind(tuple(map(Foreign, (a, a_scale, b, b_scale, d))))
        launch, enqueue = kernel.loaded(0).prepare(arrays), _library.enqueue()
        words = struct.pack("=5Q", *(array.address for array in arrays))
        elsewhere = struct.pack("=5Q", *(array.address + 4096 for array in arrays))
        for places, given, last in ((bytes(range(5)), words, 0), (bytes([0, 1, 2, 3, 255]), elsewhere, d.ctypes.data), (bytes([255, 1, 2, 3, 4]), words, 64)):
            print(enqueue(launch.handle, places, given, last, 0x77), int(log("word=")[-1].split("=")[1], 16) - (0 if last == 64 else a.ctypes.data))
        print(len(log("cuLaunchKernelEx")), len(log("cuTensorMapReplaceAddress")))
        print(enqueue(launch.handle, bytes(range(4)), words, 0, 0x77), _library.last_error())
        for wrong in ((launch.handle, bytes([0, 1, 2, 3, 5]), words, 0, 0), (launch.handle, bytes(17), words, 0, 0), (0, bytes(range(5)), words, 0, 0),
                      (launch.handle, [0], words, 0, 0), (launch.handle, b"", words, -1, 0), (launch.handle,)):
            try:
                print(enqueue(*wrong))
            except (TypeError, OverflowError) as error:
                print(type(error).__name__, error)
    """).splitlines() == [
        "0 0", "0 4096", "0 64",
        "3 4",
        "1 the launch was prepared with 5 arguments and is given 4 addresses",
        "TypeError places must be less than the number of addresses",
        "TypeError there is no launch, or it has more than 16 arguments",
        "TypeError there is no launch, or it has more than 16 arguments",
        "TypeError expected bytes, list found",
        "OverflowError can't convert negative int to unsigned",
        "TypeError enqueue takes launch, places, addresses, last and stream",
    ]
