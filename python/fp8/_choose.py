# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.choose: which configuration a GEMM gets, without a kernel or a GPU."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from . import _library, _machine
from ._choice import choices_of
from ._compile import check_chip
from ._compiler import Chooser, explain_configurations
from ._errors import CompileError
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
        predicted_alone_us: microseconds of a launch that starts when the preceding kernel has ended, as behind a kernel of another library. The
            choice counts both (docs/Chooser.md, "Alone").
    """

    config: str | None
    source: str
    predicted_us: float | None
    terms: Mapping[str, float] = field(hash=False)
    machine: str
    reason: str
    predicted_alone_us: float | None = None

    def __str__(self) -> str:
        predicted = "" if self.predicted_us is None else f", {self.predicted_us:.2f} us on {self.machine}"
        return f"{self.config or 'no configuration'}, by the {self.source}{predicted}"


def _find_chip(default: str, given: str | None, gpu: str) -> str:
    """The chip that is given; else the default one, unless the GPU has constants, which are of another.

    Raises:
        ValueError: the GPU's constants are not of the chip that is given.
    """
    if _machine.built_in(gpu) is None:
        return given or default
    own, others = _chips_of(gpu)
    if given is None:
        found = own or others
        return default if default in found else found[0]
    check_chip(given)
    if given not in own + others:
        raise ValueError(f"{gpu} has another chip than {given}: pass chip={(own or others)[0]!r}, or leave chip out")
    return given


@functools.lru_cache(maxsize=None)
def _chips_of(gpu: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The chips whose constants are by default those of the GPU, and others that can have them."""
    own: list[str] = []
    others: list[str] = []
    spec = GemmSpec()
    for chip in _library.chips():
        try:
            Chooser(spec, chip, machine=gpu)
        except CompileError:
            continue
        (explained,) = explain_configurations(spec, f"chip={chip} problem=64x64x128 top=1")
        (own if explained["machine"] == gpu else others).append(chip)
    return tuple(own), tuple(others)


def choose(m: int, n: int, k: int, spec: GemmSpec = GemmSpec(), *, chip: str | None = None, gpu: str | None = "") -> Choice:
    """Tells which configuration `fp8.gemm` uses for a problem. Nothing is compiled, and no GPU is needed.

    Args:
        m: rows of A and D.
        n: rows of B, columns of D.
        k: columns of A and B, a multiple of 16.
        spec: types, and what follows the sum. D counts as one that `fp8.gemm` makes.
        chip: what kernels are compiled for; `fp8.chips()` lists them. None: that of a GPU whose constants are built in; else "sm_90a", or with scales of
            MXFP8 "sm_100a".
        gpu: the name of the GPU, as `fp8.device_info` has it, such as "NVIDIA H200": what was measured on it counts, as in `fp8.gemm` there. Empty or
            None: as with `simulate=True`.

    Raises:
        ValueError: an extent is out of range, there is no such chip, or the GPU has another.
        TypeError: spec is no GemmSpec.
        CompileError: the spec pins a configuration that is none.
    """
    if not isinstance(spec, GemmSpec):
        raise TypeError(f"spec is a {type(spec).__name__}; it must be an fp8.GemmSpec")
    problem = (operator.index(m), operator.index(n), operator.index(k))
    check_problem(problem)
    spec = replace(spec, d_contiguous=padded_row(n, spec.d_dtype) == n)
    source, explained, predicted = choices_of(spec, _find_chip(spec.default_chip, chip, gpu or ""), gpu or "").explain(problem)
    return Choice(
        explained.get("config"),
        source,
        predicted["us"] if predicted else None,
        predicted["terms"] if predicted else {},
        explained["machine"],
        explained["reason"],
        predicted["alone_us"] if predicted else None,
    )
