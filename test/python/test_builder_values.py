# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values, arguments and functions that are used wrongly are refused at their line, by Python or by the compiler, with notes at the causes."""

import pytest
from builder_cases import ARRAY, OPERAND, PRODUCT, ROW, TOTAL, Made, refuse, refuse_by_compiler

from fp8.builder import BuildError, MemRef, Module, Tile, ceildiv, math


def no_such_tile(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            stage["rows"]  # error


def no_box(made):
    with made.kernel.role("load", warps=1):
        with made.ring.produce() as stage:
            stage.load(row=made.source)  # error


def no_scales(made):
    ring = made.kernel.pipeline(2, a=OPERAND, s=Tile((1, 64), "f32"))
    with made.kernel.role("read", warps=4):
        with ring.consume() as stage:
            product = made.kernel.multiply(stage["a"], stage["a"], PRODUCT)
            made.kernel.zeros(PRODUCT).promote(product.wait(), stage["s"])  # error


def no_value(made):
    with made.kernel.role("read", warps=4):
        made.kernel.zeros(TOTAL).add_row(3)  # error


def no_swizzle(made):
    Tile((1, 128), "f32", swizzle=16)  # error


def branch_in_python(made):
    if made.count > 3:  # error # note
        pass


def loop_in_python(made):
    for _ in range(made.count):  # error
        pass


def loop_over_a_value(made):
    for _ in made.count:  # error
        pass


def fraction_of_an_index(made):
    made.count * 0.5  # error


def no_number(made):
    made.count + "1"  # error


def wrong_operator(made):
    made.count / 2  # error


def wrong_type(made):
    made.count + made.values[0, 0]  # error # note


def numbers_of_python(made):
    ceildiv(4, 2)  # error


def bits_of_an_index(made):
    with made.kernel.role("read", warps=4):
        ~made.count  # error


def axis_before_the_first(made):
    with made.kernel.role("read", warps=4):
        made.values.stride(-1)  # error


def axis_past_the_last(made):
    with made.kernel.role("read", warps=4):
        made.values.extent(2)  # error


def indices_of_another_rank(made):
    with made.kernel.role("read", warps=4):
        made.values[0]  # error


def no_value_of_the_kernel(made):
    with made.kernel.role("read", warps=4):
        math("powf", 1.0, 2.0)  # error


def no_operand(made):
    math("tanh")  # error


def parameter_twice(made):
    made.kernel.index("count")  # error


def op_after_its_kernel(module):
    with module.kernel("k") as kernel:  # note
        count = kernel.index("count")
    count + 1  # error


def ring_after_its_kernel(module):
    with module.kernel("k") as kernel:  # note
        ring = kernel.pipeline(2, row=ROW)
        with kernel.role("load", warps=1):
            with ring.produce():
                pass
        with kernel.role("read", warps=4):
            with ring.consume():
                pass
    with ring.consume():  # error
        pass


def value_of_the_kernel_on_the_host(module):
    with module.kernel("k") as kernel:
        count = kernel.index("count")  # note
    with module.launch() as host:
        host.launch(kernel, grid=count, count=1)  # error


def kernel_in_a_kernel(module):
    with module.kernel("k"):  # note
        with module.kernel("l"):  # error
            pass


def kernel_twice(module):
    with module.kernel("k"):  # note
        pass
    with module.kernel("k"):  # error
        pass


def text_of_an_open_kernel(module):
    with module.kernel("k"):  # note
        str(module)  # error


def launch_lacks_a_parameter(module):
    with module.kernel("k") as kernel:  # note
        kernel.index("count")
    with module.launch() as host:
        host.launch(kernel, grid=1)  # error


def launch_of_another_parameter(module):
    with module.kernel("k") as kernel:  # note
        kernel.index("count")
    with module.launch() as host:
        host.launch(kernel, grid=1, count=1, counts=2)  # error


def launch_of_another_array(module):
    with module.kernel("k") as kernel:
        kernel.array("values", ARRAY)  # note
    with module.launch() as host:
        values = host.read("values", MemRef((None,), "f32"))  # note
        host.launch(kernel, grid=1, values=values)  # error


def launch_of_a_number(module):
    with module.kernel("k") as kernel:
        kernel.tensor_map("source", ROW)
    with module.launch() as host:
        host.launch(kernel, grid=1, source=3)  # error


def array_twice(module):
    with module.launch() as host:
        host.read("a", ARRAY)
        host.write("a", ARRAY)  # error


CASES = [
    (no_such_tile, "stage of consumer end of pipeline 'row' has no tile 'rows'; it has 'row'"),
    (no_value, "an operand of 'fp8.add_row' is 3; give a value of the kernel"),
    (no_swizzle, "there is no swizzle of 16 bytes; use 32, 64 or 128, or 0 for none"),
    (branch_in_python, "value is not known while the kernel is built; branch on it by 'with kernel.when(...)'"),
    (loop_in_python, "value 'count' is not known while the kernel is built; loop over it by 'with kernel.range(...)'"),
    (loop_over_a_value, "value 'count' cannot be iterated over in Python; loop over it by 'with kernel.range(...)'"),
    (fraction_of_an_index, "0.5 is no number of type index; give a value of the kernel, or a number of Python"),
    (no_number, "'1' is no number of type index; give a value of the kernel, or a number of Python"),
    (wrong_operator, "value 'count' is of type index, which has no such operator"),
    (wrong_type, "value is of type f32 where index is needed"),
    (numbers_of_python, "neither operand is a value of the kernel; compute it in Python"),
    (bits_of_an_index, "~ of a value of type index; it negates conditions"),
    (axis_before_the_first, "array 'values' has no axis -1; name one from 0 to 1"),
    (axis_past_the_last, "array 'values' has no axis 2; name one from 0 to 1"),
    (no_value_of_the_kernel, "no operand of math.powf is a value of the kernel; compute it in Python"),
    (no_operand, "math.tanh has no operand; give at least one value of the kernel"),
    (parameter_twice, "kernel 'k' has two parameters 'count'; give each a name of its own"),
    (op_after_its_kernel, "an op stands outside of kernel 'k'; put it inside its 'with'"),
    (ring_after_its_kernel, "an op stands outside of kernel 'k'; put it inside its 'with'"),
    (value_of_the_kernel_on_the_host, "value 'count' of kernel 'k' is used in host function 'launch'; pass it as an argument of the launch"),
    (kernel_in_a_kernel, "kernel 'l' begins inside kernel 'k'; functions stand side by side"),
    (text_of_an_open_kernel, "the text of a module is asked for inside kernel 'k'; end that first"),
    (launch_lacks_a_parameter, "the launch of kernel 'k' lacks its parameter 'count'; pass count=..."),
    (launch_of_another_parameter, "kernel 'k' has no parameter 'counts'; it has 'count'"),
    (launch_of_another_array, "the argument for array 'values' is a memref<?xf32>, but the parameter a memref<?x?xf32>"),
    (launch_of_a_number, "the argument for tensor map 'source' is 3; give an Array"),
    (array_twice, "host function 'launch' has two arrays 'a'; give each a name of its own"),
]

COMPILERS_CASES = [
    (no_scales, ["'fp8.promote' op the B scales must divide the 128 columns into equal parts of a multiple of 8 columns (S3), but there are 0"]),
    (indices_of_another_rank, ["'memref.load' op incorrect number of indices for load, expected 2 but got 1"]),
    (kernel_twice, ["redefinition of symbol named 'k'"]),
]


@pytest.mark.parametrize("case, message", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_error(case, message):
    refuse(case, message)


@pytest.mark.parametrize("case, messages", COMPILERS_CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_compilers_error(case, messages):
    refuse_by_compiler(case, messages)


def test_no_box():
    with pytest.raises(BuildError, match=r"what is loaded into 'row' is <tensor map 'source': .*>; give a Box"):
        module = Module()
        with module.kernel("k") as kernel:
            no_box(Made(module, kernel))
