# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scopes, ends and handles that are used wrongly are refused at their line, by Python or by the compiler, with notes at the causes."""

import pytest
from builder_cases import NOT_SIGNALLED, OPERAND, PRODUCT, ROW, TOTAL, consumed_in_a_loop, consumed_twice, leaks, refuse, refuse_by_compiler

from fp8.builder import Tile


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
    with made.kernel.role("read", warps=4):  # note
        with made.ring.consume():  # error # note
            with made.ring.consume():  # note
                pass


def slot_taken_twice_in_a_loop(made):
    with made.kernel.role("read", warps=4):  # note
        with made.ring.consume():  # error # note
            with made.kernel.range(4):  # note
                with made.ring.consume():
                    pass


def arrive_twice(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit() as stage:  # error # note
            stage.arrive()  # error # note
            stage.arrive()  # note


def arrive_never(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit():  # error
            pass


def arrive_in_a_scope_that_does(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:  # error # note
            stage.arrive()  # error # note


def tile_after_arrive(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit() as stage:  # error
            stage.arrive()  # note
            made.kernel.zeros(TOTAL).add_row(stage["row"])  # note


def arrive_in_a_loop(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit() as stage:  # error
            with made.kernel.range(2):
                stage.arrive()


def arrive_in_one_arm(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume_explicit() as stage:  # error
            with made.kernel.when(made.count > 1):
                stage.arrive()


def product_waited_for_twice(made):
    ring = made.kernel.pipeline(2, a=OPERAND)
    with made.kernel.role("multiply", warps=4):
        with ring.consume() as stage:
            product = made.kernel.multiply(stage["a"], stage["a"], PRODUCT)  # error
            product.wait()  # note
            product.wait()  # note


def product_never_waited_for(made):
    ring = made.kernel.pipeline(2, a=OPERAND)
    with made.kernel.role("multiply", warps=4):
        with ring.consume() as stage:  # note
            made.kernel.multiply(stage["a"], stage["a"], PRODUCT)  # error


def product_waited_for_elsewhere(made):
    ring = made.kernel.pipeline(2, a=OPERAND)
    with made.kernel.role("multiply", warps=4):
        with ring.consume() as stage:
            product = made.kernel.multiply(stage["a"], stage["a"], PRODUCT)  # error
            with made.kernel.range(2):  # note
                product.wait()  # note


def end_outside_of_a_role(made):
    with made.ring.produce():  # error
        pass


def role_in_a_role(made):
    with made.kernel.role("one", warps=1):
        with made.kernel.role("two", warps=1):  # error
            pass


def ring_in_a_role(made):
    with made.kernel.role("one", warps=1):
        made.kernel.pipeline(2, row=ROW)  # error


def queue_of_two_roles(made):
    tile = Tile((32, 32), "f32", swizzle=128)
    box, queue = made.kernel.tensor_map("box", tile), made.kernel.store_queue(1, tile, warps=4)  # error
    for _ in range(2):
        with made.kernel.role("store", warps=4):  # note
            queue.store(made.kernel.zeros(TOTAL), box[0, 0])


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
        with ring.mma_warp():  # error # note
            pass
        with ring.mma_warp():  # note
            pass


def warp_made_in_a_loop(made):
    ring = made.kernel.output_pipeline(2, (128, 128))
    with made.kernel.role("mma", warps=1):
        with made.kernel.range(made.count):  # note
            with ring.mma_warp():  # error # note
                pass


def ring_without_a_consumer(module):
    with module.kernel("k") as kernel:
        ring = kernel.pipeline(2, row=ROW)  # error
        with kernel.role("load", warps=1):
            with ring.produce():
                pass


def output_pipeline_of_two_roles(module):
    with module.kernel("k") as kernel:
        ring = kernel.output_pipeline(2, (128, 128))  # error
        with kernel.role("read", warps=4):
            with ring.epilogue_warp():
                pass
        for _ in range(2):
            with kernel.role("mma", warps=1):  # note
                with ring.mma_warp():
                    pass


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


LATER = "is used outside of the {} that it belongs to; use it inside"
CASES = [
    (stage_after_its_scope, "stage of consumer end of pipeline 'row' is used outside of the 'consume' that it belongs to; use it inside"),
    (tile_after_its_scope, "tile 'row' " + LATER.format("'consume'")),
    (value_of_a_loop, "value 'i' " + LATER.format("loop")),
    (value_of_another_role, "value " + LATER.format("role 'one'")),
    (end_outside_of_a_role, "pipeline 'row' is used outside of a role; its ends are the roles', use it in 'with kernel.role(...)'"),
    (fragment_of_no_role, "fragment is changed in role 'read' but belongs to no role; make it in the role"),
    (warp_after_its_scope, "mma warp of output pipeline is used outside of the 'mma_warp' that it belongs to; use it inside"),
    (with_forgotten, "'consume' was called but not entered; write 'with' before it"),
    (scope_entered_twice, "'consume' is entered a second time; call it again"),
    (scopes_ended_in_the_wrong_order, "the role 'read' ends while another scope is open; end scopes in the order opposite to their beginning"),
    (scope_left_by_an_exception, "a scope of kernel 'k' was left by an exception; build the function anew"),
    (otherwise_without_when, "'otherwise' does not follow a 'when'; put it right behind one"),
]

COMPILERS_CASES = [
    (slot_taken_twice, [consumed_twice("consumer end"), leaks("consumer end", "close")]),
    (slot_taken_twice_in_a_loop, [consumed_twice("consumer end"), leaks("consumer end", "close")]),
    (arrive_twice, [consumed_twice("consumer stage"), leaks("signalled stage", "step")]),
    (arrive_never, [NOT_SIGNALLED]),
    (arrive_in_a_scope_that_does, ["consumer stage is released by its scope (L1); the body may only borrow it", leaks("signalled stage", "step")]),
    (tile_after_arrive, ["consumer stage was consumed before the last use of what it lent (L9); consume it after that"]),
    (arrive_in_a_loop, [NOT_SIGNALLED]),
    (arrive_in_one_arm, [NOT_SIGNALLED]),
    (product_waited_for_twice, [consumed_twice("pending product")]),
    (product_never_waited_for, [leaks("pending product", "wait_mma")]),
    (product_waited_for_elsewhere, [consumed_in_a_loop("pending product")]),
    (role_in_a_role, ["'fp8.role' op must be in the entry block of its kernel (R1)"]),
    (ring_in_a_role, ["'fp8.pipeline' op must be in the entry block of its kernel (P3)"]),
    (queue_of_two_roles, [consumed_twice("store queue")]),
    (warp_made_twice, [consumed_twice("producer end")]),
    (warp_made_in_a_loop, [consumed_in_a_loop("producer end")]),
    (ring_without_a_consumer, ["'fp8.pipeline' op must have at least one producer end and one consumer end (P1), but got 1 and 0"]),
    (output_pipeline_of_two_roles, [consumed_twice("producer end")]),
]


@pytest.mark.parametrize("case, message", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_error(case, message):
    refuse(case, message)


@pytest.mark.parametrize("case, messages", COMPILERS_CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_compilers_error(case, messages):
    refuse_by_compiler(case, messages)
