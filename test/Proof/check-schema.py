# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates certificates, and the same without one of their keys, of each object one.

usage: check-schema.py SCHEMA CERTIFICATE...
"""

import copy
import json
import pathlib
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-jsonschema, for a python3 from elsewhere
import jsonschema

# What an object may lack.
OPTIONAL = {"ptx", "most", "below", "end", "assign", "condition", "to", "meets", "moves", "forget", "process", "sum", "yes", "no", "rank", "keeps",
            "invariants", "turn", "after", "last"}


def keys(value, path=()):
    """The path of each key that is not optional."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for key, inner in items:
        if isinstance(value, dict) and key not in OPTIONAL:
            yield path + (key,)
        if isinstance(inner, (dict, list)):
            yield from keys(inner, path + (key,))


def without(value, path):
    changed = place = copy.deepcopy(value)
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return changed


schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
certificates = [json.loads(pathlib.Path(path).read_text()) for path in sys.argv[2:]]
errors = [error for certificate in certificates for error in validator.iter_errors(certificate)]
for error in errors[:5]:
    print(f"{'/'.join(map(str, error.path))}: {error.message}")
valid = sum(map(validator.is_valid, certificates))
paths = list(keys(certificates[0]))
refused = sum(not validator.is_valid(without(certificates[0], path)) for path in paths)
print(f"{valid} valid, {len(certificates) - valid} not; {len(paths)} keys left out: {refused} not valid")
