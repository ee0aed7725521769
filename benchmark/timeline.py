# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a part of a trace that fp8-run --timeline wrote: the roles of one CTA, and the slots of its rings.

usage: timeline.py TRACE.json OUT.svg [--cta N] [--begin US] [--end US] [--title TEXT]
"""

import argparse
import json
from xml.sax.saxutils import escape

import inputs

WIDTH, LEFT, ROW, GAP, TOP = 960, 130, 26, 8, 44
COLOURS = {"work": "#4c9f70", "wait": "#d1495b", "start": "#bbbbbb", "ended": "#dddddd", "not recorded": "#f2e394"}
COUNTER = "#30638e"


def read(path, cta, begin, end):
    """Where the window ends, by default the trace; tracks of (name, slices) and of (name, steps), cut to it; times in us."""
    with inputs.reading(path, inputs.TRACE) as file:
        trace = json.load(file)
        end = trace["otherData"]["duration_us"] if end is None else end
        ctas = {event["pid"] for event in trace["traceEvents"]}
        if cta not in ctas:
            raise inputs.InputError("%s: has no CTA %d; it has %s" % (path, cta, ", ".join(map(str, sorted(ctas))) or "none"))
        events = [event for event in trace["traceEvents"] if event["pid"] == cta]
        roles = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
        slices = {role: [] for role in roles}
        counters = {}
        for event in events:
            if event["ph"] == "X" and event["ts"] < end and event["ts"] + event["dur"] > begin:
                slices[event["tid"]].append((max(event["ts"], begin), min(event["ts"] + event["dur"], end), event["cat"], event["name"]))
            elif event["ph"] == "C":
                counters.setdefault(event["name"], []).append((event["ts"], event["args"]["in use"]))
    if not begin < end:
        raise inputs.InputError("the window from %g to %g us is empty; state --begin and --end" % (begin, end))
    return end, [(name, slices[role]) for role, name in sorted(roles.items())], sorted(counters.items())


def draw(path, tracks, counters, begin, end, title):
    def x(time):
        return LEFT + (time - begin) / (end - begin) * (WIDTH - LEFT - 10)

    height = TOP + (len(tracks) + len(counters)) * (ROW + GAP) + 26
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>', f'<text x="10" y="18" font-size="14">{escape(title)}</text>']
    at = LEFT
    for kind in ("work", "wait", "start", "ended"):
        out.append(f'<rect x="{at}" y="26" width="10" height="10" fill="{COLOURS[kind]}"/><text x="{at + 14}" y="35">{kind}</text>')
        at += 70
    y = TOP
    for name, slices in tracks:
        out.append(f'<text x="10" y="{y + 17}">{escape(name)}</text>')
        for first, last, kind, label in slices:
            out.append(f'<rect x="{x(first):.2f}" y="{y}" width="{max(x(last) - x(first), 0.05):.2f}" height="{ROW}" fill="{COLOURS[kind]}">'
                       f"<title>{escape(label)}: {last - first:.3f} us</title></rect>")
        y += ROW + GAP
    for name, steps in counters:
        most = max(count for _, count in steps) or 1
        out.append(f'<text x="10" y="{y + 12}">slots in use</text><text x="10" y="{y + 25}" font-size="9">{escape(name[len("slots of "):])}, of {most}</text>')
        now = ([count for time, count in steps if time <= begin] or [0])[-1]
        points = [(begin, now)]
        for time, count in steps:
            if begin < time < end:
                points += [(time, now), (time, count)]
                now = count
        points += [(end, now)]
        line = " ".join(f"{x(time):.2f},{y + ROW - ROW * count / most:.2f}" for time, count in points)
        out.append(f'<polyline points="{x(begin):.2f},{y + ROW} {line} {x(end):.2f},{y + ROW}" fill="{COUNTER}" fill-opacity="0.3" stroke="{COUNTER}"/>')
        y += ROW + GAP
    for i in range(6):
        time = begin + (end - begin) * i / 5
        anchor = "end" if i == 5 else "middle"
        out.append(f'<text x="{x(time):.1f}" y="{y + 12}" text-anchor="{anchor}">{time:.2f} us</text>')
    with inputs.writing(path) as file:
        file.write("\n".join(out + ["</svg>\n"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("svg")
    parser.add_argument("--cta", type=int, default=0)
    parser.add_argument("--begin", type=float, default=0)
    parser.add_argument("--end", type=float)
    parser.add_argument("--title", default="")
    options = parser.parse_args()
    end, tracks, counters = read(options.trace, options.cta, options.begin, options.end)
    draw(options.svg, tracks, counters, options.begin, end, options.title)


if __name__ == "__main__":
    inputs.run(main)
