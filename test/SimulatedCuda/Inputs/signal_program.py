# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sends SIGTERM to fp8-simulate, and says what becomes of its program."""

import os
import signal
import subprocess
import sys

simulate = subprocess.Popen([sys.argv[1], "sh", "-c", "echo $$; exec sleep 600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
program = int(simulate.stdout.readline())
simulate.send_signal(signal.SIGTERM)
_, text = simulate.communicate(timeout=60)
print(text, end="")
try:
    os.kill(program, 0)
    state = "runs on"
    os.kill(program, signal.SIGKILL)
except ProcessLookupError:
    state = "has ended"
print(f"exit code {simulate.returncode if simulate.returncode >= 0 else 128 - simulate.returncode}, the program {state}")
