#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a tool's manual page, and its completions for bash, zsh and fish, from what it prints for --help.

usage: write.py OUT VERSION TOOL [--name=NAME] [ARGUMENT...]
  Runs `TOOL ARGUMENT...`, or `TOOL --help`, and writes below OUT man/man1/NAME.1, bash-completion/completions/NAME,
  zsh/site-functions/_NAME and fish/vendor_completions.d/NAME.fish, where packages install them below share/.
"""

import os
import re
import subprocess
import sys

import help_text

ALL = ("fp8-opt", "fp8-run", "fp8-simulate", "fp8-reduce", "fp8-check-proof", "fp8-check-ptx", "fp8-lsp-server")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def manual(name, its, version):
    lines = ['.TH %s 1 "" "fp8 %s" "fp8"' % (name.upper().replace("-", "\\-"), version), ".SH NAME",
             "%s \\- %s" % (roff(name), roff(its.summary.split(". ")[0].rstrip("."))), ".SH SYNOPSIS", ".B %s" % roff(its.usage or name)]
    if its.summary:
        lines += [".SH DESCRIPTION", roff(its.summary)]
    if its.commands:
        lines.append(".SH COMMANDS")
        for command, text in its.commands:
            lines += [".TP", ".B %s" % roff(command), roff(text)]
    group = None
    if its.options and not its.commands:
        lines.append(".SH OPTIONS")
        for option in its.options:
            if option.group != group:
                group = option.group
                lines.append(".SS %s" % roff(group))
            flags = ", ".join(option.flags)
            lines += [".TP", ".B %s" % roff(flags + ("=" + option.argument if option.argument else "")), roff(option.text) or "\\&"]
            for word, text in option.choices:
                lines += [".RS", ".TP", ".B %s" % roff(word), roff(text) or "\\&", ".RE"]
    lines += [".SH SEE ALSO", ", ".join("\\fB%s\\fR(1)" % roff(tool) for tool in ALL if tool != name)]
    return "\n".join(lines) + "\n"


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash(name, its):
    function = "_" + re.sub(r"\W", "_", name)
    words = [command for command, _ in its.commands] or [flag for option in its.options for flag in option.flags]
    cases = ["    %s) words=%s ;;" % ("|".join(option.flags), quoted(" ".join(word for word, _ in option.choices)))
             for option in its.options if option.choices]
    for command, _ in its.commands:
        flags = [flag for option in its.options if option.group == command for flag in option.flags]
        if flags:
            cases.append("    %s) words=%s ;;" % (command, quoted(" ".join(flags))))
    return """# bash completion for %(name)s, made from its --help
%(function)s() {
  local current=${COMP_WORDS[COMP_CWORD]} of= words=
  # bash takes "=" for a word of its own.
  if [ "$current" = = ]; then
    of=${COMP_WORDS[COMP_CWORD - 1]} current=
  elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then
    of=${COMP_WORDS[COMP_CWORD - 2]}
  elif %(commands)s; then
    of=${COMP_WORDS[1]}
  fi
  case $of in
    '') words=%(words)s ;;
%(cases)s
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
  [[ ${COMPREPLY[0]:-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o filenames -F %(function)s %(name)s
""" % {"name": name, "function": function, "words": quoted(" ".join(words)), "cases": "\n".join(cases) or "    *) ;;",
       "commands": '[ "$COMP_CWORD" -gt 1 ]' if its.commands else "false"}


def zsh(name, its):
    def escape(text):
        return re.sub(r"([][:\\])", r"\\\1", text).replace("'", "'\\''")

    lines = ["#compdef %s" % name, "# made from its --help"]
    if its.commands:
        entries = " ".join("'%s:%s'" % (command, escape(text.split(". ")[0])) for command, text in its.commands)
        return "\n".join(lines + ["local -a commands=(%s)" % entries, "if (( CURRENT == 2 )); then _describe command commands; else _files; fi"]) + "\n"
    arguments = []
    for option in its.options:
        for flag in option.flags:
            value = ""
            if option.choices:
                value = ":value:(%s)" % " ".join(escape(word) for word, _ in option.choices)
            elif option.argument:
                value = ":%s:_files" % escape(option.argument.split(":")[0].lower() or "value")
            equals = "=" if value and flag.startswith("--") else ""
            arguments.append("  '%s%s[%s]%s'" % (flag, equals, escape(option.text.split(". ")[0]), value))
    return "\n".join(lines + ["_arguments \\", " \\\n".join(arguments + ["  '*:file:_files'"])]) + "\n"


def fish(name, its):
    lines = ["# made from the --help of %s" % name]
    lines += ["complete -c %s -n __fish_use_subcommand -f -a %s -d %s" % (name, command, quoted(text.split(". ")[0])) for command, text in its.commands]
    for option in its.options:
        for flag in option.flags:
            line = "complete -c %s %s %s -d %s" % (name, "-l" if flag.startswith("--") else "-s", flag.lstrip("-"), quoted(option.text.split(". ")[0]))
            if its.commands:
                line += " -n '__fish_seen_subcommand_from %s'" % option.group
            if option.choices:
                line += " -x -a %s" % quoted(" ".join(word for word, _ in option.choices))
            elif option.argument:
                line += " -r"
            lines.append(line)
    return "\n".join(lines) + "\n"


def main():
    out, version, tool, *arguments = sys.argv[1:]
    name = os.path.basename(tool)
    if arguments and arguments[0].startswith("--name="):
        name = arguments.pop(0)[len("--name="):]
    result = subprocess.run([tool] + (arguments or ["--help"]), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    its = help_text.read(result.stdout)
    if not its.options and not its.usage:
        sys.exit("error: %s prints no help that this script reads\n%s" % (tool, result.stdout))
    for path, text in (("man/man1/%s.1" % name, manual(name, its, version)), ("bash-completion/completions/%s" % name, bash(name, its)),
                       ("zsh/site-functions/_%s" % name, zsh(name, its)), ("fish/vendor_completions.d/%s.fish" % name, fish(name, its))):
        path = os.path.join(out, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
