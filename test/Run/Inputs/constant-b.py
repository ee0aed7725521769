# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: constant-b.py GEMM CONFIG: prints the example's GEMM with that configuration, B and its scales constant."""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
text, constants = re.subn(r'(fp8\.name = "b(?:_scale)?", fp8\.access = )"read"', r'\1"constant"', text)
result = "outs(%d : memref<?x?xbf16>)"
assert constants == 2 and result in text
print(text.replace(result, f"{result} config <{sys.argv[2]}>"))
