# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JSON files that differ from another by a JSON Patch (RFC 6902), for the tests' scripts."""

import json
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-jsonpatch, for a python3 from elsewhere
import jsonpatch


def read_patched(path, patch):
    """The text of a JSON file after the patch, formatted as fp8-opt writes manifests. Raises ValueError where the patch does not apply."""
    with open(path, encoding="utf-8") as file:
        original = json.load(file)
    try:
        return json.dumps(jsonpatch.apply_patch(original, patch), indent=2) + "\n"
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        raise ValueError(f"{path}: the patch {json.dumps(patch)} does not apply: {error}") from error
