"""Where the class archive lies, who may have written it, and how it comes there. No Java runs here but in the last tests."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyspark
import pytest

from kafka_audit.model.errors import EngineError
from kafka_audit.spark import class_archive, local_settings
from kafka_audit.spark.class_archive import (
    archive_java_options,
    class_archive_path,
    find_class_archive,
    is_private,
    make,
)

RELEASE = 'IMPLEMENTOR="Some Vendor"\nJAVA_VERSION="{0}"\nJAVA_RUNTIME_VERSION="{0}+6"\nOS_ARCH="x86_64"\n'
CONTENT = b"classes" * 1000


@pytest.fixture
def environ(tmp_path):
    """Return an environment with a Java, a Spark and a cache folder, all made of files."""
    java, spark = tmp_path / "java", tmp_path / "spark"
    (java / "bin").mkdir(parents=True)
    (java / "bin" / "java").touch(mode=0o755)
    (java / "lib" / "server").mkdir(parents=True)
    (java / "lib" / "server" / "classes.jsa").write_bytes(b"base")
    (java / "release").write_text(RELEASE.format("17.0.15"))
    (spark / "jars").mkdir(parents=True)
    (spark / "jars" / "spark-core_2.13-4.1.2.jar").write_bytes(b"core")
    return {"JAVA_HOME": str(java), "SPARK_HOME": str(spark), "KAFKA_AUDIT_CACHE": str(tmp_path / "cache"), "PATH": ""}


@pytest.fixture(autouse=True)
def _accepted(monkeypatch, request):
    """Let every archive that is there pass the check; the last tests ask Java."""
    if "spark" in request.keywords:
        return

    def check(path, _spark_home, _environ):
        if not path.is_file():
            msg = "there is none"
            raise EngineError(msg)

    monkeypatch.setattr(class_archive, "verify_archive", check)


def made(environ, **how):
    return make(lambda path: path.write_bytes(CONTENT), environ=environ, **how)


def test_it_needs_no_pyspark():
    code = "import sys, kafka_audit.spark.class_archive as c; c.class_archive_path(); sys.exit('pyspark' in sys.modules)"
    plugins = str(Path(class_archive.__file__).parents[2])
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": plugins}, check=False).returncode == 0


def test_its_name_says_java_and_spark(environ, tmp_path):
    where = class_archive_path(environ)
    assert where.folder == tmp_path / "cache" / "spark-classes"
    assert where.stem.startswith("java-17.0.15+6-Some_Vendor-spark-4.1.2-")


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"XDG_CACHE_HOME": "/x"}, "/x/kafka-audit/spark-classes"),
        ({"XDG_CACHE_HOME": "/x", "KAFKA_AUDIT_CACHE": "/mine"}, "/mine/spark-classes"),
        ({"KAFKA_AUDIT_CACHE": ""}, "~/.cache/kafka-audit/spark-classes"),
        ({}, "~/.cache/kafka-audit/spark-classes"),
    ],
)
def test_where_caches_are(environ, variables, folder):
    assert class_archive_path({**environ, "KAFKA_AUDIT_CACHE": "", **variables}).folder == Path(folder).expanduser()


def _touched(path):
    os.utime(path, (1, 1))


CHANGES = {
    "a newer Java": lambda java, _: (java / "release").write_text(RELEASE.format("21.0.2")),
    "the base archive anew": lambda java, _: (java / "lib" / "server" / "classes.jsa").write_bytes(b"basis"),
    "a newer Spark": lambda _, jars: (jars / "spark-core_2.13-4.1.2.jar").rename(jars / "spark-core_2.13-4.1.3.jar"),
    "a jar more": lambda _, jars: (jars / "more.jar").touch(),
    "the same jars, installed again": lambda _, jars: _touched(jars / "spark-core_2.13-4.1.2.jar"),
    "a configuration folder": lambda _, jars: (jars.parent / "conf").mkdir() or (jars.parent / "conf" / "x").touch(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_one_that_does_not_fit_is_not_found(environ, change):
    made(environ)
    assert archive_java_options(environ)
    change(Path(environ["JAVA_HOME"]), Path(environ["SPARK_HOME"], "jars"))
    assert class_archive_path(environ).stem != ""
    assert find_class_archive(class_archive_path(environ)) is None
    assert archive_java_options(environ) == ""


def test_other_options_are_another_archive(environ, monkeypatch):
    made(environ)
    monkeypatch.setattr(local_settings, "JAVA", "-XX:+UseParallelGC")
    assert find_class_archive(class_archive_path(environ)) is None


NOWHERE = {
    "not wanted": ({"KAFKA_AUDIT_CACHE": "none"}, "class archives are disabled: KAFKA_AUDIT_CACHE is none"),
    "no Java": ({"JAVA_HOME": "/nowhere"}, "Java is missing"),
    "no Spark": ({"SPARK_HOME": "/nowhere"}, "Spark's jars"),
    "a path that Java takes apart": ({"KAFKA_AUDIT_CACHE": "/a:b"}, "a character that JVM options cannot contain"),
}


@pytest.mark.parametrize(("variables", "why"), NOWHERE.values(), ids=NOWHERE)
def test_where_there_cannot_be_one_that_is_said_to_who_asks_and_to_no_run(environ, variables, why):
    environ |= variables
    assert archive_java_options(environ) == ""
    with pytest.raises(EngineError) as error:
        made(environ)
    assert why in str(error.value)


def test_a_java_that_is_too_old_or_does_not_say_its_version_has_none(environ):
    release = Path(environ["JAVA_HOME"], "release")
    for text in (RELEASE.format("11.0.2"), 'JAVA_VERSION="17"\n'):
        release.write_text(text)
        assert class_archive_path(environ) is None
    release.unlink()
    assert class_archive_path(environ) is None


def test_it_is_found_again_and_used(environ):
    path = made(environ)
    assert path.name == f"{class_archive_path(environ).stem}.{len(CONTENT)}.jsa"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    options = archive_java_options(environ).split()
    assert options[:2] == ["-Xshare:auto", f"-XX:SharedArchiveFile={path}"]


def test_it_is_made_once(environ):
    path = made(environ)
    assert make(lambda _: pytest.fail("made again"), environ=environ) == path
    again = make(lambda new: new.write_bytes(b"more"), environ=environ, again=True)
    assert [archive.name for archive in path.parent.glob("*.jsa")] == [again.name]
    assert again.read_bytes() == b"more"


def test_one_that_was_cut_short_is_not_used(environ):
    """A JVM would map what is not there, and crash."""
    path = made(environ)
    os.truncate(path, 100)
    assert archive_java_options(environ) == ""


@pytest.fixture
def reachable():
    """Yield a folder that others may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_one_that_others_could_have_written_is_not_used(environ, reachable):
    environ |= {"KAFKA_AUDIT_CACHE": str(reachable / "cache")}
    path = made(environ)
    (reachable / "cache").chmod(0o755)
    path.parent.chmod(0o755)
    for created in (path, path.parent, reachable / "cache"):
        mode = created.stat().st_mode
        for others in (0o020, 0o002):
            created.chmod(mode | others)
            assert archive_java_options(environ) == "", created
        created.chmod(mode)
        assert archive_java_options(environ) != ""


