"""The JVM's own archive of parsed classes (class data sharing), with which Spark starts faster. Java 19 and newer keeps one.

    $XDG_CACHE_HOME/kafka-audit/spark.jsa, else ~/.cache/kafka-audit/spark.jsa

A JVM that finds no archive, or one of another Java or Spark, starts without it and writes it when it exits. It writes the header
last, and neither uses nor replaces a file without one. An archive contains code: its folder is one that no user except this one
and root can write.
"""

import contextlib
import logging
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from kafka_audit.spark import java

_SINCE = 19  # Java 17 exits at -XX:+AutoCreateSharedArchive
_NAME = "spark.jsa"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ENTER = stat.S_IXGRP | stat.S_IXOTH
_NOT_IN_JAVA = re.compile(r"[:\"'\\\s]")  # separators of the JVM's option and of Spark's option strings

# By default, the JVM logs to stdout. With the modules that Spark adds, it logs errors about an archive that it uses.
_QUIET = "-Xlog:disable -Xlog:all=error,cds*=off:stderr"

log = logging.getLogger(__name__)


def shared_archive_options(environ: Mapping[str, str] = os.environ) -> str:
    """Return the options for `spark.driver.extraJavaOptions`; empty where Java is too old, or no private folder can be made."""
    program = java.binary(environ)
    if program is None or (java.major(program) or 0) < _SINCE:
        return ""
    base = environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(base) if base else Path.home() / ".cache") / "kafka-audit"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()  # a link could be changed between the check and its use
    except (OSError, RuntimeError):  # it cannot be written, or the user has no home folder
        return ""
    if _NOT_IN_JAVA.search(str(folder)):
        return ""
    if not is_private(folder):
        log.warning("%s: other users can write it, so Spark keeps no archive of its classes there", folder)
        return ""
    _remove_incomplete(folder / _NAME)
    return f"-XX:+AutoCreateSharedArchive -XX:SharedArchiveFile={folder / _NAME} {_QUIET}"


def _remove_incomplete(archive: Path) -> None:
    """Remove what a JVM left that was killed while it wrote; one that still writes loses its archive and nothing else."""
    with contextlib.suppress(OSError):
        with archive.open("rb") as file:
            has_header = any(file.read(4))
        if not has_header:
            archive.unlink()


def is_private(path: Path) -> bool:
    """Return whether no user except this one and root can write a file or folder, or replace it or a folder above it."""
    owners = {0, os.geteuid()}
    unreachable = False  # other users cannot enter a folder above
    try:
        real = path.resolve(strict=True)
        for folder in reversed([real, *real.parents]):
            found = folder.stat()
            # In a folder with the sticky bit, such as /tmp, a user can replace only own files.
            is_harmless = folder != real and (unreachable or found.st_mode & stat.S_ISVTX)
            if found.st_uid not in owners or (found.st_mode & _OTHERS_WRITE and not is_harmless):
                return False
            unreachable = unreachable or not found.st_mode & _OTHERS_ENTER
    except OSError:
        return False
    return True
