#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the pictures of graphs in Markdown files to what they are of.

An image that follows a comment `<!-- picture of: fp8-opt ARGUMENTS -->` is an SVG file that Graphviz made of the graph that the command
prints in the root of the repository. With `<!-- picture of: the table above -->` the graph is that of the last table in front of it, whose columns
begin with from, op and to. Its nodes and edges, with their labels, must be those of today's graph; only --update needs Graphviz,
and makes those anew that are not.

usage: check-pictures.py [--update] FP8_OPT ROOT FILE...
"""

import collections
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as tree

PICTURE = re.compile(r"<!-- picture of: (?:fp8-opt (.*?)|the table above) -->\n!\[[^\]]+\]\((.*?)\)")
STATEMENT = re.compile(r'^  ("[^"]+"|\w+)(?: (->) ("[^"]+"|\w+))? \[.*?\blabel="(.*?)"(?:, tooltip="(.*?)")?\];$', re.M)
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


def drawn_by(graph):
    """What a graph draws: its title, and the name, label and tooltip of each node and edge."""
    parts = [re.search(r'^  label="(.*?)"', graph, re.M)[1]]
    for source, arrow, target, label, tooltip in STATEMENT.findall(graph):
        parts.append(((source + arrow + target).replace('"', ""), label.replace("\\n", " "), tooltip))
    return collections.Counter(parts)


def graph_of_table(text):
    """The graph of the states in the last table of the text."""
    table = re.findall(r"^\| from \| op \| to \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)[-1]
    steps = [[cell.strip(" `") for cell in line.strip("|").split("|")[:3]] for line in table.splitlines()]
    states = list(dict.fromkeys(state for source, _, target in steps for state in (source, target)))
    lines = ["digraph {", '  label="states of a handle"; labelloc=t; rankdir=LR; fontname="Helvetica,Arial,sans-serif"; fontsize=16;',
             '  node [shape=box, style="rounded,filled", fillcolor="#dce9f7", color="#44546a", fontname="Helvetica,Arial,sans-serif", fontsize=13];',
             '  edge [color="#44546a", fontname="Courier,monospace", fontsize=12];']
    lines += ['  "%s" [label="%s"];' % (state, state) for state in states]
    lines += ['  "%s" -> "%s" [label="%s"];' % (source, target, op) for source, op, target in steps]
    return "\n".join(lines + ["}"]) + "\n"


def drawn_in(path):
    if not os.path.exists(path):
        return None
    parts = []
    for group in tree.parse(path).iter(SVG + "g"):
        if group.get("class") == "graph":
            parts.append(group.find(SVG + "text").text)
        elif group.get("class") in ("node", "edge"):
            label = " ".join(text.text.strip() for text in group.iter(SVG + "text"))
            tooltip = "".join(link.get(LINK + "title") for link in list(group.iter(SVG + "a"))[:1])
            parts.append((group.find(SVG + "title").text, label, tooltip))
    return collections.Counter(parts)


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    fp8_opt, root, *files = arguments[update:]
    checked = stale = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in PICTURE.finditer(text):
            checked += 1
            graph = graph_of_table(text[:match.start()]) if not match[1] else subprocess.run([fp8_opt] + shlex.split(match[1]) + ["-o", os.devnull], cwd=root,
                                   capture_output=True, text=True, check=True).stdout
            picture = os.path.join(os.path.dirname(path), match[2])
            if drawn_in(picture) == drawn_by(graph):
                continue
            stale += 1
            if update:
                subprocess.run(["dot", "-Tsvg", "-o", picture], input=graph, text=True, check=True)
                if drawn_in(picture) != drawn_by(graph):
                    sys.exit("%s: error: Graphviz draws another graph" % picture)
            else:
                line = text.count("\n", 0, match.start()) + 1
                print("%s:%d: error: %s draws another graph than %s; renew it with --update"
                      % (path, line, "fp8-opt" if match[1] else "the table", match[2]))
    print("%d pictures checked, %d stale" % (checked, stale))
    return 1 if (stale and not update) or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
