# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts: a kernel is clean unless it is listed here, with the errors that are finds and the page that explains each."""

INIT_BEHIND_FENCE = ({"race"}, "an mbarrier of the other CTA is initialised behind the last fence (docs/ForeignKernels.md#finds)")

FINDS = {
    "cutlass_70_fp16": INIT_BEHIND_FENCE,
    "cutlass_72a_nvfp4": INIT_BEHIND_FENCE,
    "cutlass_72c_mxfp8": INIT_BEHIND_FENCE,
    "cutlass_75_grouped": INIT_BEHIND_FENCE,
}


def surprise(name, result):
    """How a result differs from what is expected; empty where it does not."""
    if name in FINDS:
        kinds, page = FINDS[name]
        return "" if set(result.errors) == kinds else f"expected {', '.join(sorted(kinds))}: {page}"
    return "" if result.clean() else "expected clean"
