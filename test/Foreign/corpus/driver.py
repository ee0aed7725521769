# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches a cubin as a launch description says, through the CUDA Driver API; needs nothing but Python and the driver."""

import ctypes
import os
import struct

DRIVERS = ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1")
MAX_DYNAMIC_SHARED, NON_PORTABLE_CLUSTER = 8, 14  # CUfunction_attribute
CLUSTER_DIMENSION = 4                             # CUlaunchAttributeID
NAME_BYTES = 128
MAP_BYTES, MAP_ALIGNMENT = 128, 64
# In the order of CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapInterleave.
MAP_TYPES = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", "16u4_align8b",
             "16u4_align16b", "16u6_align16b"]
SWIZZLES = ["none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"]
INTERLEAVES = ["none", "16B", "32B"]
SCALARS = {"s8": "b", "u8": "B", "s16": "h", "u16": "H", "s32": "i", "u32": "I", "s64": "q", "u64": "Q", "f32": "f", "f64": "d"}


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class DriverFailure(Exception):
    pass


class Device:
    """The first GPU, with a context."""

    def __init__(self):
        self.library = next(filter(None, map(load, DRIVERS)), None)
        if not self.library:
            raise DriverFailure("there is no CUDA driver")
        self.call("cuInit", 0)
        self.ordinal, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(self.ordinal), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.ordinal)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            raise DriverFailure(f"{name}: {(text.value or b'unknown error').decode()} ({status})")

    def name(self):
        text = ctypes.create_string_buffer(NAME_BYTES)
        self.call("cuDeviceGetName", text, NAME_BYTES, self.ordinal)
        return text.value.decode()

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def upload(self, address, data):
        if data:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), bytes(data), ctypes.c_size_t(len(data)))

    def download(self, address, size):
        data = ctypes.create_string_buffer(max(size, 1))
        if size:
            self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw[:size]


def load(name):
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


class Values:
    """The bytes of arguments, whose addresses are those of the device's buffers."""

    def __init__(self, device, folder, addresses):
        self.device, self.folder, self.addresses = device, folder, addresses

    def bytes_of(self, value):
        (kind, content), *rest = value.items()
        if kind == "buffer":
            return struct.pack("<Q", self.addresses[content] + dict(rest).get("offset", 0))
        if kind in SCALARS:
            return struct.pack("<" + SCALARS[kind], float(content) if kind[0] == "f" else content)
        if kind == "hex":
            return bytes.fromhex(content)
        return self.encode(content) if kind == "tensor_map" else self.structure(content)

    def structure(self, content):
        data = bytearray(self.contents(content))
        data += bytes(content["bytes"] - len(data))
        self.overwrite(data, content.get("fields", []))
        return bytes(data)

    def contents(self, content):
        """Of a file or in hexadecimal; empty where there is neither."""
        if "file" not in content:
            return bytes.fromhex(content.get("hex", ""))
        with open(os.path.join(self.folder, content["file"]), "rb") as file:
            return file.read()

    def overwrite(self, data, fields):
        for field in fields:
            value = self.bytes_of(field["value"])
            data[field["offset"]:field["offset"] + len(value)] = value

    def encode(self, content):
        """A tensor map, by the driver."""
        storage = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGNMENT)
        place = (ctypes.addressof(storage) + MAP_ALIGNMENT - 1) // MAP_ALIGNMENT * MAP_ALIGNMENT
        rank = len(content["dims"])
        address = self.addresses[content["buffer"]] + content.get("offset", 0)
        common = (ctypes.c_void_p(place), MAP_TYPES.index(content["dtype"]), rank, ctypes.c_void_p(address),
                  (ctypes.c_uint64 * rank)(*content["dims"]), (ctypes.c_uint64 * rank)(*content["strides_bytes"]))
        last = ((ctypes.c_uint32 * rank)(*content.get("element_strides", [1] * rank)), INTERLEAVES.index(content.get("interleave", "none")),
                SWIZZLES.index(content.get("swizzle", "none")), 0, int(content.get("oob_fill") == "nan"))
        if "im2col" in content:
            pixels = content["im2col"]
            corners = [(ctypes.c_int * (rank - 2))(*pixels[name]) for name in ("lower_corner", "upper_corner")]
            self.device.call("cuTensorMapEncodeIm2col", *common, *corners, pixels["channels"], pixels["pixels"], *last)
        else:
            self.device.call("cuTensorMapEncodeTiled", *common, (ctypes.c_uint32 * rank)(*content["box"]), *last)
        return ctypes.string_at(place, MAP_BYTES)


def launch(device, folder, description):
    """Runs the kernel once; the bytes of each buffer after it, by name."""
    addresses = {buffer["name"]: device.allocate(buffer["bytes"]) for buffer in description["buffers"]}
    values = Values(device, folder, addresses)
    for buffer in description["buffers"]:
        # What the kernel must write begins as NaN of every format.
        data = bytearray(values.contents(buffer) or (b"\0" if buffer.get("fill") == "zeros" else b"\xff") * buffer["bytes"])
        values.overwrite(data, buffer.get("fields", []))
        device.upload(addresses[buffer["name"]], data)
    with open(os.path.join(folder, "kernel.cubin"), "rb") as file:
        image = file.read()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    device.call("cuModuleLoadData", ctypes.byref(module), image)
    device.call("cuModuleGetFunction", ctypes.byref(function), module, description["entry"].encode())
    shared = description.get("shared_memory_bytes", 0)
    device.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared)
    device.call("cuFuncSetAttribute", function, NON_PORTABLE_CLUSTER, 1)
    cluster = description.get("cluster", [1, 1, 1])
    attribute = LaunchAttribute(CLUSTER_DIMENSION, 0, (ctypes.c_uint * 16)(*cluster))
    config = LaunchConfig((ctypes.c_uint * 3)(*description["grid"]), (ctypes.c_uint * 3)(*description["block"]), shared, None,
                          ctypes.addressof(attribute), int(cluster != [1, 1, 1]))
    # The driver copies a map from an address that is a multiple of 64.
    storage = [aligned(values.bytes_of(argument)) for argument in description["arguments"]]
    parameters = (ctypes.c_void_p * max(len(storage), 1))(*(address for _, address in storage))
    device.call("cuLaunchKernelEx", ctypes.byref(config), function, parameters, None)
    device.call("cuCtxSynchronize")
    return {buffer["name"]: device.download(addresses[buffer["name"]], buffer["bytes"]) for buffer in description["buffers"]}


def aligned(data):
    storage = ctypes.create_string_buffer(len(data) + MAP_ALIGNMENT)
    address = (ctypes.addressof(storage) + MAP_ALIGNMENT - 1) // MAP_ALIGNMENT * MAP_ALIGNMENT
    ctypes.memmove(address, data, len(data))
    return storage, address
