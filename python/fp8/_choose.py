# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.choose: which configuration a GEMM gets, without a kernel or a GPU."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ._choice import choices_of
from ._layout import padded_row
from ._spec import GemmSpec, check_problem


@dataclass(frozen=True)
class Choice:
    """The configuration that a GEMM gets, and who decides.

    Attributes:
        config: as `GemmSpec.config` pins it; None if no candidate fits, and compilation will say why.
        source: who decides: "spec", which pins it; "tuned", by `fp8.tune`; "table", the package's measurements on the GPU; "model", the cost
            model.
        predicted_us: microseconds of a launch, as the cost model predicts; None if the configuration is none of its candidates.
        terms: of the prediction, in microseconds, by the names that docs/Chooser.md explains; empty without a prediction.
        machine: the GPU whose constants the cost model uses.
        reason: in words, with the candidate that comes next.
    """

    config: str | None
    source: str
    predicted_us: float | None
    terms: Mapping[str, float]
    machine: str
    reason: str

    def __str__(self) -> str:
        predicted = "" if self.predicted_us is None else f", {self.predicted_us:.2f} us on {self.machine}"
        return f"{self.config or 'no configuration'}, by the {self.source}{predicted}"


def choose(m: int, n: int, k: int, spec: GemmSpec = GemmSpec(), *, chip: str | None = None, gpu: str = "") -> Choice:
    """Tells which configuration `fp8.gemm` uses for a problem. Nothing is compiled, and no GPU is needed.

    Args:
        m: rows of A and D.
        n: rows of B, columns of D.
        k: columns of A and B, a multiple of 16.
        spec: types, and what follows the sum. D counts as one that `fp8.gemm` makes.
        chip: what kernels are compiled for; `fp8.chips()` lists them. None: "sm_90a", or with scales of MXFP8 "sm_100a".
        gpu: the name of the GPU, as `fp8.device_info` has it, such as "NVIDIA H200": what was measured on it counts, as in `fp8.gemm` there. Empty:
            as with `simulate=True`.

    Raises:
        ValueError: an extent is out of range, or there is no such chip.
        CompileError: the spec pins a configuration that is none.
    """
    problem = (operator.index(m), operator.index(n), operator.index(k))
    check_problem(problem)
    if problem[2] % 16:
        raise ValueError(f"K is {k}; it must be a multiple of 16: pad A and B with columns of zeros")
    spec = replace(spec, d_contiguous=padded_row(n, spec.d_dtype) == n)
    source, explained, predicted = choices_of(spec, chip or spec.default_chip, gpu).explain(problem)
    return Choice(
        explained.get("config"),
        source,
        predicted["us"] if predicted else None,
        predicted["terms"] if predicted else {},
        explained["machine"],
        explained["reason"],
    )
