# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speaks with fp8-lsp-server as an editor does: asks for hovers, completions and code actions, applies the edits of these, and has fp8-opt
verify what comes out.

usage: lsp-client.py FP8-LSP-SERVER FP8-OPT CASES_DIR SCRATCH_DIR

A case is a file of MLIR. Each line `// hover: TEXT`, `// complete: TEXT`, `// repair: TEXT` or `// diagnose: TEXT` asks at the place of TEXT in what follows that line:
on its first character, behind its last one with nothing behind that, and on its line.
"""

import difflib
import glob
import json
import os
import subprocess
import sys

SEPARATOR = "// -----"


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.count = 0
        self.diagnostics, self.published = {}, {}
        self.call("initialize", {"processId": os.getpid(), "rootPath": "", "capabilities": {
            "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}}}})
        self.notify("initialized", {})

    def send(self, message):
        body = json.dumps(dict(message, jsonrpc="2.0")).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        """The next message; diagnostics are kept."""
        length = 0
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the server ended")
            if line == b"\r\n":
                break
            name, value = line.split(b":")
            if name == b"Content-Length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.diagnostics[params["uri"]] = params["diagnostics"]
            self.published[params["uri"]] = params["version"]
        return message

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def call(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.count:
                if "error" in message:
                    sys.exit("%s: %s" % (method, message["error"]))
                return message["result"]

    def open(self, uri, text):
        """Opens the first half of the document, and then changes it to all of it."""
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text[:len(text) // 2]}})
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": text}]})
        while self.published.get(uri) != 2:
            self.receive()


def position(text, offset):
    before = text[:offset]
    return {"line": before.count("\n"), "character": offset - (before.rfind("\n") + 1)}


def apply(text, edits):
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(place):
        return starts[place["line"]] + place["character"]

    for edit in sorted(edits, key=lambda edit: -offset(edit["range"]["start"])):
        text = text[:offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]):]
    return text


def repair(server, opt, uri, text, line, scratch):
    diagnostics = [d for d in server.diagnostics.get(uri, []) if d["range"]["start"]["line"] == line]
    place = {"line": line, "character": 0}
    actions = server.call("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": {"start": place, "end": place},
                                                      "context": {"diagnostics": diagnostics}})
    ours = [action for action in actions if action["title"].startswith(("insert the missing", "remove the second"))]
    print("  others: %d" % (len(actions) - len(ours)))
    for action in ours:
        edited = apply(text, action["edit"]["changes"][uri])
        with open(scratch, "w", encoding="utf-8") as file:
            file.write(edited.split(SEPARATOR)["\n".join(text.split("\n")[:line]).count(SEPARATOR)])
        result = subprocess.run([opt, scratch, "-o", os.devnull], capture_output=True, text=True, check=False)
        print("  action: %s, %s, of %d diagnostics, %s" % (
            action["title"], "preferred" if action["isPreferred"] else "not preferred", len(action["diagnostics"]),
            "verifies" if result.returncode == 0 else "fails: " + result.stderr.split("error: ")[1].split("\n")[0]))
        old, new = text.split("\n"), edited.split("\n")
        for row in difflib.unified_diff(old, new, lineterm="", n=0):
            if row[0] in "+-" and row[:3] not in ("+++", "---"):
                print("    %s %s" % (row[0], row[1:].strip()))


def ask(server, opt, uri, text, verb, words, line, scratch):
    # The question itself has the words as well.
    found = text.index(words, text.index("\n", text.index("// %s: %s" % (verb, words))))
    print("%s %s" % (verb, words))
    at = {"textDocument": {"uri": uri}, "position": position(text, found)}
    if verb == "hover":
        hover = server.call("textDocument/hover", at)
        print("\n".join("  " + row for row in (hover["contents"]["value"] if hover else "nothing").split("\n")))
    elif verb == "complete":
        # As it is typed: nothing follows yet.
        end = found + len(words)
        server.open(uri + ".typed", text[:end] + "\n")
        items = server.call("textDocument/completion", {"textDocument": {"uri": uri + ".typed"}, "position": position(text, end),
                                                        "context": {"triggerKind": 1}})["items"]
        for item in sorted(items, key=lambda item: item["label"]):
            summary = item.get("documentation", {"value": ""})["value"].split("\n")[2:3]
            print("  %s%s" % (item["label"], "".join(": " + line for line in summary)))
    elif verb == "diagnose":
        for diagnostic in server.diagnostics[uri]:
            if diagnostic["range"]["start"]["line"] == at["position"]["line"]:
                print("  severity %d: %s" % (diagnostic["severity"], diagnostic["message"]))
                for note in diagnostic["relatedInformation"]:
                    row = note["location"]["range"]
                    print("    %s: %s" % (text.split("\n")[row["start"]["line"]][row["start"]["character"]:row["end"]["character"]], note["message"]))
    else:
        repair(server, opt, uri, text, at["position"]["line"], scratch)


def main():
    binary, opt, cases, scratch = sys.argv[1:]
    server = Server([binary])
    # What is malformed does not end it.
    for method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/hover"):
        server.notify(method, {})
    for path in sorted(glob.glob(os.path.join(cases, "*.mlir"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        uri = "file://" + os.path.abspath(path)
        print("== " + os.path.basename(path))
        server.open(uri, text)
        for line in text.split("\n"):
            verb, _, words = line.strip().removeprefix("// ").partition(": ")
            if line.strip().startswith("// ") and verb in ("hover", "complete", "repair", "diagnose"):
                ask(server, opt, uri, text, verb, words, line, scratch)
    server.call("shutdown", None)
    server.notify("exit", None)
    print("exit status %d" % server.process.wait())


main()
