# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/gemm.py computes what it should, and tells when it does not."""

import runpy

import fp8
import pytest
from conftest import ROOT


def run():
    runpy.run_path(str(ROOT / "examples" / "gemm.py"), run_name="__main__")


def test_it_runs(capsys):
    run()
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed[:2]] == ["sm_90a, simulated", "sm_100a, simulated"]
    assert len(printed) == 3


def test_it_judges(monkeypatch):
    compute = fp8.gemm
    monkeypatch.setattr(fp8, "gemm", lambda *operands, **options: 1.01 * compute(*operands, **options))
    with pytest.raises(SystemExit, match="error: sm_90a, simulated: D is wrong"):
        run()
