# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on tensors of PyTorch in the host's memory: gradients, and torch.compile."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap

import fp8
import pytest
from fp8._call import Call
from fp8._description import describe_attributes
from test_device import on_gpu  # a fixture

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx


@pytest.fixture
def operands():
    torch.manual_seed(1)
    a, a_scale = fp8.quantize_blockwise(torch.randn(16, 256))
    b, b_scale = fp8.quantize_blockwise(torch.randn(32, 256), (128, 128))
    return a, a_scale, b, b_scale


def compute(a, a_scale, b, b_scale, **options):
    return fp8.gemm(a, a_scale * 2, b, b_scale, d_dtype=torch.float32, simulate=True, **options) + 1


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("n", [16, 20, 33])
def test_nothing_to_compute_of_a_batch(n, batch):
    a, b = (torch.zeros(batch, rows, 128).to(torch.float8_e4m3fn) for rows in (0, n))
    scales = torch.zeros(batch, 0, 1), b, torch.zeros(batch, 1, 1)
    for options in ({"d_dtype": torch.float32}, {"d": torch.zeros(batch, 0, n)}, {"c": torch.zeros(batch, 0, n), "beta": 2.0}):
        assert fp8.gemm(a, *scales, **options, scale_layout="row_major", simulate=True).shape == (batch, 0, n)


def test_gradients_are_refused(operands):
    a, a_scale, b, b_scale = operands
    a_scale.requires_grad_()
    with pytest.raises(ValueError, match="fp8.gemm has no gradient, and an operand requires one"):
        compute(*operands)
    with torch.no_grad():
        assert not compute(*operands).requires_grad
    with pytest.raises(ValueError, match="fp8.gemm has no gradient"):
        compute(a, a_scale.detach(), b, b_scale, bias=torch.zeros(32, requires_grad=True))


def test_tangents_are_refused(operands):
    """Those of forward mode, which torch.no_grad() does not end."""
    from fp8 import _torch

    a, a_scale, b, b_scale = operands
    with forward_ad.dual_level():
        bias = forward_ad.make_dual(torch.zeros(32), torch.ones(32))
        with torch.no_grad(), pytest.raises(ValueError, match=r"fp8.gemm has no derivative, and bias has a tangent of forward mode: pass bias.detach\(\)"):
            compute(*operands, bias=bias)
        with pytest.raises(ValueError, match="bias has a tangent"):
            _torch._refuse_gradients(Call(*operands, bias=bias))
        compute(*operands, bias=bias.detach())
    with pytest.raises(ValueError, match="a_scale has a tangent"):
        torch.func.jvp(lambda scale: compute(a, scale, b, b_scale), (a_scale,), (a_scale,))


@pytest.mark.parametrize("name", ["d_scale", "beta", "bias", "c", "a_scale", "d"])
def test_a_pending_negation_is_refused(operands, name):
    shape = {"d_scale": (), "beta": (), "bias": (32,), "a_scale": operands[1].shape}.get(name, (16, 32))
    negated = torch.complex(torch.zeros(shape), torch.ones(shape)).conj().imag
    assert negated.is_neg()
    given = dict(zip(("a", "a_scale", "b", "b_scale"), operands)) | ({"c": torch.zeros(16, 32)} if name == "beta" else {})
    with pytest.raises(ValueError, match=f"{name} has a pending negation, which no kernel reads: pass {name}.resolve_neg"):
        fp8.gemm(**given | {name: negated}, simulate=True)
    if name == "bias":
        wanted = compute(*operands, bias=-torch.ones(32))
        assert torch.equal(compute(*operands, bias=negated.resolve_neg()), wanted)


@pytest.mark.parametrize("name", ["a_scale", "bias", "c", "d", "d_scale"])
def test_sparse_tensors_are_refused(operands, name):
    sparse = torch.ones({"bias": (32,), "d_scale": (1,), "a_scale": operands[1].shape}.get(name, (16, 32))).to_sparse()
    given = dict(zip(("a", "a_scale", "b", "b_scale"), operands)) | {name: sparse}
    with pytest.raises(TypeError, match=rf"{name} is a tensor of layout torch.sparse_coo, which no kernel reads: pass {name}.to_dense\(\)"):
        fp8.gemm(**given, simulate=True)
    assert describe_attributes(sparse) == b""


