"""The package as a zip for `spark-submit --py-files`: Spark runs the very code that this worker imported."""

import io
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

PACKAGE = "kafka_audit"
NAME = "kafka_audit.zip"
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that zip can say; equal code gives equal bytes


def package_zip() -> bytes:
    """Return the zip of the imported package, byte for byte the same for the same code."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, source in sorted(_members(files(PACKAGE), PACKAGE)):
            archive.writestr(zipfile.ZipInfo(name, ZIP_EPOCH), source.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _members(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        name = f"{path}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _members(entry, name)
        else:
            yield name, entry
