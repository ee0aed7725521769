#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows the links of a built site from its index: each leads to a file that is there, and to a place in it; each page is at most three
clicks away. Links to other hosts are not followed.

usage: crawl.py FOLDER
"""

import collections
import html.parser
import os
import sys
import urllib.parse

CLICKS = 3
NO_PAGES = ("genindex.html", "search.html", "py-modindex.html")


class Page(html.parser.HTMLParser):
    """The links of a page, and the names in it that links can end with."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.names.add(value)
            elif (tag, name) in (("a", "href"), ("img", "src"), ("link", "href"), ("script", "src"), ("object", "data")) and value:
                self.links.append((tag, value))


def html_files(folder):
    for directory, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith("_")]
        yield from (os.path.relpath(os.path.join(directory, name), folder) for name in names if name.endswith(".html"))


def crawl(folder):
    """(errors, a sentence)."""
    pages = {name: Page(os.path.join(folder, name)) for name in html_files(folder)}
    errors, clicks, waiting, links = [], {"index.html": 0}, collections.deque(["index.html"]), 0
    while waiting:
        name = waiting.popleft()
        for tag, link in pages[name].links:
            target, anchor = urllib.parse.urldefrag(link)
            if urllib.parse.urlparse(link).scheme or target.startswith("//"):
                continue
            links += 1
            path = os.path.normpath(os.path.join(os.path.dirname(name), urllib.parse.unquote(target.split("?")[0]))) if target else name
            if path not in pages:
                if not os.path.exists(os.path.join(folder, path)):
                    errors.append("%s: error: there is no %s" % (name, link))
                continue
            if anchor and urllib.parse.unquote(anchor) not in pages[path].names:
                errors.append("%s: error: there is no place %s" % (name, link))
            if tag == "a" and path not in clicks:
                clicks[path] = clicks[name] + 1
                waiting.append(path)
    for name in sorted(pages):
        if name not in NO_PAGES and clicks.get(name, CLICKS + 1) > CLICKS:
            errors.append("%s: error: more than %d clicks from the index" % (name, CLICKS))
    return errors, "%d pages, %d links, %d errors, at most %d clicks to a page" % (len(pages), links, len(errors), max(clicks.values()))


def main():
    errors, summary = crawl(sys.argv[1])
    print("\n".join(errors + [summary]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
