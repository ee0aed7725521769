# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.simulate_ptx takes tensors of PyTorch, and writes to them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from test_foreign import axpy, expected, operands


def test_tensors_are_written_in_place():
    x, y = map(torch.from_numpy, operands())
    want = expected(x.numpy(), y.numpy())
    axpy(x, y, 70)
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-6, atol=1e-6)
