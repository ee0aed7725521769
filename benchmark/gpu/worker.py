# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures rows on the GPU, in a process of its own: what crashes or hangs takes
only this process along, and run.py starts another without the guilty peer.

A line of JSON on the standard input asks for a row; lines of JSON on the standard
output tell what begins, and what came of it:
  {"begin": KEY}           peer KEY is at work, or "operands"
  {"note": TEXT}
  {"measurement": {...}}   keys of report.COLUMNS
  {"done": true}           the row
"""

import gc
import json
import os
import shlex
import statistics
import sys
import traceback

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))  # a packed folder has inputs.py beside this file
import inputs

inputs.require("torch")
# pylint: disable=wrong-import-position
import torch

import clock
import external
import machine
import operands as operand_sets
import peers
import program_peer
import report
import runtime


class Worker:
    def __init__(self, directory, channel):
        self.directory, self.channel = directory, channel
        self.library = runtime.Library(os.path.join(directory, "libfp8runtime.so"))
        self.device = runtime.Device(self.library)
        self.machine = machine.Machine()
        self.common = dict(self.machine.identity(), torch=torch.__version__)
        info = torch.cuda.get_device_properties(0)
        self.multiprocessors, self.l2_bytes = info.multi_processor_count, info.L2_cache_size
        self.common["gpu"] = self.common["gpu"] or info.name
        try:
            import triton
            self.common["triton"] = triton.__version__
        except ImportError:
            pass
        self.cycles = self.make_cycles()

    def make_cycles(self):
        """The reader of cycle counters; None where Triton cannot make it, and then the driver's clock stands in the table."""
        try:
            import cycles
            made = cycles.Cycles(self.multiprocessors)
            made.read()
            return made
        except Exception as error:  # pylint: disable=broad-except  # of Triton's many
            self.say(note="no cycle counters: %s" % (str(error).strip().splitlines() or [type(error).__name__])[0])
            return None

    def say(self, **event):
        self.channel.write(json.dumps(event) + "\n")
        self.channel.flush()

    def makers(self, request):
        """Key of each peer: a function of the operands that makes its clock."""
        makers = {}
        for name in request["peers"]:
            makers[name] = {"cublaslt": self.make_cublaslt, "cublaslt-best": self.make_cublaslt_best, "triton": self.make_triton,
                            "triton-swapped": lambda operands: self.make_triton_swapped(operands, not request["serial"])}[name]
        for name, command in request["programs"].items():
            makers[name] = lambda operands, name=name, command=command: self.make_external(operands, name, command)
            if command.endswith(".so") and request["shape"][0] < peers.PaddedPeer.ROWS:
                makers[name + " padded"] = lambda operands, name=name, command=command: clock.GraphClock(
                    peers.PaddedPeer(operands, lambda padded: self.make_library(padded, name, command)), len(operands))
        if request["floor"]:
            makers[report.FLOOR] = lambda operands: self.make_floor(operands, not request["serial"])
        if request["default"]:
            makers["fp8.gemm"] = lambda operands: clock.GraphClock(
                peers.DefaultPeer(operands, False if request["serial"] else None), len(operands))
        for kernel in request["kernels"]:
            makers["fp8 " + kernel] = lambda operands, kernel=kernel: clock.GraphClock(
                peers.OurPeer(operands, self.device, os.path.join(self.directory, "kernels"), kernel), len(operands))
        return {key: make for key, make in makers.items() if key not in request["without"]}

    @staticmethod
    def make_cublaslt(operands):
        return clock.GraphClock(peers.CublasLtPeer(operands), len(operands))

    def make_cublaslt_best(self, operands):
        import cublaslt
        return clock.GraphClock(cublaslt.tuned(operands, lambda peer: self.quick(peer, operands)), len(operands))

    def make_triton(self, operands):
        import triton_peer
        peer = triton_peer.tuned(operands, self.multiprocessors, lambda peer: self.quick(peer, operands),
                                 lambda text: self.say(note=text))
        return clock.GraphClock(peer, len(operands))

    def make_triton_swapped(self, operands, programmatic):
        import triton_swapped
        peer = triton_swapped.tuned(operands, programmatic, lambda peer: self.quick(peer, operands), lambda text: self.say(note=text))
        return clock.GraphClock(peer, len(operands))

    def make_floor(self, operands, programmatic):
        import floor
        peer = floor.tuned(operands, self.multiprocessors, programmatic, lambda peer: self.quick(peer, operands), lambda text: self.say(note=text))
        return clock.GraphClock(peer, len(operands))

    @staticmethod
    def make_library(operands, name, command):
        return external.LibraryPeer(name, command, operands, lambda: torch.cuda.current_stream().cuda_stream)

    def make_external(self, operands, name, command):
        if command.endswith(".so"):
            return clock.GraphClock(self.make_library(operands, name, command), len(operands))
        return program_peer.ProgramPeer(name, shlex.split(command), operands)

    def quick(self, peer, operands):
        """A few replays, to choose by."""
        self.say(note="")  # a sign of life: compilers are slow
        graph = clock.GraphClock(peer, len(operands))
        return statistics.median(graph.times(7)) / graph.launches

    def measure(self, one, during, samples):
        """One round; the clock of the multiprocessors in it is counted, where Triton can, instead of what the driver says."""
        if not hasattr(one, "graph") or self.cycles is None:
            return one.measure(during)
        readings = []
        microseconds = one.measure(during, lambda: readings.append(self.cycles.read()))
        samples[-1]["sm_mhz"] = self.cycles.megahertz(*readings)
        return microseconds

    def attempt(self, key, function):
        """What the function gives; None, with a measurement of the error, if it fails."""
        self.say(begin=key)
        try:
            return function()
        except clock.DeviceHang as error:
            self.fail(key, error)
            self.say(fatal="hang")
            os._exit(3)  # cleaning up would wait for the kernel
        except Exception as error:  # pylint: disable=broad-except  # a peer's failure is its own
            traceback.print_exc()
            self.fail(key, error)
        try:
            torch.cuda.synchronize()
        except RuntimeError:
            self.say(fatal="the context is lost")
            os._exit(4)
        return None

    def fail(self, key, error):
        name, _, configuration = key.partition(" ")
        text = str(error).strip().splitlines() or [type(error).__name__]
        self.say(measurement=dict(self.common, peer=name, configuration=configuration, right=False, error=text[0][:300]))

    def row(self, request):
        self.say(begin="operands")
        os.environ["FP8_PEER_PROGRAMMATIC"] = "0" if request["serial"] else "1"
        operands = operand_sets.Operands(tuple(request["shape"]), request["seed"], least_bytes=max(
            operand_sets.LEAST_BYTES, 4 * self.l2_bytes), scale_bytes=request["scale_bytes"])
        clocks, rounds, samples = {}, {}, {}
        for key, make in self.makers(request).items():
            made = self.attempt(key, lambda make=make: make(operands))
            if made:
                clocks[key], rounds[key], samples[key] = made, [], []
        for number in range(clock.LONG_ROUNDS):
            if number and number >= clock.rounds_for(min((times[0] for times in rounds.values() if times), default=0)):
                break
            # No peer always follows the same one.
            for key in list(clocks) if number % 2 == 0 else list(reversed(clocks)):
                during = lambda key=key: samples[key].append(self.machine.sample())
                microseconds = self.attempt(key, lambda key=key, during=during: self.measure(clocks[key], during, samples[key]))
                if microseconds is None:
                    del clocks[key]
                else:
                    rounds[key].append(microseconds)
        for key, one in clocks.items():
            if key == report.FLOOR:  # computes nothing that could be judged
                self.say(measurement=self.measurement(key, one, rounds[key], samples[key], None, operands))
                continue
            verdict = self.attempt(key, lambda one=one: operands.judge(one.outputs(operand_sets.poison)))
            if verdict:
                self.say(measurement=self.measurement(key, one, rounds[key], samples[key], verdict, operands))

    def measurement(self, key, one, rounds, samples, verdict, operands):
        peer = getattr(one, "peer", one)
        microseconds = statistics.median(rounds)
        m, n, k = operands.shape
        judgement = {} if verdict is None else {"right": verdict.right, "worst": round(verdict.worst, 4), "frobenius": "%.2e" % verdict.frobenius,
                                                "error": "" if verdict.right else str(verdict)}
        found = {name: [sample[name] for sample in samples if sample[name] is not None]
                 for name in ("sm_mhz", "memory_mhz", "power_w", "celsius")}
        return dict(self.common, peer=key.partition(" ")[0], configuration=peer.configuration, us=round(microseconds, 3),
                    tflops=round(2 * m * n * k / microseconds / 1e6, 1),
                    us_rounds=" ".join("%.3f" % one for one in rounds), launches_per_replay=one.launches,
                    operand_sets=len(operands), **judgement,
                    **{name: round(statistics.median(values), 1) for name, values in found.items() if values})


def main():
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no event
    worker = Worker(sys.argv[1], channel)
    worker.say(note="ready")
    for line in sys.stdin:
        worker.row(json.loads(line))
        gc.collect()
        torch.cuda.empty_cache()
        worker.say(done=True)


if __name__ == "__main__":
    main()
