# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends, work queues, exchanges and copies that are used wrongly are refused at their line, by Python or by the compiler, with notes at the causes."""

import pytest
from builder_cases import ARRAY, PRODUCT, ROW, TOTAL, consumed_in_a_loop, consumed_twice, leaks, refuse, refuse_by_compiler, requested


def acquired_twice(made):
    with made.kernel.role("read", warps=4):  # note
        end = made.ring.consumer()  # error
        end.acquire()  # error # note
        end.acquire()  # error # note


def scope_of_an_end_that_holds(made):
    with made.kernel.role("read", warps=4):  # note
        made.ring.consumer().acquire()  # error # note
        with made.ring.consume():  # note
            pass


def never_released(made):
    with made.kernel.role("read", warps=4):  # note
        made.ring.consumer().acquire()  # error


def waited_for_in_vain(made):
    with made.kernel.role("read", warps=4):  # note
        made.ring.consumer().wait()  # error


def warp_never_released(made):
    ring = made.kernel.output_pipeline(2, (128, 128))
    with made.kernel.role("mma", warps=1):
        with ring.mma_warp() as warp:  # error
            warp.acquire()


def used_after_release(made):
    with made.kernel.role("read", warps=4):
        stage = made.ring.consumer().acquire()  # error
        stage.release()  # note
        stage["row"]  # note


