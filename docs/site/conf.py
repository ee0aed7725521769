# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of Sphinx for the site. `./dev site` stages the sources with gather.py and passes what is not known here in the
environment: FP8_SITE_ROOT, the repository, and FP8_SITE_VERSION."""

import os
import re
import subprocess
import sys

root = os.environ["FP8_SITE_ROOT"]
sys.path.insert(0, os.path.join(root, "docs", "site"))

project = "fp8"
author = "The fp8 contributors"
with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
    release = re.search(r"project\(fp8 VERSION ([\d.]+)", file.read())[1]
version = os.environ.get("FP8_SITE_VERSION", release)


def find_commit():
    """The commit and its day; empty for sources without git."""
    found = subprocess.run(["git", "-C", root, "log", "-1", "--format=%h of %cs"], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""


commit = find_commit()
copyright = f"{author}. fp8 {release}" + (f", commit {commit}" if commit else "")

extensions = ["myst_parser", "sphinx.ext.graphviz", "sphinx_copybutton", "sources", "literals", "mlir_lexer"]
exclude_patterns = []
suppress_warnings = ["misc.highlighting_failure"]  # of excerpts with ... in them

# Markdown as GitHub shows it: anchors of headings have the same names.
myst_heading_anchors = 6
myst_enable_extensions = ["fieldlist"]
myst_html_meta = {"description": "fp8: a compiler for warp-specialised FP8 kernels on Hopper and Blackwell, and a simulator of their PTX"}
myst_url_schemes = {"http": None, "https": None, "mailto": None, "source": None}

graphviz_output_format = "svg"

highlight_language = "none"

html_theme = "furo"
html_title = f"fp8 {version}"
html_static_path = [os.path.join(root, "docs", "site", "_static")]
html_css_files = ["site.css"]
html_js_files = ["found.js"]
templates_path = [os.path.join(root, "docs", "site", "_templates")]
html_sidebars = {"**": ["sidebar/brand.html", "sidebar/search.html", "sidebar/scroll-start.html", "sidebar/navigation.html",
                        "versions.html", "sidebar/scroll-end.html"]}
html_copy_source = False
html_search_scorer = os.path.join(root, "docs", "site", "_static", "scorer.js")
html_use_index = False  # of what Sphinx's own domains describe, which is nothing here
smartquotes = False  # options keep both dashes
html_favicon = os.path.join(root, "docs", "site", "_static", "ring.svg")
html_show_sphinx = False
copybutton_selector = "div.highlight-sh pre, div.highlight-python pre, div.highlight-console pre"
copybutton_prompt_text = "$ "  # of these the lines behind a prompt are copied
