# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of the kernel: Python's operators on them are ops of arith, and numbers of Python constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Union

from .errors import BuildError
from .ir import Attribute, Function, Op, Value, Variable
from .types import BOOL, I32, INDEX, Number, Type

#: What stands for a number of the kernel: one of its values, or a number of Python.
Operand = Union["Scalar", int, float]


#: The numbers of the predicates of arith.cmpi and arith.cmpf.
_PREDICATES = {"eq": 0, "ne": 1, "ult": 6, "ule": 7, "ugt": 8, "uge": 9, "oeq": 1, "ogt": 2, "oge": 3, "olt": 4, "ole": 5, "une": 13}

_Method = Callable[["Scalar", Operand], "Scalar"]


def _operators(integer: str, floating: str) -> tuple[_Method, _Method]:
    """Returns the methods of a binary operator, with the number on the left and on the right.

    Args:
        integer: The op on integers, empty if there is none.
        floating: The op on f32, empty if there is none.
    """

    def compute_op(number: Scalar, left: Operand, right: Operand) -> Scalar:
        name = floating if _is_float(number.type) else integer
        operands = [as_scalar(number.function, operand, number.type) for operand in (left, right)]
        if not name:
            raise BuildError(f"{number.noun} is of type {number.type}, which has no such operator", ("made here", number.location))
        return compute(name, *operands)

    return lambda self, other: compute_op(self, self, other), lambda self, other: compute_op(self, other, self)


def _comparison(integer: str, floating: str) -> _Method:
    """Returns the method of a comparison: its predicate on unsigned integers and the one on f32."""

    def method(self: Scalar, other: Operand) -> Scalar:
        right, result = as_scalar(self.function, other, self.type), Scalar(self.function, BOOL)
        op, predicate = ("arith.cmpf", floating) if _is_float(self.type) else ("arith.cmpi", integer)
        self.function.emit(op, self, right, results=[result], attributes={"predicate": _PREDICATES[predicate]})
        return result

    return method


class Scalar(Value):
    """A number of the kernel.

    Indices, and integers, are taken as unsigned: `//`, `%` and comparisons are the unsigned ones. Of f32, `/` divides, and comparisons are
    false where an operand is NaN, but for `!=`. Conditions have `&`, `|` and `~`.
    """

    __add__, __radd__ = _operators("arith.addi", "arith.addf")
    __sub__, __rsub__ = _operators("arith.subi", "arith.subf")
    __mul__, __rmul__ = _operators("arith.muli", "arith.mulf")
    __truediv__, __rtruediv__ = _operators("", "arith.divf")
    __floordiv__, __rfloordiv__ = _operators("arith.divui", "")
    __mod__, __rmod__ = _operators("arith.remui", "")
    __and__, __rand__ = _operators("arith.andi", "")
    __or__, __ror__ = _operators("arith.ori", "")

    def __invert__(self) -> Scalar:
        if self.type != BOOL:
            raise BuildError(f"~ of a value of type {self.type}; it negates conditions")
        return compute("arith.xori", self, as_scalar(self.function, True, BOOL))

    __eq__ = _comparison("eq", "oeq")  # type: ignore[assignment]
    __ne__ = _comparison("ne", "une")  # type: ignore[assignment]
    __lt__ = _comparison("ult", "olt")
    __le__ = _comparison("ule", "ole")
    __gt__ = _comparison("ugt", "ogt")
    __ge__ = _comparison("uge", "oge")
    __hash__ = Value.__hash__

    def __index__(self) -> int:
        raise BuildError(f"{self.noun} is not known while the kernel is built; loop over it by 'with kernel.range(...)'",
                         ("made here", self.location))


def _is_float(type: Type) -> bool:
    return isinstance(type, Number) and type.name.lstrip("b").startswith("f")


def as_scalar(function: Function, operand: Operand, type: Type) -> Scalar:
    """Returns a value of the kernel for the operand, a constant of the function's entry block for a number of Python.

    Raises:
        BuildError: The operand is of another type, or no number.
    """
    if isinstance(operand, Scalar):
        if operand.type != type:
            raise BuildError(f"{operand.noun} is of type {operand.type} where {type} is needed", ("made here", operand.location))
        return operand
    if not isinstance(operand, (int, float)) or (isinstance(operand, float) and not _is_float(type)):
        raise BuildError(f"{operand!r} is no number of type {type}; give a value of the kernel, or a number of Python")
    function.here()
    if type == BOOL:
        text = "true" if operand else "false"
    else:
        text = f"{_spell(operand) if _is_float(type) else int(operand)} : {type}"
    constant = function.constants.get((type, text))
    if constant is None:
        hint = f"c{text.split(' ')[0]}" if type == INDEX else text if type == BOOL else "cst"
        constant = function.constants[type, text] = Scalar(function, type, hint)
        function.body.lend(Op("arith.constant", [], [constant], {"value": Attribute(text)}, [], constant.location))
    assert isinstance(constant, Scalar)
    return constant