def release_in_a_scope_that_does(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:  # error # note
            stage.release()  # error # note


def arrive_of_an_acquired_stage(made):
    with made.kernel.role("read", warps=4):  # note
        stage = made.ring.consumer().acquire()
        stage.arrive()  # error


def acquired_in_a_loop(made):
    with made.kernel.role("read", warps=4):  # note
        with made.kernel.range(2):  # note
            made.ring.consumer().acquire()  # error # note


def waited_for_in_a_loop(made):
    with made.kernel.role("read", warps=4):  # note
        with made.kernel.range(2):  # note
            made.ring.consumer().wait()  # error # note


def released_in_one_arm(made):
    with made.kernel.role("read", warps=4):
        stage = made.ring.consumer().acquire()  # error
        with made.kernel.when(made.count > 1):  # note
            stage.release()  # error # note


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
    with made.kernel.role("read", warps=4):  # note
        with made.kernel.for_each_tile(1, 1, scheduler="clc", work=work):  # error # note
            with work.consume():
                pass


def answers_waited_for_before_their_loop(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("read", warps=4):  # note
        work.consumer().wait()  # error # note
        with made.kernel.for_each_tile(1, 1, scheduler="clc", work=work):  # note
            pass


def no_such_band(made):
    with made.kernel.for_each_tile(1, 1, band=4, band_of="tiles"):  # error
        pass


def asked_twice(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        with work.produce() as stage:  # error
            stage.request_work()  # note
            stage.request_work()  # note


def never_asked(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        with work.produce():  # error
            pass


def released_unasked(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        stage = work.producer().acquire()  # error
        stage.release()


def asked_in_a_branch(made):
    work = made.kernel.work_queue(2)
    with made.kernel.role("scheduler", warps=1):
        with work.produce() as stage:  # error
            with made.kernel.when(made.count > 1):
                stage.request_work()  # note


def two_schedulers(module):
    with module.kernel("k") as kernel:
        work = kernel.work_queue(2)  # error
        for name in ("one", "two"):
            with kernel.role(name, warps=1):  # note
                with work.consume():
                    pass
                with work.produce() as stage:
                    stage.request_work()


def exchange_of_one_cta(module):
    with module.kernel("k", cluster=(2, 1)) as kernel:  # note
        kernel.exchange(PRODUCT)  # error


def exchange_of_another_fragment(module):
    with module.kernel("k", cluster=(1, 1, 2)) as kernel:
        exchange = kernel.exchange(PRODUCT)
        with kernel.role("multiply", warps=4):
            exchange.reduce_scatter(kernel.zeros(TOTAL))  # error


def exchange_in_a_role(module):
    with module.kernel("k", cluster=(1, 1, 2)) as kernel:
        with kernel.role("multiply", warps=4):
            kernel.exchange(PRODUCT)  # error


def work_queue_in_a_role(made):
    with made.kernel.role("scheduler", warps=1):
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


def copy_of_two_stages(made):
    other = made.kernel.pipeline(2, row=ROW)
    with made.kernel.role("load", warps=1):
        with made.ring.produce() as stage, other.produce() as second:
            tile = stage["row"]  # note
            barrier = second.mbarrier()  # note
            made.kernel.copy(made.source[0, 0], tile, barrier)  # error


def copy_into_what_is_read(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            made.kernel.copy(made.source[0, 0], stage["row"], stage.mbarrier())  # error # note


def column_outside(made):
    with made.kernel.role("read", warps=4):
        with made.ring.consume() as stage:
            stage["row"][128]  # error


COPY = "'fp8.tma_copy' op the tile and the barrier must be lent by one producer stage, with fp8.tile and fp8.mbarrier (X2)"
CASES = [
    (no_such_band, "there is no band of tiles; give band_of='rows' or 'columns'"),
    (exchange_of_one_cta, "kernel 'k' has no CTAs that divide K (J1); make it with cluster=(1, 1, ctas)"),
    (multicast_copy, "a copy into views has no multicast; write it as 'stage.load'"),
    (variable_of_another_type, "value 'count' is of type index where f32 is needed"),
    (variable_of_no_role, "variable of type f32 is changed in role 'read' but belongs to no role; make it in the role"),
    (no_index_of_whole_units, "the argument for value 'count' is an array; give a number"),
]

COMPILERS_CASES = [
    (acquired_twice, [consumed_twice("consumer end"), leaks("consumer stage", "release"), leaks("consumer stage", "release")]),
    (scope_of_an_end_that_holds, [consumed_twice("consumer end"), leaks("consumer stage", "release")]),
    (never_released, [leaks("consumer stage", "release")]),
    (waited_for_in_vain, [leaks("ready end", "acquire")]),
    (warp_never_released, ["'fp8.mma_warp' op must yield its warp handle first, so that the scope can release it"]),
    (used_after_release, ["consumer stage is used after it was consumed (L2); use it before"]),
    (release_in_a_scope_that_does, ["consumer stage is released by its scope (L1); the body may only borrow it", leaks("consumer end", "close")]),
    (arrive_of_an_acquired_stage, [leaks("signalled stage", "step")]),
    (acquired_in_a_loop, [consumed_in_a_loop("consumer end"), leaks("consumer stage", "release")]),
    (waited_for_in_a_loop, [consumed_in_a_loop("consumer end"), leaks("ready end", "acquire")]),
    (released_in_one_arm,
     ["consumer stage is consumed on one path but not on another (L4); consume it on both, or after they meet", leaks("consumer end", "close")]),
    (tiles_of_no_queue, ["'fp8.for_each_tile' op takes its tiles from a work queue (W1); add 'from' with a consumer end of one"]),
    (queue_of_known_tiles, ["'fp8.for_each_tile' op reads no work queue (W1); remove 'from'"]),
    (answers_read_in_their_loop, [consumed_twice("consumer end"), leaks("consumer end", "close")]),
    (answers_waited_for_before_their_loop, [consumed_twice("consumer end"), leaks("ready end", "acquire")]),
    (asked_twice, [requested(2)]),
    (never_asked, [requested(0)]),
    (released_unasked, [requested(0)]),
    (asked_in_a_branch, [requested(1)]),
    (two_schedulers, [consumed_twice("producer end")]),
    (exchange_of_another_fragment,
     ["'fp8.reduce_scatter' op the exchange is of '!fp8.fragment<64x128xf32, 4, warpgroups>' (J2), but the fragment is '!fp8.fragment<128x128xf32, 4>'"]),
    (exchange_in_a_role, ["'fp8.exchange' op must be in the entry block of its kernel (P3)"]),
    (work_queue_in_a_role, ["'fp8.work_queue' op must be in the entry block of its kernel (P3)"]),
    (copy_of_two_stages, [COPY]),
    (copy_into_what_is_read, [COPY]),
    (column_outside, ["'fp8.read_element' op column 128 lies outside the 128 columns of the row (F7)"]),
]


@pytest.mark.parametrize("case, message", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_error(case, message):
    refuse(case, message)


@pytest.mark.parametrize("case, messages", COMPILERS_CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_compilers_error(case, messages):
    refuse_by_compiler(case, messages)
