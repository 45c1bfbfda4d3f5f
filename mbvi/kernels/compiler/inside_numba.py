"""What numba has no public function for: compiled kernels on disk that may be damaged, and functions as bytes.

Each kernel has an index and a file of machine code for each signature. From a damaged file numba would raise whatever
its unpickling raises, or LLVM would end the process, at every later run. So each file ends with a checksum of four
bytes, which unpickling does not read; a damaged file is removed, and its kernel is compiled anew.
"""

import hashlib
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.compiler import CompileResult, compile_result
from numba.core.serialize import dumps, loads

from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.kernels.compiler.whole_programs import InnerLibrary, registered

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
    """What shows whether a source has changed since its kernels were compiled: its content.

    Numba takes the time of the file, and keeps kernels by its path: of copies of a package, as one installed and one in a
    checkout, each would compile all kernels.
    """
    return hashlib.sha256(source.read_bytes()).digest()


class _Store:
    """The representations of inner kernels, each in a file that is named by a hash of all that it depends on.

    A file holds the name of the library, its bitcode, the keys of the libraries that it calls, and what is to be done before
    its code is loaded.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._libraries: dict[str, InnerLibrary] = {}

    def put(self, library: Any) -> str:
        """Write a library and all that it calls; its key."""
        key = getattr(library, "key_on_disk", None)
        if key is None:
            inner = isinstance(library, InnerLibrary)
            module = library.module if inner else library._get_module_for_linking()
            called = [self.put(each) for each in library.called] if inner else []
            content = dumps((library.name, module.as_bitcode(), called, sorted(library._reload_init, key=repr)))
            key = library.key_on_disk = hashlib.sha256(content).hexdigest()[:32]
            self._write(self.folder / key, content)
        return key

    def _write(self, path: Path, content: bytes) -> None:
        if not _is_whole(path):
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"{path.name}.{os.getpid()}")
            unfinished.write_bytes(content + _checksum(content))
            unfinished.replace(path)

    def get(self, key: str, codegen: Any) -> InnerLibrary:
        """A library that was written.

        Raises
        ------
        FileNotFoundError
            If a file is missing or damaged.
        """
        if key not in self._libraries:
            path = self.folder / key
            if not _is_whole(path):
                raise FileNotFoundError(path)
            name, bitcode, called, reload_init = loads(path.read_bytes()[:-CHECKSUM])
            library = InnerLibrary.from_bitcode(codegen, name, bitcode, [self.get(each, codegen) for each in called])
            library.key_on_disk = key
            for each in reload_init:
                each()
                library._reload_init.add(each)
            self._libraries[key] = library
        return self._libraries[key]


class _KernelImpl(CompileResultCacheImpl):
    """How a compiled kernel becomes a picklable object, and an inner kernel that object with the key of its library."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        self._store = _store(Path(config.CACHE_DIR, "bitcode"))

    def reduce(self, result: CompileResult) -> Any:
        if not isinstance(result.library, InnerLibrary):
            return super().reduce(result)
        descriptor = result.fndesc
        descriptor.typemap = descriptor.calltypes = None  # which numba does not keep either
        return self._store.put(result.library), descriptor, result.environment, result.signature

    def rebuild(self, target: Any, payload: Any) -> CompileResult:
        if len(payload) > 4:
            return super().rebuild(target, payload)
        key, descriptor, environment, signature = payload
        library = self._store.get(key, target.codegen())
        return compile_result(
            target_context=target, typing_context=target.typing_context, library=library, environment=environment,
            entry_point=registered(target, library, descriptor, environment), fndesc=descriptor, signature=signature,
            type_annotation="", objectmode=False, lifted=(), reload_init=list(library._reload_init), referenced_envs=(),
        )  # fmt: skip


_store = cache(_Store)


class _CheckedCache(FunctionCache):
    """The cache of a kernel.

    Where it cannot be written, as on a full disk, the kernel is compiled for this process alone.
    """

    _impl_class = _KernelImpl

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        self._cache_path = str(Path(config.CACHE_DIR, source.parent.name))
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, _stamp(source))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A kernel that was compiled, perhaps by another process just now."""
        found = self._load_whole(sig, target_context)
        digest = hashlib.sha256(str(sig).encode()).hexdigest()[:16]
        if found is None and COMPILING.begin(self._py_func.__name__, f"{self._impl.filename_base}-{digest}"):
            found = self._load_whole(sig, target_context)
        return found

    def _load_whole(self, sig: Any, target_context: Any) -> Any:
        """A kernel that was compiled; none where a file is missing, or a late kernel that it calls has gone."""
        with suppress(FileNotFoundError, LookupError, ImportError):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel."""
        with suppress(OSError):
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)
            super().save_overload(signature, compiled)


def keep_on_disk(dispatcher: Any) -> Any:
    """Give a dispatcher the cache, in the folder that numba has at this moment; functions that no file has are not kept."""
    with suppress(RuntimeError):
        dispatcher._cache = _CheckedCache(dispatcher.py_func)
    return dispatcher
