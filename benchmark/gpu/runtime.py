# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's C API (include/fp8-c/Runtime.h) for Python: a kernel and its
manifest on tensors, launched into a stream of the caller's. A tensor is anything
with data_ptr(), shape and stride(), such as torch's."""

import ctypes


class RuntimeFailure(Exception):
    pass


class Argument(ctypes.Structure):
    """Fp8Argument"""
    _fields_ = [("dtype", ctypes.c_char_p), ("address", ctypes.c_uint64), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class DeviceInfo(ctypes.Structure):
    """Fp8DeviceInfo"""
    _fields_ = [("name", ctypes.c_char_p)] + [
        (name, ctypes.c_int32) for name in ("ordinal", "major", "minor", "multiprocessor_count", "l2_cache_bytes",
                                            "max_shared_memory_per_block", "driver_version")] + [
        ("memory_bytes", ctypes.c_uint64)]


SIGNATURES = {
    "fp8DeviceOpen": [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)],
    "fp8KernelLoad": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                      ctypes.POINTER(ctypes.c_void_p)],
    "fp8LaunchPrepare": [ctypes.c_void_p, ctypes.POINTER(Argument), ctypes.c_size_t, ctypes.c_int,
                         ctypes.POINTER(ctypes.c_void_p)],
    "fp8LaunchRun": [ctypes.c_void_p],
    "fp8LaunchEnqueue": [ctypes.c_void_p, ctypes.c_void_p],
}


class Library:
    """libfp8runtime.so; `call` raises RuntimeFailure with the library's message."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        for name, arguments in SIGNATURES.items():
            function = getattr(self.functions, name)
            function.argtypes, function.restype = arguments, ctypes.c_int
        for name in ("fp8DeviceClose", "fp8KernelFree", "fp8LaunchFree"):
            function = getattr(self.functions, name)
            function.argtypes, function.restype = [ctypes.c_void_p], None
        self.functions.fp8DeviceGetInfo.argtypes = [ctypes.c_void_p, ctypes.POINTER(DeviceInfo)]
        self.functions.fp8DeviceGetInfo.restype = None
        self.functions.fp8LastError.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self.functions, name)(*arguments):
            raise RuntimeFailure(self.functions.fp8LastError().decode())

    def make(self, name, *arguments):
        handle = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(handle))
        return handle


class Device:
    def __init__(self, library, ordinal=0, driver=None):
        self.library = library
        self.handle = library.make("fp8DeviceOpen", driver and driver.encode(), ordinal)

    def info(self):
        info = DeviceInfo()
        self.library.functions.fp8DeviceGetInfo(self.handle, ctypes.byref(info))
        return info

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.functions.fp8DeviceClose(self.handle)


class Kernel:
    def __init__(self, device, image, manifest):
        self.library = device.library
        self.handle = self.library.make("fp8KernelLoad", device.handle, image, len(image), manifest.encode())

    @staticmethod
    def load(device, path):
        """The PTX or cubin `path`, with the manifest `path`.json."""
        with open(path, "rb") as file:
            image = file.read()
        with open(path + ".json", encoding="utf-8") as file:
            return Kernel(device, image, file.read())

    def prepare(self, arguments, programmatic=False):
        """`arguments`: (dtype as MLIR spells it, tensor) of each."""
        array = (Argument * len(arguments))()
        for to, (dtype, tensor) in zip(array, arguments):
            rank = len(tensor.shape)
            vector = ctypes.c_int64 * rank
            to.dtype, to.address, to.rank = dtype.encode(), tensor.data_ptr(), rank
            to.shape, to.strides = vector(*tensor.shape), vector(*tensor.stride())
        handle = self.library.make("fp8LaunchPrepare", self.handle, array, len(arguments), int(programmatic))
        return Launch(self, handle, [tensor for _, tensor in arguments])

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.functions.fp8KernelFree(self.handle)


class Launch:
    def __init__(self, kernel, handle, tensors):
        self.library, self.kernel, self.handle = kernel.library, kernel, handle
        self.tensors = tensors  # kept alive

    def run(self):
        self.library.call("fp8LaunchRun", self.handle)

    def enqueue(self, stream):
        """`stream`: a CUstream as a number, torch.cuda.current_stream().cuda_stream."""
        self.library.call("fp8LaunchEnqueue", self.handle, stream)

    def __del__(self):
        self.library.functions.fp8LaunchFree(self.handle)
