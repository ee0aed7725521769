# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which documents there are, for the checks beside this file."""

import os


def markdown_files(paths):
    """Each path that is a file, and the Markdown files below each that is a directory, in order."""
    for path in paths:
        if os.path.isfile(path):
            yield path
        for directory, folders, names in os.walk(path):
            folders.sort()
            yield from (os.path.join(directory, name) for name in sorted(names) if name.endswith(".md"))