def test_one_of_another_user_is_not_used(environ):
    path = made(environ)
    if os.getuid():
        pytest.skip("only root gives files away")
    os.chown(path, 12345, -1)
    assert archive_java_options(environ) == ""


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


def test_a_link_leads_to_what_is_looked_at(environ, tmp_path):
    """Who could turn the link could turn it after the look."""
    made(environ)
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    assert str(tmp_path / "cache") in archive_java_options({**environ, "KAFKA_AUDIT_CACHE": str(tmp_path / "link")})


def test_two_at_once_make_one(environ):
    begun, completed = threading.Event(), threading.Event()

    def load(path):
        begun.set()
        completed.wait()
        path.write_bytes(CONTENT)

    first = threading.Thread(target=lambda: make(load, environ=environ))
    first.start()
    begun.wait()
    threading.Timer(0.2, completed.set).start()
    path = make(lambda _: pytest.fail("made twice"), environ=environ)
    first.join()
    assert [archive.name for archive in path.parent.glob("*.jsa")] == [path.name]


def test_a_failed_try_leaves_nothing(environ):
    def fail(path):
        path.write_bytes(b"half")
        msg = "Spark wrote no class archive: no memory"
        raise EngineError(msg)

    with pytest.raises(EngineError, match="no memory"):
        make(fail, environ=environ)
    assert [path.name for path in class_archive_path(environ).folder.iterdir()] == ["lock"]


def test_what_is_refused_gets_no_name(environ, monkeypatch):
    def check(*_):
        msg = "Java refuses the new class archive: Checksum verification failed."
        raise EngineError(msg)

    monkeypatch.setattr(class_archive, "verify_archive", check)
    with pytest.raises(EngineError, match="Checksum"):
        made(environ)
    assert find_class_archive(class_archive_path(environ)) is None
    assert list(class_archive_path(environ).folder.glob("*.jsa")) == []


