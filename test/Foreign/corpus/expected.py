# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts: a kernel is clean unless it is listed here, with the errors that are finds and the page that explains each."""

PAGE = " (docs/evidence/ForeignKernels.md#finds)"
INIT_BEHIND_FENCE = ({"race"}, "an mbarrier of the other CTA is initialised behind the last fence" + PAGE)
READS_OVERTAKEN = ({"missing-proxy-fence"}, "TMA may overtake loads whose thread has arrived" + PAGE)
COPIES_UNFENCED = ({"missing-proxy-fence"}, "an MMA reads what cp.async wrote, with no proxy fence" + PAGE)
MAILBOX_CLEARED = ({"race"}, "a CTA clears what others send to, with no barrier of the cluster between" + PAGE)
UNFENCED_COPY = ({"missing-proxy-fence"}, "the MMA reads what threads have stored without a proxy fence" + PAGE)
IDLE_WAITERS = ({"missed-phase"}, "nothing holds a phase back until all warps have seen the one before" + PAGE)
IDLE_WAITERS_OF_A_PAIR = ({"missed-phase", "race"}, IDLE_WAITERS[1] + ", and a CTA frees what the other still reads")
LAST_ARRIVAL = ({"missed-phase", "exited-cta"}, "a phase is missed, and nobody waits for the last arrivals at the leading CTA" + PAGE)
FREED_BEFORE_THE_MMA = ({"memory-in-flight", "missed-phase", "out-of-bounds"},
                        "a slot of the ring is handed back before the MMA has read it, and tensor memory freed while others use it" + PAGE)
SCHEDULE_OVERWRITTEN = ({"race"}, "a scheduler writes the next tile over the last one, which nothing keeps the readers of its CTA from reading" + PAGE)
UNUSED_PREFETCH = ({"race"}, "a prefetch whose words nobody uses reads what sums are stored to" + PAGE)
FREED_BEFORE_THE_PEER = ({"race"}, "a CTA of a pair frees tensor memory that the other still uses" + PAGE)
FREED_BY_ALL = ({"race", "tensor-memory-allocation"}, "four warps free the same columns, which other warps still read" + PAGE)
ZEROS_APART = ({"race", "early-access"}, "a warp multiplies what the others of its warpgroup have zeroed, with no barrier between" + PAGE)
FRAGMENTS_UNFENCED = ({"missing-wgmma-fence", "missing-proxy-fence"}, "registers change behind the last wgmma.fence" + PAGE)

FINDS = {
    "cutlass_111_ssd": FRAGMENTS_UNFENCED,
    "cutlass_112_ssd": FREED_BY_ALL,
    "cutlass_77_mla": ({"race", "missing-proxy-fence", "memory-in-flight"}, "a slot is handed over while one group of cp.async still writes it" + PAGE),
    "cutlass_78_bf16x9": ({"race", "missing-proxy-fence"}, INIT_BEHIND_FENCE[1] + ", and TMA may overtake loads"),
    "cutlass_84_nvfp4_sparse": INIT_BEHIND_FENCE,
    "flashinfer_topk": ({"race"}, "a thread arrives for its CTA before the other warps have added what they count" + PAGE),
    "flash_mla_dense_sm90": ZEROS_APART,
    "flash_mla_dense_sm90_mended": ({"early-access"}, "the second kernel loads in front of griddepcontrol.wait" + PAGE),
    "flash_mla_sparse_sm90": COPIES_UNFENCED,
    "flash_mla_head64_sm100": COPIES_UNFENCED,
    "flash_mla_head128_sm100": FREED_BEFORE_THE_PEER,
    "flash_mla_small_topk_sm100_mended": ({"exited-cta"}, "a CTA may end before the last arrivals of its peer" + PAGE),
    "flash_mla_small_topk_sm100": (FREED_BEFORE_THE_PEER[0] | {"exited-cta"}, FREED_BEFORE_THE_PEER[1]),
    "cutlass_70_fp16": INIT_BEHIND_FENCE,
    "cutlass_72a_nvfp4": INIT_BEHIND_FENCE,
    "cutlass_72c_mxfp8": INIT_BEHIND_FENCE,
    "cutlass_73_preferred_cluster": INIT_BEHIND_FENCE,
    "cutlass_74_streamk": INIT_BEHIND_FENCE,
    "cutlass_75_grouped": INIT_BEHIND_FENCE,
    "cutlass_83_sparse": INIT_BEHIND_FENCE,
    "cutlass_92_grouped": COPIES_UNFENCED,
    "cutlass_93_gqa": MAILBOX_CLEARED,
    "deepgemm_sm90_fp8_1d1d": READS_OVERTAKEN,
    "deepgemm_sm90_fp8_1d2d": READS_OVERTAKEN,
    "deepgemm_sm90_fp8_kgrouped": READS_OVERTAKEN,
    "deepgemm_sm90_fp8_masked": READS_OVERTAKEN,
    "deepgemm_sm90_mqa_logits": READS_OVERTAKEN,
    "deepgemm_sm90_tf32_prenorm": ({"missing-proxy-fence", "register-in-flight", "invalid-operation"},
                                   "sums are copied before the wait for wgmma, and one lane of a warpgroup executes setmaxnreg" + PAGE),
    "cutlass_tutorial_01_mma": UNFENCED_COPY,
    "cutlass_tutorial_02_tma": IDLE_WAITERS,
    "cutlass_tutorial_03_multicast": IDLE_WAITERS,
    "cutlass_tutorial_04_2sm": IDLE_WAITERS_OF_A_PAIR,
    "cutlass_tutorial_05_epilogue": IDLE_WAITERS_OF_A_PAIR,
    "marlin_16_columns": UNUSED_PREFETCH,
    "marlin_16_grouped": UNUSED_PREFETCH,
    "tilelang_attention_sm100": FREED_BEFORE_THE_MMA,
    "tilelang_attention_sm90": IDLE_WAITERS,
    "tilelang_clc_2cta_sm100": SCHEDULE_OVERWRITTEN,
    "tilelang_fp8_2xacc_sm90": IDLE_WAITERS,
    "thunderkittens_bf16_b200": LAST_ARRIVAL,
    "thunderkittens_fp8_b200": LAST_ARRIVAL,
    "thunderkittens_bf16_h100": IDLE_WAITERS,
}

# What an error ends in under some schedules.
CONSEQUENCES = {"missed-phase": {"deadlock"}}


def surprise(name, result):
    """How a result differs from what is expected; empty where it does not."""
    if name in FINDS:
        kinds, page = FINDS[name]
        follow = set().union(*(CONSEQUENCES.get(kind, ()) for kind in kinds))
        found = set(result.errors)
        as_expected = found == kinds and not result.problem or kinds < found <= kinds | follow
        return "" if as_expected else f"expected {', '.join(sorted(kinds))}: {page}"
    return "" if result.clean() else "expected clean"
