"""What numba has no public function for: compiled kernels on the disk that may be damaged, and functions as bytes.

Of every kernel there are an index and a file of machine code for each signature. Of one that is not whole numba would raise
whatever its unpickling raises, or LLVM end the process, at every later run. So each has four bytes of a checksum behind it, which
its pickles do not read; a file that is not whole is removed, and its kernel compiled anew.
"""

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.serialize import dumps, loads
from numba.core.sigutils import normalize_signature

__all__ = ["callback_on_disk", "dumps", "keep_on_disk", "loads"]

CHECKSUM = 4  # bytes


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(CHECKSUM, "little")


def _is_whole(path: Path) -> bool:
    """Whether a file is there and ends with the checksum of what stands before; another one is removed."""
    with suppress(OSError):
        content = path.read_bytes()
        if len(content) > CHECKSUM and content[-CHECKSUM:] == _checksum(content[:-CHECKSUM]):
            return True
        path.unlink()
    return False


class _CheckedFiles(IndexDataCacheFile):
    """The files of a kernel."""

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


class _CheckedCache(FunctionCache):
    """The cache of a kernel. Where it cannot be written, as on a full disk, the kernel is compiled for this process alone."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled."""
        with suppress(OSError):
            super().save_overload(signature, compiled)


def keep_on_disk(dispatcher: Any) -> Any:
    """Give a dispatcher the cache, in numba's folder of now."""
    dispatcher._cache = _CheckedCache(dispatcher.py_func)
    return dispatcher


def callback_on_disk(signature: Any, function: Callable, **options: Any) -> CFunc:
    """What `numba.cfunc` gives, with the cache."""
    callback = CFunc(function, normalize_signature(signature), locals={}, options=options)
    callback._cache = _CheckedCache(function)
    callback.compile()
    return callback
