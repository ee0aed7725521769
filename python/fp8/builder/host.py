# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host function of a kernel: which arrays it takes, and how the kernel is launched on them."""

from __future__ import annotations

from typing import Union

from .errors import BuildError
from .ir import Attribute, Function, Op, Value, types_of
from .kernel import Kernel
from .scalars import Operand, Scalar, as_scalar
from .types import BOOL, I32, INDEX, FunctionType, MemRef, TensorMap
from .views import Array, WholeUnits, expect

#: What a launch passes for a parameter: an array, also for a tensor map, or a number.
Argument = Union[Array, WholeUnits, Operand]


class Host(Function):
    """A function that launches kernels on its arrays; the launch manifest is made of it."""

    def __init__(self, name: str, problem: str, options: dict[str, int]) -> None:
        super().__init__(name, f"host function '{name}'")
        self.function = self
        self.problem = problem
        self.options = options
        self.access: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<host function '{self.name}' of {list(self.access)}, made at {self.location}>"

    def _array(self, name: str, type: MemRef, access: str) -> Array:
        expect(type, MemRef, f"the type of '{name}'")
        if name in self.access:
            raise BuildError(f"{self.noun} has two arrays '{name}'; give each a name of its own")
        self.here()
        array = self.body.define(Array(self, type, name))
        self.arguments.append(array)
        self.access[name] = access
        return array

    def read(self, name: str, type: MemRef) -> Array:
        """Declares an array that the kernel reads."""
        return self._array(name, type, "read")

    def write(self, name: str, type: MemRef) -> Array:
        """Declares an array that the kernel writes."""
        return self._array(name, type, "write")

    def op(self) -> Op:
        arguments: list[object] = [{"fp8.name": name, "fp8.access": access} for name, access in self.access.items()]
        return Op("func.func", [], [], {"sym_name": self.name, "function_type": FunctionType(types_of(self.arguments)), "arg_attrs": arguments,
                                        "fp8.problem": self.problem}, [self.body], self.location)

    def finish(self) -> None:
        super().finish()
        self.body.terminate("func.return")

    def multiprocessor_count(self) -> Scalar:
        """Emits a read of the number of multiprocessors of the device that the launch goes to."""
        count = Scalar(self, INDEX, "sms")
        self.emit("fp8.multiprocessor_count", results=[count])
        return count

    def is_constant(self, *arrays: Array) -> Scalar:
        """Emits the question whether no kernel that may still run when the launch starts writes these arrays, for `Kernel.constancy`."""
        constant = Scalar(self, I32, "constant")
        self.emit("fp8.is_constant", *arrays, results=[constant])
        return constant

    def check(self, condition: Scalar, message: str) -> None:
        """Makes the condition one that a launcher checks first, and refuses the launch with the message if it does not hold."""
        self.emit("cf.assert", as_scalar(self, condition, BOOL), attributes={"msg": message})

    def launch(self, kernel: Kernel, grid: Operand, **arguments: Argument) -> None:
        """Launches the kernel.

        Args:
            kernel: A kernel of the same module, finished.
            grid: The number of its blocks; each has the threads of the kernel's roles.
            arguments: A value for each parameter of the kernel, by its name; for a tensor map the array that it describes.

        Raises:
            BuildError: A parameter has no argument, an argument no parameter, or one is of another kind.
        """
        if kernel.current is not None:
            raise BuildError(f"{kernel.noun} is launched before it is finished; end its 'with' first", (kernel.noun, kernel.location))
        # gpu.launch_func numbers the parameters and knows no names: its verifier could not say which argument is wrong.
        names = [parameter.hint for parameter in kernel.named]
        for name in names:
            if name not in arguments:
                raise BuildError(f"the launch of {kernel.noun} lacks its parameter '{name}'; pass {name}=...", (kernel.noun, kernel.location))
        for name in arguments:
            if name not in names:
                raise BuildError(f"{kernel.noun} has no parameter '{name}'; it has " + ", ".join(f"'{n}'" for n in names),
                                 (kernel.noun, kernel.location))
        one, blocks = as_scalar(self, 1, INDEX), as_scalar(self, grid, INDEX)
        threads = as_scalar(self, kernel.threads, INDEX)
        values: list[Value] = []
        for number, parameter in enumerate(kernel.arguments):
            if number in kernel.box_bytes:
                size = Scalar(self, I32, parameter.hint)
                self.emit("fp8.box_bytes", values[kernel.box_bytes[number]], results=[size])
                values.append(size)
            else:
                values.append(self._argument(parameter, arguments[parameter.hint], fit_rows=number in kernel.box_bytes.values()))
        asynchronous: list[Value] = []  # no dependencies, and neither clusters nor dynamic shared memory
        self.emit("gpu.launch_func", asynchronous, blocks, one, one, threads, one, one, None, None, None, None, values, None,
                  attributes={"kernel": Attribute(f"@kernels::@{kernel.name}"), "fp8.problem_options": self.options or None})

    def _argument(self, parameter: Value, argument: Argument, *, fit_rows: bool) -> Value:
        if isinstance(parameter.type, TensorMap):
            whole, array = (True, argument.array) if isinstance(argument, WholeUnits) else (False, argument)
            expect(array, Array, f"the argument for {parameter.noun}")
            assert isinstance(array, Array)
            encoded = Value(self, parameter.type, f"map_{parameter.hint}")
            self.emit("fp8.tensor_map", array, results=[encoded], attributes={"whole_units": whole})
            if not fit_rows:
                return encoded
            fit = Value(self, parameter.type, f"fit_{parameter.hint}")
            self.emit("fp8.fit_rows", encoded, results=[fit])
            return fit
        if isinstance(parameter.type, MemRef):
            expect(argument, Array, f"the argument for {parameter.noun}")
            assert isinstance(argument, Array)
            if argument.type != parameter.type:
                raise BuildError(f"the argument for {parameter.noun} is a {argument.type}, but the parameter a {parameter.type}",
                                 *((f"{t.noun}", t.location) for t in (argument, parameter)))
            return argument
        if isinstance(argument, (Array, WholeUnits)):
            array = argument if isinstance(argument, Array) else argument.array
            raise BuildError(f"the argument for {parameter.noun} is an array; give a number", ("made here", array.location))
        return as_scalar(self, argument, parameter.type)
