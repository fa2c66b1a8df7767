"""`kafka-audit dags install`."""

import pytest

from airflow_environment import ROOT
from kafka_audit import cli
from kafka_audit.airflow import dag_files
from kafka_audit.cli import dags
from kafka_audit.model.errors import UsageError

FILES = {"a.py": "one\n", "b.py": "two\n"}


def test_files_are_written_into_a_new_folder_and_then_unchanged(tmp_path):
    folder = tmp_path / "new" / "dags"
    assert dags.install(FILES, folder) == [f"written  {folder}/a.py", f"written  {folder}/b.py"]
    assert {path.name: path.read_text() for path in folder.iterdir()} == FILES
    (folder / "b.py").unlink()
    assert dags.install(FILES, folder) == [f"unchanged  {folder}/a.py", f"written  {folder}/b.py"]


def test_a_changed_file_is_named_and_no_file_is_written(tmp_path):
    (tmp_path / "b.py").write_text("mine\n")
    with pytest.raises(UsageError, match=rf"^{tmp_path}/b.py: not written, because the file has other content; remove it, or "):
        dags.install(FILES, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b.py"]


def test_each_dag_file_of_the_repository_binds_its_dag_under_the_name_that_is_imported():
    for path in (ROOT / "dags").glob("*.py"):
        assert path.read_text(encoding="utf-8").endswith(f"\n{path.stem}_dag = {path.stem}()\n"), path.name


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(dag_files, "dag_files", lambda: FILES)
    (tmp_path / "file").touch()
    assert cli.main(["dags", "install", "--to", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith(f"kafka-audit: {tmp_path}/file: the DAG files cannot be written: ")


def test_a_package_without_dags_says_where_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(dag_files, "PACKAGE", "kafka_audit.no_such_package")
    assert cli.main(["dags", "install", "--to", str(tmp_path)]) == 2
    assert "this copy of kafka-audit contains no DAGs: use the folder dags/ next to plugins/" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
