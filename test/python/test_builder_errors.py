# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python sees to be wrong is refused at its line, with notes at the causes: the lines marked '# error' and '# note'."""

import inspect

import pytest

from fp8.builder import BuildError, Fragment, MemRef, Module, Tile, ceildiv, math

ROW = Tile((1, 128), "f32")
TOTAL = Fragment((128, 128), warps=4)
ARRAY = MemRef((None, None), "f32")


class Made:
    """A kernel that is being built, with a ring and what else the cases use."""

    def __init__(self, module, kernel):
        self.module = module
        self.kernel = kernel
        self.source = kernel.tensor_map("source", ROW)
        self.values = kernel.array("values", ARRAY)
        self.count = kernel.index("count")
        self.ring = kernel.pipeline(2, row=ROW)


def refuse(case, message):
    """Builds the case, in a module and a kernel as its parameters ask, and checks the error's text and places."""
    lines, first = inspect.getsourcelines(case)
    marked = {mark: [first + i for i, line in enumerate(lines) if f"# {mark}" in line] for mark in ("error", "note")}
    with pytest.raises(BuildError) as caught:
        if "module" in inspect.signature(case).parameters:
            case(Module())
        else:
            module = Module()
            with module.kernel("k") as kernel:
                case(Made(module, kernel))
    error = caught.value
    assert error.message == message
    assert [error.location.line] == marked["error"], str(error)
    notes = {place.line for _, place in error.notes if first <= place.line < first + len(lines)}
    assert sorted(notes) == marked["note"], str(error)
    assert str(error).splitlines()[0] == f"{__file__}:{error.location.line}:{error.location.column}: error: {message}"