def _spell(number: float) -> str:
    """Returns the number as MLIR reads it: with a point, and by the bits of f32 where there are no digits."""
    text = repr(float(number))
    return {"inf": "0x7F800000", "-inf": "0xFF800000", "nan": "0x7FC00000"}.get(text, text if "." in text else text.replace("e", ".0e"))


def compute(name: str, *operands: Scalar) -> Scalar:
    """Emits an op whose operands and result are of one type."""
    first = operands[0]
    result = Scalar(first.function, first.type)
    first.function.emit(name, *operands, results=[result])
    return result


def _both(left: Operand, right: Operand) -> tuple[Scalar, Scalar]:
    if isinstance(left, Scalar):
        return left, as_scalar(left.function, right, left.type)
    if isinstance(right, Scalar):
        return as_scalar(right.function, left, right.type), right
    raise BuildError("neither operand is a value of the kernel; compute it in Python")


def ceildiv(left: Operand, right: Operand) -> Scalar:
    """Divides indices and rounds up."""
    return compute("arith.ceildivui", *_both(left, right))


def minimum(left: Operand, right: Operand) -> Scalar:
    """Returns the smaller one; of f32, NaN if one is."""
    left, right = _both(left, right)
    return compute("arith.minimumf" if _is_float(left.type) else "arith.minui", left, right)


def maximum(left: Operand, right: Operand) -> Scalar:
    """Returns the larger one; of f32, NaN if one is."""
    left, right = _both(left, right)
    return compute("arith.maximumf" if _is_float(left.type) else "arith.maxui", left, right)


def math(name: str, *operands: Operand) -> Scalar:
    """Emits an op of the math dialect on f32, such as `math("tanh", x)`; those that have instructions are listed at E4."""
    if not operands:
        raise BuildError(f"math.{name} has no operand; give at least one value of the kernel")
    value = next((operand for operand in operands if isinstance(operand, Scalar)), None)
    if value is None:
        raise BuildError(f"no operand of math.{name} is a value of the kernel; compute it in Python")
    return compute(f"math.{name}", *(as_scalar(value.function, operand, value.type) for operand in operands))


def select(condition: Scalar, left: Operand, right: Operand) -> Scalar:
    """Returns `left` where the condition is true, else `right`."""
    left, right = _both(left, right)
    result = Scalar(left.function, left.type)
    left.function.emit("arith.select", as_scalar(left.function, condition, BOOL), left, right, results=[result])
    return result


def shuffle(value: Scalar, lane: Operand) -> Scalar:
    """Returns what `value` is in that lane of the warp, 0 to 31; all lanes take part."""
    function = value.function
    number = Scalar(function, I32)
    function.emit("arith.index_castui", as_scalar(function, lane, INDEX), results=[number])
    result, valid = Scalar(function, value.type), Scalar(function, BOOL, "valid")
    function.emit("gpu.shuffle", value, number, as_scalar(function, 32, I32), results=[result, valid],
                  attributes={"mode": Attribute("#gpu<shuffle_mode idx>")})
    return result


class ScalarVariable:
    """A number that may change: what is set in a loop is there in the next iteration and behind the loop."""

    def __init__(self, function: Function, initial: Scalar) -> None:
        self.function = function
        self.type = initial.type
        self._variable = Variable(f"variable of type {initial.type}", function.here(), initial)

    def __repr__(self) -> str:
        return f"<{self._variable.noun}, made at {self._variable.location}>"

    def get(self) -> Scalar:
        """Returns what it holds now."""
        value = self.function.here().read(self._variable)
        if isinstance(value, Scalar):
            return value
        scalar = Scalar(self.function, value.type, value.hint)
        scalar.region = value.region
        scalar.stand_for(value)
        return scalar

    def set(self, number: Operand) -> None:
        """Holds that number from now on."""
        region = self.function.here()
        region.read(self._variable)
        scalar = as_scalar(self.function, number, self.type)
        self.function.use(scalar.resolve())
        region.bind(self._variable, scalar)
