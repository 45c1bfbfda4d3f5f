"""What numba has no public function for: compiled kernels on disk that may be damaged, and functions as bytes.

Each kernel has an index and a file of machine code for each signature. From a damaged file numba would raise whatever
its unpickling raises, or LLVM would end the process, at every later run. So each file ends with a checksum of four
bytes, which unpickling does not read; a damaged file is removed, and its kernel is compiled anew.
"""

import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.serialize import dumps, loads
from numba.core.sigutils import normalize_signature

__all__ = ["callback_on_disk", "dumps", "keep_on_disk", "loads"]

CHECKSUM = 4  # bytes


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(CHECKSUM, "little")


def _is_whole(path: Path) -> bool:
    """Whether a file exists and ends with the checksum of what stands before; a damaged file is removed."""
    with suppress(OSError):
        content = path.read_bytes()
        if len(content) > CHECKSUM and content[-CHECKSUM:] == _checksum(content[:-CHECKSUM]):
            return True
        path.unlink()
    return False


class _CheckedFiles(IndexDataCacheFile):
    """The files of a kernel, with checksums."""

    def _load_index(self) -> dict[Any, str]:
        return super()._load_index() if _is_whole(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not _is_whole(Path(path)):
            raise FileNotFoundError(path)  # which numba takes for a kernel that is not compiled yet
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        with super()._open_for_write(filepath) as file:
            buffer = io.BytesIO()
            yield buffer
            file.write(buffer.getvalue() + _checksum(buffer.getvalue()))


@cache
def _stamp(source: Path) -> bytes:
    """What tells whether a source has changed since its kernels were compiled: its content.

    Numba takes the time of the file, and keeps kernels by its path: of copies of a package, as one installed and one in a
    checkout, each would compile all kernels.
    """
    return hashlib.sha256(source.read_bytes()).digest()


class _CheckedCache(FunctionCache):
    """The cache of a kernel.

    Where it cannot be written, as on a full disk, the kernel is compiled for this process alone.
    """

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        self._cache_path = str(Path(config.CACHE_DIR, source.parent.name))
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, _stamp(source))

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel."""
        with suppress(OSError):
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)
            super().save_overload(signature, compiled)


def keep_on_disk(dispatcher: Any) -> Any:
    """Give a dispatcher the cache, in the folder that numba has at this moment."""
    dispatcher._cache = _CheckedCache(dispatcher.py_func)
    return dispatcher


def callback_on_disk(signature: Any, function: Callable, **options: Any) -> CFunc:
    """What `numba.cfunc` gives, with the cache."""
    callback = CFunc(function, normalize_signature(signature), locals={}, options=options)
    callback._cache = _CheckedCache(function)
    callback.compile()
    return callback
