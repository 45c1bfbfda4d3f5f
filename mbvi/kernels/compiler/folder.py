"""The folder where compiled kernels are kept, and whose turn it is to compile into it.

It is named by a hash of the sources of all kernels: numba itself looks only at the file in which a function stands, and a changed
kernel would leave its callers in other files stale. What is loaded from there is executed, so it is used only where no one but
the user and root can write. The user's own is made such that nobody else can enter it; one that others can only read may be
shared by many users.
"""

import hashlib
import logging
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

LOG = logging.getLogger("mbvi.compiling")
LONGEST = 300.0  # seconds to wait for another process that compiles
WRITABLE_BY_OTHERS, ENTERED_BY_OTHERS = 0o022, 0o011


def _folder() -> str:
    sources = sorted(Path(__file__).parents[1].rglob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    parent = Path(home, "mbvi")
    folder = parent / digest
    try:
        parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if _is_safe(parent) and _is_all_safe(folder) and os.access(folder, os.R_OK):
            return str(folder)
        remedy = "if nobody has, take away their right to: chmod -R go-w"
        LOG.warning(
            "others can write into %s: kernels are compiled for this process alone; %s %s", folder, remedy, parent
        )
    except OSError as error:
        LOG.warning("kernels are compiled for this process alone: %s", error)
    return tempfile.mkdtemp(prefix="mbvi-")


def _is_safe(path: Path) -> bool:
    """Whether nobody but the user and root can write into a folder or a file."""
    if not hasattr(os, "getuid"):  # on Windows folders of a user are
        return True
    found = path.stat()
    return found.st_uid in (0, os.getuid()) and not found.st_mode & WRITABLE_BY_OTHERS


def _is_all_safe(folder: Path) -> bool:
    """Whether that is so of a folder and all that it has, of which nothing can be reached where only the owner can enter."""
    if not _is_safe(folder):
        return False
    return not folder.stat().st_mode & ENTERED_BY_OTHERS or all(map(_is_safe, folder.rglob("*")))


FOLDER = _folder()


class Turn:
    """The turn to compile a kernel: of several processes that need it, the others wait, and then load it."""

    def __init__(self) -> None:
        self._lock: Any = None

    def take(self, kernel: str) -> None:
        """Wait for the turn; go on without it after some minutes, or where the folder can only be read."""
        from filelock import FileLock, Timeout  # here, since most runs compile nothing

        lock = FileLock(Path(FOLDER, "turns", kernel))
        with suppress(OSError, Timeout):
            Path(FOLDER, "turns").mkdir(exist_ok=True)
            lock.acquire(timeout=LONGEST)
            self._lock = lock

    def give(self) -> None:
        """Let another process have it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
