# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""unround-batch.py MANIFEST OUT: plants a fault in the launch of a batch, products whose grids are no whole number of clusters high."""
import json
import sys


def unround(value):
    """`value` with x for each ceildiv(x, 2) * 2."""
    if isinstance(value, list):
        return [unround(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"mul": [{"ceildiv": [rows, 2]}, 2]}:
            return unround(rows)
    return {key: unround(item) for key, item in value.items()}


with open(sys.argv[1]) as source, open(sys.argv[2], "w") as out:
    json.dump(unround(json.load(source)), out)
