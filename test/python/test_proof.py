# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the proof says, in Python: exceptions, warnings, verdicts."""

import hashlib
import json
import warnings

import pytest
from json_types import conforms

import fp8
from fp8 import _reports

KERNEL = """
!ring = !fp8.pipeline<2>
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @kernel(%n: index, %m: index) kernel attributes {{fp8.linear}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {{
        %last = scf.for %i = {first} to %n step %c1 iter_args(%e0 = %end) -> (!fp8.producer<!ring>) {{
          %inner = scf.for %j = %c0 to %m step %c1 iter_args(%e = %e0) -> (!fp8.producer<!ring>) {{
            %stage = fp8.acquire %e : !fp8.producer<!ring>
            %next = fp8.release %stage : !fp8.producer_stage<!ring>
            scf.yield %next : !fp8.producer<!ring>
          }}
          scf.yield %inner : !fp8.producer<!ring>
        }}
        fp8.close %last : !fp8.producer<!ring>
      }}
      fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {{
        %all = arith.muli %n, %m : index
        %last = scf.for %i = %c0 to %all step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {{
          %stage = fp8.acquire %e : !fp8.consumer<!ring>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          scf.yield %next : !fp8.consumer<!ring>
        }}
        fp8.close %last : !fp8.consumer<!ring>
      }}
      gpu.return
    }}
  }}
  func.func @launch(%x: memref<?x?xi32> {{fp8.name = "x", fp8.access = "read"}}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %n = memref.dim %x, %c0 : memref<?x?xi32>
    %m = memref.dim %x, %c1 : memref<?x?xi32>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%n : index, %m : index)
    return
  }}
}}
"""
# That n times m slots are filled only a product of unknowns says.
UNKNOWN = KERNEL.format(first="%c0")
REFUTED = KERNEL.format(first="%c1")


def compile(source, **options):
    return fp8.compile(source, assemble=False, cache=False, **options)


def test_a_refuted_kernel_is_an_exception():
    with pytest.raises(fp8.CompileError, match="kernel 'kernel' does not end") as caught:
        compile(REFUTED)
    notes = [note.message for note in caught.value.diagnostics[0].notes]
    assert any("role \"fill\" has ended; let it take as many slots" in note for note in notes)
    assert notes[-1].startswith("taken for granted: ")
    assert compile(REFUTED, prove=False).proof["properties"]["progress"]["verdict"] == "refuted"


def test_what_is_not_known_is_a_warning_and_with_require_proof_an_exception():
    with pytest.warns(fp8.ProofWarning, match="the proof of kernel 'kernel' is not complete"):
        assert ".entry kernel" in compile(UNKNOWN).ptx
    with pytest.raises(fp8.CompileError, match="the proof of kernel 'kernel' is not complete"):
        compile(UNKNOWN, require_proof=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(UNKNOWN, prove=False)


def test_the_cache_keeps_proofs_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path))
    fp8.compile(REFUTED, assemble=False, prove=False)
    with pytest.raises(fp8.CompileError, match="does not end"):
        fp8.compile(REFUTED, assemble=False)


def test_verdicts():
    kernel = compile(fp8.GemmSpec(), require_proof=True)
    assert conforms(_reports.Proof, kernel.proof)
    assert kernel.proof["properties"]["progress"]["verdict"] == "proved"
    assert "issued copies and products complete" in kernel.proof["assumptions"]
    (proof,) = fp8.prove(REFUTED)
    assert conforms(_reports.Proof, proof)
    progress = proof["properties"]["progress"]
    assert progress["verdict"] == "refuted" and progress["arguments"] == {"argument 0": 1, "argument 1": 1}
    (stop,) = progress["stops"]
    assert stop["role"] == 'role "empty"' and "fp8.acquire %e : !fp8.consumer" in REFUTED.splitlines()[stop["line"] - 1]
    assert "cure" in progress


def test_certificates():
    kernel = compile(fp8.GemmSpec())
    certificate = json.loads(kernel.certificate)
    assert certificate["kernel"] == kernel.name and certificate["ptx"] == hashlib.sha256(kernel.ptx.encode()).hexdigest()
    assert compile(fp8.GemmSpec(), prove=False).certificate is None


def test_a_kernel_without_rings_has_no_proof():
    late = fp8.run_pipeline(REFUTED, "fp8-gemm-to-ptx{chip=sm_90a prove=false phase=barriers}")
    assert fp8.prove(late) == []
    with pytest.raises(ValueError, match="compile it from phase 0, 1 or 2"):
        compile(late).proof
    with pytest.raises(fp8.CompileError, match="cannot be proved: its rings are barriers already"):
        compile(late, require_proof=True)
