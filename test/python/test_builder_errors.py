# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scopes, ends and handles that Python sees to be used wrongly are refused at their line, with notes at the causes."""

import pytest
from builder_cases import ROW, TOTAL, refuse


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
    (arrive_in_a_scope_that_does,
     "stage of consumer end of pipeline 'row' is handed over twice (L1): its scope does so at its end; take it by 'consume_explicit'"),
    (tile_after_arrive, "stage of consumer end of pipeline 'row' is used after it was handed over (L2); use it before its 'arrive'"),
    (arrive_in_a_loop,
     "stage of consumer end of pipeline 'row' is handed over in a loop that may run again, or not at all (L3); do it after the loop"),
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
    (warp_made_in_a_loop,
     "producer end of output pipeline is consumed inside a loop that may run again, or not at all (L3); consume it after the loop"),
    (ring_without_a_consumer, "pipeline 'row' has no consumer (P1); use it in a role"),
    (output_pipeline_of_two_roles, "output pipeline has 2 producers, and takes one; make one role of them"),
    (with_forgotten, "'consume' was called but not entered; write 'with' before it"),
    (scope_entered_twice, "'consume' is entered a second time; call it again"),
    (scopes_ended_in_the_wrong_order, "the role 'read' ends while another scope is open; end scopes in the order opposite to their beginning"),
    (scope_left_by_an_exception, "a scope of kernel 'k' was left by an exception; build the function anew"),
    (otherwise_without_when, "'otherwise' does not follow a 'when'; put it right behind one"),
]


@pytest.mark.parametrize("case, message", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_error(case, message):
    refuse(case, message)
