"""A kernel and all that it calls, as one program."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit
from numba.core.registry import cpu_target
from numba.core.serialize import loads

import mbvi
from mbvi.kernels.compiler import known_numba
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.folder import FOLDER
from mbvi.kernels.compiler.inside_numba import CHECKSUM
from mbvi.kernels.compiler.whole_programs import EntryLibrary, InnerLibrary, reached
from tests.folders import load

FROM_LIBM = set(
    "sin cos sincos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp expm1 log log1p pow fmod hypot".split()
)
FROM_LIBC = {"memset", "memcpy", "memmove"}


@kernel
def add_products(out, x, y, unused):
    """Add x y."""
    for _ in range(3):
        for a in range(x.shape[0]):
            out[a] += x[a] * y[a]


@kernel
def as_entry(out, x):
    """Twice, so that it is not copied."""
    add_products(out, x, x, 1.0)
    add_products(out, x, out, 2.0)


def test_functions_that_numba_compiles_contain_kernels_that_entries_contain_too(array):
    """Within an entry LLVM may change how a kernel is called; one of the same name elsewhere is another."""

    @njit
    def plain(out, x):
        add_products(out, x, x, 1.0)
        add_products(out, x, out, 2.0)

    assert array(as_entry) == array(plain) == [3.0 * 2.0**3, 12.0 * 3.0**3]


@pytest.fixture
def array():
    """The values that a function of two arrays writes."""

    def found(function):
        out = np.zeros(2)
        function(out, np.array([1.0, 2.0]))
        return out.tolist()

    return found


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm shows what an object needs")
def test_entries_need_the_mathematical_functions_and_late_kernels_alone(tmp_path):
    """They neither allocate nor raise, so that their machine code could be shipped."""
    for name, scheme in (("lagrange_top", "simpson"), ("four_bar", "simpson"), ("spring_damper", "gauss4")):
        mbvi.simulate(load(name), scheme, step=0.01, duration=0.02)
    files, wrong = sorted(Path(FOLDER, "entries").rglob("*.nbc")), {}
    assert len(files) > 5
    for path in files:
        _, kind, (code, _) = loads(path.read_bytes()[:-CHECKSUM])[0]
        assert kind == "object"
        (tmp_path / "kernel.o").write_bytes(code)
        listed = subprocess.run(["nm", "-u", tmp_path / "kernel.o"], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"U (\S+)", listed)) - FROM_LIBM - FROM_LIBC
        if unexpected := {name for name in needed if not name.startswith("mbvi.late.")}:
            wrong[path.name] = unexpected
    assert not wrong


def test_the_version_of_numba_here_is_known():
    assert known_numba.IS_KNOWN


SCRIPT = """
import numba
numba.__version__ = VERSION or numba.__version__
from numba import types
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel

@late_kernel(types.float64)
def halved(x):
    return 0.5 * x

@kernel
def quartered(x):
    return halved(halved(x))

print(quartered(24.0), len(halved.entry.overloads))
"""


@pytest.mark.parametrize(("version", "compiled_late"), [("", "1"), ("0.99.0", "0")])
def test_other_versions_of_numba_give_the_same(tmp_path, version, compiled_late):
    script = tmp_path / "kernels.py"
    script.write_text(f"VERSION = {version!r}{SCRIPT}")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    for _ in range(2):  # compiled, and from the disk
        run = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        assert run.stdout.split() == ["6.0", compiled_late]


TOGETHER = """
import sys
from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.kernels.compiler.decorators import kernel

@kernel
def doubled(x):
    return 2.0 * x

@kernel
def quadrupled(x):
    return doubled(doubled(x))

