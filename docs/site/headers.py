# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages of the public headers of C and C++: each declaration with the comment in front of it as text, and its name as a heading."""

import os
import re

NAME = re.compile(r"typedef [^;]*?\(\*(\w+)\)|(?:typedef\s+)?(?:enum class|struct|class|enum|union)\s+(?:\[\[\w+\]\]\s*)?(\w+)|using\s+(\w+)\s*=|#define\s+(\w+)|"
                  r"([\w~]+|operator\S+)\s*\(|(\w+)\s*(?:=|;|\[|\{)")

API_NAME = re.compile(r"(?<![\w/.-])(?:fp8[A-Z]\w*(?:\(\))?|Fp8[A-Z]\w*|FP8_\w+|NULL|--[a-z][\w-]*(?:=[\w=-]*)?)(?![\w/]|\.\w)")
PAGE = re.compile(r"(?<![\w/])(?<!\]\()docs/(\w+)\.md\b")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def comment_text(lines):
    """Comment lines without their marks."""
    text = "\n".join(lines)
    text = re.sub(r"^\s*/\*+ ?|\s*\*/\s*$", "", text) if text.lstrip().startswith("/*") else text
    return "\n".join(re.sub(r"^\s*(?:///?<?|\*) ?", "", line).rstrip() for line in text.split("\n")).strip("\n")


def purpose_and_body(text):
    """What the comment that heads a file says, and what follows it."""
    match = re.match(r"/\*.*?\*/\n|(?://[^\n]*\n)+", text, re.S)
    lines = [line for line in match[0].split("\n") if "SPDX" not in line]
    return comment_text([line.replace("/*", " *", 1) for line in lines]).replace("*/", "").strip(), text[match.end():]


def is_frame(line):
    """Whether a line is no declaration, but what stands around them."""
    return bool(re.match(r'\s*(?:#(?!define \w+[ (]\S)|extern "C" \{|namespace\b.*\{$|\} *(?:/[/*].*)?$|using namespace|FP8_\w+\()', line))


class Reader:
    """Parts of a header, in order: (comment, declarations), of which one may be empty."""

    def __init__(self, body):
        self.parts, self.comment, self.code, self.depth = [], [], [], 0
        self.in_comment = False
        for line in body.split("\n"):
            self.take(line)
        self.end()

    def end(self):
        if self.comment or self.code:
            self.parts.append((comment_text(self.comment), "\n".join(self.code)))
        self.comment, self.code = [], []

    def take(self, line):
        if self.in_comment or (self.depth == 0 and re.match(r"\s*(?://|/\*)", line)):
            if self.code and not self.in_comment:
                self.end()
            self.comment.append(line)
            self.in_comment = "*/" not in line and (self.in_comment or line.lstrip().startswith("/*"))
        elif self.depth == 0 and not line.strip():
            self.end()
        elif self.depth == 0 and is_frame(line) and not self.is_open():
            self.end()
        else:
            self.code.append(line)
            bare = re.sub(r'"(?:\\.|[^"\\])*"|\'.\'|//.*|/\*.*?\*/', "", line)
            self.depth += bare.count("{") + bare.count("(") - bare.count("}") - bare.count(")")

    def is_open(self):
        return bool(self.code) and not re.search(r"[;}]\s*(?:/[/*].*)?$", self.code[-1])


def names_of(code):
    """The names that declarations declare, those of members left out."""
    names, depth = [], 0
    for statement in re.split(r"(?<=[;}])\n(?=\S)", code):
        match = NAME.search(re.sub(r"\[\[\w+\]\]|template <[^>]*>+\s*", "", statement))
        if match and not re.match(r"(?:class|struct)\s+\w+;$", statement):
            name = next(group for group in match.groups() if group)
            if name not in names and name not in ("if", "return"):
                names.append(name)
    return names


def escape(text, root):
    """Prose for Markdown: what looks like a tag is none, names of the API are code, and paths of documents are links. root: the path to the
    site's, from the page."""
    parts = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.S)
    parts[::2] = [PAGE.sub(r"[\1](%sdocs/\1.md)" % root, API_NAME.sub(r"`\g<0>`", re.sub(r"<(?=\w)", r"\\<", part))) for part in parts[::2]]
    return "".join(parts)


def header(path, name, language, root):
    what, body = purpose_and_body(read(path))
    text = "## %s\n\n%s\n" % (name, escape(what, root))
    body = re.sub(r"\A\s*#ifndef \w+\n#define \w+\n", "", body)
    for comment, code in Reader(body).parts:
        names = names_of(code) if code else []
        if names:
            text += "\n### %s\n" % ", ".join("`%s`" % name for name in names)
        if comment:
            text += "\n%s\n" % escape(comment, root)
        if code and names:
            text += "\n```%s\n%s\n```\n" % (language, code)
    return text


def c_page(root):
    folder = os.path.join(root, "include", "fp8-c")
    return "# C API\n\n`libfp8.so` and the libraries beside it; [how to use them](../docs/Runtime.md#the-c-api).\n\n" + "\n".join(
        header(os.path.join(folder, name), name, "c", "../") for name in sorted(os.listdir(folder)) if name.endswith(".h"))


def folders(root):
    base = os.path.join(root, "include", "fp8")
    for directory, inner, names in os.walk(base):
        inner.sort()
        if any(name.endswith(".h") for name in names):
            yield os.path.relpath(directory, base), sorted(name for name in names if name.endswith(".h"))


def title(folder):
    return "fp8" if folder == "." else folder


def cpp_page(root, purposes):
    """purposes: what each folder is for, by its name in include/fp8."""
    text = "# C++ API\n\nThe headers of the installed package, by folder. [How to link and what needs MLIR](../docs/embedding.md); [which folder may\ninclude which](../docs/Architecture.md#layers).\n"
    text += "\n| folder | what it is |\n|---|---|\n" + "".join("| [%s](cpp/%s.md) | %s |\n" % (title(folder), title(folder), purposes[folder]) for folder, _ in folders(root))
    text += "\n```{toctree}\n:hidden:\n:maxdepth: 1\n\n%s\n```\n" % "\n".join("%s <cpp/%s>" % (title(folder), title(folder)) for folder, _ in folders(root))
    return text


def cpp_folders(root, purposes):
    for folder, names in folders(root):
        text = "# C++ headers: %s\n\n%s.\n\n```cpp\n%s\n```\n" % (title(folder), purposes[folder][0].upper() + purposes[folder][1:], "\n".join('#include "%s"' % os.path.normpath(os.path.join("fp8", folder, name)) for name in names))
        for name in names:
            text += "\n" + header(os.path.join(root, "include", "fp8", folder, name), name, "cpp", "../../")
        yield title(folder), text
