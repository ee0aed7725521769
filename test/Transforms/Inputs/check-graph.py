# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-graph.py REPORT.json GRAPH.dot: the edges of the graph are the arrivals and waits of the report, no more and no fewer."""
import collections
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    (kernel,) = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    graph = file.read()

expected = collections.Counter()
for index, ring in enumerate(kernel["rings"]):
    for barrier in ring["barriers"]:
        for arrival in barrier["arrives"]:
            expected["role " + arrival["role"], "ring%d" % index, "%s: %d" % (barrier["name"], arrival["count"])] += 1
        for role in barrier["waits"].split(" and "):
            expected["ring%d" % index, "role " + role, barrier["name"]] += 1
drawn = collections.Counter()
for source, target, back, label in re.findall(r'^  (.+?) -> (.+?) \[(dir=back, )?.*?, label="(.+?)(?: and \d+ bytes)?", ', graph, re.M):
    ends = [source.strip('"'), target.strip('"')]
    drawn[(*(reversed(ends) if back else ends), label)] += 1
nodes = set(re.findall(r'^  ("?)(.+?)\1 \[shape=', graph, re.M))
names = {name for _, name in nodes}
assert drawn == expected, (drawn - expected, expected - drawn)
assert all(end in names for edge in drawn for end in edge[:2]), names
assert len(kernel["roles"]) + len(kernel["rings"]) == len(names), names