def test_a_pending_negation_of_a_number_is_told(monkeypatch):
    """Where calls are repeated: such a number has the strides of one that is as it reads."""
    from fp8 import _torch

    monkeypatch.setattr(_torch, "_describe", lambda *tensors: bytes(64 * len(tensors)))
    number = torch.complex(torch.zeros(()), torch.ones(())).conj().imag
    assert number.is_neg() and _torch._describe_call(Call(*[None] * 4, d_scale=number.resolve_neg()))[1] is not None
    assert _torch._describe_call(Call(*[None] * 4, d_scale=number)) == (b"", None)


def test_autograd_knows_that_d_was_written(operands):
    """Else a gradient would be computed from what D was before."""
    for d in (torch.zeros(16, 32), torch.zeros(16, 40)[:, 3:35]):
        p = torch.ones(16, 32, requires_grad=True)
        product = (p * d).sum()
        with torch.no_grad():
            fp8.gemm(*operands, d=d, simulate=True)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            product.backward()
    with torch.inference_mode():
        assert fp8.gemm(*operands, d=torch.zeros(16, 32), simulate=True).is_inference()


def test_modes_of_dispatch_see_the_operator():
    """Such as FakeTensorMode, and make_fx, which records it."""
    with FakeTensorMode():
        a, b = (torch.empty(rows, 256, dtype=torch.float8_e4m3fn, device="cuda") for rows in (40, 72))
        a_scale, b_scale, d, number = (torch.empty(*shape, device="cuda") for shape in ((2, 40), (1, 2), (40, 72), (1,)))
        made = fp8.gemm(a, a_scale, b, b_scale, d_dtype="float16", d_scale=number, beta=0)
        assert (made.shape, made.dtype) == ((40, 72), torch.float16)
        assert fp8.gemm(a, a_scale, b, b_scale, d=d) is d
    graph = make_fx(lambda *tensors: fp8.gemm(*tensors) + 1)(a, a_scale, b, b_scale)
    assert "torch.ops.fp8.gemm.default(" in graph.code


def test_a_simulated_call_is_not_traced(operands):
    with pytest.raises(ValueError, match="a simulated call cannot be traced, for the simulator has numbers and no graph: call it outside, or trace"):
        make_fx(lambda a, a_scale, b, b_scale: compute(a, a_scale, b, b_scale))(*operands)
    arrays = [tensor.view(torch.uint8).numpy() if tensor.element_size() == 1 else tensor.contiguous().numpy() for tensor in operands]
    assert make_fx(lambda x: x + float(fp8.gemm(*arrays, d_dtype="float32", simulate=True)[0, 0]))(torch.ones(1))(torch.ones(1)) != 1


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


def test_the_operator_takes_what_a_call_does():
    """Names and defaults, but for a stream, and that a number may be a tensor, too."""
    from fp8 import _torch

    arguments = torch.ops.fp8.gemm.default._schema.arguments
    parameters = {argument.name: argument.default_value if argument.has_default_value() else inspect.Parameter.empty for argument in arguments}
    tensors = {f"{name}_tensor": None for name in ("beta", "d_scale")}
    call = {name: Call._field_defaults.get(name, inspect.Parameter.empty) for name in Call._fields if name not in ("d", "stream")}
    assert parameters == call | tensors and _torch._NUMBERS == ("beta", "d_scale")


TENSOR = """
import torch
from fp8 import _torch

class Tensor:
    requires_grad, is_cuda, device = False, True, torch.device("cuda", 0)

    def __init__(self, array, dtype=torch.float32):
        self.array, self.dtype, self.shape = array, dtype, torch.Size(array.shape)

    def stride(self):
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def get_device(self):
        return 0

    def data_ptr(self):
        return self.array.ctypes.data

Tensor.__module__ = "torch"

e4m3, checked, marked = torch.float8_e4m3fn, [], []
_torch._mark_written = marked.extend
original = _launch.Operands
_launch.Operands = lambda call: checked.append(call) or original(call)
"""


