# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8-opt and fp8-run as functions."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"
LIMIT = 120  # seconds that a tool may take


class ToolError(Exception):
    """A tool did something that no kernel should make it do."""


def run_tool(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=LIMIT, check=False)


def compile_kernel(opt: Path, path: Path, chip: str, output: Path) -> str | None:
    """Compiles to PTX, also what the proof refutes; gives the label of the rule by which a kernel is refused."""
    done = run_tool(opt, path, f"--fp8-gemm-to-ptx=chip={chip} prove=false", "--emit=ptx", "-o", output)
    if done.returncode == 0:
        return None
    rule = get_rule(done.stderr)
    if not rule:
        raise ToolError(f"{path}: {done.stderr}")
    return rule


def get_rule(said: str) -> str | None:
    """The label of the rule by which the compiler refuses a kernel."""
    label = re.search(r"\((K[2-7])\)", said)
    return label and label[1]


@dataclasses.dataclass
class Simulation:
    """What the simulator says of a run."""

    stuck: dict[int, list[int]]  # of the blocks that it found stuck, the lines of the kernel's text at which warps wait
    errors: list[str]  # the labels of all other errors


def simulate(run: Path, ptx: Path, sizes: dict[str, int], schedule: int) -> Simulation:
    """Runs a kernel; each launch argument is the extent of an array of its name."""
    manifest = json.loads(Path(f"{ptx}.json").read_text(encoding="utf-8"))
    for argument in manifest["arguments"]:
        if argument["name"] in sizes:
            argument["shape"] = [sizes[argument["name"]]]
    with tempfile.TemporaryDirectory() as folder:
        bound = Path(folder, "manifest.json")
        bound.write_text(json.dumps(manifest), encoding="utf-8")
        done = run_tool(run, ptx, f"--manifest={bound}", "--backend=sim", f"--dump={folder}/d", f"--schedule-seed={schedule}", "--max-errors=64")
    labels = re.findall(r"error: .* \[([a-z-]+)\]$", done.stderr, re.MULTILINE)
    if not labels and '"ok":true' not in done.stdout:
        raise ToolError(f"{ptx} at {sizes}: {done.stderr}{done.stdout}")
    stuck: dict[int, set[int]] = {}
    if "deadlock" in labels:
        for line, block in re.findall(r"\.mlir:(\d+): note: block \((\d+),\d+,\d+\) warp", done.stderr):
            stuck.setdefault(int(block), set()).add(int(line))
    return Simulation({block: sorted(lines) for block, lines in stuck.items()}, [label for label in labels if label != "deadlock"])


@dataclasses.dataclass
class Proof:
    """What `--fp8-prove` says of a kernel."""

    verdicts: dict[str, str]  # of each property
    launches: list[dict[str, int]]  # those at which it is refuted: values by the names of parameters, as "argument 1"
    reasons: list[str]  # why a property is unknown

    @property
    def verdict(self) -> str:
        """The worst of all properties."""
        found = set(self.verdicts.values())
        return REFUTED if REFUTED in found else PROVED if found == {PROVED} else UNKNOWN


def prove(opt: Path, path: Path) -> Proof | None:
    """Proves a kernel. A kernel that is refuted may be an error of the tool; that it says nothing is one of ours, unless a rule refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "proof.json")
        done = run_tool(opt, path, f"--fp8-prove=json={written}", "-o", "/dev/null")
        if not written.exists():
            if get_rule(done.stderr):
                return None
            raise ToolError(f"{path}: {done.stderr}")
        return read_proof(json.loads(written.read_text(encoding="utf-8")))


def read_proof(proof: dict[str, Any]) -> Proof:
    """Reads what `--fp8-prove=json=` writes: all that is known here about its form."""
    found = Proof({}, [], [])
    for kernel in proof.get("kernels", [proof]):
        for name, about in kernel["properties"].items():
            found.verdicts[name] = about["verdict"]
            if about["verdict"] == REFUTED:
                found.launches.append(about["arguments"])
            if about["verdict"] == UNKNOWN:
                found.reasons.append(about["reason"])
    return found
