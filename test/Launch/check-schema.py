# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates every example manifest and counts, group by group, how many the schema accepts.

usage: check-schema.py SCHEMA
"""

import json
import pathlib
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-jsonschema, for a python3 from elsewhere
import jsonschema
import manifests

schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for group, examples in manifests.groups():
    accepted, refused = [], []
    for name, text in examples:
        (accepted if validator.is_valid(json.loads(text)) else refused).append(name)
    print(f"{group}: {len(accepted)} accepted, {len(refused)} refused")
    for name in refused if group != "invalid" else accepted:
        print(f"  not as expected: {name}")
