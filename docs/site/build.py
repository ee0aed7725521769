#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the site from what has been built of the project: stages its sources, runs Sphinx with every warning an error, follows every
link, and lists the versions that lie in HTML. Needs the packages of requirements.txt, and Graphviz.

usage: build.py ROOT BUILD HTML [--version NAME]
  BUILD  has docs/ (the target mlir-doc) and bin/
  HTML   the site is HTML/NAME/index.html; other versions stay there
"""

import argparse
import json
import os
import subprocess
import sys

import crawl
import gather


def versions(html):
    """The folders of sites, the newest first."""
    def key(name):
        return [int(part) if part.isdigit() else -1 for part in name.lstrip("v").split(".")]
    found = [name for name in os.listdir(html) if os.path.exists(os.path.join(html, name, "index.html"))]
    return sorted(found, key=key, reverse=True)


LISTING = """(function () {
  var versions = %s, script = document.currentScript, list = document.querySelector(".fp8-versions");
  versions.forEach(function (name) {
    var item = document.createElement("li"), link = document.createElement("a");
    item.className = "toctree-l1" + (name === script.dataset.here ? " current-page" : "");
    link.className = "reference internal";
    link.href = script.dataset.root + "../" + name + "/index.html";
    link.textContent = name;
    item.appendChild(link);
    list.querySelector("ul").appendChild(item);
  });
  list.hidden = false;
})();
"""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("root", "build", "html"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--version", default="main", help="the name of a release's tag; main")
    options = parser.parse_args()
    source = os.path.join(os.path.dirname(options.html), "source")
    gather.stage(options.root, source, os.path.join(options.build, "docs"), os.path.join(options.build, "bin"))
    os.environ.update(FP8_SITE_ROOT=options.root, FP8_SITE_VERSION=options.version)
    html = os.path.join(options.html, options.version)
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", os.path.join(os.path.dirname(options.html), "doctrees"),
                    "-c", gather.HERE, source, html], check=True)
    with open(os.path.join(options.html, "versions.js"), "w", encoding="utf-8") as file:
        file.write(LISTING % json.dumps(versions(options.html)))
    errors, summary = crawl.crawl(html)
    print("\n".join(errors + [summary]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
