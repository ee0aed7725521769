#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the Python package in a clean virtual environment, as a user does, and runs tests there.

usage: in-venv.py DIR PACKAGE [--pip=OPTION]... -- PYTEST-ARGUMENT...

PACKAGE is a wheel or the repository. The environment has what pyproject.toml names for tests, and nothing of this tree is on its path.
"""

import os
import shutil
import subprocess
import sys


def main():
    directory, package, *rest = sys.argv[1:]
    split = rest.index("--")
    options = [option.split("=", 1)[1] for option in rest[:split]]
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run(["/usr/bin/python3", "-m", "venv", directory], check=True)
    python = os.path.join(directory, "bin", "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    subprocess.run([*pip, *options, package + "[test]"], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "FP8_LIBRARY")}
    # From another directory than the tests', whose parents have the sources.
    where = subprocess.run([python, "-c", "import fp8; print(fp8.__file__)"], check=True, capture_output=True, text=True, cwd=directory, env=environment)
    if not os.path.realpath(where.stdout.strip()).startswith(os.path.realpath(directory)):
        sys.exit("error: fp8 is found at " + where.stdout)
    sys.exit(subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *rest[split + 1:]], check=False, env=environment).returncode)


if __name__ == "__main__":
    main()
