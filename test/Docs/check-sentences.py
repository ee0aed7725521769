#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the sentences of Markdown files are short, and that they use no phrase of a word list. Headings, tables, fences and HTML
comments are left out; code in a line counts as one word.

usage: check-sentences.py [--words=N] [--phrases=FILE] FILE_OR_DIRECTORY...
  --words    the most words that a sentence may have (40)
  --phrases  lines "PHRASE => CURE"; a phrase is a regular expression that matches whole words
"""

import argparse
import re
import sys

from documents import markdown_files

LEFT_OUT = re.compile(r"^```.*?^```[^\n]*$|<!--.*?-->|^ *\|[^\n]*$|^#[^\n]*$", re.M | re.S)
CODE = re.compile(r"``[^`]*``|`[^`]*`")
TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
# A paragraph and an item of a list begin a new sentence, whatever stands before them.
BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d+\.) )")
END = re.compile(r"[.!?](?=[)\"*_\]]*(?:\s|$))")
# These full stops end no sentence: abbreviations and the number of an item.
INSIDE = re.compile(r"(?:\b(?:e\.g|i\.e|vs|cf|etc)|^\s*\d+)\.$")


def blank(match, filling=" "):
    """As many characters as the match on the same lines, so that places stay right."""
    return re.sub(r"[^\n]", filling, match[0])


def prose(text):
    """The text without what is no sentence; code in a line is one word."""
    text = LEFT_OUT.sub(blank, text)
    text = CODE.sub(lambda code: "x" * len(code[0].replace("\n", " ")), text)
    return TARGET.sub(blank, text)


def sentences(text):
    """(begin, end) of each sentence."""
    begin = 0
    for paragraph in [match.end() for match in BREAK.finditer(text)] + [len(text)]:
        for stop in END.finditer(text, begin, paragraph):
            if not INSIDE.search(text[begin : stop.end()]):
                yield begin, stop.end()
                begin = stop.end()
        yield begin, paragraph
        begin = paragraph


def read_phrases(path):
    """(pattern, cure) of each line of a word list."""
    phrases = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                phrase, _, cure = line.strip().partition(" => ")
                phrases.append((re.compile(r"\b(?:%s)\b" % phrase.replace(" ", r"\s+"), re.I), cure))
    return phrases


def check(path, most, phrases):
    """(number of sentences, errors) of one file."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    text = prose(source)
    assert len(text) == len(source)
    checked, errors = 0, []

    def report(offset, message):
        errors.append((offset, "%s:%d: error: %s" % (path, source.count("\n", 0, offset) + 1, message)))

    for begin, end in sentences(text):
        sentence = text[begin:end]
        count = sum(1 for word in sentence.split() if re.search(r"\w", word))
        checked += count > 0
        if count > most:
            begin += len(sentence) - len(sentence.lstrip())
            opening = " ".join(" ".join(source[begin:end].split()).split(" ")[:8])
            report(begin, "'%s ...' has %d words, more than %d; make it two sentences or a list" % (opening, count, most))
    for pattern, cure in phrases:
        for match in pattern.finditer(text):
            report(match.start(), "'%s': %s" % (" ".join(match[0].split()), cure))
    return checked, [message for _, message in sorted(errors)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--phrases")
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    phrases = read_phrases(arguments.phrases) if arguments.phrases else []
    checked, errors = 0, []
    for path in markdown_files(arguments.paths):
        count, found = check(path, arguments.words, phrases)
        checked += count
        errors += found
    print("\n".join(errors + ["%d sentences checked, %d errors" % (checked, len(errors))]))
    return 1 if errors or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
