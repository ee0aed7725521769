# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .. import _compiler
from .errors import BuildError
from .host import Host
from .ir import Function
from .kernel import Kernel
from .printer import Printer


class Module:
    """Kernels and the host functions that launch them; `str(module)` is what fp8-opt reads, and prints."""

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.hosts: list[Host] = []
        self._open: Function | None = None

    def __repr__(self) -> str:
        return f"<module of {[*self.kernels, *self.hosts]}>"

    def __str__(self) -> str:
        return self.text()

    @contextmanager
    def kernel(self, name: str, *, cluster: tuple[int, ...] | None = None, programmatic: bool = False,
               signals_at_wait: bool = False) -> Iterator[Kernel]:
        """Builds a kernel of phase 1 while the `with` lasts.

        Args:
            name: Its symbol.
            cluster: The CTAs of a cluster along M and N, and those that divide K; none if left out.
            programmatic: True if it may start before the kernel in front of it in the stream has ended, and waits for what that one writes.
            signals_at_wait: True if a programmatic kernel lets the following one start right behind that wait, not in front of its last store.
        """
        kernel = Kernel(name, cluster, programmatic, signals_at_wait)
        with self._build(kernel):
            yield kernel
        self.kernels.append(kernel)

    @contextmanager
    def launch(self, name: str = "launch", *, problem: str = "blockwise_gemm", **options: int) -> Iterator[Host]:
        """Builds a host function while the `with` lasts.

        Args:
            name: Its symbol.
            problem: What `fp8-run` prepares operands for: "blockwise_gemm" or "gemm".
            options: What the problem leaves open: `b_block=64`.
        """
        host = Host(name, problem, options)
        with self._build(host):
            yield host
        self.hosts.append(host)

    @contextmanager
    def _build(self, function: Function) -> Iterator[None]:
        if self._open is not None:
            raise BuildError(f"{function.noun} begins inside {self._open.noun}; functions stand side by side",
                             (self._open.noun, self._open.location))
        self._open, function.current = function, function.body
        try:
            yield
            function.finish()
        finally:
            self._open, function.current = None, None

    def mlir(self) -> str:
        """Returns the module as MLIR, its ops in the generic form; needs no library.

        `fp8.compile`, `fp8.verify` and fp8-opt read it. Each op in it names the line of Python that it comes from, as `text` does.
        """
        if self._open is not None:
            raise BuildError(f"the text of a module is asked for inside {self._open.noun}; end that first",
                             (self._open.noun, self._open.location))
        return Printer().module(self.kernels, self.hosts)

    def text(self, *, locations: bool = True) -> str:
        """Returns the module as the compiler prints it: verified, in the assembly of each op.

        Args:
            locations: True if the lines of Python that the ops come from are part of it.

        Raises:
            CompileError: The compiler refuses the module.
        """
        return _compiler.Module(self.mlir()).text(locations=locations)
