# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one clock: a CUDA graph of launches, each on the next set of operands,
replayed at least 21 times after a short rest; the median of the replays.

A peer has `launch(i)`, which enqueues its product of set i to the current stream,
and `outputs()`, the D of each set as the last launch on it left it.
"""

import statistics
import time

import torch

REPLAYS = 21
ROUNDS = 5
# Long products run at the limit of power, where a round may differ from the next by a tenth.
LONG_US, LONG_ROUNDS = 150.0, 9
REST_S = 0.15
LEAST_REPLAY_US = 1500.0
LEAST_LAUNCHES = 10
MOST_LAUNCHES = 2000


class DeviceHang(Exception):
    pass


def await_event(event, seconds=20.0):
    """Waits, but not for ever."""
    end = time.monotonic() + seconds
    while not event.query():
        if time.monotonic() > end:
            raise DeviceHang("no end after %g s" % seconds)
        time.sleep(0.0002)


def await_all():
    event = torch.cuda.Event()
    event.record()
    await_event(event)


def rounds_for(microseconds):
    """Rounds of a row whose fastest peer takes that long."""
    return LONG_ROUNDS if microseconds >= LONG_US else ROUNDS


def launches_for(microseconds, sets, least_us=LEAST_REPLAY_US, least=LEAST_LAUNCHES):
    """Launches of a replay: enough work, and every set equally often."""
    wanted = max(least, least_us / max(microseconds, 0.5))
    return sets * max(1, -(-min(int(wanted) + 1, MOST_LAUNCHES) // sets))


class GraphClock:
    """A peer's graph. It is captured from the peer's ordinary launches."""

    def __init__(self, peer, sets, replays=REPLAYS, least_us=LEAST_REPLAY_US, least=LEAST_LAUNCHES):
        self.peer, self.sets, self.replays = peer, sets, replays
        self.stream = torch.cuda.Stream()
        self.graph = None
        torch.cuda.synchronize()  # with what made the operands, on another stream
        with torch.cuda.stream(self.stream):
            for index in range(sets):  # loads what is loaded late
                peer.launch(index)
            await_all()
            begin, end = self.events(2)
            begin.record()
            for index in range(sets):
                peer.launch(index)
            end.record()
            await_event(end)
        # Starting launches one by one is slower than a graph is, so it is captured twice.
        rough = begin.elapsed_time(end) * 1000 / sets
        self.capture(launches_for(rough, sets, least_us, least))
        exact = min(self.times(3)) / self.launches
        if launches_for(exact, sets, least_us, least) > self.launches:
            self.capture(launches_for(exact, sets, least_us, least))

    @staticmethod
    def events(count):
        return [torch.cuda.Event(enable_timing=True) for _ in range(count)]

    def capture(self, launches):
        self.launches, self.graph = launches, torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream):
            for index in range(launches):
                self.peer.launch(index % self.sets)

    def times(self, replays, during=None):
        """Microseconds of each replay; `during` is called when half of them have run."""
        with torch.cuda.stream(self.stream):
            self.graph.replay()
            events = self.events(replays + 1)
            events[0].record()
            for event in events[1:]:
                self.graph.replay()
                event.record()
            if during:
                await_event(events[len(events) // 2])
                during()
            await_event(events[-1])
        return [first.elapsed_time(second) * 1000 for first, second in zip(events, events[1:])]

    def measure(self, during=None, around=None):
        """One round: microseconds a launch. `around` is called before and behind the replays, not before the rest."""
        time.sleep(REST_S)
        if around:
            around()
        times = self.times(self.replays, during)
        if around:
            around()
        return statistics.median(times) / self.launches

    def outputs(self, poison):
        """D of every set, from one more replay on poisoned memory."""
        with torch.cuda.stream(self.stream):
            poison(self.peer.outputs())
            self.graph.replay()
            await_all()
        return self.peer.outputs()