def test_a_call_that_was_made_before(on_gpu):
    """Tensors of the same types, shapes and strides are launched without a check; others, and numbers that are not on the GPU, are checked."""
    assert on_gpu(TENSOR + textwrap.dedent("""
        def tensors(**options):
            shapes = ((m, k), np.uint8, e4m3), ((1, m), np.float32, torch.float32), ((n, k), np.uint8, e4m3), ((1, 1), np.float32, torch.float32)
            operands = [Tensor(aligned(shape, dtype), kind) for shape, dtype, kind in shapes]
            out = Tensor(aligned((m, n), np.float32))
            assert fp8.gemm(*operands, d=out, stream=0x77, **options) is out
            calls = len(log("cuLaunchKernelEx"))
            assert calls - len(checked) == len(marked)  # as `launch` marks what packages know
            return len(checked), calls, len(_torch._plans.entries)

        expect(fp8.GemmSpec(d_dtype="f32"))
        print(tensors(), tensors())
        _choice.forget_choices()
        print(tensors(), tensors())
        expect(fp8.GemmSpec(d_dtype="f32", c_dtype="f32", beta=True))
        residual = Tensor(aligned((m, n), np.float32))
        print(tensors(c=residual, beta=0.5), tensors(c=residual, beta=0.5), tensors(c=residual, beta=0.75))
        try:
            tensors(c=Tensor(aligned((m, n + 1), np.float32)))
        except ValueError as error:
            print(error)
    """)).splitlines() == [
        "(1, 1, 1) (1, 2, 1)",
        "(2, 3, 1) (2, 4, 1)",
        "(3, 5, 2) (3, 6, 2) (4, 7, 2)",
        "c is 16 x 33; it must be M x N, 16 x 32",
    ]


def test_a_mode_does_not_see_what_is_no_tensor(on_gpu):
    """As arrays of cupy beside tensors: an operator takes none."""
    assert on_gpu(TENSOR + textwrap.dedent("""
        from torch.utils._python_dispatch import TorchDispatchMode

        shapes = ((m, k), np.uint8, e4m3), ((1, m), np.float32, torch.float32), ((n, k), np.uint8, e4m3), ((1, 1), np.float32, torch.float32)
        expect(fp8.GemmSpec(d_dtype="f32"))
        with TorchDispatchMode():
            fp8.gemm(*(Tensor(aligned(shape, dtype), kind) for shape, dtype, kind in shapes), d=Tensor(aligned((m, n), np.float32)), stream=0x77)
        print(len(log("cuLaunchKernelEx")))
    """)) == "1\n"


def test_an_address_that_tma_cannot_read(on_gpu):
    """A part of a tensor is checked, and copied, though its shape, strides and type are those of a call that was made."""
    assert on_gpu(TENSOR + textwrap.dedent("""
        shapes = ((1, m), np.float32, torch.float32), ((n, k), np.uint8, e4m3), ((1, 1), np.float32, torch.float32)
        others = [Tensor(aligned(shape, dtype), kind) for shape, dtype, kind in shapes]
        memory, copied = aligned((m * k + 16,), np.uint8), []
        Tensor.as_strided = Tensor.contiguous = lambda self, *_: copied.append(self.data_ptr() % 16) or self
        expect(fp8.GemmSpec(d_dtype="f32"))
        for offset in (0, 0, 4, 0):
            a = Tensor(memory[offset : offset + m * k].reshape(m, k), e4m3)
            try:
                fp8.gemm(a, *others, d=Tensor(aligned((m, n), np.float32)), stream=0x77)
            except Exception as error:  # the stand-in makes no copies
                print(type(error).__name__)
            print(len(checked), len(_torch._plans.entries))
    """)).splitlines()[-1] == "2 1"


