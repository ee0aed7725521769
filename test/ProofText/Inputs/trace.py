# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what threads do to barriers on the simulator with what the proved skeleton says of the same launch.

usage: trace.py --opt=FILE --run=FILE --work=DIR [--check=FILE] [--kernel=NAME,...] [--sizes=N] [--schedules=N] [--seed=N] [--less-k]

For each kernel, at random sizes: the skeleton gives the waits and signals of each role and CTA, and the slot of each; `fp8-run --trace` gives those of each
lane. --less-k takes a turn out of every loop over K in the PTX, which `fp8-check-ptx` (--check) does not see: conditions are open to it.
"""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Proof", "Inputs"))
import skeleton_run  # noqa: E402

SOURCE = os.path.join(HERE, "..", "..", "..", "examples", "gemm.mlir")
# Each kernel: its chip, and its configuration.
KERNELS = {
    "default": ("sm_100a", ""),
    "small": ("sm_100a", "tile = 128 x 32 x 128, stages = 3, accumulators = 2"),
    "cluster": ("sm_100a", "tile = 128 x 16 x 128, cluster = 2 x 2, stages = 2, accumulators = 2"),
    "pair": ("sm_100a", "tile = 128 x 16 x 128, cta_group = 2, stages = 2, accumulators = 2"),
    "clc": ("sm_100a", "tile = 128 x 16 x 128, stages = 2, accumulators = 2, scheduler = clc"),
    "pair-clc": ("sm_100a", "tile = 128 x 16 x 128, cta_group = 2, stages = 3, accumulators = 3, scheduler = clc"),
    "hopper": ("sm_90a", "tile = 64 x 64 x 128, stages = 3"),
    "hopper-groups": ("sm_90a", "tile = 128 x 64 x 128, stages = 2"),
    "hopper-split": ("sm_90a", "tile = 64 x 64 x 128, split_k = 2"),
}
Step = collections.namedtuple("Step", "waits part ring fills slot")


class Prediction(skeleton_run.Run):
    """The steps of one process. Nobody waits for anybody: only control flow decides."""

    def __init__(self, kernel, parameters, answers):
        super().__init__(kernel["skeleton"], parameters, seed=0)
        self.protocol, self.work, self.done = kernel["protocol"], answers, []

    def add(self, waits, end):
        channel = self.protocol["channels"][end["channel"]]
        count = self.counts[waits, channel["ring"], channel["part"], end["fills"]]
        self.counts[waits, channel["ring"], channel["part"], end["fills"]] += 1
        self.done.append(Step(waits, channel["part"], channel["ring"], end["fills"], count % channel["slots"]))

    def access(self, kind, its, variables):
        end = self.protocol["ends"][self.value(its["end"], variables)]
        channel = self.protocol["channels"][end["channel"]]
        if kind == "answer":
            variables[its["assign"][0][0]] = int(self.counts[True, channel["ring"], channel["part"], end["fills"]] <= self.work)
        elif kind != "drain":
            self.add(kind == "wait", end)
        elif channel["data"]:
            for _ in range(channel["slots"]):
                self.add(True, end)
        yield from ()

    def of(self, process):
        self.counts = collections.Counter()
        skeleton_run.MOST_STEPS = 10**7
        for _ in self.run(process["program"]):
            pass
        # Threads that wait for an allocation use no mbarrier.
        return [step for step in self.done if step.part != "allocation"]


def split_types(text):
    """The types of a list of arguments: a comma in brackets separates none."""
    depth, parts = 0, [""]
    for character in text:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.split(": ", 1)[1] for part in parts]


def places_of(ir):
    """By argument of the kernel: its first parameter in PTX. A memref has pointers, an offset, extents and strides."""
    places, place = [], 0
    for its in split_types(re.search(r"gpu\.func @\w+\((.*?)\) kernel", ir).group(1)):
        places.append(place)
        shape = re.match(r"memref<((?:[?\d]+x)*)", its)
        place += 3 + 2 * shape.group(1).count("x") if shape else 1
    return places


def parameters_of(kernel, launch, block):
    """The values of the skeleton's parameters in a CTA of a launch."""
    for parameter in kernel["skeleton"]["parameters"]:
        name = parameter["name"]
        if name.startswith("argument "):
            yield launch["arguments"][kernel["places"][int(name.split()[1])]]
        elif name == "CTA's number in its cluster":
            yield block[0] % launch["cluster"][0]
        else:
            yield {"CTA's number along x": block[0], "CTAs of the grid along x": launch["grid"][0]}[name]


