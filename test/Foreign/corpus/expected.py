# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts: a kernel is clean unless it is listed here, with the errors that are finds and the page that explains each."""

PAGE = " (docs/ForeignKernels.md#finds)"
INIT_BEHIND_FENCE = ({"race"}, "an mbarrier of the other CTA is initialised behind the last fence" + PAGE)
READS_OVERTAKEN = ({"missing-proxy-fence"}, "TMA may overtake loads whose thread has arrived" + PAGE)
COPIES_UNFENCED = ({"missing-proxy-fence"}, "an MMA reads what cp.async wrote, with no proxy fence" + PAGE)
MAILBOX_CLEARED = ({"race"}, "a CTA clears what others send to, with no barrier of the cluster between" + PAGE)

FINDS = {
    "cutlass_70_fp16": INIT_BEHIND_FENCE,
    "cutlass_72a_nvfp4": INIT_BEHIND_FENCE,
    "cutlass_72c_mxfp8": INIT_BEHIND_FENCE,
    "cutlass_75_grouped": INIT_BEHIND_FENCE,
    "cutlass_92_grouped": COPIES_UNFENCED,
    "cutlass_93_gqa": MAILBOX_CLEARED,
    "deepgemm_sm90_fp8_1d1d": READS_OVERTAKEN,
    "deepgemm_sm90_fp8_1d2d": READS_OVERTAKEN,
    "deepgemm_sm90_fp8_kgrouped": READS_OVERTAKEN,
    "deepgemm_sm90_fp8_masked": READS_OVERTAKEN,
    "deepgemm_sm90_mqa_logits": READS_OVERTAKEN,
}


def surprise(name, result):
    """How a result differs from what is expected; empty where it does not."""
    if name in FINDS:
        kinds, page = FINDS[name]
        return "" if set(result.errors) == kinds and not result.problem else f"expected {', '.join(sorted(kinds))}: {page}"
    return "" if result.clean() else "expected clean"
