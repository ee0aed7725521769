# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what a tool prints for --help: CLI11's form (fp8-run, fp8-simulate), LLVM's (fp8-opt and others), and that of ./dev."""

import collections
import re

# flags: as they are typed, without values. argument: what the value is called, "" for none. choices: (word, text) of each that it may begin with.
Option = collections.namedtuple("Option", "flags argument text choices group")
Help = collections.namedtuple("Help", "summary usage options commands")

CLI11 = re.compile(r"^  (?P<flags>--?[\w-]+(?:\{[^}]*\})?(?:,--?[\w-]+(?:\{[^}]*\})?)*)(?P<rest>.*)$")
LLVM = re.compile(r"^(?P<indent> {2,6})(?P<flags>--?[\w-]+)(?P<argument>\[?[= ]<[^>]*>\]?)? +- +(?P<text>.*)$")
# Behind a flag of CLI11: the type, or the words that the value may be, and the default.
VALUE_OF = re.compile(r"(?P<type>\w*)(?::(?P<check>.*?))?(?:=(?P<default>[^=]+))?$")
VALUE = re.compile(r"^ +=(?P<value>[\w-]+) +- +(?P<text>.*)$")
COMMAND = re.compile(r"^  (?P<name>[a-z]\w*)(?: (?P<argument>[A-Z]+))? {2,}(?P<text>.*)$")

# Parts of LLVM's help in which deeper options belong to the one above.
NESTED = ("Pipelines of fp8", "Passes of fp8")


def sections(text):
    """(title, lines) of each part that begins with a title in the first column, which ends with a colon."""
    parts = [("", [])]
    for line in text.splitlines():
        if re.match(r"^[A-Z][^:]*:\s*$", line):
            parts.append((line.strip().rstrip(":"), []))
        else:
            parts[-1][1].append(line)
    return parts


def read_cli11(text):
    options = []
    head, *rest = sections(text)
    for title, lines in rest:
        for line in lines:
            match = CLI11.match(line)
            if match:
                flags = re.sub(r"\{[^}]*\}", "", match["flags"]).split(",")
                argument, words, choices = "", match["rest"].strip(), []
                if re.match(r" (?:[A-Z][A-Z.]*\b|:|Excludes|Needs)", match["rest"]):
                    argument, _, words = match["rest"].strip().partition("  ")
                    argument = re.sub(r"(?:^| )(?:Excludes|Needs): .*", "", argument)
                    value = VALUE_OF.match(argument)
                    argument = value["type"] or ("VALUE" if argument else "")
                    if (value["check"] or "").startswith("{"):
                        choices = [(word, "") for word in value["check"].strip("{}").split(",")]
                    words = words.strip() + (" (default: %s)" % value["default"] if value["default"] else "")
                options.append(Option(flags, argument, words.strip(), choices, title))
            elif line.startswith(" " * 10) and options:
                # The default stands last, although it was read first.
                options[-1] = options[-1]._replace(text=(line.strip() + " " + options[-1].text).strip())
    lines = [line for line in head[1] if line.strip()]
    usage = next((re.sub(r"^\S*/", "", line[len("Usage: "):]) for line in lines if line.lower().startswith("usage: ")), "")
    return Help(" ".join(line.strip() for line in lines if not line.lower().startswith("usage: ")), usage, options, [])


def read_llvm(text):
    options, group = [], ""
    overview = re.search(r"^OVERVIEW: (.*)$", text, re.M)
    usage = re.search(r"^USAGE: (.*)$", text, re.M)
    for line in text.splitlines():
        match, value = LLVM.match(line), VALUE.match(line)
        if re.match(r"^\w.*:$", line):
            group = line.rstrip(":")
        elif match and len(match["indent"]) > 2 and options and options[-1].group in NESTED:
            # An option of a pass or pipeline is written behind it: --PASS=OPTION=VALUE.
            options[-1].choices.append((match["flags"].lstrip("-") + "=", match["text"]))
        elif match and any(match["flags"] in option.flags for option in options):
            continue  # LLVM lists an option twice whose value may be left out
        elif match:
            options.append(Option([match["flags"]], (match["argument"] or "").strip("[= <>]"), match["text"], [], group))
        elif value and options and options[-1].group not in NESTED:
            options[-1].choices.append((value["value"], value["text"]))
    return Help(re.sub(r"^[\w-]+: ", "", overview[1]) if overview else "", usage[1] if usage else "", options, [])


def read_dev(text):
    commands, options = [], []
    for line in text.splitlines():
        match = COMMAND.match(line)
        if match:
            commands.append([match["name"], match["text"]])
        elif commands and line.startswith(" " * 10):
            commands[-1][1] += " " + line.strip()
    for name, words in commands:
        options += [Option([flag], "", words, [], name) for flag in sorted(set(re.findall(r"--[a-z-]+", words)))]
    return Help("sets this machine up, builds, tests and measures fp8", "./dev COMMAND", options, [tuple(command) for command in commands])


def read(text):
    if text.startswith("usage: ./dev"):
        return read_dev(text)
    if "\nUSAGE: " in "\n" + text:
        return read_llvm(text)
    return read_cli11(text)
