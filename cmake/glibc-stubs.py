#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes stubs of an older glibc, which the linker takes in place of this system's, so that what it links runs on older systems.

usage: glibc-stubs.py VERSION DIR [--cc=CC]

glibc keeps the versions of a symbol that older programs ask for: pthread_create@GLIBC_2.2.5 is there beside pthread_create@@GLIBC_2.34. The
linker takes the newest version that a library has. Each stub has the newest that is not newer than VERSION. A symbol that VERSION lacks is in
no stub, and a program that needs it does not link: the error names the symbol.

A stub has names and versions, and no code. Before 2.34 threads and dlopen had libraries of their own, and those symbols are in stubs of those names.
"""

import os
import re
import subprocess
import sys

LIBRARIES = {"c": "libc.so.6", "m": "libm.so.6", "pthread": "libpthread.so.0", "dl": "libdl.so.2", "rt": "librt.so.1", "ld": "ld-linux-x86-64.so.2"}
# The homes, before 2.34, of what libc.so.6 has taken in since.
MOVED = ((re.compile(r"_*(pthread|sem)_"), "pthread"), (re.compile(r"dl[a-z]"), "dl"), (re.compile(r"(timer|shm|mq|aio|lio)_"), "rt"))
ENTRY = re.compile(r"^\s*\d+: [0-9a-f]+\s+\S+\s+(\w+)\s+(?:GLOBAL|WEAK)\s+DEFAULT\s+\d+ (\w+)@{1,2}GLIBC_([\d.]+)", re.MULTILINE)


def number(version):
    return tuple(map(int, version.split(".")))


def symbols_of(library, newest, cc):
    """(name, kind, version, whether it has a newer version) of each symbol that was there in `newest`."""
    path = subprocess.run([cc, "-print-file-name=" + library], capture_output=True, text=True, check=True).stdout.strip()
    text = subprocess.run(["readelf", "--dyn-syms", "--wide", path], capture_output=True, text=True, check=True).stdout
    versions = {}
    for kind, name, version in ENTRY.findall(text):
        versions.setdefault(name, []).append((number(version), version, kind))
    for name, found in sorted(versions.items()):
        old = [entry for entry in found if entry[0] <= newest]
        if old:
            yield name, max(old)[2], max(old)[1], len(old) < len(found)


def home_of(name, library, is_newer):
    """The library that had the symbol."""
    return next((home for pattern, home in MOVED if library == "c" and is_newer and pattern.match(name)), library)


def write_stub(directory, library, symbols, cc):
    soname = LIBRARIES[library]
    code = os.path.join(directory, library + ".s")
    script = os.path.join(directory, library + ".map")
    by_version = {}
    with open(code, "w", encoding="ascii") as file:
        for name, kind, version in symbols:
            by_version.setdefault(version, []).append(name)
            # A linker asks for the size of data; nobody reads it here.
            what = {"OBJECT": "object", "TLS": "tls_object"}.get(kind, "function")
            section = {"object": ".data", "tls_object": '.section .tdata,"awT",@progbits'}.get(what, ".text")
            file.write(f"{section}\n.globl {name}\n.type {name}, @{what}\n{name}: .quad 0\n.size {name}, 8\n")
        file.write('.section .note.GNU-stack,"",@progbits\n')
    with open(script, "w", encoding="ascii") as file:
        for version in sorted(by_version, key=number):
            file.write("GLIBC_%s { global: %s; };\n" % (version, "; ".join(by_version[version])))
        file.write("GLIBC_STUB { local: *; };\n")
    subprocess.run([cc, "-shared", "-nostdlib", "-Wl,-soname," + soname, "-Wl,--version-script=" + script, code, "-o", os.path.join(directory, soname)], check=True)


def write_script(directory, name, library, others=""):
    with open(os.path.join(directory, name), "w", encoding="ascii") as file:
        file.write("GROUP ( %s %s )\n" % (os.path.join(directory, LIBRARIES[library]), others))


def main():
    newest, directory, *rest = sys.argv[1:]
    cc = rest[0].removeprefix("--cc=") if rest else "cc"
    os.makedirs(directory, exist_ok=True)
    stubs = {library: [] for library in LIBRARIES}
    for library, soname in LIBRARIES.items():
        for name, kind, version, is_newer in symbols_of(soname, number(newest), cc):
            stubs[home_of(name, library, is_newer)].append((name, kind, version))
    if not stubs["c"]:
        sys.exit("error: this system's libc.so.6 has no symbols of glibc %s: pass -DFP8_GLIBC= to CMake, to link this system's" % newest)
    for library, symbols in stubs.items():
        write_stub(directory, library, symbols, cc)
    # What -lc and so on mean. libc_nonshared.a is this system's: glibc's functions that are linked statically, such as atexit.
    write_script(directory, "libc.so", "c", "libc_nonshared.a AS_NEEDED ( %s )" % " ".join(os.path.join(directory, LIBRARIES[l]) for l in ("pthread", "dl", "rt", "ld")))
    for library in ("m", "pthread", "dl", "rt"):
        write_script(directory, "lib%s.so" % library, library)


if __name__ == "__main__":
    main()
