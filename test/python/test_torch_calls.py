# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on tensors of PyTorch in the host's memory: gradients, and torch.compile."""

from __future__ import annotations

import subprocess
import sys
import fp8
import pytest

torch = pytest.importorskip("torch")


@pytest.fixture
def operands():
    torch.manual_seed(1)
    a, a_scale = fp8.quantize_blockwise(torch.randn(16, 256))
    b, b_scale = fp8.quantize_blockwise(torch.randn(32, 256), (128, 128))
    return a, a_scale, b, b_scale


def compute(a, a_scale, b, b_scale, **options):
    return fp8.gemm(a, a_scale * 2, b, b_scale, out_dtype=torch.float32, simulate=True, **options) + 1


def test_gradients_are_refused(operands):
    a, a_scale, b, b_scale = operands
    a_scale.requires_grad_()
    with pytest.raises(ValueError, match="fp8.gemm has no gradient, and an operand requires one"):
        compute(*operands)
    with torch.no_grad():
        assert not compute(*operands).requires_grad
    with pytest.raises(ValueError, match="fp8.gemm has no gradient"):
        compute(a, a_scale.detach(), b, b_scale, bias=torch.zeros(32, requires_grad=True))


def test_torch_compile_runs_simulations_as_they_stand(operands):
    assert torch.equal(torch.compile(compute, backend="eager")(*operands), compute(*operands))


def test_torch_compile_says_what_is_wrong(operands):
    """The error is the package's, and not one of how torch.compile reads it."""
    with pytest.raises(fp8.DeviceError, match="the arrays are in the host's memory, and kernels run on a GPU"):
        torch.compile(lambda *tensors: fp8.gemm(*tensors) + 1, backend="eager")(*operands)


def test_a_full_graph_is_refused(operands):
    with pytest.raises(Exception, match="run_uncompiled"):
        torch.compile(lambda *tensors: fp8.gemm(*tensors, simulate=True) + 1, backend="eager", fullgraph=True)(*operands)


def test_a_call_imports_no_compiler():
    """torch._dynamo takes seconds to import, and only torch.compile needs it."""
    program = "import sys, torch, fp8._torch; print('torch._dynamo' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "False"