class Trace:
    """The accesses of each lane to the barriers of rings."""

    def __init__(self, path, rings):
        self.places = {}
        for number, ring in enumerate(rings):
            for slot in range(ring["slots"]):
                self.places[ring["full"] + 8 * slot] = ("slots", number, True, slot)
                self.places[ring["empty"] + 8 * slot] = ("slots", number, False, slot)
            if "deallocation" in ring:
                self.places[ring["deallocation"]] = ("deallocation", number, None, 0)
        self.lanes = collections.defaultdict(list)
        last = {}
        with open(path, encoding="utf-8") as lines:
            self.launch = json.loads(next(lines))
            for line in lines:
                access = json.loads(line)
                step = self.step(access)
                who = (tuple(access["block"]), access["warp"], access["lane"])
                # An instruction that reaches several CTAs has an access for each.
                reached = last.get(who, (None, set()))
                same = not access["waits"] and reached[0] == (access["line"], access["offset"]) and access["rank"] not in reached[1]
                last[who] = ((access["line"], access["offset"]), reached[1] | {access["rank"]} if same else {access["rank"]})
                if step and not same:
                    self.lanes[who].append(step)

    def step(self, access):
        if access["symbol"] != "fp8_shared_memory" or access["offset"] not in self.places:
            return None
        part, ring, is_full, slot = self.places[access["offset"]]
        fills = not access["waits"] if part == "deallocation" else access["waits"] != is_full
        return Step(access["waits"], part, ring, fills, slot)


def last_of_each(steps, predicted):
    """Keeps of the accesses that make up a signal the last one: as many for each."""
    wanted = collections.Counter(step[:4] for step in predicted if not step.waits)
    found = collections.Counter(step[:4] for step in steps if not step.waits)
    seen, kept = collections.Counter(), []
    for step in steps:
        if not step.waits:
            seen[step[:4]] += 1
            share, rest = divmod(found[step[:4]], wanted[step[:4]] or 1)
            if not rest and seen[step[:4]] % share:
                continue
        kept.append(step)
    return kept


def first_difference(actual, predicted):
    for number in range(max(len(actual), len(predicted))):
        pair = [steps[number] if number < len(steps) else "the end" for steps in (actual, predicted)]
        if pair[0] != pair[1]:
            return f"step {number} is {pair[0]}, and the skeleton has {pair[1]}"
    return None


def compare_role(trace, kernel, process, block, work):
    """The first difference of a role in a CTA, and how many steps were compared."""
    role = kernel["events"]["roles"][process["role"]]
    prediction = Prediction(kernel, list(parameters_of(kernel, trace.launch, block)), work)
    predicted, compared = prediction.of(process), 0
    first, count = role["warps"]
    for warp in range(first, first + count):
        lanes = [trace.lanes.get((block, warp, lane), []) for lane in range(32)]
        signals = [sum(not step.waits for step in steps) for steps in lanes]
        for lane, steps in enumerate(lanes):
            elected = lane == signals.index(max(signals))
            expected = predicted if elected else [step for step in predicted if step.waits]
            steps = last_of_each(steps, predicted) if elected else [step for step in steps if step.waits]
            compared += len(steps)
            if difference := first_difference(steps, expected):
                return f'CTA {block[0]}, role "{role["name"]}", warp {warp}, lane {lane}: {difference}', compared
    return None, compared


def get_work(trace, kernel, cluster):
    """How often a cluster got work from its queue: one time less than its first role waited there."""
    queues = [channel["ring"] for channel in kernel["protocol"]["channels"] if channel["name"] == "the work queue"]
    warp = kernel["events"]["roles"][0]["warps"][0]
    steps = trace.lanes.get(((cluster * trace.launch["cluster"][0], 0, 0), warp, 0), [])
    return sum(step.waits and step.ring in queues for step in steps) - 1


