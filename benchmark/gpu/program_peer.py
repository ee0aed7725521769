# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program built elsewhere as a peer: operands through files in memory."""

import ctypes
import os
import shutil
import tempfile

import torch

import clock
import external


def bytes_of(tensor):
    """Without numpy, which torch can do without."""
    here = tensor.contiguous().cpu()
    return ctypes.string_at(here.data_ptr(), here.numel() * here.element_size())


class ProgramPeer:
    """In place of a peer and its GraphClock: it has measure() and outputs() of the latter."""

    def __init__(self, name, command, operands):
        self.name, self.command, self.operands, self.configuration = name, command, operands, ""
        self.launches = ""
        place = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.directory = tempfile.mkdtemp(prefix="fp8-bench-", dir=place)
        sets = [{"a": bytes_of(one.a), "a_scale": bytes_of(whole_rows(one.a_scale)), "b": bytes_of(one.b),
                 "b_scale": bytes_of(one.b_scale)} for one in operands.sets]
        external.write_request(
            self.directory, operands.shape, operands.sets[0].a_scale.stride(0), sets,
            {"replays": clock.REPLAYS, "rest_s": clock.REST_S, "least_replay_us": clock.LEAST_REPLAY_US})

    def remove_results(self):
        for index in range(len(self.operands)):
            path = external.file_of(self.directory, "d", index)
            if os.path.exists(path):
                os.remove(path)

    def measure(self, during=None):
        self.remove_results()
        microseconds, self.configuration = external.run_program(self.command, self.directory)
        return microseconds

    def outputs(self, _poison):
        """What the last round left."""
        results = []
        for index, one in enumerate(self.operands.sets):
            contents = external.read_result(self.directory, index, one.d.numel() * one.d.element_size())
            flat = torch.frombuffer(bytearray(contents), dtype=torch.bfloat16)
            results.append(flat.view(one.d.shape).to(one.d.device))
        return results

    def __del__(self):
        shutil.rmtree(getattr(self, "directory", ""), ignore_errors=True)


def whole_rows(a_scale):
    """A's scales with the gaps between their rows."""
    return torch.as_strided(a_scale, (a_scale.shape[0], a_scale.stride(0)), a_scale.stride())