def stage_after_its_scope(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:  # note
            pass
        stage["row"]  # error


def tile_after_its_scope(made):
    with made.kernel.role("read", warps=4):
        total = made.kernel.zeros(TOTAL)
        with made.ring.consume() as stage:  # note
            row = stage["row"]  # note
        with made.ring.consume():
            total.add_row(row)  # error


def value_of_a_loop(made):
    with made.kernel.role("read", warps=4):
        with made.kernel.range(made.count) as i:  # note
            pass
        i + 1  # error


def value_of_another_role(made):
    with made.kernel.role("one", warps=1):  # note
        x = made.count + 1  # note
    with made.kernel.role("two", warps=1):
        made.values[0, x]  # error


def slot_taken_twice(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume():  # note
            with made.ring.consume():  # error
                pass


def slot_taken_twice_in_a_loop(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume():  # note
            with made.kernel.range(4):
                with made.ring.consume():  # error
                    pass


def arrive_twice(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit() as stage:
            stage.arrive()  # note
            stage.arrive()  # error


def arrive_never(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit():  # error # note
            pass


def arrive_in_a_scope_that_does(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:  # note
            stage.arrive()  # error


def tile_after_arrive(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit() as stage:
            stage.arrive()  # note
            stage["row"]  # error


def arrive_in_a_loop(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit() as stage:
            with made.kernel.range(2):  # error
                stage.arrive()  # note


def arrive_in_one_arm(module):
    with module.kernel("k") as kernel:  # error
        count, ring = kernel.index("count"), kernel.pipeline(2, row=ROW)
        with kernel.role("read", warps=4):
            with ring.consume_explicit() as stage:
                with kernel.when(count > 1):  # note
                    stage.arrive()


def product_waited_for_twice(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            product = made.kernel.multiply(stage["row"], stage["row"], TOTAL)  # note
            product.wait()
            product.wait()  # error


def product_never_waited_for(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:  # error
            made.kernel.multiply(stage["row"], stage["row"], TOTAL)  # note


def product_waited_for_elsewhere(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            product = made.kernel.multiply(stage["row"], stage["row"], TOTAL)  # note
            with made.kernel.range(2):
                product.wait()  # error


def end_outside_of_a_role(made):
    with made.ring.produce():  # error
        pass


def role_in_a_role(made):
    with made.kernel.role("one", warps=1):  # note
        with made.kernel.role("two", warps=1):  # error
            pass


def ring_in_a_role(made):
    with made.kernel.role("one", warps=1):  # note
        made.kernel.pipeline(2, row=ROW)  # error


def queue_of_two_roles(made):
    queue = made.kernel.store_queue(1, ROW, warps=4)
    for _ in range(2):
        with made.kernel.role("store", warps=4):
            queue.store(made.kernel.zeros(TOTAL), made.source[0, 0])  # error # note


def fragment_of_no_role(made):
    total = made.kernel.zeros(TOTAL)  # note
    with made.kernel.role("read", warps=4):  # error
        with made.ring.consume() as stage:
            total.add_row(stage["row"])


def warp_after_its_scope(made):
    ring = made.kernel.output_pipeline(2, (128, 128))
    with made.kernel.role("mma", warps=1):
        with ring.mma_warp() as warp:  # note
            pass
        with warp.produce():  # error
            pass


def warp_made_twice(made):
    ring = made.kernel.output_pipeline(2, (128, 128))
    with made.kernel.role("mma", warps=1):
        with ring.mma_warp():  # note
            pass
        with ring.mma_warp():  # error
            pass


def warp_made_in_a_loop(made):
    ring = made.kernel.output_pipeline(2, (128, 128))
    with made.kernel.role("mma", warps=1):
        with made.kernel.range(made.count):  # error # note
            with ring.mma_warp():  # note
                pass


def ring_without_a_consumer(module):
    with module.kernel("k") as kernel:  # error
        ring = kernel.pipeline(2, row=ROW)  # note
        with kernel.role("load", warps=1):
            with ring.produce():
                pass


def output_pipeline_of_two_roles(module):
    with module.kernel("k") as kernel:  # error
        ring = kernel.output_pipeline(2, (128, 128))  # note
        with kernel.role("read", warps=4):
            with ring.epilogue_warp():
                pass
        for _ in range(2):
            with kernel.role("mma", warps=1):
                with ring.mma_warp():  # note
                    pass


def no_such_tile(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            stage["rows"]  # error


def no_box(made):
    with made.kernel.role("load", warps=1):
        with made.ring.produce() as stage:
            stage.load(row=made.source)  # error


def no_scales(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            total = made.kernel.zeros(TOTAL)
            total.promote(total, stage["row"])  # error


def no_swizzle(made):
    Tile((1, 128), "f32", swizzle=16)  # error


def with_forgotten(module):
    with module.kernel("k") as kernel:  # error
        ring = kernel.pipeline(2, row=ROW)
        with kernel.role("read", warps=4):
            ring.consume()  # note


def scope_entered_twice(made):
    with made.kernel.role("read", warps=4):
        scope = made.ring.consume()  # note
        with scope:
            pass
        with scope:  # error
            pass


def scopes_ended_in_the_wrong_order(made):
    role = made.kernel.role("read", warps=4)
    role.__enter__()  # note
    made.ring.consume().__enter__()
    role.__exit__(None, None, None)  # error


def scope_left_by_an_exception(module):
    with module.kernel("k") as kernel:  # error
        try:
            with kernel.role("read", warps=4):  # note
                raise KeyError
        except KeyError:
            pass


def otherwise_without_when(made):
    with made.kernel.role("read", warps=4):
        with made.kernel.otherwise():  # error
            pass


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


LATER = "is used outside of the {} that it belongs to (L2); use it inside"
CASES = [
    (stage_after_its_scope, "stage of consumer end of pipeline 'row' is used outside of the 'consume' that it belongs to (L2); use it inside"),
    (tile_after_its_scope, "tile 'row' " + LATER.format("'consume'")),
    (value_of_a_loop, "value 'i' " + LATER.format("loop")),
    (value_of_another_role, "value " + LATER.format("role 'one'")),
    (slot_taken_twice, "consumer end of pipeline 'row' is held by another scope (L2); end that one first"),
    (slot_taken_twice_in_a_loop, "consumer end of pipeline 'row' is held by another scope (L2); end that one first"),
    (arrive_twice, "stage of consumer end of pipeline 'row' is handed over twice (L1); keep one 'arrive'"),
    (arrive_never, "stage of consumer end of pipeline 'row' is not handed over (L1); call its 'arrive' in the scope"),
    (arrive_in_a_scope_that_does, "stage of consumer end of pipeline 'row' is handed over twice (L1): its scope does so at its end; take it by 'consume_explicit'"),
    (tile_after_arrive, "stage of consumer end of pipeline 'row' is used after it was handed over (L2); use it before its 'arrive'"),
    (arrive_in_a_loop, "stage of consumer end of pipeline 'row' is handed over in a loop that may run again, or not at all (L3); do it after the loop"),
    (arrive_in_one_arm, "stage of consumer end of pipeline 'row' is handed over on one path but not on another (L4); do the same in both arms"),
    (product_waited_for_twice, "pending product is waited for twice (L1); keep what the first 'wait' gave"),
    (product_never_waited_for, "pending product 'pending' is never consumed (L1); call its 'wait' in the scope that made it"),
    (product_waited_for_elsewhere, "pending product is waited for in another scope than that of its making (L3); wait for it in the 'consume'"),
    (end_outside_of_a_role, "pipeline 'row' is used outside of a role; its ends are the roles', use it in 'with kernel.role(...)'"),
    (role_in_a_role, "role 'two' stands in the role 'one' (R1); put it directly under kernel 'k'"),
    (ring_in_a_role, "a pipeline stands in the role 'one' (P3); put it directly under kernel 'k'"),
    (queue_of_two_roles, "store queue is already in the hands of another role (L6); use it in role 'store' alone"),
    (fragment_of_no_role, "fragment is changed in role 'read' but belongs to no role; make it in the role"),
    (warp_after_its_scope, "mma warp of output pipeline is used outside of the 'mma_warp' that it belongs to (L2); use it inside"),
    (warp_made_twice, "producer end of output pipeline is used after the scope of its 'mma_warp' (L2); use it inside"),
    (warp_made_in_a_loop, "producer end of output pipeline is consumed inside a loop that may run again, or not at all (L3); consume it after the loop"),
    (ring_without_a_consumer, "pipeline 'row' has no consumer (P1); use it in a role"),
    (output_pipeline_of_two_roles, "output pipeline has 2 producers, and takes one; make one role of them"),
    (no_such_tile, "stage of consumer end of pipeline 'row' has no tile 'rows'; it has 'row'"),
    (no_scales, "the scales of B are one row, or numbers for equal parts of the columns; give at least one, and not both kinds"),
    (no_swizzle, "there is no swizzle of 16 bytes; use 32, 64 or 128, or 0 for none"),
    (with_forgotten, "'consume' was called but not entered; write 'with' before it"),
    (scope_entered_twice, "'consume' is entered a second time; call it again"),
    (scopes_ended_in_the_wrong_order, "the role 'read' ends while another scope is open; end scopes in the order opposite to their beginning"),
    (scope_left_by_an_exception, "a scope of kernel 'k' was left by an exception; build the function anew"),
    (otherwise_without_when, "'otherwise' does not follow a 'when'; put it right behind one"),
    (branch_in_python, "value is not known while the kernel is built; branch on it by 'with kernel.when(...)'"),
    (loop_in_python, "value 'count' is not known while the kernel is built; loop over it by 'with kernel.range(...)'"),
    (loop_over_a_value, "value 'count' cannot be iterated over in Python; loop over it by 'with kernel.range(...)'"),
    (fraction_of_an_index, "0.5 is no number of type index; give a value of the kernel, or a number of Python"),
    (no_number, "'1' is no number of type index; give a value of the kernel, or a number of Python"),
    (wrong_operator, "value 'count' is of type index, which has no such operator"),
    (wrong_type, "value is of type f32 where index is needed"),
    (numbers_of_python, "neither operand is a value of the kernel; compute it in Python"),
    (no_operand, "math.tanh has no operand; give at least one value of the kernel"),
    (parameter_twice, "kernel 'k' has two parameters 'count'; give each a name of its own"),
    (op_after_its_kernel, "an op stands outside of kernel 'k'; put it inside its 'with'"),
    (ring_after_its_kernel, "an op stands outside of kernel 'k'; put it inside its 'with'"),
    (value_of_the_kernel_on_the_host, "value 'count' of kernel 'k' is used in host function 'launch'; pass it as an argument of the launch"),
    (kernel_in_a_kernel, "kernel 'l' begins inside kernel 'k'; functions stand side by side"),
    (kernel_twice, "there are two functions 'k'; give each a name of its own"),
    (text_of_an_open_kernel, "the text of a module is asked for inside kernel 'k'; end that first"),
    (launch_lacks_a_parameter, "the launch of kernel 'k' lacks its parameter 'count'; pass count=..."),
    (launch_of_another_parameter, "kernel 'k' has no parameter 'counts'; it has 'count'"),
    (launch_of_another_array, "the argument for array 'values' is a memref<?xf32>, but the parameter a memref<?x?xf32>"),
    (launch_of_a_number, "the argument for tensor map 'source' is 3; give an Array"),
    (array_twice, "host function 'launch' has two arrays 'a'; give each a name of its own"),
]


@pytest.mark.parametrize("case, message", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_error(case, message):
    refuse(case, message)


def test_no_box():
    with pytest.raises(BuildError, match=r"what is loaded into 'row' is <tensor map 'source': .*>; give a Box"):
        module = Module()
        with module.kernel("k") as kernel:
            no_box(Made(module, kernel))
