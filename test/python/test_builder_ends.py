# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends, work queues, exchanges and copies that are used wrongly are refused at their line of Python, with notes at the causes."""

import pytest
from builder_cases import ARRAY, ROW, TOTAL, refuse, refuse_by_compiler

from fp8.builder import Fragment

PRODUCT = Fragment((64, 128), warps=4, layout="warpgroups")


def acquired_twice(made):
    with made.kernel.role("read", warps=4):
        end = made.ring.consumer()
        end.acquire()  # note
        end.acquire()  # error


def scope_of_an_end_that_holds(made):
    with made.kernel.role("read", warps=4):
        made.ring.consumer().acquire()  # note
        with made.ring.consume():  # error
            pass


def never_released(made):
    with made.kernel.role("read", warps=4):  # error
        made.ring.consumer().acquire()  # note


def waited_for_in_vain(made):
    with made.kernel.role("read", warps=4):  # error
        made.ring.consumer().wait()  # note


def warp_never_released(made):
    ring = made.kernel.output_pipeline(2, (128, 128))
    with made.kernel.role("mma", warps=1):
        with ring.mma_warp() as warp:  # error
            warp.acquire()  # note


def used_after_release(made):
    with made.kernel.role("read", warps=4):
        stage = made.ring.consumer().acquire()
        stage.release()  # note
        stage["row"]  # error


