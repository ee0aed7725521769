# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's C API (include/fp8-c/Runtime.h) for Python: a kernel and its
manifest on tensors, launched into a stream of the caller's. A tensor is anything
with data_ptr(), shape and stride(), such as torch's."""

import ctypes
import json
import os
import sys

# A packed folder has the Python package's binding beside this file.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "fp8"))
import _binding


class RuntimeFailure(Exception):
    pass


class Library(_binding.Library):
    """libfp8runtime.so; its calls raise RuntimeFailure with the library's message."""

    def __init__(self, path):
        super().__init__(path, [_binding.RUNTIME], lambda status, message: RuntimeFailure(message))


class Device:
    def __init__(self, library, ordinal=0, driver=None):
        self.library = library
        self.owned = _binding.Owned(library, "fp8DeviceOpen", "fp8DeviceClose", driver and driver.encode(), ordinal)

    def info(self):
        info = _binding.DeviceInfo()
        self.library.functions.fp8DeviceGetInfo(self.owned.handle, ctypes.byref(info))
        return info


class Kernel:
    def __init__(self, device, image, manifest):
        self.device, self.library = device, device.library
        self.owned = _binding.Owned(self.library, "fp8KernelLoad", "fp8KernelFree", device.owned.handle, image, len(image),
                                    manifest.encode())

    @staticmethod
    def load(device, path, alone=False):
        """The PTX or cubin `path`, with the manifest `path`.json. `alone`: it starts when the preceding kernel has ended, whatever the manifest says."""
        with open(path, "rb") as file:
            image = file.read()
        with open(path + ".json", encoding="utf-8") as file:
            manifest = file.read()
        if alone:
            changed = json.loads(manifest)
            # A manifest of version 1 may not have the key: its launches are serial.
            if changed["launch"].get("programmatic"):
                changed["launch"]["programmatic"] = False
            manifest = json.dumps(changed)
        return Kernel(device, image, manifest)

    def prepare(self, arguments):
        """`arguments`: (dtype as MLIR spells it, tensor) of each."""
        return Launch(self, arguments)


class Launch:
    def __init__(self, kernel, arguments):
        self.library, self.kernel = kernel.library, kernel
        self.tensors = [tensor for _, tensor in arguments]  # kept alive
        array = _binding.make_arguments([(dtype, tensor.data_ptr(), tensor.shape, tensor.stride()) for dtype, tensor in arguments])
        self.owned = _binding.Owned(self.library, "fp8LaunchPrepare", "fp8LaunchFree", kernel.owned.handle, array, len(arguments), 0)

    def run(self):
        self.library.call("fp8LaunchRun", self.owned.handle)

    def enqueue(self, stream):
        """`stream`: a CUstream as a number, torch.cuda.current_stream().cuda_stream."""
        self.library.call("fp8LaunchEnqueue", self.owned.handle, stream)
