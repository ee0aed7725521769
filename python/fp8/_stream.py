# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stream that a package works in."""

from __future__ import annotations

import sys
from typing import Any

from ._arrays import is_torch


def current_stream(array: Any, index: int) -> int:
    """The CUDA stream that whoever made `array` enqueues to at present; 0, the default stream, if that is not known."""
    if is_torch(array):
        import torch

        return int(torch.cuda.current_stream(index).cuda_stream)
    if type(array).__module__.partition(".")[0] == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return 0
