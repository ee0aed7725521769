# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the GPU says about itself, through NVIDIA's management library, which
comes with the driver. It is only read; nothing is set. Without it, all is empty."""

import ctypes

# The second is where container tools mount the driver.
LIBRARIES = ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1")
# nvml.h: NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU
CLOCK_SM, CLOCK_MEMORY, TEMPERATURE = 1, 2, 0


class Machine:
    def __init__(self, ordinal=0, libraries=LIBRARIES):
        self.library = self.handle = None
        for name in libraries:
            try:
                library, handle = ctypes.CDLL(name), ctypes.c_void_p()
                if library.nvmlInit_v2() == 0 and library.nvmlDeviceGetHandleByIndex_v2(
                        ordinal, ctypes.byref(handle)) == 0:
                    self.library, self.handle = library, handle
                    return
            except (OSError, AttributeError):
                pass

    def text(self, function, *arguments):
        buffer = ctypes.create_string_buffer(96)
        if self.handle is None or getattr(self.library, function)(*arguments, buffer, ctypes.c_uint(96)):
            return ""
        return buffer.value.decode()

    def value(self, function, *arguments):
        value = ctypes.c_uint()
        if self.handle is None or getattr(self.library, function)(self.handle, *arguments, ctypes.byref(value)):
            return None
        return value.value

    def identity(self):
        return {"gpu": self.text("nvmlDeviceGetName", self.handle), "driver": self.text("nvmlSystemGetDriverVersion")}

    def sample(self):
        milliwatts = self.value("nvmlDeviceGetPowerUsage")
        return {"sm_mhz": self.value("nvmlDeviceGetClockInfo", CLOCK_SM),
                "memory_mhz": self.value("nvmlDeviceGetClockInfo", CLOCK_MEMORY),
                "power_w": milliwatts and milliwatts / 1000,
                "celsius": self.value("nvmlDeviceGetTemperature", TEMPERATURE)}