print("ready", flush=True)
sys.stdin.readline()
print(quadrupled(1.5), COMPILING.count)
"""


def test_processes_that_start_together_compile_once(tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(TOGETHER)
    options = {"env": os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}, "text": True}
    options |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with ExitStack() as ends:
        processes = [ends.enter_context(subprocess.Popen([sys.executable, script], **options)) for _ in range(3)]
        assert [each.stdout.readline() for each in processes] == ["ready\n"] * 3
        for each in processes:
            each.stdin.write("\n")
            each.stdin.flush()
        values, counts = zip(*(each.stdout.read().split() for each in processes), strict=True)
    assert not any(each.returncode for each in processes)
    assert set(values) == {"6.0"}
    assert sorted(counts) == ["0", "0", "2"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="on Windows folders of a user are his own")
def test_a_folder_that_others_can_write_is_passed_over(tmp_path):
    """Also where they can write only a file in it that they can reach, and where it belongs to somebody else."""
    line = [sys.executable, "-c", "from mbvi.kernels.compiler.folder import FOLDER; print(FOLDER)"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "MBVI_QUIET": ""}

    def found():
        run = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        return Path(run.stdout.strip()), run.stderr

    folder, said = found()
    kept = folder / "called" / "kernel"
    assert folder.is_relative_to(tmp_path) and said == ""
    assert folder.stat().st_mode & 0o777 == 0o700
    kept.parent.mkdir()
    kept.touch()
    for path, mode, is_used in (
        (kept, 0o666, True),  # nobody can reach it
        (folder, 0o755, False),
        (kept, 0o644, True),
        (kept.parent, 0o775, False),
        (kept.parent, 0o755, True),
        (folder, 0o777, False),
        (folder, 0o755, True),
        (folder.parent, 0o757, False),
        (folder.parent, 0o755, True),
    ):
        path.chmod(mode)
        other, said = found()
        assert (other == folder, said == "") == (is_used, is_used), (path, oct(mode))
        assert is_used or f"others can write into {folder}: kernels are compiled for this process alone; if " in said
    if os.getuid() == 0:
        os.chown(folder, 65534, -1)
        assert not found()[0].is_relative_to(tmp_path)


def test_whoever_waits_is_reported(tmp_path):
    """Once, on stderr, and where it is kept; not where that is silenced."""
    script = tmp_path / "kernels.py"
    script.write_text(TOGETHER)
    environment = {key: value for key, value in os.environ.items() if key != "MBVI_QUIET"}

    def said(folder, **more):
        options = {"env": environment | {"NUMBA_CACHE_DIR": str(tmp_path / folder)} | more, "text": True, "check": True}
        return subprocess.run([sys.executable, script], input="", capture_output=True, **options).stderr

    first = said("one")
    assert first.startswith("mbvi compiles its kernels for this processor, once; they are kept in ")
    assert str(tmp_path / "one") in first
    assert first.count("\n") == 1
    assert said("one") == said("two", MBVI_QUIET="1") == ""


def test_a_library_that_nothing_reaches_takes_none_away_from_others():
    """As when two processes compiled one kernel: of equal functions one is linked, and what the other calls stays out."""
    codegen = cpu_target.target_context.codegen()

    def inner(name, calls, called):
        return InnerLibrary.from_bitcode(codegen, name, _module_that_calls(name, calls).as_bitcode(), called)

    shared = inner("shared", "", [])
    used = inner("used", "shared", [shared])
    dropped = inner("dropped", "shared", [shared])
    entry = EntryLibrary(codegen, "entry")
    entry.add_llvm_module(_module_that_calls("entry", "used"))
    for library in (used, dropped):
        entry.add_linking_library(library)
    entry.finalize()
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(entry.get_pointer_to_function("entry"))() == 3
    assert [library.name for library in reached([used, dropped])] == ["dropped", "used", "shared"]


def _module_that_calls(name, called):
    """An LLVM module with a function of this name, which returns 1 more than the function that it calls."""
    linkage = "" if name == "entry" else "linkonce_odr "
    lines = [f"define {linkage}i64 @{name}() noinline {{", f"  %x = call i64 @{called}()", "  %y = add i64 %x, 1"]
    declared = f"declare i64 @{called}()\n"
    if not called:
        lines, declared = [lines[0], "  %y = add i64 0, 1"], ""
    module = llvm.parse_assembly(declared + "\n".join([*lines, "  ret i64 %y", "}"]))
    module.data_layout = cpu_target.target_context.codegen()._data_layout
    module.triple = llvm.get_process_triple()
    return module
