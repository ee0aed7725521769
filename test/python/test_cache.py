# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache on disk: found again, and never in the way."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import fp8
import pytest
from fp8 import _cache, _elf, _library, _machine

SPEC = fp8.GemmSpec(config="tile = 64 x 32 x 128")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def compile_one():
    return fp8.compile(SPEC, chip="sm_90a", assemble=False)


@pytest.fixture
def count_compiled(monkeypatch):
    """How many kernels were compiled and not found."""
    from fp8._compiler import Module

    made = []
    original = Module.object
    monkeypatch.setattr(Module, "object", lambda self, *a, **k: made.append(1) or original(self, *a, **k))
    return lambda: len(made)


def test_finds_what_it_kept(folder, count_compiled):
    first, second = compile_one(), compile_one()
    assert count_compiled() == 1
    assert (first.ptx, first.manifest, first.key) == (second.ptx, second.manifest, second.key)
    assert (folder / f"{first.key}.json").is_file() and len(list(folder.iterdir())) == 2
    assert fp8.clear_cache() == 2 and not list(folder.iterdir())


@pytest.mark.parametrize("damage", [lambda text: text[: len(text) // 2], lambda text: text.replace("mbarrier", "mbarried", 1), lambda _: "", lambda _: "\0"])
def test_a_corrupt_file_is_compiled_again(folder, count_compiled, damage):
    right = compile_one()
    path = folder / f"{right.key}.json"
    whole = path.read_text()
    path.write_text(damage(whole))
    assert compile_one().ptx == right.ptx
    assert count_compiled() == 2
    assert path.read_text() == whole


def test_a_request_is_told_from_others_by_all_that_counts(folder, count_compiled):
    keys = {compile_one().key, fp8.compile(SPEC, chip="sm_100a", assemble=False).key, fp8.compile(SPEC, chip="sm_90a", debug_waits=5, assemble=False).key}
    assert len(keys) == count_compiled() == 3


def test_a_corrupt_request_asks_the_compiler(folder, count_compiled):
    right = compile_one()
    for path in folder.iterdir():
        if path.stem != right.key:
            path.write_text("x")
    assert compile_one().key == right.key and count_compiled() == 1


def test_a_file_of_another_format_is_compiled_again(folder, count_compiled):
    path = folder / f"{compile_one().key}.json"
    body = '{"cubin": null, "resources": null, "color": 1}'
    path.write_text(f"{_cache._checksum(body)}\n{body}")
    compile_one()
    assert count_compiled() == 2


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path / "file" / "kernels"))
    with pytest.warns(RuntimeWarning, match="cannot write to the cache .*file/kernels"):
        compile_one()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_one()


@pytest.mark.parametrize("call", [lambda: fp8.compile(SPEC, assemble=False), lambda: _cache.write_text("x", "y")])
def test_a_warning_is_of_the_line_that_called_the_package(tmp_path, monkeypatch, call):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path / "file" / "kernels"))
    with pytest.warns(RuntimeWarning) as warned:
        call()
    assert warned[0].filename == __file__


