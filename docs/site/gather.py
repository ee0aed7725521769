# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages the sources of the site: every document at its place in the repository, an index, and the pages of the reference that are made.
"""

import os
import re
import shutil
import subprocess
import tomllib

import headers
import python_api

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ("fp8-opt", "fp8-run", "fp8-simulate", "fp8-reduce", "fp8-check-ptx", "fp8-check-proof", "fp8-lsp-server")
PASSES = (("Fp8Pipelines", "Pipelines"), ("Fp8TransformsPasses", "Transforms"), ("Fp8PlanningPasses", "Planning"),
          ("Fp8ConversionPasses", "Conversion"), ("Fp8BackendPasses", "Backend"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def sections():
    with open(os.path.join(HERE, "contents.toml"), "rb") as file:
        return tomllib.load(file)["section"]


def toctrees():
    """The navigation, which every page has at its side."""
    text = ""
    for section in sections():
        pages = [page[:-3] for page in section["pages"]]
        text += "\n```{toctree}\n:hidden:\n:maxdepth: 2\n:caption: %s\n\n%s\n```\n" % (section["title"], "\n".join(pages))
    return text


def clean(text):
    """Markdown of mlir-tblgen without the comment that heads it and what is for MLIR's own site. What heads a table is no heading: in the
    list of what is on a page, the ops stand alone."""
    text = re.sub(r"^\[TOC\]\n", "", re.sub(r"\A<!--.*?-->\n", "", text, flags=re.S), flags=re.M)
    return re.sub(r"^#### (\w+:|Options)$", lambda match: "**%s**" % match[1].rstrip(":"), text, flags=re.M)


def rows(text, header):
    """The rows, as lists of cells, of all tables whose first row begins with `header`."""
    for table in re.findall(r"^\| %s.*\n\|[-|]+\n((?:\|.*\n)+)" % header, text, re.M):
        yield from ([cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines())


def op_facts(root):
    """Of each op, what docs/Semantics.md says beside the description in its .td file, as Markdown."""
    text = read(os.path.join(root, "docs", "Semantics.md"))
    rules = {cells[0]: cells[1] for cells in rows(text, r"label \| rule")}
    facts = {}
    for cells in rows(text, r"op \|.* rules \|"):
        name, labels = cells[0].strip("` "), re.findall(r"[A-Z]\d{1,2}", cells[-1])
        becomes = cells[-2].replace("](#", "](../docs/Semantics.md#")
        facts[name] = "\n- **Becomes**: %s\n" % becomes + "".join("- **%s**: %s\n" % (label, rules[label].replace("](#", "](../docs/Semantics.md#")) for label in labels)
    return facts


def dialect_page(root, docs):
    facts = op_facts(root)
    return re.sub(r"^### `fp8\.(\w+)` \((.*)\)\n\n(_.*_\n)",
                  lambda match: "### `fp8.%s`\n\n%s%s- **C++**: `mlir::%s`\n" % (match[1], match[3], facts.get(match[1], "\n"), match[2]),
                  clean(read(os.path.join(docs, "Dialects", "Fp8Dialect.md"))).replace("# 'fp8' Dialect", "# The dialect: ops, types, attributes", 1), flags=re.M)


def folder_purposes(root):
    """What each folder of include/fp8 is for, by docs/Architecture.md."""
    text = read(os.path.join(root, "docs", "Architecture.md"))
    purposes = {name: cells[1] for cells in rows(text, r"folder \| what it is") for name in re.findall(r"`(\w+)`", cells[0])}
    return purposes | {".": "what registers the dialect, the passes and the pipelines"}


def interfaces_page(docs):
    parts = [clean(read(os.path.join(docs, "Interfaces", name + ".md"))) for name in ("Fp8OpInterfaces", "Fp8TypeInterfaces")]
    return "# Interfaces\n\nWhat ops and types of another dialect implement, so that the checks of this one follow them.\n\n" + "\n".join(
        re.sub(r"^# ", "## ", part, flags=re.M) for part in parts)


def passes_page(docs):
    text = "# Passes and pipelines\n\nWhat each does to a module, with an example before and after it. `fp8-opt --PASS=OPTION=VALUE` runs it.\n"
    for name, title in PASSES:
        path = os.path.join(docs, "Passes", name + ".md")
        if os.path.exists(path):
            text += "\n## %s\n\n%s" % (title, re.sub("^### `-", "### `--", clean(read(path)), flags=re.M))
    return text


def commands_page(tools):
    text = "# Command lines\n\nWhat each tool prints for `--help`. The options of `fp8-opt` are ours; it has those of `mlir-opt`, too.\n"
    for tool in TOOLS:
        result = subprocess.run([os.path.join(tools, tool), "--help"], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text += "\n## %s\n\n```text\n%s```\n" % (tool, result.stdout.replace(os.path.join(tools, ""), ""))
    return text


def stage(root, out, docs, tools):
    """Writes the sources to `out`. docs: what mlir-tblgen has made; tools: where the programs are, whose --help becomes a page."""
    made = {
        "reference/dialect.md": lambda: dialect_page(root, docs),
        "reference/interfaces.md": lambda: interfaces_page(docs),
        "reference/passes.md": lambda: passes_page(docs),
        "reference/commands.md": lambda: commands_page(tools),
        "reference/python.md": lambda: python_api.page(root),
        "reference/c.md": lambda: headers.c_page(root),
        "reference/cpp.md": lambda: headers.cpp_page(root, folder_purposes(root)),
    }
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(os.path.join(root, "docs", "images"), os.path.join(out, "docs", "images"))
    write(os.path.join(out, "index.md"), read(os.path.join(root, "README.md")) + toctrees())
    for page in [page for section in sections() for page in section["pages"]]:
        write(os.path.join(out, page), made[page]() if page in made else read(os.path.join(root, page)))
    for folder, text in headers.cpp_folders(root, folder_purposes(root)):
        write(os.path.join(out, "reference", "cpp", folder + ".md"), text)
