"""Counts calls of loggers a second way, by ``javap``, which knows nothing of the reader that follows their texts."""

import re
import shutil
import subprocess
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from testbed.errors import BedError
from testbed.says.calls import STATE_CHANGES, Site, is_left_out, simple_name

COUNTED, LEFT_OUT, DIFFERENCES, KNOWN = "counted", "left_out", "differences", "known"
_CONSTANTS = tuple(b"\1\0" + bytes((len(name),)) + name for name in (b"warn", b"error", b"fatal"))  # as a class file has them
_CLASS = re.compile(r"^(?:[a-z-]+ )*(?:class|interface) ([\w.$]+)")
_CALL = re.compile(
    r"// (?:Interface)?Method (?:(?P<owner>[\w/$\"]+)\.)?(?P<name>warn|error|fatal):"
    r"\((?:(?P<closure>Lscala/Function0;)|(?P<marker>Lorg/slf4j/Marker;)?Ljava/lang/(?:String|Object);).*\)"
)


def count(jars: list[Path]) -> Counter[Site]:
    """Return how often classes of jars call a logger at WARN and above: those of servers are `counted`, others `left_out`.

    Raises:
        BedError: there is no javap.
    """
    javap = shutil.which("javap")
    if javap is None:
        message = "no javap on PATH: install a JDK (Debian: openjdk-17-jdk-headless)"
        raise BedError(message)
    with tempfile.TemporaryDirectory() as folder:
        command = [javap, "-p", "-c", *map(str, _unpacked(jars, Path(folder)))]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: Counter[Site] = Counter()
    name = ""
    for line in printed.splitlines():
        if start := _CLASS.match(line):
            name = start[1].replace(".", "/")
        elif (call := _CALL.search(line)) and (call["closure"] or (call["owner"] or name).endswith("Logger")):
            is_fatal = call["name"] == "fatal" or (call["marker"] and call["name"] == "error")
            logger = STATE_CHANGES if (call["owner"] or name).endswith("StateChangeLogger") else simple_name(name)
            found["F" if is_fatal else call["name"][0].upper(), logger, LEFT_OUT if is_left_out(name) else COUNTED] += 1
    return found


def _unpacked(jars: list[Path], folder: Path) -> list[Path]:
    files: list[Path] = []
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class") and any(constant in (data := archive.read(name)) for constant in _CONSTANTS):
                    files.append(folder / f"{len(files)}.class")
                    files[-1].write_bytes(data)
    return files


def compared(read: Mapping[str, Counter[Site]]) -> dict[str, dict[str, dict[str, int]]]:
    """Return both counts by kind, level and logger, and first and last release; and where they differ, by how much."""
    for sites in read.values():
        for (level, logger, kind), number in list(sites.items()):
            sites[level, logger, DIFFERENCES] += 0 if kind == LEFT_OUT else number if kind == COUNTED else -number
    found: dict[str, dict[str, dict[str, int]]] = {DIFFERENCES: {}}
    for level, logger, kind in sorted(set().union(*read.values())):
        spans: dict[str, int] = {}
        for number, group in groupby(read, key=lambda release: read[release][level, logger, kind]):
            if number:
                first, *rest = group
                spans[f"{first}-{rest[-1] if rest else first}"] = number
        if spans and kind != KNOWN:
            found.setdefault(kind, {})[f"{level} {logger}"] = spans
    return found
