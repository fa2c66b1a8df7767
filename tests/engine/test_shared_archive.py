"""Where the JVM keeps an archive of Spark's classes. No Java runs here but in the last test."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import pyspark
import pytest

from kafka_audit.spark import java
from kafka_audit.spark.submission import is_private, shared_archive_options

SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"


@pytest.fixture
def environ(tmp_path):
    """Return an environment with a Java 25 made of files, and a cache folder."""
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch(mode=0o755)
    (home / "release").write_text('JAVA_VERSION="25.0.1"\n')
    return {"JAVA_HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize(
    ("version", "knows"), [("1.8.0_392", False), ("17.0.15", False), ("18", False), ("19", True), ("25.0.1", True), ("", False)]
)
def test_the_option_is_set_where_java_knows_it(environ, tmp_path, version, knows):
    Path(environ["JAVA_HOME"], "release").write_text(f'JAVA_VERSION="{version}"\n' if version else "")
    options = shared_archive_options(environ)
    assert (f"-XX:+AutoCreateSharedArchive -XX:SharedArchiveFile={tmp_path}/cache/kafka-audit/spark.jsa " in options) == knows
    assert knows or options == ""


def test_without_java_there_is_none(environ):
    assert shared_archive_options({**environ, "JAVA_HOME": "/nowhere", "PATH": ""}) == ""


def test_without_another_folder_it_is_in_the_home(environ, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert f"={tmp_path}/home/.cache/kafka-audit/spark.jsa " in shared_archive_options({**environ, "XDG_CACHE_HOME": ""})


@pytest.mark.parametrize("name", ["with space", "with:colon", "file/below"])
def test_a_folder_that_java_cannot_name_or_nobody_can_make_has_none(environ, tmp_path, name):
    (tmp_path / "file").touch()
    assert shared_archive_options({**environ, "XDG_CACHE_HOME": str(tmp_path / name)}) == ""


@pytest.fixture
def reachable():
    """Yield a folder that others may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_folder_that_others_can_write_or_replace_has_none(environ, reachable, caplog):
    environ |= {"XDG_CACHE_HOME": str(reachable / "cache")}
    assert shared_archive_options(environ) != ""
    assert (reachable / "cache" / "kafka-audit").stat().st_mode & 0o777 == 0o700
    (reachable / "cache").chmod(0o755)
    for folder in (reachable / "cache" / "kafka-audit", reachable / "cache"):
        mode = folder.stat().st_mode
        for others in (0o020, 0o002):
            folder.chmod(mode | others)
            assert shared_archive_options(environ) == "", folder
            assert "other users can write it" in caplog.text
        folder.chmod(mode)
        assert shared_archive_options(environ) != ""


def test_a_folder_of_another_user_has_none(environ, tmp_path):
    if os.getuid():
        pytest.skip("only root gives files away")
    (tmp_path / "cache" / "kafka-audit").mkdir(parents=True)
    os.chown(tmp_path / "cache" / "kafka-audit", 12345, -1)
    assert shared_archive_options(environ) == ""


def test_where_others_cannot_come_or_not_replace_their_rights_do_not_count(reachable):
    locked, shared = reachable / "locked", reachable / "locked" / "shared"
    shared.mkdir(parents=True)
    file = shared / "file"
    file.touch(mode=0o600)
    shared.chmod(0o777)
    locked.chmod(0o755)
    assert not is_private(file)
    locked.chmod(0o700)
    assert is_private(file)
    locked.chmod(0o755)
    shared.chmod(0o1777)
    assert is_private(file)
    file.chmod(0o666)
    assert not is_private(file)
    assert not is_private(reachable / "nowhere")


def test_a_link_leads_to_what_is_checked(environ, tmp_path):
    """Whoever can change the link can change it after the check."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    assert f"={tmp_path}/cache/kafka-audit/" in shared_archive_options({**environ, "XDG_CACHE_HOME": str(tmp_path / "link")})


def newer_java():
    """Return the home of an installed Java that knows the option, None if there is none."""
    homes = [Path(os.environ.get("JAVA_HOME") or "/usr"), *sorted(Path("/usr/lib/jvm").glob("*"))]
    return next((home for home in homes if (java.major(home / "bin" / "java") or 0) >= 19), None)


@pytest.mark.spark
def test_java_writes_its_archive_and_uses_it_and_an_incomplete_one_is_replaced(tmp_path):
    home = newer_java()
    if home is None:
        pytest.skip("no Java 19 or newer is installed")
    environ = {**os.environ, "JAVA_HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    archive = tmp_path / "cache" / "kafka-audit" / "spark.jsa"
    for start in ("first", "second", "third"):
        loaded = tmp_path / start
        if start == "third":
            archive.write_bytes(bytes(100_000))  # as a JVM leaves it that is killed while it writes
        options = f"{shared_archive_options(environ)} -Xlog:class+load:file={loaded}"
        command = [SPARK_SUBMIT, "--driver-java-options", options, "--version"]
        completed = subprocess.run([*map(str, command)], env=environ, capture_output=True, text=True, check=False)
        assert completed.returncode == 0, completed.stderr
        assert "[cds" not in completed.stdout + completed.stderr
        mapped = re.search(r"org\.apache\.spark\.deploy\.SparkSubmit source: shared objects file \(top\)", loaded.read_text())
        assert bool(mapped) == (start == "second")
        assert archive.stat().st_size > 10_000_000
