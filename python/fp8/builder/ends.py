# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends: a role's cursor on the slots of a ring, which waits for the next one and takes it where no scope is in the way."""

from __future__ import annotations

from typing import Generic, TypeVar

from .ir import Function, Value, Variable
from .scalars import Scalar, as_scalar
from .stages import Stage, free, stage_of
from .types import BOOL, INDEX, Handle


S = TypeVar("S", bound=Stage)


class End(Generic[S]):
    """A role's end of a ring, or a warp handle."""

    def __init__(self, function: Function, variable: Variable, stage: type[S]) -> None:
        self.function = function
        self._variable = variable
        self._stage = stage
        function.here().read(variable)  # the role has it from here on, and closes it

    def __repr__(self) -> str:
        return f"<{self._variable.noun}, made at {self._variable.location}>"

    def _become(self, op: str, *operands: Value, type: Handle, hint: str) -> None:
        region = self.function.here()
        value, result = free(region, self._variable), Value(self.function, type, hint)
        self.function.emit(f"fp8.{op}", value, *operands, results=[result])
        region.bind(self._variable, result)

    def index(self) -> Scalar:
        """Returns the number of the slot that it takes next."""
        value, slot = free(self.function.here(), self._variable), Scalar(self.function, INDEX, "slot")
        self.function.emit("fp8.index", value, results=[slot])
        return slot

    def try_wait(self) -> Scalar:
        """Tests, without waiting, whether the next slot has been handed over."""
        value, done = free(self.function.here(), self._variable), Scalar(self.function, BOOL, "done")
        self.function.emit("fp8.try_wait", value, results=[done])
        return done

    def wait(self, unless: Scalar | None = None) -> None:
        """Waits until the next slot has been handed over, if `unless`, what `try_wait` answered, is not true; taking it then waits no more."""
        done = [] if unless is None else [as_scalar(self.function, unless, BOOL)]
        self._become("wait", *done, type=Handle("ready", self._variable.initial.type), hint="ready")

    def acquire(self) -> S:
        """Takes the next slot, and keeps it until `stage.release()`: no scope's length, but across iterations of a loop, say."""
        stage = stage_of(self.function.here(), self._variable, acquired=True)
        assert isinstance(stage, self._stage)
        self._become("acquire", type=stage.type, hint="stage")
        return stage