def test_others_may_read_what_the_umask_lets_them(folder):
    """An image is filled by one user and run by another."""
    before = os.umask(0o027)
    try:
        path = _cache.write_text("x.json", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_folder_that_nobody_may_look_into_is_empty(folder, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr(os, "stat", refuse)
    assert _cache.usage() == (0, 0)
    assert _cache.clear() == 0
    assert _machine.find("NVIDIA H200", 13000, "sm_90a") == "NVIDIA H200"


def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        compile_one()
    assert not list(folder.iterdir())


def test_a_disk_that_fills_leaves_nothing_behind(folder):
    """A file may not become longer than 1000 bytes."""
    limit, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.warns(RuntimeWarning, match="File too large"):
            kernel = compile_one()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert kernel.ptx and not [path for path in folder.iterdir() if path.stem == kernel.key or path.suffix == ".tmp"]


def test_clearing_spares_what_others_put_there(folder):
    compile_one()
    (folder / ".fp8-killed.tmp").write_text("half a kernel")
    (folder / "package.json").write_text("{}")
    assert fp8.clear_cache() == 3
    assert [path.name for path in folder.iterdir()] == ["package.json"]


def test_clearing_goes_on_where_a_file_stays(folder, monkeypatch):
    compile_one()
    stays, unlink = sorted(folder.iterdir())[0], Path.unlink

    def refuse(path, **options):
        if path == stays:
            raise PermissionError(13, "Permission denied")
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(fp8.Fp8Error, match=f"cannot remove 1 of 2 files of the cache, .* is {stays} .Permission denied.: remove them as their owner"):
        fp8.clear_cache()
    assert list(folder.iterdir()) == [stays]


def test_copies_of_a_library_are_one_build(folder, tmp_path, monkeypatch):
    """As where an image is made twice, or the cache was filled elsewhere: another place, another time."""
    right = compile_one()
    monkeypatch.setenv("FP8_LIBRARY", str(shutil.copy(_library.library_path(), tmp_path / "libfp8.so")))
    os.utime(tmp_path / "libfp8.so", (1, 1))
    assert compile_one().key == right.key and len(list(folder.iterdir())) == 2


def elf(*notes, segments=1, at=64, alignment=4):
    """A file of 64 bits, the lowest byte first, with notes: name, type, contents."""

    def pad(data):
        return data.ljust(-(-len(data) // alignment) * alignment, b"\0")

    packed = b"".join(pad(pad(struct.pack("<3I", len(name), len(contents), kind) + name) + contents) for name, kind, contents in notes)
    header = b"\x7fELF\x02\x01".ljust(32, b"\0") + struct.pack("<Q14xHH", at, 56, segments).ljust(32, b"\0")
    others = (segments - 1) * struct.pack("<IIQQQQQQ", 1, 0, 0, 0, 0, 0, 0, 0)
    return header + others + struct.pack("<IIQQQQQQ", 4, 0, at + 56 * segments, 0, 0, len(packed), 0, alignment) + packed


@pytest.mark.parametrize(
    "contents",
    [
        elf((b"GNU\0", 3, b"\xab" * 20)),
        elf((b"GNU\0", 5, b"\x01" * 16), (b"other\0", 3, b"\x02" * 20), (b"GNU\0", 3, b"\xab" * 20)),
        elf((b"GNU\0", 3, b"\xab" * 20), segments=7),
        elf((b"GNU\0", 5, b"\x01" * 4), (b"other\0", 3, b"\x02" * 20), (b"GNU\0", 3, b"\xab" * 20), alignment=8),
    ],
    ids=["alone", "behind others", "in one of several segments", "aligned to 8"],
)
def test_a_build_id_is_found_among_notes(tmp_path, contents):
    (tmp_path / "library").write_bytes(contents)
    assert _elf.build_id(tmp_path / "library") == "ab" * 20


@pytest.mark.parametrize(
    "contents",
    [b"", b"\x7fELF\x02\x01", b"!<arch>\n", elf(), elf((b"GNU\0", 3, b"\xab" * 20))[:100], elf((b"GNU\0", 1, b"\xab" * 20)), elf(at=1 << 40)],
    ids=["empty", "a start", "another format", "no notes", "half", "another note", "no segments there"],
)
def test_a_file_without_a_build_id_is_its_contents(tmp_path, contents):
    (tmp_path / "library").write_bytes(contents)
    assert _elf.build_id(tmp_path / "library") == hashlib.sha256(contents).hexdigest()


def test_the_library_has_a_build_id():
    """Without one its whole contents are read, which takes a hundred times as long."""
    assert len(_elf.build_id(_library.library_path())) == 40


def test_an_empty_name_is_no_cache(monkeypatch, count_compiled):
    monkeypatch.setenv("FP8_CACHE_DIR", "")
    compile_one()
    compile_one()
    assert count_compiled() == 2


def test_processes_that_race(folder):
    script = (
        "import fp8, hashlib; "
        f"k = fp8.compile(fp8.GemmSpec(config={SPEC.config!r}), chip='sm_90a', assemble=False); "
        "print(hashlib.sha256(k.ptx.encode()).hexdigest())"
    )
    racing = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert len({process.communicate(timeout=300)[0] for process in racing}) == 1
    assert all(process.returncode == 0 for process in racing)
    assert len(list(folder.iterdir())) == 2  # the kernel, and what was asked for


def test_a_fork_compiles_too(folder):
    compile_one()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if compile_one().ptx and fp8.compile(fp8.GemmSpec(config="tile = 64 x 16 x 128"), chip="sm_90a", assemble=False).ptx else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_while_another_thread_compiles(folder):
    """The child is not left with a lock that nobody will release."""
    from fp8._choice import kernel_for

    threads = [threading.Thread(target=kernel_for, args=(fp8.GemmSpec(config=f"tile = 64 x {n} x 128"), "sm_90a", (64, 64, 128))) for n in (32, 48)]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            os._exit(0 if kernel_for(fp8.GemmSpec(config="tile = 64 x 32 x 128"), "sm_90a", (64, 64, 128)).ptx else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for thread in threads:
        thread.join()
