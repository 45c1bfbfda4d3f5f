"""A model in an HDF5 file, as that of a run: its text, and the files of its meshes.

    model          the model file, as text
    meshes/0, …    the bytes of the mesh files, each with its name in the text as the attribute `file`

Bytes are compressed and have a checksum, as HDF5 gives them to every reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.file import from_yaml, to_yaml
from mbvi.model.meshes import mesh_files
from mbvi.model.model import Model

if TYPE_CHECKING:
    import h5py

CHUNK_BYTES = 1 << 20


def write_model(file: h5py.File, model: Model) -> None:
    """Write a model into a file.

    Raises
    ------
    ModelError
        If a mesh file cannot be read.
    """
    file["model"] = to_yaml(model)  # a dataset, since attributes hold at most 64 KiB
    for i, (name, content) in enumerate(mesh_files(model).items()):
        values = np.frombuffer(content, np.uint8)
        chunk = min(len(values), CHUNK_BYTES)
        data = file.create_dataset(f"meshes/{i}", data=values, chunks=(chunk,), compression="gzip", fletcher32=True)
        data.attrs.update(file=name, long_name="a mesh file of the model")


def read_model(file: h5py.File, source: str) -> Model:
    """The model in a file, which messages call `source`.

    Raises
    ------
    ModelError
        If anything is wrong with it.
    """
    return from_yaml(file["model"].asstr()[()], f"{source}: model", files=stored_files(file, source))


def stored_files(file: h5py.File, source: str) -> dict[str, bytes]:
    """The contents of the mesh files by name.

    Raises
    ------
    ModelError
        If one is damaged.
    """
    contents = {}
    for data in file.get("meshes", {}).values():
        name = str(data.attrs["file"])
        try:
            contents[name] = data[()].tobytes()
        except OSError:
            found = "a damaged one; copy the file again"
            raise ModelError(f"{source}: {wrong(f'the mesh {name!r} as it was stored', found)}") from None
    return contents