def test_what_a_killed_try_left_is_removed(environ):
    folder = class_archive_path(environ).folder
    folder.mkdir(parents=True, mode=0o700)
    (folder / ".new-1.jsa").write_bytes(b"half")
    path = made(environ)
    assert {path.name for path in folder.iterdir()} == {path.name, "lock"}


def test_archives_that_were_not_used_for_longest_are_removed(environ):
    where = class_archive_path(environ)
    where.folder.mkdir(parents=True, mode=0o700)
    for age, name in enumerate(["young", "middle", "old", "oldest"]):
        other = where.folder / f"{name}.1.jsa"
        other.touch()
        os.utime(other, (time.time() - 1000 - age,) * 2)
    (where.folder / "foreign").touch()
    path = made(environ)
    assert {path.name for path in where.folder.iterdir()} == {path.name, "young.1.jsa", "middle.1.jsa", "foreign", "lock"}


def test_the_time_of_the_last_use_is_kept(environ):
    path = made(environ)
    _touched(path)
    before = path.stat().st_mtime
    archive_java_options(environ)
    assert path.stat().st_mtime > before + 100


def test_a_folder_that_others_may_write_gets_none(environ):
    folder = class_archive_path(environ).folder
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(EngineError, match="other users can write this folder"):
        made(environ)
    assert {path.name for path in folder.iterdir()} == {"lock"}


def test_a_place_that_takes_no_file_is_an_error_in_a_line(environ, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EngineError, match="cannot keep a class archive: Not a directory"):
        made({**environ, "KAFKA_AUDIT_CACHE": str(tmp_path / "file" / "cache")})


def test_a_disk_without_room_gets_none(environ, monkeypatch):
    usage = class_archive.shutil.disk_usage
    monkeypatch.setattr(class_archive.shutil, "disk_usage", lambda path: usage(path)._replace(free=1000))
    with pytest.raises(EngineError, match="less than 1024 MB free"):
        made(environ)


# With the real Java and the real Spark; what is archived is what `spark-submit --version` loads.
SPARK_HOME = Path(pyspark.__file__).parent


@pytest.fixture
def real(tmp_path):
    return {**os.environ, "KAFKA_AUDIT_CACHE": str(tmp_path / "cache"), "SPARK_HOME": str(SPARK_HOME)}


def version(environ, options):
    command = [SPARK_HOME / "bin" / "spark-submit", "--driver-java-options", options, "--version"]
    return subprocess.run(list(map(str, command)), env=environ, capture_output=True, text=True, check=False)


def load(path):
    assert version(dict(os.environ), class_archive.writing_options(path)).returncode == 0


@pytest.mark.spark
def test_java_uses_what_it_wrote(real, tmp_path):
    path = make(load, environ=real)
    assert f"-spark-{pyspark.__version__}-" in path.name
    assert path.stat().st_size > 10_000_000
    completed = version(real, f"{archive_java_options(real)} -Xlog:class+load:file={tmp_path / 'loaded'}")
    assert completed.returncode == 0, completed.stderr
    assert "org.apache.spark.deploy.SparkSubmit source: shared objects file (top)" in (tmp_path / "loaded").read_text()
    assert "[cds" not in completed.stdout + completed.stderr


@pytest.mark.spark
def test_java_goes_on_without_one_that_it_refuses_and_says_nothing(real):
    def make_of_another_classpath(path):
        jar = next(iter((SPARK_HOME / "jars").glob("spark-launcher_*.jar")))
        command = ["java", *class_archive.writing_options(path).split(), "-cp", str(jar), "org.apache.spark.launcher.Main"]
        subprocess.run(command, capture_output=True, check=False)

    where = class_archive_path(real)
    where.folder.mkdir(parents=True, mode=0o700)
    for write in (make_of_another_classpath, lambda path: path.write_bytes(b"no archive at all" * 1000)):
        new = where.folder / "new"
        write(new)
        new.chmod(0o600)
        with pytest.raises(EngineError, match="Java refuses the new class archive"):
            class_archive.verify_archive(new, SPARK_HOME, real)
        path = new.rename(where.folder / f"{where.stem}.{new.stat().st_size}.jsa")
        assert str(path) in archive_java_options(real)
        completed = version(real, archive_java_options(real))
        assert (completed.returncode, completed.stdout) == (0, "")
        assert "archive" not in completed.stderr.lower()
        path.unlink()
