# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes bytecode say another version of the fp8 dialect: what a later fp8 would write, or nobody.

usage: set-dialect-version.py IN.mlirbc OUT.mlirbc VERSION
"""

import sys

source, out, version = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()


def section(number):
    """The section of a dialect's version (mlir/Bytecode/Encoding.h): its id, its length 1, the number; each below 64 is 2n + 1."""
    return bytes([7, 2 * 1 + 1, 2 * number + 1])


if data.count(section(1)) != 1:
    sys.exit("error: %s does not have one dialect version 1" % source)
with open(out, "wb") as file:
    file.write(data.replace(section(1), section(int(version))))
