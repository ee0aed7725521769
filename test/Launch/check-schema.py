# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates every manifest under a directory and counts, directory by directory, how many the schema accepts."""

import json
import pathlib
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-jsonschema, for a python3 from elsewhere
import jsonschema

schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for directory in ("valid", "invalid", "beyond-schema"):
    accepted, refused = [], []
    for path in sorted((pathlib.Path(sys.argv[2]) / directory).glob("*.json")):
        valid = validator.is_valid(json.loads(path.read_text()))
        (accepted if valid else refused).append(path.stem)
    print(f"{directory}: {len(accepted)} accepted, {len(refused)} refused")
    for path in refused if directory != "invalid" else accepted:
        print(f"  not as expected: {path}")
