#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands in for fp8-run on a machine with a GPU: what a kernel does is in its name. FAKE_GPU names a file that exists while
the GPU answers nothing."""

import json
import os
import struct
import sys
import time

if "--list-devices" in sys.argv:
    print(json.dumps({"device": "Fake B200", "capability": "10.0", "driver": "13000", "runs": ["sm_100a"]}))
    sys.exit(0)
kernel = os.path.basename(sys.argv[1]).split(".")[0]
waits = ".waits." in sys.argv[1]
wedged = os.environ.get("FAKE_GPU", "")


def end(status, error=None, **line):
    if error:
        print("fp8-run: error: " + error, file=sys.stderr)
    print(json.dumps(dict({"ok": status == 0}, **({"error": error} if error else {}), **line)))
    sys.exit(status)


if wedged and os.path.exists(wedged):
    end(1, "kernel 'naive' failed: cuCtxCreate fails with CUDA_ERROR_LAUNCH_FAILED (719, unspecified launch failure)")
if kernel == "wedges":
    with open(wedged, "w", encoding="utf-8"):
        pass
    end(1, "kernel 'wedges' failed: cuEventQuery fails with CUDA_ERROR_ILLEGAL_ADDRESS (700, an illegal memory access was encountered)")
if kernel == "hangs" and waits:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hang-h200.txt"), encoding="utf-8") as file:
        sys.stderr.write(file.read())
    end(1)
if kernel == "hangs":
    end(3, "kernel 'gemm_kernel' has not ended after 20 s")
if kernel in ("sleeps", "interrupts"):
    if kernel == "interrupts":
        os.kill(os.getppid(), 2)
    time.sleep(60)
if sys.argv[1].endswith("refused.cubin"):
    end(1, "cannot load refused.cubin: cuModuleLoadDataEx fails with CUDA_ERROR_NO_BINARY_FOR_GPU (209, no kernel image is available)")
if kernel == "dies":
    os.abort()
for option in sys.argv:
    if option.startswith("--dump="):
        with open(option.partition("=")[2], "wb") as file:
            file.write(struct.pack("<8I", *[100] * 4, 40, 41, 42, 43))
end(0, elements=4, wrong=0, frobenius=0.0, us=5.0, us_fastest=4.0, us_slowest=6.0, tflops=1.0)