def compare(trace, kernel):
    """The first difference of a run, and how many steps were compared."""
    total, size = 0, trace.launch["cluster"][0]
    ran = {block[0] // size for block, _, _ in trace.lanes}
    if not ran:
        return "no CTA has run", 0
    for cluster in sorted(ran):
        work = get_work(trace, kernel, cluster)
        for process in kernel["skeleton"]["processes"]:
            for rank in process["ranks"]:
                difference, compared = compare_role(trace, kernel, process, (cluster * size + rank, 0, 0), work)
                total += compared
                if difference:
                    return difference, total
    return None, total


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def build(options, name):
    """Compiles a kernel; the PTX's path, and what is known of the kernel."""
    chip, config = KERNELS[name]
    with open(SOURCE, encoding="utf-8") as file:
        text = file.read()
    base = os.path.join(options.work, name)
    with open(base + ".mlir", "w", encoding="utf-8") as file:
        file.write(re.sub(r"outs\(.*\)", lambda match: match.group() + (f" config<{config}>" if config else ""), text))
    for arguments in (
        (f"--fp8-gemm-to-ptx=chip={chip}", "--emit=ptx", "-o", base + ".ptx"),
        (f"--fp8-prove=chip={chip} json={base}.json", "-o", os.devnull),
    ):
        result = call(options.opt, base + ".mlir", *arguments)
        if result.returncode:
            sys.exit(f"{name}: {result.stderr}")
    with open(base + ".json", encoding="utf-8") as file:
        kernel = json.load(file)["kernels"][0]
    kernel["ir"] = call(options.opt, base + ".mlir", f"--fp8-choose-config=chip={chip}", f"--fp8-structure-gemm=chip={chip}").stdout
    kernel["places"] = places_of(kernel["ir"])
    return base + ".ptx", kernel


def take_a_turn(path, kernel):
    """Takes a turn out of each loop over K: their number is loaded once."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    place = kernel["places"][int(re.search(r"blocks = (\d+)", kernel["ir"]).group(1))]
    blocks = re.search(rf"ld\.param\.b32\s+(%r\d+), \[gemm_kernel_param_{place}\];", text)
    text = text.replace(blocks.group(), blocks.group() + f"\n\tadd.s32 {blocks.group(1)}, {blocks.group(1)}, -1;", 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def draw_launch(options, draw):
    """The arguments of fp8-run for a random problem and device."""
    k = draw.randint(2 if options.less_k else 0, 10) * 128
    return [f"--m={draw.randint(1, 500)}", f"--n={draw.randint(1, 20) * 16}", f"--k={k}", f"--multiprocessors={draw.choice([4, 8, 148])}"]


def run_once(options, name, path, kernel, launch, seed):
    """One launch: what differs, and how many steps were compared."""
    trace = path + ".trace"
    if os.path.exists(trace):
        os.remove(trace)
    result = call(options.run, path, "--backend=sim", *launch, f"--schedule-seed={seed}", f"--trace={trace}")
    if result.returncode and not options.less_k:
        sys.exit(f"{name} {' '.join(launch)}: {result.stderr}")
    return compare(Trace(trace, kernel["events"]["rings"]), kernel)


def main():
    parser = argparse.ArgumentParser()
    for name in ("opt", "run", "work", "check"):
        parser.add_argument("--" + name)
    parser.add_argument("--kernel", default=",".join(KERNELS))
    for name, default in (("sizes", 2), ("schedules", 1), ("seed", 0)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--less-k", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    differ = 0
    for name in options.kernel.split(","):
        path, kernel = build(options, name)
        if options.less_k:
            take_a_turn(path, kernel)
        if options.check:
            print(f"{name}: " + ("the text agrees" if call(options.check, path, path[:-4] + ".json").returncode == 0 else "the text differs"))
        draw = random.Random(f"{name} {options.seed}")
        for number in range(options.sizes):
            launch = draw_launch(options, draw)
            for schedule in range(options.schedules):
                difference, compared = run_once(options, name, path, kernel, launch, options.schedules * number + schedule)
                differ += difference is not None
                print(f"{name} {' '.join(launch)}: " + (difference or f"{compared} steps as predicted"))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
