# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands fp8-opt and fp8-run that pip installs: the tools of those names, which are functions of the package's library."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import NoReturn

from . import _library
from ._errors import Fp8Error
from ._ptxas import find_ptxas


def _run(name: str, function: str) -> NoReturn:
    try:
        main = getattr(_library.functions(), function, None)
        if main is None:
            raise Fp8Error(f"{_library.library_path()} has no {name}: let $FP8_LIBRARY name the Python package's libfp8.so, or leave it unset")
    except Fp8Error as error:
        sys.exit(f"{name}: error: {error}")
    # Python ignores two signals that end a program in C++, and makes an exception of a third unless that is ignored.
    interrupt = [signal.SIGINT] if signal.getsignal(signal.SIGINT) is signal.default_int_handler else []
    for number in (signal.SIGPIPE, signal.SIGXFSZ, *interrupt):
        signal.signal(number, signal.SIG_DFL)
    # The tools know the places of CUDA, and not those of Python's packages.
    ptxas = find_ptxas()
    if ptxas:
        os.environ["FP8_PTXAS"] = ptxas
    arguments = [name.encode(), *map(os.fsencode, sys.argv[1:])]
    sys.exit(main(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)))


def fp8_opt() -> NoReturn:
    _run("fp8-opt", "fp8OptMain")


def fp8_run() -> NoReturn:
    _run("fp8-run", "fp8RunMain")
