# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples in Python of the documents run, in their order, and print what stands under them."""

import contextlib
import io
import re

import pytest
from conftest import ROOT


def fences(text):
    """(line, language, text) of each fence."""
    for match in re.finditer(r"^```(\S+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start()) + 2, match[1], match[2]


def run(path, text):
    """Runs the fences marked `python`; those marked `text` are what the ones before them printed, but for commands. Returns how many ran."""
    names, printed, count, last = {"__name__": "docs"}, "", 0, ""
    for line, language, body in fences(text):
        before, last = last, language
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile("\n" * (line - 1) + body, path, "exec"), names)
            printed, count = output.getvalue(), count + 1
        elif language == "text" and before != "sh":
            assert body == printed, f"{path}:{line}: prints {printed!r}"
    return count


@pytest.mark.parametrize("page, least", [("Python.md", 5), ("Foreign.md", 1), ("Serving.md", 1)])
def test_page(page, least, monkeypatch):
    monkeypatch.chdir(ROOT)
    path = ROOT / "docs" / page
    assert run(str(path), path.read_text(encoding="utf-8")) >= least


@pytest.mark.parametrize("text, error", [("```python\nprint(1)\n```\n```text\n2\n```\n", AssertionError), ("```python\nx\n```\n", NameError)])
def test_the_check_itself(text, error):
    with pytest.raises(error):
        run("page.md", text)