def release_in_a_scope_that_does(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:  # note
            stage.release()  # error


def arrive_of_an_acquired_stage(made):
    with made.kernel.role("read", warps=4):
        stage = made.ring.consumer().acquire()  # note
        stage.arrive()  # error


def acquired_in_a_loop(made):
    with made.kernel.role("read", warps=4):
        with made.kernel.range(2):  # error
            made.ring.consumer().acquire()  # note


def waited_for_in_a_loop(made):
    with made.kernel.role("read", warps=4):
        with made.kernel.range(2):  # error
            made.ring.consumer().wait()  # note


def released_in_one_arm(module):
    with module.kernel("k") as kernel:  # error
        count, ring = kernel.index("count"), kernel.pipeline(2, row=ROW)
        with kernel.role("read", warps=4):
            stage = ring.consumer().acquire()
            with kernel.when(count > 1):  # note
                stage.release()


def tiles_of_no_queue(made):
    with made.kernel.role("read", warps=4):
        with made.kernel.for_each_tile(1, 1, scheduler="clc"):  # error
            pass


def queue_of_known_tiles(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("read", warps=4):
        with made.kernel.for_each_tile(1, 1, work=work):  # error
            pass


def answers_read_in_their_loop(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("read", warps=4):
        with made.kernel.for_each_tile(1, 1, scheduler="clc", work=work):  # note
            with work.consume():  # error
                pass


def answers_waited_for_before_their_loop(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("read", warps=4):
        work.consumer().wait()  # note
        with made.kernel.for_each_tile(1, 1, scheduler="clc", work=work):  # error
            pass


def no_such_band(made):
    with made.kernel.for_each_tile(1, 1, band=4, band_of="tiles"):  # error
        pass


def asked_twice(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        with work.produce() as stage:
            stage.request_work()  # note
            stage.request_work()  # error


def never_asked(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        with work.produce():  # error # note
            pass


def released_unasked(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        stage = work.producer().acquire()  # note
        stage.release()  # error


def asked_in_a_branch(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        with work.produce() as stage:  # note
            with made.kernel.when(made.count > 1):
                stage.request_work()  # error


def two_schedulers(module):
    with module.kernel("k") as kernel:  # error
        work = kernel.work_queue(2)  # note
        for name in ("one", "two"):
            with kernel.role(name, warps=1):
                with work.consume():
                    pass
                with work.produce() as stage:  # note
                    stage.request_work()


def exchange_of_one_cta(module):
    with module.kernel("k", cluster=(2, 1)) as kernel:  # note
        kernel.exchange(PRODUCT)  # error


def exchange_of_another_fragment(module):
    with module.kernel("k", cluster=(1, 1, 2)) as kernel:
        exchange = kernel.exchange(PRODUCT)  # note
        with kernel.role("multiply", warps=4):
            exchange.reduce_scatter(kernel.zeros(TOTAL))  # error


def exchange_in_a_role(module):
    with module.kernel("k", cluster=(1, 1, 2)) as kernel:
        with kernel.role("multiply", warps=4):  # note
            kernel.exchange(PRODUCT)  # error


def work_queue_in_a_role(made):
    with made.kernel.role("scheduler", warps=1):  # note
        made.kernel.work_queue(2)  # error


def multicast_copy(made):
    with made.kernel.role("load", warps=1):
        with made.ring.produce() as stage:
            made.kernel.copy(made.source[0, 0].multicast("m"), stage["row"], stage.mbarrier())  # error


def variable_of_another_type(made):
    with made.kernel.role("read", warps=4):
        made.kernel.variable(0.0).set(made.count)  # error


def variable_of_no_role(made):
    number = made.kernel.variable(0.0)  # note
    with made.kernel.role("read", warps=4):  # error
        number.set(1.0)


def no_index_of_whole_units(module):
    with module.kernel("k") as kernel:
        kernel.index("count")
    with module.launch() as host:
        values = host.read("values", ARRAY)  # note
        host.launch(kernel, grid=1, count=values.whole_units())  # error


CONSUMER, STAGE = "consumer end of pipeline 'row'", "stage of consumer end of pipeline 'row'"
REQUEST = "stage of producer end of work queue"
CASES = [
    (acquired_twice, f"{CONSUMER} holds a slot already (L2); release that first"),
    (scope_of_an_end_that_holds, f"{CONSUMER} holds a slot already (L2); release that first"),
    (never_released, f"{CONSUMER} is acquired and never given back (L1); release its stage before the role 'read' ends"),
    (waited_for_in_vain, f"{CONSUMER} is waited for and never given back (L1); acquire it before the role 'read' ends"),
    (warp_never_released, "mma warp of output pipeline is acquired and never given back (L1); release its stage before the 'mma_warp' ends"),
    (used_after_release, f"{STAGE} is used after it was released (L2); use it before its 'release'"),
    (release_in_a_scope_that_does, f"{STAGE} is handed over twice (L1): its scope does so at its end; leave 'release' out"),
    (arrive_of_an_acquired_stage, f"{STAGE} has been acquired by its end, which 'release' advances (L1); call that instead"),
    (acquired_in_a_loop, f"{CONSUMER} is acquired in a loop that may run again, or not at all (L3); release it in the loop"),
    (waited_for_in_a_loop, f"{CONSUMER} is waited for in a loop that may run again, or not at all (L3); acquire it in the loop"),
    (released_in_one_arm, f"{CONSUMER} is released on one path but not on another (L4); do the same in both arms"),
    (tiles_of_no_queue, "'clc' takes its tiles from a work queue (W1); give work=kernel.work_queue(...)"),
    (queue_of_known_tiles, "'persistent' knows its tiles and reads no work queue (W1); leave 'work' out, or give scheduler='clc'"),
    (answers_read_in_their_loop, "consumer end of work queue is read by a tile loop (L2); end that one first"),
    (answers_waited_for_before_their_loop,
     "consumer end of work queue has been waited for, but a tile loop waits itself; leave 'wait' out"),
    (no_such_band, "there is no band of tiles; give band_of='rows' or 'columns'"),
    (asked_twice, f"{REQUEST} asks twice (W2); keep one 'request_work'"),
    (never_asked, f"{REQUEST} asks for nothing (W2); call its 'request_work' before it is handed over"),
    (released_unasked, f"{REQUEST} asks for nothing (W2); call its 'request_work' before it is handed over"),
    (asked_in_a_branch, f"{REQUEST} asks in another scope than that of its taking (W2); call 'request_work' where the slot is taken"),
    (two_schedulers, "work queue has 2 producers, and takes one; make one role of them"),
    (exchange_of_one_cta, "kernel 'k' has no CTAs that divide K (J1); make it with cluster=(1, 1, ctas)"),
    (exchange_of_another_fragment, f"the exchange is of {PRODUCT} (J2), but the fragment is {TOTAL}; make both of one type"),
    (exchange_in_a_role, "an exchange stands in the role 'multiply' (P3); put it directly under kernel 'k'"),
    (work_queue_in_a_role, "a work queue stands in the role 'scheduler' (P3); put it directly under kernel 'k'"),
    (multicast_copy, "a copy into views has no multicast; write it as 'stage.load'"),
    (variable_of_another_type, "value 'count' is of type index where f32 is needed"),
    (variable_of_no_role, "variable of type f32 is changed in role 'read' but belongs to no role; make it in the role"),
    (no_index_of_whole_units, "the argument for value 'count' is an array; give a number"),
]


@pytest.mark.parametrize("case, message", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_error(case, message):
    refuse(case, message)


def copy_of_two_stages(made):
    other = made.kernel.pipeline(2, row=ROW)
    with made.kernel.role("load", warps=1):
        with made.ring.produce() as stage, other.produce() as second:
            tile = stage["row"]  # note
            barrier = second.mbarrier()  # note
            made.kernel.copy(made.source[0, 0], tile, barrier)  # error
    with made.kernel.role("read", warps=4):
        with made.ring.consume(), other.consume():
            pass


def copy_into_what_is_read(made):
    with made.kernel.role("load", warps=1):
        with made.ring.produce():
            pass
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            made.kernel.copy(made.source[0, 0], stage["row"], stage.mbarrier())  # error # note


def column_outside(made):
    with made.kernel.role("load", warps=1):
        with made.ring.produce():
            pass
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            stage["row"][128]  # error


COPY = "'fp8.tma_copy' op the tile and the barrier must be lent by one producer stage, with fp8.tile and fp8.mbarrier (X2)"


@pytest.mark.parametrize("case, message", [
    (copy_of_two_stages, COPY),
    (copy_into_what_is_read, COPY),
    (column_outside, "'fp8.read_element' op column 128 lies outside the 128 columns of the row (F7)"),
])
def test_compilers_error(case, message, compiler):
    """Rules that the verifier checks: its errors and notes stand at the lines of Python that made the ops."""
    refuse_by_compiler(case, message, compiler)
