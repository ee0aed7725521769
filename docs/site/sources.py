# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Sphinx extension: a relative link to a file or folder of the repository that is no page leads to a page that shows it. Pictures that
GitHub draws by Mermaid are drawn by Graphviz, which needs no script in the reader's browser."""

import functools
import html
import os
import posixpath
import re
import subprocess

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.util import logging

from mlir_lexer import MlirLexer

LEFT_OUT = re.compile(r"^(```+|~~~+).*?^\1[^\n]*$|`[^`\n]*`|<!--.*?-->", re.M | re.S)
LINK = re.compile(r"(\]\()([^()\s]+)(\))")
LARGEST = 400_000  # bytes of a file that is shown whole
logger = logging.getLogger(__name__)
ROOT = os.environ["FP8_SITE_ROOT"]


@functools.cache
def tracked():
    """The repository's files, by git."""
    return frozenset(subprocess.run(["git", "-C", ROOT, "ls-files"], check=True, text=True, stdout=subprocess.PIPE).stdout.split("\n")[:-1])


def children(folder):
    prefix = folder + "/" if folder != "." else ""
    return sorted({prefix + name[len(prefix):].split("/")[0] for name in tracked() if name.startswith(prefix)})


def page_of(app, path):
    """The name of the page of a document, or None."""
    if path == "README.md":
        return "index"
    name = path[:-3] if path.endswith(".md") else posixpath.join(path, "README")
    return name if name in app.env.found_docs else None


def rewrite_links(app, docname, source):
    folder = posixpath.dirname(docname)
    text, place, parts = MERMAID.sub(draw, source[0]), 0, []

    def rewrite(match):
        target, _, anchor = match[2].partition("#")
        if not target or re.match(r"\w+:", target) or target.endswith((".svg", ".png")):
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        page = page_of(app, path)
        if page:
            relative = posixpath.relpath(page + ".md", folder or ".")
            return match[1] + relative + ("#" + anchor if anchor else "") + match[3]
        if path in tracked() or children(path):
            return match[1] + "source:" + path + match[3]
        return match[0]  # MyST says that it is not there

    for code in LEFT_OUT.finditer(text):
        parts += [LINK.sub(rewrite, text[place:code.start()]), code[0]]
        place = code.end()
    source[0] = "".join(parts) + LINK.sub(rewrite, text[place:])


MERMAID = re.compile(r"^```mermaid\ngraph TD\n(.*?)^```$", re.M | re.S)
MERMAID_NODE = re.compile(r"(\w+)([([])([^)\]]*)[)\]]")


def draw(match):
    """A fence for sphinx.ext.graphviz, of one with nodes NAME(TEXT), NAME[TEXT] and arrows NAME --> NAME."""
    lines = ["```{graphviz}", "digraph {", 'node [shape=box, fontname="sans-serif", fontsize=11, color="#44546a", fillcolor="#fdf3d8"];']
    for line in match[1].split("\n")[:-1]:
        node, arrow = MERMAID_NODE.fullmatch(line.strip()), re.fullmatch(r"(\w+) --> (\w+)", line.strip())
        if node:
            lines.append('%s [label="%s", style="filled%s"];' % (node[1], node[3], ",rounded" if node[2] == "(" else ""))
        elif arrow:
            lines.append("%s -> %s;" % arrow.groups())
        else:
            raise ValueError("the site does not draw this line of Mermaid: " + line)
    return "\n".join(lines + ["}", "```"])


def wanted(app):
    if not hasattr(app.env, "fp8_sources"):
        app.env.fp8_sources = {}
    return app.env.fp8_sources


def resolve(app, doctree, docname):
    paths = wanted(app)[docname] = set()
    for node in doctree.findall(nodes.reference):
        uri = node.get("refuri", "")
        if uri.startswith("source:"):
            path = uri[len("source:"):]
            paths.add(path)
            node["refuri"] = app.builder.get_relative_uri(docname, "source/" + path)


def lexer_of(path):
    if path.endswith((".mlir", ".td")):
        return MlirLexer()
    try:
        return get_lexer_for_filename(path)
    except ClassNotFound:
        return TextLexer()


def show(path):
    full = os.path.join(ROOT, path)
    if os.path.isdir(full):
        return None
    if os.path.getsize(full) > LARGEST:
        return "<p>This file has %d bytes; read it in the repository.</p>" % os.path.getsize(full)
    try:
        with open(full, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError:
        return "<p>This file is no text.</p>"
    return highlight(text, lexer_of(path), HtmlFormatter(linenos="inline", cssclass="highlight source-file"))


def pages(app):
    paths = set().union(*wanted(app).values()) if wanted(app) else set()
    folders = {path for path in paths if os.path.isdir(os.path.join(ROOT, path))}
    # A folder that a page names lists its files, and each of these has a page.
    listed = {child for folder in folders for child in children(folder) if os.path.isfile(os.path.join(ROOT, child))}
    known = paths | listed
    for path in sorted(known):
        body = show(path)
        if body is None:
            items = []
            for child in children(path):
                name = html.escape(posixpath.basename(child))
                if child in known:
                    name = '<a href="%s">%s</a>' % (app.builder.get_relative_uri("source/" + path, "source/" + child), name)
                items.append("<li>%s</li>" % name)
            body = "<ul>%s</ul>" % "".join(items)
        yield "source/" + path, {"title": path, "body": "<h1>%s</h1>%s" % (html.escape(path).replace("/", "/<wbr>"), body)}, "page.html"
    logger.info("%d files and folders of the repository shown", len(known))


def forget(app, env, docname):
    wanted(app).pop(docname, None)


def merge(app, env, docnames, other):
    wanted(app).update(getattr(other, "fp8_sources", {}))


def setup(app):
    app.connect("source-read", rewrite_links)
    app.connect("doctree-resolved", resolve)
    app.connect("html-collect-pages", pages)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
