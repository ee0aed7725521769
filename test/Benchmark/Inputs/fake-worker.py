# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A worker without a GPU, for supervise-test.py: peer "crash" ends the process,
"hang" says nothing more, "told" says what happened first, all others measure 1 us."""

import json
import os
import sys
import time


def say(**event):
    print(json.dumps(event), flush=True)


if os.environ.get("FAKE_NO_START"):
    sys.exit(7)
say(note="ready")
for line in sys.stdin:
    request = json.loads(line)
    say(begin="operands")
    for key in request["peers"]:
        if key in request["without"]:
            continue
        say(begin=key)
        name, _, configuration = key.partition(" ")
        if configuration == "crash":
            os._exit(4)
        if configuration == "hang":
            time.sleep(600)
        if configuration == "told":
            say(measurement={"peer": name, "configuration": configuration, "error": "illegal address"})
            say(fatal="the context is lost")
            os._exit(4)
        say(measurement={"peer": name, "configuration": configuration, "right": True, "us": 1.0, "pid": os.getpid()})
    say(done=True)
