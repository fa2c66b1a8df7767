"""A class archive for Spark's JVM (class data sharing, CDS): the classes of each start, parsed and verified once.

    CACHE/spark-classes/java-17.0.15+6-Debian-spark-4.1.2-<digest>.<bytes>.jsa

CACHE is $KAFKA_AUDIT_CACHE, else $XDG_CACHE_HOME/kafka-audit, else ~/.cache/kafka-audit; `none` disables archives. The digest
covers everything else that the JVM compares with an archive. A JVM that refuses an archive continues without it and logs nothing
to stdout. A truncated archive crashes the JVM; therefore the name contains the size, and a JVM verifies the checksums before the
archive gets its name.

An archive contains code. It is used only if no user except this one and root can write it.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import logging
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_audit import __version__
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.model.errors import EngineError
from kafka_audit.spark import java, local_settings

VARIABLE = "KAFKA_AUDIT_CACHE"
FOLDER = "spark-classes"
NOWHERE = "none"

_ENDING = ".jsa"
_NEW = ".new-"  # prefix of an archive that is not verified yet
_KEPT = 3  # archives; two Java or Spark versions may be used in turn
_USED_S = 24 * 3600.0  # resolution of the time of the last use
_FREE_BYTES = 1 << 30  # required free space; an archive takes a fifth of it
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ENTER = stat.S_IXGRP | stat.S_IXOTH
_NOT_IN_JAVA = re.compile(r"[:\"'\\\s]")  # separators of the JVM's option and of Spark's option strings

# By default, the JVM logs warnings about archives to stdout.
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ArchivePath:
    """The path of the archive for this Java and this Spark, whether it exists or not.

    Attributes:
        folder: the folder of all archives.
        stem: the file name without the size and the extension.
        spark_home: the installation of Spark.
    """

    folder: Path
    stem: str
    spark_home: Path


def class_archive_path(environ: Mapping[str, str] = os.environ) -> ArchivePath | None:
    """Return the place of the archive; None if archives are disabled or Java or Spark is missing or unknown."""
    folder, spark_home, program = _folder(environ), _spark_home(environ), java.binary(environ)
    if folder is None or spark_home is None or program is None:
        return None
    reported = java.release(program)
    runtime, vendor = reported.get("JAVA_RUNTIME_VERSION"), reported.get("IMPLEMENTOR")
    jars = _files(spark_home / "jars")
    spark = [match[1] for name, *_ in jars if (match := re.fullmatch(r"spark-core_[\d.]+-(.+)\.jar", name))]
    if not runtime or not spark or (java.major(program) or 0) < java.OLDEST:
        return None
    conf = Path(environ.get("SPARK_CONF_DIR") or spark_home / "conf")
    held_against = {
        "java": [str(java.home(program)), *sorted(reported.items()), *_files(java.home(program) / "lib" / "server")],
        "classpath": [str(spark_home), jars, str(conf), [name for name, *_ in _files(conf)]],
        "options": local_settings.JAVA,
        "loaded by": __version__,
    }
    digest = hashlib.sha256(json.dumps(held_against).encode()).hexdigest()[:12]
    text = re.sub(r"[^A-Za-z0-9.+-]+", "_", f"java-{runtime}-{vendor or 'unknown'}-spark-{spark[0]}-{digest}")
    return ArchivePath(folder=folder, stem=text, spark_home=spark_home)


def find_class_archive(where: ArchivePath | None) -> Path | None:
    """Return the path of the archive, without links; None if there is none that can be trusted."""
    if where is None or _NOT_IN_JAVA.search(str(where.folder)):
        return None
    for name, size, _ in _files(where.folder):
        if name == f"{where.stem}.{size}{_ENDING}":
            path = (where.folder / name).resolve()  # a link could be changed between the check and its use
            if is_private(path):
                return path
            log.warning("%s is ignored: other users can write it", path)
    return None


def archive_java_options(environ: Mapping[str, str] = os.environ) -> str:
    """Return the JVM options that use the archive, for `spark.driver.extraJavaOptions`; empty if there is none."""
    path = find_class_archive(class_archive_path(environ))
    if path is None:
        return ""
    with contextlib.suppress(OSError):
        if path.stat().st_mtime < time.time() - _USED_S:
            os.utime(path)  # unused archives are removed first
    return f"-Xshare:auto -XX:SharedArchiveFile={path} {_QUIET}"


def writing_options(path: Path) -> str:
    """Return the JVM options that write an archive when the JVM exits."""
    return f"-XX:ArchiveClassesAtExit={path} {_QUIET}"


def make(load: Callable[[Path], None], *, environ: Mapping[str, str] = os.environ, again: bool = False) -> Path:
    """Create the archive unless it exists; remove the least recently used archives. Return its path.

    Another process that creates one is waited for.

    Args:
        load: starts a JVM that loads the classes and writes the archive to the given path.
        environ: the environment that selects Java, Spark and the folder.
        again: create the archive even if it exists.

    Raises:
        EngineError: an archive cannot be created or kept; the message gives the reason.
    """
    where = class_archive_path(environ)
    if where is None:
        raise EngineError(_why_nowhere(environ))
    if _NOT_IN_JAVA.search(str(where.folder)):
        msg = f"{where.folder}: the path contains a character that JVM options cannot contain; set {VARIABLE}"
        raise EngineError(msg)
    try:
        with _alone(where.folder):
            found = None if again else find_class_archive(where)
            return found or _made(load, where, environ)
    except OSError as error:
        msg = f"{where.folder}: cannot keep a class archive: {error.strerror or error}"
        raise EngineError(msg) from error


def _made(load: Callable[[Path], None], where: ArchivePath, environ: Mapping[str, str]) -> Path:
    """Create the archive while no other process does."""
    for name, *_ in _files(where.folder):
        if name.startswith(_NEW):
            (where.folder / name).unlink(missing_ok=True)
    if not is_private(where.folder):
        why = "other users can write this folder or replace one above it, and an archive contains code"
        msg = f"{where.folder}: {why}; set {VARIABLE}"
        raise EngineError(msg)
    if shutil.disk_usage(where.folder).free < _FREE_BYTES:
        msg = f"{where.folder}: less than {_FREE_BYTES >> 20} MB free"
        raise EngineError(msg)
    new = where.folder / f"{_NEW}{os.getpid()}{_ENDING}"
    try:
        load(new)
        verify_archive(new, where.spark_home, environ)
        new.chmod(0o600)
        with new.open("rb") as file:
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        path = new.replace(where.folder / f"{where.stem}.{size}{_ENDING}")
    finally:
        new.unlink(missing_ok=True)
    _remove_old(where, path)
    return path


def verify_archive(path: Path, spark_home: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Start a JVM with Spark's classpath that verifies the checksums of an archive and exits if it cannot use it.

    Raises:
        EngineError: there is no archive at `path`, or the JVM refuses it.
    """
    options = f"-Xshare:on -XX:SharedArchiveFile={path} -XX:+VerifySharedSpaces {_QUIET}"
    command = [str(spark_home / "bin" / "spark-submit"), "--driver-java-options", options, "--version"]
    with Scratch() as scratch:  # for the error report of a JVM that crashes
        done = subprocess.run(
            command,
            cwd=scratch.path,
            env={**environ, "SPARK_HOME": str(spark_home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if done.returncode or not path.is_file():
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip(" #")]
        msg = f"Java refuses the new class archive: {' '.join(lines[:3]) or 'no file was written'}"
        raise EngineError(msg)


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


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Create the folder and lock it."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _remove_old(where: ArchivePath, made: Path) -> None:
    """Remove the archive that `made` replaces, and the least recently used ones."""
    others = [(used, name) for name, _, used in _files(where.folder) if name.endswith(_ENDING) and name != made.name]
    replaced = [name for _, name in others if name.startswith(f"{where.stem}.")]
    by_use = [name for _, name in sorted(others, reverse=True) if name not in replaced]
    for name in [*replaced, *by_use[_KEPT - 1 :]]:
        with contextlib.suppress(OSError):
            (where.folder / name).unlink()


def _folder(environ: Mapping[str, str]) -> Path | None:
    setting = environ.get(VARIABLE)
    if setting and setting.lower() == NOWHERE:
        return None
    base = environ.get("XDG_CACHE_HOME")
    try:
        cache = Path(setting) if setting else Path(base, "kafka-audit") if base else Path.home() / ".cache" / "kafka-audit"
    except RuntimeError:  # the user has no home folder
        return None
    return cache.expanduser().absolute() / FOLDER


def _spark_home(environ: Mapping[str, str]) -> Path | None:
    """Return the installation that Spark's scripts use, without importing pyspark."""
    setting = environ.get("SPARK_HOME")
    if setting:
        return Path(setting)
    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent if spec and spec.origin else None


def _files(folder: Path) -> list[tuple[str, int, int]]:
    """Return name, size and modification time (seconds) of each file, sorted by name; empty if there is no such folder."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat()
                found.append((entry.name, status.st_size, int(status.st_mtime)))
    return sorted(found)


def _why_nowhere(environ: Mapping[str, str]) -> str:
    if _folder(environ) is None:
        return f"class archives are disabled: {VARIABLE} is {environ.get(VARIABLE) or 'not set, and the user has no home folder'}"
    if _spark_home(environ) is None:
        return "Spark is missing: install pyspark"
    if java.binary(environ) is None:
        return "Java is missing: no `java` on PATH and no JAVA_HOME/bin/java"
    return f"a class archive requires Java {java.OLDEST} or newer with its version in the `release` file, and Spark's jars"
