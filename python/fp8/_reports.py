# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of the JSON that the compiler writes: launch manifests (docs/manifest.schema.json), reports and proofs of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict, Union

Expression = Union[int, Mapping[str, object]]
"""A number, or an operation on numbers by its name: `{"ceildiv": [{"dim": ["a", 0]}, 128]}`."""


class Argument(TypedDict):
    """What the caller passes. Sizes are in elements, slowest dimension first; None is known at launch only."""

    name: str
    dtype: str
    shape: list[int | None]
    strides: list[int | None]
    access: Literal["read", "write", "readwrite"]


class Constraint(TypedDict):
    """A condition that is checked before a launch: 1 where the arguments fit the kernel, and what it says where they do not."""

    condition: Expression
    rule: str


class _LaunchSizes(TypedDict):
    grid: list[Expression]
    block: list[int]
    cluster: list[int]
    shared_memory_bytes: int
    non_portable_cluster: bool


class Launch(_LaunchSizes, total=False):
    """Blocks, threads of a block, and blocks of a cluster, x first; dynamic shared memory."""

    programmatic: bool


class TensorMap(TypedDict):
    """A tensor map as cuTensorMapEncodeTiled takes it. Lists run fastest dimension first."""

    kind: Literal["tensor_map"]
    argument: str
    dtype: str
    dims: list[Expression]
    strides_bytes: list[Expression]
    box: list[Expression]
    element_strides: list[int]
    swizzle: str
    interleave: str
    l2_promotion: str
    oob_fill: str


class Pointer(TypedDict):
    """The global address of an argument."""

    kind: Literal["pointer"]
    argument: str


class Scalar(TypedDict):
    """An integer by value."""

    kind: Literal["scalar"]
    type: str
    value: Expression


class Constancy(TypedDict):
    """1 as an i32 if the arguments are constant in the launch, 0 if that is not known."""

    kind: Literal["constant"]
    arguments: list[str]


class Role(TypedDict):
    """Warps of a block that do one thing."""

    name: str
    first_warp: int
    warps: int


class Arrival(TypedDict):
    """Who arrives at a barrier in one phase, how often and how."""

    role: str
    count: int
    how: str


class DebugBarrier(TypedDict):
    """The mbarriers of one kind of a ring, as a launcher that explains waits needs them."""

    ring: str
    name: str
    offset: int
    depth: int
    bytes: int
    arrivals: list[Arrival]


class DebugWaits(TypedDict):
    """Where a kernel with `debug_waits` leaves its records, and what they are about."""

    variable: str
    limit_ms: int
    roles: list[Role]
    barriers: list[DebugBarrier]


class Profile(TypedDict):
    """Where a kernel that was compiled with `--fp8-profile` leaves its stamps, and what they are about."""

    variable: str
    ctas: int
    stamps: int
    roles: list[Role]
    barriers: list[DebugBarrier]


class _ManifestOfAll(TypedDict):
    version: int
    producer: str
    chip: str
    kernel: str
    arguments: list[Argument]
    constraints: list[Constraint]
    launch: Launch
    parameters: list[TensorMap | Pointer | Scalar | Constancy]


class Manifest(_ManifestOfAll, total=False):
    """All that a launch needs, and what the kernel computes."""

    problem: str
    problem_options: dict[str, int]
    debug_waits: DebugWaits
    profile: Profile


class Barrier(TypedDict):
    """The barriers of one kind of a ring, one for each stage."""

    name: str
    depth: int
    arrivals: int
    bytes: int
    offset: int
    phase: str
    waits: str
    arrives: list[Arrival]


class Ring(TypedDict):
    """A ring of slots, or of staging tiles."""

    name: str
    stages: int
    shared_memory_bytes: int
    tmem_columns: int
    barriers: list[Barrier]


class Registers(TypedDict):
    """Registers of a thread: at the kernel's entry, of warps that multiply, and of the others."""

    entry: int
    multiply: int
    others: int


class Report(TypedDict):
    """What the compiler derived of a kernel."""

    kernel: str
    threads: int
    cluster: list[int]
    split_k: int
    roles: list[Role]
    rings: list[Ring]
    shared_memory_bytes: int
    store_queue_bytes: int
    tmem_columns: int
    max_registers_per_thread: int
    registers: Registers


class Candidate(TypedDict):
    """A configuration, with the microseconds that the cost model predicts, and their terms; it says more (docs/Chooser.md)."""

    config: str
    us: float
    alone_us: float
    terms: dict[str, float]


class _Choice(TypedDict):
    function: str
    chip: str
    machine: str
    source: str
    reason: str
    candidates: list[Candidate]


class Choice(_Choice, total=False):
    """Which configuration a GEMM gets, and why; `config` is not there where it is left open."""

    config: str


class _Stop(TypedDict):
    role: str
    text: str


class Stop(_Stop, total=False):
    """Where a role of a refuted kernel waits, and for what; the place, if it is known."""

    file: str
    line: int
    column: int


class _PropertyProof(TypedDict):
    verdict: Literal["proved", "refuted", "unknown"]
    steps: int


class PropertyProof(_PropertyProof, total=False):
    """What is proved of one property. A refutation has a launch: its arguments, what data decide, where roles stop; and a cure, if one is known."""

    reason: str
    arguments: dict[str, int]
    data: list[str]
    stops: list[Stop]
    cure: str


class Proof(TypedDict):
    """The verdicts on a kernel by property ("progress", "counts", "ownership", "numbers"), and what they take for granted; the skeleton that was proved.

    `skeleton` has a list of steps for each process, as a certificate; `protocol` has the same as nested blocks.
    """

    kernel: str
    properties: dict[str, PropertyProof]
    assumptions: list[str]
    skeleton: Mapping[str, object]
    protocol: Mapping[str, object]
