# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is asked of the packages that arrays are of: new arrays, copies, the current stream."""

from __future__ import annotations

import contextlib
import importlib
import operator
import sys
from typing import Any, ContextManager

from ._annotations import Stream
from ._arrays import package_of
from ._types import Format


class Package:
    """A package whose arrays are made and copied here. Shapes and strides count elements."""

    def current_stream(self, index: int) -> int:
        """The CUDA stream that the package enqueues to on that GPU."""
        raise NotImplementedError

    def is_capturing(self, index: int) -> bool:
        """Whether that stream is being captured in a CUDA graph."""
        return False

    def on(self, index: int | None, stream: int | None) -> ContextManager[Any]:
        """Where arrays are made and copied: on that GPU (None: the host), in that stream (None: the current one)."""
        raise NotImplementedError

    def empty(self, shape: tuple[int, ...], format: Format) -> Any:
        raise NotImplementedError

    def empty_like(self, shape: tuple[int, ...], like: Any) -> Any:
        """A new array of the type of `like`."""
        raise NotImplementedError

    def view(self, source: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def copy(self, target: Any, source: Any) -> None:
        raise NotImplementedError

    def contiguous(self, array: Any) -> Any:
        raise NotImplementedError

    def mark_written(self, array: Any) -> None:
        """Tells the package that something else has written to the array."""


class _Torch(Package):
    def __init__(self, like: Any):
        self._torch, self._device = importlib.import_module("torch"), like.device

    def current_stream(self, index: int) -> int:
        return int(self._torch.cuda.current_stream(index).cuda_stream)

    def is_capturing(self, index: int) -> bool:
        with self._torch.cuda.device(index):
            return bool(self._torch.cuda.is_current_stream_capturing())

    @contextlib.contextmanager
    def on(self, index: int | None, stream: int | None) -> Any:
        if index is None:
            yield
            return
        cuda = self._torch.cuda
        with cuda.device(index):
            if stream is None:
                yield
                return
            with cuda.stream(cuda.ExternalStream(stream, device=index) if stream else cuda.default_stream(index)):
                yield

    def empty(self, shape: tuple[int, ...], format: Format) -> Any:
        return self._torch.empty(shape, dtype=getattr(self._torch, format.name), device=self._device)

    def empty_like(self, shape: tuple[int, ...], like: Any) -> Any:
        return self._torch.empty(shape, dtype=like.dtype, device=like.device)

    def view(self, source: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        return source.as_strided(shape, strides)

    def copy(self, target: Any, source: Any) -> None:
        target.copy_(source)

    def contiguous(self, array: Any) -> Any:
        return array.contiguous()

    def mark_written(self, array: Any) -> None:
        if not array.is_inference():  # which has no version
            self._torch.autograd.graph.increment_version(array)


class _NumPy(Package):
    def __init__(self) -> None:
        self._package = importlib.import_module("numpy")

    def on(self, index: int | None, stream: int | None) -> ContextManager[Any]:
        return contextlib.nullcontext()

    def _dtype(self, format: Format) -> Any:
        if format.is_native:
            return format.name
        try:
            return getattr(importlib.import_module("ml_dtypes"), format.name)
        except ImportError:
            raise TypeError(
                f"numpy has no {format.name} without the package ml_dtypes: install it, or ask for d_dtype float32 or float16"
            ) from None

    def empty(self, shape: tuple[int, ...], format: Format) -> Any:
        return self._package.empty(shape, dtype=self._dtype(format))

    def empty_like(self, shape: tuple[int, ...], like: Any) -> Any:
        return self._package.empty(shape, dtype=like.dtype)

    def view(self, source: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        size = source.dtype.itemsize
        bits = source.view(f"u{size}")  # as_strided asks for types by their codes, of which ml_dtypes' have none
        return self._package.lib.stride_tricks.as_strided(bits, shape, tuple(stride * size for stride in strides)).view(source.dtype)

    def copy(self, target: Any, source: Any) -> None:
        target[...] = source

    def contiguous(self, array: Any) -> Any:
        return self._package.ascontiguousarray(array)


class _CuPy(_NumPy):
    """cupy, which has numpy's functions, and neither bfloat16 nor 8-bit floats."""

    def __init__(self) -> None:
        self._package = importlib.import_module("cupy")

    def current_stream(self, index: int) -> int:
        with self._package.cuda.Device(index):
            return int(self._package.cuda.get_current_stream().ptr)

    def is_capturing(self, index: int) -> bool:
        with self._package.cuda.Device(index):
            return bool(self._package.cuda.get_current_stream().is_capturing())

    @contextlib.contextmanager
    def on(self, index: int | None, stream: int | None) -> Any:
        cuda = self._package.cuda
        with cuda.Device(index):
            if stream is None:
                yield
                return
            with cuda.ExternalStream(stream, index) if stream else cuda.Stream.null:
                yield

    def _dtype(self, format: Format) -> Any:
        if format.is_native:
            return format.name
        raise TypeError(
            f"cupy has no {format.name}: ask for d_dtype float32 or float16, or pass its bits to write to, d of uint{8 * format.size} "
            f"with d_dtype={format.name!r}"
        )


def package(array: object) -> Package | None:
    """What makes arrays like this one; None if nobody here knows."""
    name = package_of(array)
    if name == "torch":
        return _Torch(array)
    return _NumPy() if name == "numpy" else _CuPy() if name == "cupy" else None


def stream_address(stream: Stream) -> int:
    """The address of a CUDA stream that is given as such, or as a stream of torch or cupy.

    Raises:
        TypeError: it is neither.
    """
    address: object = stream
    for name in ("cuda_stream", "ptr"):
        address = getattr(address, name, address)
    try:
        return operator.index(address)  # type: ignore[arg-type]  # TypeError is what tells
    except TypeError:
        raise TypeError(f"stream is a {type(address).__name__}; it must be a stream of torch or cupy, or the address of one") from None


def torch_is_compiling() -> bool:
    """Returns whether torch.compile reads the code that runs. torch must have been imported."""
    compiler = getattr(sys.modules["torch"], "compiler", None)  # of torch 2.1 and later
    return compiler is not None and bool(compiler.is_compiling())


def torch_is_tracing() -> bool:
    """Returns whether make_fx or torch.export records what torch does at present."""
    tracer = sys.modules.get("torch.fx.experimental.proxy_tensor")
    return tracer is not None and tracer.get_proxy_mode() is not None


def current_stream(array: object, index: int) -> int:
    """The CUDA stream that whoever made `array` enqueues to at present; 0, the default stream, if that is not known."""
    found = package(array)
    return found.current_stream(index) if found and package_of(array) != "numpy" else 0
