"""Compiled kernels that are kept on the disk: what is damaged there is compiled anew."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from numba import config

from mbvi.kernels.compiler import decorators
from mbvi.kernels.compiler.folder import FOLDER

SCRIPT = """
import json, sys
from pathlib import Path
from numba import types
from mbvi.kernels.compiler import decorators
from mbvi.kernels.compiler.late import LateKernel

folder = Path(sys.argv[1])

def halved(x):
    return 0.5 * x

def halved_later(x):
    return 0.5 * x

def quartered(x):
    return halve(halve_later(x))

def twice():
    # values by an entry that contains one kernel and calls another late; which of the three came from the disk
    global halve, halve_later
    halve, halve_later, kernel = decorators.kernel(halved), LateKernel(halved_later, types.float64), decorators.kernel(quartered)
    found = kernel(24.0)
    dispatchers = halve, halve_later.entry, kernel.called
    return [found, *(sum(each.stats.cache_hits.values()) for each in dispatchers)]

def damaged(damage):
    for path in folder.rglob("*.nb?"):
        content = path.read_bytes()
        path.unlink()
        damage(path, content)
    return twice()

def flipped(content, part):
    at = int(part * len(content))
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]

found = {"first": twice(), "kept": twice()}
found["empty"] = damaged(lambda path, content: path.write_bytes(b""))
found["kept again"] = twice()
for part in (0.0, 0.1, 0.5, 0.9, 0.999):
    found[f"truncated at {part}"] = damaged(lambda path, content: path.write_bytes(content[: int(part * len(content))]))
    found[f"flipped at {part}"] = damaged(lambda path, content: path.write_bytes(flipped(content, part)))
found["longer"] = damaged(lambda path, content: path.write_bytes(content + content))
found["another"] = damaged(lambda path, content: path.write_text("no machine code"))
found["a folder"] = damaged(lambda path, content: path.mkdir())
for path in folder.rglob("*.nb?"):
    path.rmdir()
found["missing"] = twice()
found["kept at last"] = twice()
print(json.dumps(found))
"""
KEPT = [6.0, 0, 1, 1]  # an entry that is loaded does not ask for what it contains
ANEW = [6.0, 0, 0, 0]


@pytest.mark.filterwarnings("default")
def test_damaged_kernels_are_compiled_anew(tmp_path):
    """In a process of its own, which LLVM would end; those who take the place of a file that cannot be removed are not kept."""
    script = tmp_path / "kernels.py"  # numba keeps functions of files alone
    script.write_text(SCRIPT)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    run = subprocess.run(
        [sys.executable, script, tmp_path / "kept"], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for name, values in found.items():
        assert values == (KEPT if "kept" in name else ANEW), name


INNER = """
from mbvi.kernels.compiler import decorators

@decorators.kernel
def halved(x):
    return 0.5 * x

@decorators.kernel
def quartered(x):
    return halved(halved(x))

print(quartered(24.0), sum(halved.stats.cache_hits.values()))
"""


@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[:-9] + b"?" + content[-8:]])
def test_damaged_representations_of_kernels_are_made_anew(tmp_path, damage):
    """Those that other entries would contain; afterwards they are whole."""
    script, kept = tmp_path / "kernels.py", tmp_path / "kept"
    script.write_text(INNER)

    def found():
        for folder in kept.rglob("called"):
            shutil.rmtree(folder)  # the entry, which alone would be loaded
        line, environment = [sys.executable, script], os.environ | {"NUMBA_CACHE_DIR": str(kept)}
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert [found(), found()] == [["6.0", "0"], ["6.0", "1"]]
    files = [path for path in kept.rglob("bitcode/*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(damage(path.read_bytes()))
    assert [found(), found()] == [["6.0", "0"], ["6.0", "1"]]


COPY = """
from mbvi.kernels.compiler import decorators

def halved(x):
    return 0.5 * x

kernel = decorators.kernel(halved)
kernel(6.0)
print(sum(kernel.called.stats.cache_hits.values()))
"""


def test_copies_of_a_package_share_what_is_compiled(tmp_path):
    """As an installed package and its sources do; with other sources a kernel is compiled anew, and then kept."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    hits = []
    for place, text in (("one", COPY), ("two", COPY), ("three", COPY.replace("0.5", "0.25")), ("two", COPY)):
        script = tmp_path / place / "package" / "kernels.py"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(text)
        line = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(script.parent)!r}); import kernels"]
        hits.append(int(subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout))
    assert hits == [0, 1, 0, 0]


def doubled(x):
    """A kernel's source."""
    return 2.0 * x


def test_threads_that_make_kernels_at_once_keep_them_in_the_folder_of_kernels():
    before, interval, made = config.CACHE_DIR, sys.getswitchinterval(), []

    def make():
        for _ in range(200):
            made.append(decorators.called_kernel(doubled).stats.cache_path)

    threads = [threading.Thread(target=make) for _ in range(4)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(made) == 800
    assert set(made) == {str(Path(FOLDER, "called", Path(__file__).parent.name))}
    assert before == config.CACHE_DIR
