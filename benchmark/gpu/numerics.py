# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a right D is, by the library's tables (fp8-c/Gemm.h): its type's floors, and the share of the magnitudes
that an error may have."""

import functools
import json
import os

import runtime

BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libfp8runtime.so")


@functools.lru_cache(maxsize=None)
def functions(path=None):
    """Those of the library `path`; else of the packed folder's, or of the one that $FP8_LIBRARY names."""
    path = path or (BESIDE if os.path.exists(BESIDE) else os.environ.get("FP8_LIBRARY"))
    if not path:
        raise runtime.RuntimeFailure("there is no %s: pack a folder, or let $FP8_LIBRARY name the libfp8runtime.so of a build" % BESIDE)
    return runtime.Library(path).functions


@functools.lru_cache(maxsize=None)
def element_types(path=None):
    """The row of fp8ElementTypes of each floating-point type, by the name that MLIR and manifests have for it."""
    return {row["dtype"]: row for row in json.loads(functions(path).fp8ElementTypes())}


def magnitude_share():
    return functions().fp8MagnitudeShare()
