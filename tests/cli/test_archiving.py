"""The class archive as a command. But for the last test no Spark starts here."""

import json
from pathlib import Path

import pytest

from engine.stores import put
from kafka_audit.cli import main
from kafka_audit.cli.archiving import archive_creation
from kafka_audit.job.spark_behind import SparkBehind
from kafka_audit.model.errors import EngineError
from kafka_audit.spark import class_archive


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("KAFKA_AUDIT_CACHE", str(folder))
    return folder


def test_the_command_says_in_a_line_why_there_is_none(capfd, cache, monkeypatch):
    cache.touch()
    monkeypatch.setenv("KAFKA_AUDIT_CACHE", f"{cache}/below")
    assert main(["class-archive"]) == 1
    assert capfd.readouterr() == (
        "",
        f"kafka-audit: {cache}/below/spark-classes: cannot keep a class archive: Not a directory\n",
    )


def test_the_command_prints_where_it_is(capfd, cache, monkeypatch):
    monkeypatch.setattr(archive_creation, "build_archive", lambda path: path.write_bytes(b"classes"))
    monkeypatch.setattr(class_archive, "verify_archive", lambda *_: None)
    assert main(["class-archive"]) == 0
    (path,) = (cache / "spark-classes").glob("*.jsa")
    assert capfd.readouterr() == (f"{path}\n", "")


def worker(monkeypatch, tmp_path, text):
    """Let a module of ours stand for the process that starts Spark."""
    (tmp_path / "stands_in.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(archive_creation, "_WORKER", "stands_in")


def test_a_spark_that_fails_is_quoted(monkeypatch, tmp_path):
    worker(monkeypatch, tmp_path, "import sys; print('something'); sys.exit('no space for blocks')")
    with pytest.raises(EngineError, match="Spark wrote no class archive: no space for blocks"):
        archive_creation.build_archive(tmp_path / "new")


def test_one_that_does_not_end_is_ended(monkeypatch, tmp_path):
    worker(monkeypatch, tmp_path, "import time; time.sleep(1e6)")
    monkeypatch.setattr(archive_creation, "_LONGEST_S", 1.0)
    with pytest.raises(EngineError, match="no exit within 1 s"):
        archive_creation.build_archive(tmp_path / "new")


def test_what_it_archives_with_finds_no_folder_on_the_classpath(monkeypatch, tmp_path):
    text = "import os, sys, json; json.dump([*os.environ], open(sys.argv[1], 'w'))"
    worker(monkeypatch, tmp_path, text)
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    archive_creation.build_archive(tmp_path / "new")
    assert "HADOOP_CONF_DIR" not in json.loads((tmp_path / "new").read_text())


@pytest.mark.spark
@pytest.mark.scenario  # two minutes
def test_a_run_uses_what_the_command_made(cache, tmp_path):
    assert main(["class-archive"]) == 0
    (path,) = (cache / "spark-classes").glob("*.jsa")
    put(tmp_path / "store", "r1", {"whole": {"previous": {}}})
    with SparkBehind() as spark:
        spark.answer(str(tmp_path / "store"), "r1")
        mapped = [maps for maps in Path("/proc").glob("[0-9]*/maps") if _maps(maps, path)]
    assert mapped != []
    assert (tmp_path / "store/runs/r1/answer.json").is_file()


def _maps(maps, path):
    try:
        return str(path) in maps.read_text()
    except OSError:
        return False
