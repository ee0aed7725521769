# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scopes: the parts of a kernel that `with` statements enter and leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from types import TracebackType
from typing import Concatenate, Generic, ParamSpec, TypeVar

from .errors import BuildError, caller
from .ir import Function

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class Scope(Generic[T]):
    """A part of a kernel, to be entered by `with`: a role, a loop, the time for which a slot is held."""

    def __init__(self, name: str, function: Function, steps: Iterator[T]) -> None:
        self.name = name
        self.location = caller()
        self._function = function
        self._steps = steps
        function.scopes[self] = None

    def __repr__(self) -> str:
        return f"<scope '{self.name}' of {self._function.noun}, made at {self.location}>"

    def __enter__(self) -> T:
        if self not in self._function.scopes:
            raise BuildError(f"'{self.name}' is entered a second time; call it again", ("called here", self.location))
        del self._function.scopes[self]
        return next(self._steps)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._function.abandoned = self.location
            return
        next(self._steps, None)


def scope(method: Callable[Concatenate[S, P], Iterator[T]]) -> Callable[Concatenate[S, P], Scope[T]]:
    """Makes a scope of a generator: what stands before its `yield` runs when the scope is entered, the rest when it ends."""

    @wraps(method)
    def make(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Scope[T]:
        function: Function = getattr(self, "function")
        return Scope(method.__name__, function, method(self, *args, **kwargs))

    return make
