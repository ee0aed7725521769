# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Sphinx extension: code in a sentence or a cell breaks where one of its parts ends (`fp8.`, `simulate_`, `ptx`; `--kernels=`, `NAME`)
and nowhere else, so that it is readable on a phone and copied as it is. Short code is whole."""

import re

from sphinx.writers.html5 import HTML5Translator

PART_END = re.compile(r"(?<=\w)(?:::|[-_/=,]|\.(?=[A-Za-z_]\w{4}))(?=\w)")  # not before the end of a file's name

SHORT = 18  # characters


class Translator(HTML5Translator):
    def visit_Text(self, node):
        begin = len(self.body)
        super().visit_Text(node)
        if self.protect_literal_text and len(node.astext()) > SHORT:
            self.body[begin:] = [PART_END.sub(r'\g<0></span><wbr><span class="pre">', piece) for piece in self.body[begin:]]


def setup(app):
    app.set_translator("html", Translator)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
