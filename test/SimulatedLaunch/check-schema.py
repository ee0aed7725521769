# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the schema of launch descriptions to the descriptions of DescriptionTest.cpp, and to others that are right.

usage: check-schema.py SCHEMA INPUTS RIGHT...
"""

import copy
import json
import pathlib
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-jsonschema, for a python3 from elsewhere
import jsonschema


def replaced(description, pointer, value):
    """The description with the value at a JSON pointer replaced, or put there."""
    description = copy.deepcopy(description)
    *path, last = pointer.strip("/").split("/")
    place = description
    for key in path:
        place = place[int(key) if isinstance(place, list) else key]
    place[int(last) if isinstance(place, list) else last] = value
    return description


schema, inputs = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
jsonschema.Draft202012Validator.check_schema(schema)
accepts = jsonschema.Draft202012Validator(schema).is_valid
whole = json.loads((inputs / "whole.json").read_text())
wrong = [path for path in [inputs / "whole.json", *sys.argv[3:]] if not accepts(json.loads(pathlib.Path(path).read_text()))]
refused = 0
for case in json.loads((inputs / "broken.json").read_text()):
    accepted = accepts(replaced(whole, case["at"], case["value"]))
    refused += not accepted
    types = case["message"].partition("is not one of ")[2]
    if case["at"].endswith("/dtype") and types and types.split(", ") != schema["$defs"]["dtype"]["enum"]:
        wrong.append(f"the types of the schema: the reader's are {types}")
    if accepted != (case.get("schema") == "accepts"):
        wrong.append(f"{case['at']}: {'accepted' if accepted else 'refused'}")
print(*(f"not as expected: {each}" for each in wrong), f"{refused} refused, {len(wrong)} not as expected", sep="\n")
