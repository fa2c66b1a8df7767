"""Archives of the classes that servers load (class data sharing): a JVM that maps one starts in half of the CPU time.

The first servers of a release list the classes that they load; when their bed is closed, an archive is made of the list, beside
the jars. A JVM that cannot use an archive, such as another Java, says nothing and loads the classes itself.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.jars import java

if TYPE_CHECKING:
    from collections.abc import Iterable

    from testbed.servers import Server

LISTED = "classes.txt"
COLLECTOR = "-XX:+UseSerialGC"  # an archive holds objects of the heap, too: made and used with the same collector
MAKING_SECONDS = 1200


def options(jars: Path, main_class: str, folder: Path) -> list[str]:
    """Return the JVM options of a server: they map its archive, or have it list the classes in its folder."""
    archive = _archive(jars, main_class)
    if archive.is_file():
        return [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off,class+path=off"]
    return [f"-XX:DumpLoadedClassList={folder / LISTED}"]


def make(servers: Iterable[Server]) -> None:
    """Make the archives that are not there yet, of what servers that have ended listed; what fails leaves none."""
    for server in servers:
        archive, listed = _archive(server.jars, server.main_class), server.folder / LISTED
        if archive.is_file() or not listed.is_file():
            continue
        with tempfile.TemporaryDirectory(dir=server.jars) as folder:
            part = Path(folder, archive.name)  # renamed when whole: other beds may make or map it at the same time
            files = [f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={part}"]
            command = [java(), "-Xshare:dump", COLLECTOR, *files, "-cp", f"{server.jars}/*"]
            made = subprocess.run(command, capture_output=True, timeout=MAKING_SECONDS, check=False)
            if made.returncode == 0 and part.is_file():
                part.replace(archive)


def _archive(jars: Path, main_class: str) -> Path:
    return jars / f"{main_class}-{Path(java()).resolve().parents[1].name}.jsa"
