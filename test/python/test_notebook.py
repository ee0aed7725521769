# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A notebook's interrupt ends a simulation: in a kernel of IPython, which runs an event loop on its main thread."""

from __future__ import annotations

import random
import time

import pytest
from jupyter_client.manager import start_new_kernel

START = """
import fp8, numpy as np
from problem import Problem
p = Problem(1024, 1024, 4096)
kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32", config="tile = 128 x 128 x 128"), chip="sm_90a", assemble=False)
arrays = (p.a, np.ascontiguousarray(p.a_scale.T), p.b, p.b_scale, np.full((1024, 1024), np.nan, np.float32))
"""


@pytest.fixture
def notebook():
    manager, client = start_new_kernel(cwd=__file__.rsplit("/", 1)[0])

    def wait(get, request, kind, **content):
        """For the message that answers a request; others answer the client's own."""
        while True:
            message = get(timeout=100)
            if message["parent_header"].get("msg_id") == request and message["msg_type"] == kind and content.items() <= message["content"].items():
                return message["content"]

    def run(code, when_it_runs=lambda: None):
        request = client.execute(code)
        wait(client.get_iopub_msg, request, "status", execution_state="busy")
        when_it_runs()
        reply = wait(client.get_shell_msg, request, "execute_reply")
        return reply.get("ename", reply["status"])

    run.interrupt = manager.interrupt_kernel
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_the_interrupt_of_a_notebook(notebook):
    assert notebook(START) == "ok"
    random.seed(1)
    for _ in range(5):

        def interrupt():
            time.sleep(0.3 * random.random() + 0.1)  # the cell has begun, the simulation will have
            notebook.interrupt()

        assert notebook("kernel.simulate(*arrays)", interrupt) == "KeyboardInterrupt"
    assert notebook("assert np.isnan(arrays[-1]).all()") == "ok"