NEW_ROWS = TENSOR + """
n, k = 8192, 7168  # one kernel for all M of 56 to 64
weights = Tensor(aligned((n, k), np.uint8), e4m3), Tensor(aligned((n // 128, k // 128), np.float32))

def call(m, layout="k_major", padding=0, extra=0, **options):
    '''Rows of which scales lie in that layout, with padding between those of two blocks.'''
    scales = Tensor(aligned((k // 128, -(-m // 4) * 4 + padding), np.float32)[:, :m])
    if layout == "row_major":
        scales = Tensor(scales.array.T)
    out = Tensor(aligned((m + extra, n), np.uint16), torch.bfloat16)
    try:
        return fp8.gemm(Tensor(aligned((m, k), np.uint8), e4m3), scales, *weights, d=out, stream=0x77, **options)
    except ValueError as error:
        print(error)

def count():
    names = "cuModuleLoadDataEx", "cuTensorMapEncodeTiled", "cuTensorMapReplaceAddress", "cuLaunchKernelEx", "cuMem"
    return len(checked), *(len(log(name)) for name in names)

m = 64
expect(fp8.GemmSpec())
call(64)
"""


def test_a_number_of_rows_that_is_new(on_gpu):
    """It is launched without a check, a compilation or a load, if its configuration has a kernel; what is encoded is the maps of its launch."""
    first, *others = on_gpu(NEW_ROWS + textwrap.dedent("""
        print(*count())
        choices = [*_choice._choices.entries.values()][-1]
        alike = [m for m in range(63, 0, -1) if choices._config_for((m, n, k)) == choices._config_for((64, n, k))]
        for m in (*alike[:4], alike[0]):
            call(m)
            print(*count())
    """)).splitlines()
    checks, modules, maps, moved, launches, memory = map(int, first.split())
    assert (checks, modules, moved, launches) == (1, 1, 0, 1)
    moving = 3  # those of A, of its scales and of D; B stays where it is
    for index, line in enumerate(others[:-1], 1):
        assert list(map(int, line.split())) == [1, 1, (index + 1) * maps, index * moving, index + 1, memory]
    calls = len(others)
    assert calls > 2 and list(map(int, others[-1].split())) == [1, 1, calls * maps, calls * moving, calls + 1, memory]


def test_rows_of_other_layouts(on_gpu):
    """Scales may be padded, and in rows. Whatever could be wrong, or must be copied, is checked as ever."""
    assert on_gpu(NEW_ROWS + textwrap.dedent("""
        call(63, padding=4); print(len(checked))
        call(62, layout="row_major"); print(len(checked))
        call(61, layout="row_major", scale_layout="row_major"); print(len(checked))
        call(59, layout="row_major", scale_layout="row_major"); print(len(checked))
        call(56); print(len(checked))  # there are 56 blocks of K: which is meant?
        call(58, extra=1); print(len(checked))
    """)).splitlines() == [
        "1", "1", "2", "2",
        "a_scale is 56 x 56, which is M x K/128 and K/128 x M: say which with scale_layout='row_major' or 'k_major'", "3",
        "d is 59 x 8192; it must be M x N, 58 x 8192", "4",
    ]


def test_rows_of_other_operands(on_gpu):
    """A bias stays as it is, C has other rows, and a number is where it was."""
    assert on_gpu(NEW_ROWS + textwrap.dedent("""
        expect(fp8.GemmSpec(c_dtype="bf16", bias_dtype="f32", beta=True))
        bias = Tensor(aligned((n,), np.float32))
        for m in (64, 63, 62):
            call(m, c=Tensor(aligned((m, n), np.uint16), torch.bfloat16), bias=bias, beta=0.5)
            print(len(checked), len(log("cuModuleLoadDataEx")))
        call(61, c=Tensor(aligned((60, n), np.uint16), torch.bfloat16), bias=bias, beta=0.5)
    """)).splitlines() == ["2 2", "2 2", "2 2", "c is 60 x 8192; it must be M x N, 61 x 8192"]
