# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a type checker sees of the installed package in a user's program."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import typing

import fp8
import pytest
from conftest import ROOT

PROGRAM = '''
import pathlib
from typing import Any

import fp8
import numpy as np

x: np.ndarray[Any, np.dtype[np.float32]] = np.zeros((16, 128), np.float32)
a, a_scale = fp8.quantize_blockwise(x)
reveal_type(a)
d = fp8.gemm(a, a_scale, a, a_scale, b_block=1, simulate=True, d_dtype=np.dtype(np.float32), beta=1.0)
reveal_type(d)
fp8.gemm(a, a_scale, a, a_scale, c=d, beta=np.float32(0.5), d_scale=np.int64(2))
print(d * 2.0 - d, d[0], d.sum())
reveal_type(fp8.reference_gemm(a, a_scale, a, a_scale, d_dtype="float32"))
kernel = fp8.compile(pathlib.Path("x.mlir"), problem=(16, None, 128))
reveal_type(kernel)
reveal_type(kernel.name)
reveal_type(kernel.ptx)
reveal_type(kernel.cubin)
reveal_type(kernel.arguments)
reveal_type(kernel.simulate(a, d).mmas)
reveal_type(fp8.tune(64, 128, 256)[0].config)
reveal_type(fp8.choose(64, 128, 256).predicted_us)
reveal_type(fp8.device_info().chip)
reveal_type(fp8.cache_directory())
reveal_type(fp8.__version__)
reveal_type(fp8.builder.Module)
reveal_type(fp8.testing.compare(d, a, a_scale, a, a_scale).ok)
'''
REVEALED = [
    "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.number]]",
    "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.number]]",
    "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.number]]",
    "fp8._kernel.Kernel",
    "str",
    "str",
    "bytes | None",
    "tuple[str, ...]",
    "int",
    "str",
    "float | None",
    "str",
    "pathlib.Path | None",
    "str",
    "def () -> fp8.builder.module.Module",
    "bool",
]
WRONG = {
    "fp8.gem(1)": "attr-defined",
    "fp8.compile(3)": "arg-type",
    "fp8.gemm(np.zeros(2), [1.0], np.zeros(2), np.zeros(2))": "arg-type",
    'fp8.GemmSpec(d_dtype="f32", config=3)': "arg-type",
    "fp8.compile(fp8.GemmSpec(), chip=90)": "arg-type",
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What mypy says of two programs, one of them with mistakes."""
    folder = tmp_path_factory.mktemp("typing")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "mistakes.py").write_text("import fp8\nimport numpy as np\n" + "\n".join(WRONG) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={folder}/cache", "program.py", "mistakes.py"],
        capture_output=True, text=True, timeout=300, check=False, cwd=folder,
    )
    return done.stdout + done.stderr


def test_a_program_and_its_types(printed):
    # NumPy's releases differ in the parameters that `number` has.
    types = [re.sub(r"numpy.number\[.*?\](?=\])", "numpy.number", type.replace("builtins.", "")) for type in re.findall(r'^program.py:\d+: note: Revealed type is "(.*)"$', printed, flags=re.MULTILINE)]
    assert types == REVEALED and "program.py:" not in re.sub("program.py:.*note", "", printed), printed


def test_mistakes_are_found(printed):
    found = {int(line): code for line, code in re.findall(r"^mistakes.py:(\d+): error: .*\[([\w-]+)\]$", printed, flags=re.MULTILINE)}
    assert [found.get(line) for line in range(3, 3 + len(WRONG))] == list(WRONG.values()), printed


def test_the_package_passes():
    """The checker's own settings are those of pyproject.toml."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", f"--config-file={ROOT}/pyproject.toml", "--cache-dir=/dev/null", str(ROOT / "python" / "fp8")],
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def public_names():
    """What `from fp8 import NAME` and `from fp8.MODULE import NAME` give a user, by their names."""
    for name in fp8.__all__:
        thing = getattr(fp8, name)
        if not inspect.ismodule(thing):
            yield f"fp8.{name}", thing
            continue
        names = getattr(thing, "__all__", None) or [key for key, value in vars(thing).items() if getattr(value, "__module__", "") == thing.__name__]
        yield from ((f"fp8.{name}.{key}", getattr(thing, key)) for key in names if not key.startswith("_"))


def hints_of(thing):
    """The annotations of a function, or of a class's attributes and public methods, each with its name."""
    if not inspect.isclass(thing):
        yield from typing.get_type_hints(inspect.unwrap(thing)).items()
        return
    yield from typing.get_type_hints(thing).items()
    for owner in (base for base in thing.__mro__ if base.__module__.startswith("fp8")):
        for name, member in vars(owner).items():
            member = getattr(member, "fget", getattr(member, "__func__", member))
            if inspect.isfunction(member) and (not name.startswith("_") or name.startswith("__")):
                yield from ((f"{name}.{key}", hint) for key, hint in typing.get_type_hints(inspect.unwrap(member)).items())


def has_any(hint):
    if isinstance(hint, typing.ForwardRef):
        return "Any" in re.findall(r"\w+", hint.__forward_arg__)
    parts = [*typing.get_args(hint), *getattr(hint, "__constraints__", ()), getattr(hint, "__bound__", None)]
    return hint is typing.Any or any(has_any(part) for part in parts if part is not None)


def types_in(hint):
    """The package's classes that a type is made of."""
    if inspect.isclass(hint) and hint.__module__.startswith("fp8"):
        yield hint
    for part in typing.get_args(hint):
        yield from types_in(part)


def test_nothing_public_is_any():
    """Nor are the types of the package that public signatures name, and so on."""
    left, seen, found, checked = list(public_names()), set(), [], 0
    while left:
        path, thing = left.pop()
        if not callable(thing) or id(thing) in seen or typing.get_origin(thing):
            continue
        seen.add(id(thing))
        for name, hint in hints_of(thing):
            checked += 1
            found += [f"{path}.{name}: {hint}"] * has_any(hint)
            left += [(inner.__qualname__, inner) for inner in types_in(hint)]
    assert found == [] and checked > 700, checked
