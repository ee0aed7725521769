# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of the Python API: what the package's modules export, from their sources and docstrings, read by griffe. Nothing is imported, so
that neither the library nor NumPy need be there."""

import os
import re
import textwrap

import griffe

MODULES = ("fp8", "fp8.builder", "fp8.quantize", "fp8.reference", "fp8.testing", "fp8.tuning")
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n|\n(?= {4}))+")  # an example in a docstring
WIDE = 100  # columns of a signature that stays on one line


def resolve(member):
    return member.final_target if member.is_alias else member


def exported(module):
    """The names that a module exports: by __all__, else what it defines without an underscore."""
    names = module.exports or [name for name, member in module.members.items() if not name.startswith("_") and not member.is_alias]
    return [name for name in map(str, names) if not name.startswith("_") and name in module.members]


def signature(function, name):
    """The function's head as it is written."""
    parts, star = [], False
    for parameter in function.parameters:
        if parameter.name == "self":
            continue
        if parameter.kind is griffe.ParameterKind.keyword_only and not star:
            parts.append("*")
            star = True
        star = star or parameter.kind is griffe.ParameterKind.var_positional
        mark = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(parameter.kind, "")
        text = mark + parameter.name + (": %s" % parameter.annotation if parameter.annotation else "")
        if parameter.default is not None and not mark:
            text += (" = %s" if parameter.annotation else "=%s") % parameter.default
        parts.append(text)
    returns = " -> %s" % function.returns if function.returns else ""
    line = "%s(%s)%s" % (name, ", ".join(parts), returns)
    return line if len(line) <= WIDE else "%s(\n%s)%s" % (name, "".join("    %s,\n" % part for part in parts), returns)


def indent(text):
    return text.replace("\n", "\n  ")


def documentation(member):
    """The docstring as Markdown; its Google sections are lists."""
    if not member.docstring:
        return ""
    text = ""
    for part in member.docstring.parse("google", warnings=False):
        if part.kind is griffe.DocstringSectionKind.text:
            text += "\n%s\n" % INDENTED.sub(lambda match: "```python\n%s```\n" % textwrap.dedent(match[0]), part.value + "\n")
        elif part.kind is griffe.DocstringSectionKind.examples:
            text += "".join("\n```python\n%s\n```\n" % value for _, value in part.value)
        elif isinstance(part.value, list):
            text += "\n**%s**\n\n" % part.kind.value.capitalize()
            for item in part.value:
                name = getattr(item, "name", "") or (str(item.annotation).strip("()") if part.kind is griffe.DocstringSectionKind.raises else "")
                text += "- %s%s\n" % ("`%s`: " % name if name else "", indent(item.description))
    return text


def entry(name, member, level):
    heading = "#" * level + " `%s`\n" % name
    if member.is_function:
        return "\n%s\n```python\n%s\n```\n%s" % (heading, signature(member, name.split(".")[-1]), documentation(member))
    if member.is_class:
        bases = ", ".join(str(base) for base in member.bases)
        text = "\n%s\n```python\nclass %s%s\n```\n%s" % (heading, name.split(".")[-1], "(%s)" % bases if bases else "", documentation(member))
        for own, inner in member.members.items():
            if not own.startswith("_") and not inner.is_alias and inner.docstring:
                text += entry("%s.%s" % (name, own), inner, level + 1)
        return text
    if member.is_attribute:
        return "\n%s\n```python\n%s = %s\n```\n%s" % (heading, name, member.value, documentation(member))
    return ""


def page(root):
    package = griffe.load("fp8", search_paths=[os.path.join(root, "python")], resolve_aliases=True)
    text = "# Python API\n\nMade from the docstrings. [The guide](../docs/Python.md) has the examples.\n"
    for path in MODULES:
        module = package if path == "fp8" else package[path.partition(".")[2]]
        text += "\n## %s\n%s" % (path, documentation(module))
        for name in exported(module):
            text += entry("%s.%s" % (path, name), resolve(module.members[name]), 3)
    # A path of a document in a docstring is a link on the site.
    return re.sub(r"(?<![\w/])(?<!\]\()docs/(\w+)\.md\b", r"[\1](../docs/\1.md)", text)
