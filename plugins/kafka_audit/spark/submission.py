"""`spark-submit` of the installed pyspark: what it runs, its configuration and class archive here, also without Airflow."""

import contextlib
import importlib.util
import logging
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import kafka_audit
from kafka_audit.bounds import child_environment
from kafka_audit.bounds.scratch import LOG_PREFIX, Scratch
from kafka_audit.model.errors import EngineError
from kafka_audit.spark import java
from kafka_audit.spark.local_settings import LOCAL, PRIVATE, UMASK, driver_java_options
from kafka_audit.spark.object_stores import is_s3, s3a_settings
from kafka_audit.spark.parent import TASK

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


JOB = "diff_snapshots.py"
JOBS = "kafka_audit.spark_jobs"
"""`spark_jobs/` of the repository, which the wheel contains under this name."""

SUBMITTED: Mapping[str, str] = MappingProxyType(
    {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.log.level": "WARN"}
)
"""Spark configuration of each submission."""

_PATIENCE_S = 10.0
_OWN_ERROR = re.compile(r"kafka_audit\.model\.errors\.\w+: ")


def submit_and_wait(store_root: str, run_id: str) -> None:
    """Let Spark on this machine answer the request of a run. Nothing of it is printed, and it ends with this process.

    Args:
        store_root: the store's local path or URL.
        run_id: the run whose request to answer.

    Raises:
        EngineError: Spark or Java is missing, or Spark failed; in its own words.
    """
    require_java()
    try:
        scratch = Scratch()
    except OSError as error:
        msg = f"Spark cannot write to {tempfile.gettempdir()} (TMPDIR): {error.strerror}"
        raise EngineError(msg) from None
    with scratch:
        conf = {**local_conf(str(scratch.path)), **store_conf(store_root)}
        options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
        command = [str(own_spark_submit()), "--master", "local[*]", "--driver-memory", "2g", "--name", "kafka-audit", *options]
        printed = scratch.path / "log"
        with printed.open("wb") as log:
            process = subprocess.Popen(
                [*command, str(spark_job()), "--store", store_root, "--run", run_id],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={
                    **child_environment.of_spark(os.environ),
                    **python_path(),
                    **local_environment(),
                    "TMPDIR": str(scratch.path),
                },
                pass_fds=[scratch.lock],  # until the JVM has ended, too
                umask=UMASK,  # Spark writes into the store
                start_new_session=True,  # Ctrl-C reaches us alone, and one signal reaches the JVM and the driver
            )
        try:
            code = process.wait()
        except BaseException:
            _end_group(process)
            raise
        if code:
            raise EngineError(_why(printed))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE_S)


def _why(printed: Path) -> str:
    """Return why Spark failed, by its last error, and where its log is kept."""
    lines = [line for line in printed.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(?:Caused by: )?[\w.$]+(?:Error|Exception)\b", line)]
    last = (causes or lines or ["no output"])[-1].strip().removeprefix("Caused by: ")
    why = f"Spark ended without a result: {_OWN_ERROR.sub('', last, count=1)}"
    if not lines:
        return why
    with tempfile.NamedTemporaryFile(prefix=LOG_PREFIX, suffix=".log", delete=False) as kept:
        shutil.copyfile(printed, kept.name)
    return f"{why} (its log: {kept.name})"


def local_conf(scratch: str | None = None, *, is_own: bool = True) -> dict[str, str]:
    """Return Spark configuration of a submission whose driver and executors are on this machine.

    Args:
        scratch: for what the driver keeps on disk; None: the temporary folder of this process.
        is_own: whether it is the installed pyspark with the Java found here, which then may keep an archive of its classes.
    """
    java_options = f"{driver_java_options(scratch)} {shared_archive_options() if is_own else ''}".rstrip()
    return {**SUBMITTED, **LOCAL, "spark.pyspark.python": sys.executable, "spark.driver.extraJavaOptions": java_options}


def local_environment() -> dict[str, str]:
    """Return the environment of a driver on this machine, which ends with this process."""
    return {"SPARK_LOCAL_IP": "127.0.0.1", TASK: str(os.getpid())}


def store_conf(root: str) -> dict[str, str]:
    """Return Spark configuration for a store.

    Executors keep what they write to a folder from other users of their machine. An object store has its own permissions, and so
    has HDFS, where Spark and the worker may be users of different groups. For S3 the server is named, which Spark's client does
    not read from Amazon's variables.
    """
    if "://" not in root:
        return dict(PRIVATE)
    return s3a_settings(os.environ) if is_s3(root) else {}


def require_java(environ: Mapping[str, str] = os.environ) -> None:
    """Raise `EngineError` where Spark would find no Java, or one that is too old; checks the locations of Spark's scripts."""
    path = java.binary(environ)
    way_out = f"install Java {java.OLDEST} or newer, e.g. apt-get install openjdk-{java.OLDEST}-jre-headless"
    if path is None:
        home = environ.get("JAVA_HOME")
        bad_home = f"JAVA_HOME is {home}, and bin/java does not exist there"
        where = bad_home if home else "`java` is not on PATH, and JAVA_HOME is not set"
        msg = f"Spark requires Java: {where}; {way_out}"
        raise EngineError(msg)
    major = java.major(path)
    if major is not None and major < java.OLDEST:
        msg = f"Spark requires Java {java.OLDEST}, and {path} is Java {major}; {way_out}, and set JAVA_HOME"
        raise EngineError(msg)


def own_spark_submit() -> Path:
    """Return the path of `spark-submit` inside the installed pyspark; unlike the one in a venv's bin it needs no PATH.

    Raises:
        EngineError: pyspark is missing, or is the client alone.
    """
    spec = importlib.util.find_spec("pyspark")
    binary = Path(spec.origin).parent / "bin" / "spark-submit" if spec and spec.origin else None
    if binary is None or not binary.is_file():
        msg = "spark-submit is not installed (pyspark-client does not include it): pip install -r requirements.txt"
        raise EngineError(msg)
    return binary


def spark_job(dags: Path | None = None) -> Path:
    """Return the path of the Spark job: that of the installed package, else the one that is mounted next to plugins/ or dags/.

    Args:
        dags: the folder of the DAG that is running.

    Raises:
        EngineError: there is none.
    """
    spec = importlib.util.find_spec(JOBS)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or () if spec else ())]
    folders.append(Path(kafka_audit.__file__).resolve().parents[2] / "spark_jobs")
    if dags is not None:
        folders.append(dags.resolve().parent / "spark_jobs")
    found = next((folder / JOB for folder in folders if (folder / JOB).is_file()), None)
    if found is None:
        msg = f"{JOB} is in none of {', '.join(map(str, folders))}: mount the folder spark_jobs/, or pip install the package"
        raise EngineError(msg)
    return found


def python_path() -> dict[str, str]:
    """Return the environment in which a Python of this interpreter imports this very package, wherever it was imported from.

    Python compiles a zip again in each process, and the files of a folder once.
    """
    folder = str(Path(kafka_audit.__file__).resolve().parents[1])
    if folder in {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}:
        return {}  # found without, and those folders must not come before the standard library
    return {"PYTHONPATH": os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))}
