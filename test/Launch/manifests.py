# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example manifests under Inputs/, as ManifestInputs.h describes them, for scripts."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lib"))

from patched import read_patched  # pylint: disable=wrong-import-position

INPUTS = pathlib.Path(__file__).parent / "Inputs"


def text_of(row):
    path = INPUTS / row["base"]
    return read_patched(path, row["patch"]) if "patch" in row else path.read_text()


def groups():
    """Yields each group's name and its manifests, pairs of a name and a text."""
    yield "valid", [(path.stem, path.read_text()) for path in sorted((INPUTS / "valid").glob("*.json"))]
    for table in ("invalid", "beyond-schema"):
        yield table, [(row["name"], text_of(row)) for row in json.loads((INPUTS / f"{table}.json").read_text())]
