"""Names in the form of a migration: below one folder, and no way to learn what else is on the worker."""

import json
import os

import pytest

from airflow_room.tasks.test_migration_tasks import FORM, judged  # noqa: F401 -- a fixture
from kafka_audit.airflow import environment
from kafka_audit.airflow.tasks import migration_tasks
from kafka_audit.model.errors import UsageError
from kafka_audit.store.baselines import DECISIONS, Baselines

GOOD = (
    "broker.id=1\nlisteners=PLAINTEXT://:9092\nadvertised.listeners=PLAINTEXT://10.99.0.11:9092\n"
    "zookeeper.connect=zk1:2181,zk2:2181/kafka\nlog.dirs=/data\nauto.create.topics.enable=false\n"
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return the folder, with files that may be proposed and links that lead out of it."""
    folder, elsewhere = tmp_path / "proposed", tmp_path / "elsewhere"
    for path in (folder / "new", elsewhere):
        path.mkdir(parents=True)
    (elsewhere / "server.properties").write_text(GOOD)
    (folder / "new" / "b1.properties").write_text(GOOD)
    (folder / "new" / "log4j.properties").write_text("log4j.rootLogger=INFO\n")
    (folder / "out").symlink_to(elsewhere)
    (folder / "out.properties").symlink_to(elsewhere / "server.properties")
    (folder / "nowhere.properties").symlink_to(elsewhere / "nothing")
    (folder / "deep").mkdir()
    (folder / "deep" / "hop").symlink_to(folder / "behind")
    (folder / "behind").mkdir()
    (folder / "behind" / "x.properties").symlink_to("/etc/passwd")
    monkeypatch.setenv("KAFKA_AUDIT_PROPOSED_ROOT", str(folder))
    return folder


OUTSIDE = [
    "/", "/etc/passwd", "/etc/nothing-of-this-name", "/proc/self/environ", "..", "../elsewhere/server.properties", "../nothing",
    "new/../../elsewhere/server.properties", "new/*/../../../etc/passwd", "~", "~root/.ssh", "file:///etc/passwd", "s3://bucket/x",
    "C:\\Windows\\win.ini", "\\\\host\\share\\x", "..\\elsewhere", "", " ", "x\0y", "out", "out/server.properties", "out/nothing",
    "out/*.properties", "out.properties", "nowhere.properties", "deep", "deep/*/x.properties", "deep/hop/x.properties", ".", "*",
]  # fmt: skip


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("line", OUTSIDE)
def test_what_is_outside_gets_one_answer_whether_it_is_there_or_not(line):
    with pytest.raises(UsageError) as refused:
        migration_tasks.arguments([line])
    shown = line.replace("\\", "\\\\").replace("\0", "\\\\u0000")
    assert str(refused.value) == (
        f"proposed files: '{shown}' is not a name below KAFKA_AUDIT_PROPOSED_ROOT; name files, folders or patterns in that folder"
    )


@pytest.mark.parametrize("way", ["relative", "absolute"])
def test_an_absolute_path_beside_the_folder_with_its_name_as_prefix_is_outside(root, tmp_path, way):
    (tmp_path / "proposed-not").mkdir()
    line = "../proposed-not" if way == "relative" else f"{root}-not"
    with pytest.raises(UsageError, match="is not a name below KAFKA_AUDIT_PROPOSED_ROOT"):
        migration_tasks.arguments([line])


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("new", "new"), ("new/", "new"), ("new/b1.properties", "new/b1.properties"), ("new/*.properties", "new/*.properties"),
        ("./new", "new"), ("new/absent.properties", "new/absent.properties"), ("größe 1.properties", "größe 1.properties"),
    ],
)  # fmt: skip
def test_what_is_inside_is_meant(root, line, meant):
    assert migration_tasks.arguments([line]) == (str(root / meant),)
    assert migration_tasks.arguments([str(root / line)]) == (str(root / meant),)


def test_a_folder_that_is_mounted_as_kubernetes_does_is_read(root):
    """A ConfigMap is links to links, all of them inside."""
    (root / "config" / "..2026").mkdir(parents=True)
    (root / "config" / "..2026" / "b1.properties").write_text(GOOD)
    (root / "config" / "..data").symlink_to("..2026")
    (root / "config" / "b1.properties").symlink_to("..data/b1.properties")
    for line in ("config", "config/b1.properties", "config/*.properties", "config/..data/b1.properties"):
        assert migration_tasks.arguments([line]) == (str(root / line),)


def test_the_folder_may_be_a_link_itself(root, tmp_path, monkeypatch):
    (tmp_path / "current").symlink_to(root)
    monkeypatch.setenv("KAFKA_AUDIT_PROPOSED_ROOT", str(tmp_path / "current"))
    assert migration_tasks.arguments(["new"]) == (str(tmp_path / "current" / "new"),)
    assert migration_tasks.arguments([str(root / "new")]) == (str(tmp_path / "current" / "new"),)


@pytest.mark.parametrize("line", ["wide", "wide/*", "loop/*/*/*/*/*/x", "**/x", "new/**/x.properties"])
def test_a_walk_ends(root, line):
    (root / "wide").mkdir()
    for number in range(migration_tasks.MOST_FILES + 1):
        (root / "wide" / f"{number}.properties").touch()
    (root / "loop").mkdir()
    for name in ("a", "b", "c"):
        (root / "loop" / name).symlink_to(root / "loop")
    with pytest.raises(UsageError, match=r"matches (more than|too much)"):
        migration_tasks.arguments([line])


def test_a_walk_over_the_whole_machine_ends(monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_PROPOSED_ROOT", "/")
    with pytest.raises(UsageError, match=r"matches (more than|too much)"):
        migration_tasks.arguments(["/"])


def test_more_bytes_than_a_configuration_has_are_too_wide(root):
    (root / "big").mkdir()
    for number in range(3):
        os.truncate((root / "big" / f"{number}.properties").touch() or root / "big" / f"{number}.properties", 40_000_000)
    with pytest.raises(UsageError, match="more than 2000 files or 100 MB"):
        migration_tasks.arguments(["big"])


def test_without_the_variable_the_folder_is_beside_the_cluster_file(tmp_path, monkeypatch):
    monkeypatch.delenv("KAFKA_AUDIT_PROPOSED_ROOT", raising=False)
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "clusters.yaml"))
    assert environment.proposed_root() == str(tmp_path / "proposed")
    with pytest.raises(UsageError, match=f"KAFKA_AUDIT_PROPOSED_ROOT: folder {tmp_path}/proposed does not exist; create it"):
        migration_tasks.arguments(["x"])
    assert migration_tasks.arguments([]) == ()


@pytest.mark.usefixtures("judged")
def test_the_form_is_refused_before_anything_is_asked(root):
    for line in ("/etc/passwd", "/etc/nothing", str(root / "out")):
        with pytest.raises(UsageError, match="is not a name below KAFKA_AUDIT_PROPOSED_ROOT"):
            migration_tasks.planned(FORM | {"proposed": [line]})


def test_a_plan_that_was_changed_on_its_way_is_refused_as_well(root, judged):  # noqa: F811 -- the fixture
    now = judged()
    plan = migration_tasks.planned(FORM | {"proposed": ["new"]}) | {"proposed": ["/etc"]}
    with pytest.raises(UsageError, match="is not a name below"):
        migration_tasks.decide("prod", now, plan)
    (root / "new" / "late.properties").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="is not a name below"):
        migration_tasks.decide("prod", now, plan | {"proposed": ["new"]})


def test_the_decision_names_files_as_the_form_does(root, judged, tmp_path):  # noqa: F811 -- the fixture
    (root / "new" / "b1.properties").write_text(GOOD.replace("log.dirs=/data\n", "log.retention.ms=x\n"))
    now = judged()
    plan = migration_tasks.planned(FORM | {"proposed": ["new"], "kafka_version": "3.9.1"})
    assert plan["proposed"] == ["new"]
    with pytest.raises(Exception, match="NO-GO"):
        migration_tasks.decide("prod", now, plan)
    report = Baselines(tmp_path / "store", DECISIONS).find("prod", now["prod"])
    assert report["plan"] == plan
    assert {blocker["source"] for blocker in report["blockers"]} == {"proposed new/b1.properties"}
    assert str(tmp_path) not in json.dumps(report)
