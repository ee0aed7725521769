#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of Markdown files, and holds the output that is pasted
there to what they print.

A fence marked `sh` is a script for bash. It runs in a folder that looks like
the root of the repository; what it makes, and where it goes with `cd`, is there
for the fences behind it in the same file. Directly before it `<!-- not run: REASON -->` says that it does
not. A `text` fence that follows, with no other fence between, is all that it
prints, on both streams: `...` stands for what is left out, a time or a number
of registers for any, and white space is not compared. What prints an error must fail; nothing else
may. `<!-- excerpt of: FILE -->` before a fence says that it is in that file,
but for white space, for what `...` leaves out, and for the names of values,
blocks and registers, of which different ones are different there, too.

usage: check-commands.py [--update] BINARIES ROOT WORK_DIR FILE_OR_DIRECTORY...
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from documents import markdown_files

FENCE = re.compile(r"(?:<!-- (not run|excerpt of): ([^\n]+) -->\n)?```([\w-]*)\n(.*?)^```$", re.S | re.M)
# Of a value, block or register; what a constant is stands in its name.
NAME = r"[%^$](?!c\d|true\b|false\b)\w+"
MEASURED = re.compile(r'\d+(?= ms\b| registers\b)|(?<="us":)[\d.]+|(?<="host_us":)[\d.]+')


def look_like_root(binaries, root, directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(os.path.join(directory, "build"))
    os.symlink(binaries, os.path.join(directory, "build", "bin"))
    for name in os.listdir(root):
        if name != "build" and not name.startswith("."):
            os.symlink(os.path.join(root, name), os.path.join(directory, name))


def run(binaries, directory, script):
    """The status of a script, what it prints, and where it ends."""
    environment = dict(os.environ, PATH=binaries + os.pathsep + os.environ["PATH"])
    with tempfile.NamedTemporaryFile("r") as end:
        script = "trap 'pwd > %s' EXIT\n%s" % (shlex.quote(end.name), script)
        result = subprocess.run(["bash", "-e", "-c", script], cwd=directory, env=environment, text=True, check=False,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout, end.read().strip() or directory


def squeeze(text):
    return " ".join(MEASURED.sub("0", text).split())


def is_shown(pasted, printed):
    pattern = ".*?".join(re.escape(part.strip()) for part in squeeze(pasted).split("..."))
    # What is left out may be blanks only.
    return re.fullmatch(pattern.replace(".*?", r"\s?.*?\s?"), squeeze(printed)) is not None


def squeeze_brackets(text):
    return re.sub(r" ?([][(){},]) ?", r"\1", " ".join(text.split()))


def stands_in(excerpt, path):
    names, pattern = {}, ""
    for token in re.split(r"((?:// )?\.\.\.|%s)" % NAME, squeeze_brackets(excerpt)):
        if token.endswith("..."):
            pattern += ".*?"
        elif not re.fullmatch(NAME, token):
            pattern += re.escape(token)
        elif token in names:
            pattern += r"(?P=%s)\b" % names[token]
        else:
            names[token] = "n%d" % len(names)
            pattern += r"(?P<%s>%s)" % (names[token], NAME)
    with open(path, encoding="utf-8") as file:
        match = re.search(pattern, squeeze_brackets(file.read()))
    return match is not None and len(set(match.groups())) == len(names)


class Document:
    def __init__(self, path, directory, binaries):
        self.path, self.directory, self.binaries = path, directory, binaries
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.counts = {"run": 0, "not run": 0, "excerpt of": 0, "outputs": 0}
        self.errors = []

    def report(self, match, message):
        line = self.text.count("\n", 0, match.start(4))
        self.errors.append("%s:%d: error: %s" % (self.path, line, message))

    def check(self):
        """Yields (start, end, text) of each output that differs."""
        before, place = None, self.directory
        for match in FENCE.finditer(self.text):
            mark, argument, language, body = match.groups()
            if mark:
                self.counts[mark] += 1
            if mark == "excerpt of" and not stands_in(body, os.path.join(self.directory, argument)):
                self.report(match, "this is not in %s" % argument)
            result = None
            if language == "sh" and mark != "not run":
                self.counts["run"] += 1
                result = run(self.binaries, place, body)
                place = result[2]
                if (result[0] != 0) != ("error: " in result[1]):
                    self.report(match, "this ends with status %d\n%s" % result[:2])
            elif language == "text" and before:
                self.counts["outputs"] += 1
                if not is_shown(body, before[1]):
                    self.report(match, "the commands print\n%s" % before[1])
                    if "..." not in body:
                        yield match.start(4), match.end(4), before[1].rstrip() + "\n"
            before = result


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    binaries, root, directory, *paths = arguments[update:]
    totals, failed = {}, 0
    for path in markdown_files(paths):
        look_like_root(os.path.abspath(binaries), os.path.abspath(root), directory)
        document = Document(path, directory, os.path.abspath(binaries))
        differing = list(document.check())
        if update:
            for start, end, text in reversed(differing):
                document.text = document.text[:start] + text + document.text[end:]
            with open(path, "w", encoding="utf-8") as file:
                file.write(document.text)
        for error in document.errors:
            print(error)
        failed += len(document.errors)
        totals = {key: totals.get(key, 0) + count for key, count in document.counts.items()}
    print("%(run)d scripts run, %(outputs)d outputs compared, %(excerpt of)d excerpts compared, %(not run)d scripts not run" % totals
          + ", %d errors" % failed)
    return 1 if failed or not totals["run"] else 0


if __name__ == "__main__":
    sys.exit(main())
