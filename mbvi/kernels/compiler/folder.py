"""The folder where compiled kernels are kept, and whose turn it is to compile into it.

It is named by a hash of the sources of all kernels: numba itself looks only at the file in which a function stands, and a changed
kernel would leave its callers in other files stale. What is loaded from there is executed, so it is used only where no one but
the user and root can write. A folder that can only be read may be shared by many users.
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
WRITABLE_BY_OTHERS = 0o022


def _folder() -> str:
    sources = sorted(Path(__file__).parents[1].rglob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    parent = Path(home, "mbvi")
    folder = parent / digest
    try:
        parent.parent.mkdir(parents=True, exist_ok=True)
        for each in (parent, folder):
            with suppress(FileExistsError):
                each.mkdir(mode=0o755)
        if all(map(_is_safe, (parent, folder))) and os.access(folder, os.R_OK):
            return str(folder)
        LOG.warning("others can write into %s: kernels are compiled for this process alone", folder)
    except OSError as error:
        LOG.warning("kernels are compiled for this process alone: %s", error)
    return tempfile.mkdtemp(prefix="mbvi-")


def _is_safe(folder: Path) -> bool:
    """Whether no one but the user and root can write into a folder, which a folder of the user's own is made to be."""
    if not hasattr(os, "getuid"):  # on Windows folders of a user are
        return True
    found = folder.stat()
    if found.st_uid == os.getuid() and found.st_mode & WRITABLE_BY_OTHERS:
        folder.chmod(found.st_mode & ~WRITABLE_BY_OTHERS)
        found = folder.stat()
    return found.st_uid in (0, os.getuid()) and not found.st_mode & WRITABLE_BY_OTHERS


FOLDER = _folder()


class Turn:
    """The turn to compile: of several processes that need the same kernels, the others wait, and then load them."""

    def __init__(self) -> None:
        self._lock: Any = None

    def take(self) -> None:
        """Wait for the turn; without it after some minutes, or where the folder can only be read."""
        from filelock import FileLock, Timeout  # here, since most runs compile nothing

        lock = FileLock(Path(FOLDER, "turn"))
        with suppress(OSError, Timeout):
            lock.acquire(timeout=LONGEST)
            self._lock = lock

    def give(self) -> None:
        """Let another process have it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
