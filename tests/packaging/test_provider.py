"""The wheel in an Airflow: installed, mounted and both; Airflow registers the plugin and the DAGs once."""

import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

from airflow_environment import ROOT
from kafka_audit import __version__
from kafka_audit.airflow.options import OPTIONS
from kafka_audit.airflow.provider_info import get_provider_info

FOLDERS = ("dags", "spark_jobs")
DAG_IDS = ["kafka_audit", "kafka_audit_after_migration", "kafka_audit_before_migration"]


def test_the_wheel_contains_each_file_of_the_package_and_no_other(wheel):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "plugins/kafka_audit", *FOLDERS]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    # .airflowignore is for folders that are mounted.
    ours = [name for name in files if not Path(name).name.startswith(".") and (ROOT / name).exists()]
    with zipfile.ZipFile(wheel) as archive:
        packed = [name for name in archive.namelist() if not name.startswith("kafka_audit-")]
    wanted = [name.removeprefix("plugins/") if name.startswith("plugins/") else f"kafka_audit/{name}" for name in ours]
    assert sorted(packed) == sorted(wanted)


def test_the_wheel_contains_the_dags_and_the_spark_job(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for folder in FOLDERS:
            ours = {f"kafka_audit/{folder}/{path.name}": path.read_bytes() for path in (ROOT / folder).glob("*.py")}
            theirs = {name: archive.read(name) for name in archive.namelist() if name.startswith(f"kafka_audit/{folder}/")}
            assert theirs == ours


def test_a_build_leaves_no_metadata_in_the_plugins_folder(wheel):
    """Airflow would read the entry points there, and register each of them twice."""
    assert list((wheel.parent / "plugins").glob("*.egg-info")) == []


def test_the_entry_points_lead_somewhere():
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert sorted(points) == ["airflow.plugins", "apache_airflow_provider"]
    for path in (*points["airflow.plugins"].values(), *points["apache_airflow_provider"].values()):
        module, _, name = path.partition(":")
        assert callable(getattr(importlib.import_module(module), name)), path


def test_airflows_schema_accepts_the_provider():
    schema = json.loads((Path(importlib.import_module("airflow").__file__).parent / "provider_info.schema.json").read_text())
    jsonschema.validate(get_provider_info(), schema)
    assert get_provider_info().keys() <= schema["properties"].keys(), "an unknown key would have no effect"


def test_the_provider_names_what_exists():
    info = get_provider_info()
    for path in (*info["extra-links"], *info["notifications"]):
        module, _, name = path.rpartition(".")
        assert inspect.isclass(getattr(importlib.import_module(module), name)), path
    for decorator in info["task-decorators"]:
        module, _, name = decorator["class-name"].rpartition(".")
        assert callable(getattr(importlib.import_module(module), name)), decorator
    for kind in ("operators", "sensors", "triggers"):
        for entry in info[kind]:
            assert entry["integration-name"] in {integration["integration-name"] for integration in info["integrations"]}
            assert all(importlib.import_module(module) for module in entry["python-modules"])


def test_the_section_of_the_configuration_is_the_table_of_settings():
    (section,) = get_provider_info()["config"].values()
    assert list(section["options"]) == [
        variable.removeprefix("KAFKA_AUDIT_").lower() for variable in OPTIONS if variable != "KAFKA_AUDIT_RETENTION"
    ]
    for variable, option in OPTIONS.items():
        if option.in_section:
            assert variable in section["options"][option.name]["description"]


def test_the_classes_for_dags_are_imported_when_they_are_asked_for():
    """Every process of Airflow imports the provider's entry point."""
    script = (
        "import sys; from kafka_audit.airflow.provider_info import get_provider_info; get_provider_info();"
        " print([name for name in sys.modules if name == 'airflow' or name.startswith(('airflow.', 'pyarrow'))])"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert completed.stdout == "[]\n"
    package = importlib.import_module("kafka_audit.airflow")
    assert [getattr(package, name).__name__ for name in package.__all__] == package.__all__
    with pytest.raises(AttributeError, match="no attribute 'KafkaSensor'"):
        package.KafkaSensor  # noqa: B018 -- the attribute is the test


def test_the_extra_airflow_has_the_providers_that_the_package_imports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {requirement.partition(">")[0].partition("=")[0] for requirement in project["optional-dependencies"]["airflow"]}
    locked = (ROOT / "requirements" / "runtime.in").read_text(encoding="utf-8").splitlines()
    assert named == {line.partition("=")[0] for line in locked if line.startswith(("apache-airflow", "pyspark"))}
    assert [line for line in project["optional-dependencies"]["airflow"] if "pyspark" in line] == [
        line for line in locked if line.startswith("pyspark")
    ]


@dataclass(frozen=True)
class Installation:
    """A virtual environment with the wheel, and a home of Airflow."""

    python: Path
    home: Path

    def run(self, *arguments, folders=None, check=True):
        """Run Python with an Airflow whose folders are its own, or those below `folders`."""
        settings = {"AIRFLOW_HOME": str(self.home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "PATH": os.environ["PATH"]}
        if folders is not None:
            settings["AIRFLOW__CORE__DAGS_FOLDER"] = str(folders / "dags")
            settings["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(folders / "plugins")
        command = [str(self.python), "-P", *arguments]
        completed = subprocess.run(command, env=settings, cwd=self.home, capture_output=True, text=True, check=False)
        assert completed.returncode == 0 or not check, completed.stderr
        return completed

    def registered(self, folders=None):
        """Return what Airflow finds."""
        (line,) = [line for line in self.run("-c", FIND, folders=folders).stdout.splitlines() if line.startswith("RESULT ")]
        return json.loads(line.removeprefix("RESULT "))


FIND = """
import json
from pathlib import Path
from airflow import plugins_manager, providers_manager
from airflow.configuration import conf
from airflow.dag_processing.dagbag import DagBag
import kafka_audit
from kafka_audit.spark.submission import spark_job
plugins = [str(plugin.source) for plugin in plugins_manager._get_plugins()[0] if plugin.name == "kafka_audit"]
bag = DagBag(conf.get("core", "dags_folder"))
again = DagBag(conf.get("core", "dags_folder"))  # modules that are imported already
provider = providers_manager.ProvidersManager().providers.get("kafka-audit")
print("RESULT", json.dumps({
    "plugins": plugins, "plugin_errors": plugins_manager.get_import_errors(), "package": kafka_audit.__file__,
    "dags": {dag.dag_id: dag.fileloc for dag in bag.dags.values()}, "dag_errors": bag.import_errors,
    "again": sorted(again.dags), "provider": provider and provider.version,
    "jobs": sorted({str(spark_job(Path(dag.fileloc).parent)) for dag in bag.dags.values()}),
}))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment with everything that this one has, except kafka-audit."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    there = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("kafka_audit", "__editable__")):
            (there / entry.name).symlink_to(entry)
    return folder, there


@pytest.fixture
def mounted(environment, tmp_path):
    """An Airflow without the wheel."""
    return Installation(environment[0] / "bin" / "python", tmp_path)


@pytest.fixture
def installed(environment, wheel, tmp_path):
    """An Airflow with the wheel."""
    folder, there = environment
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(there)
        names = archive.namelist()
    yield Installation(folder / "bin" / "python", tmp_path)
    for name in {name.partition("/")[0] for name in names}:
        shutil.rmtree(there / name)


@pytest.mark.airflow
def test_an_installed_wheel_is_a_provider_with_plugin_and_dags(installed):
    completed = installed.run("-m", "kafka_audit.cli", "dags", "install")
    assert completed.stdout.splitlines() == [f"written  {installed.home}/dags/{name}.py" for name in DAG_IDS]
    found = installed.registered()
    assert found["provider"] == __version__
    assert [source.partition(":")[0] for source in found["plugins"]] == [f"kafka-audit=={__version__}"]
    assert (found["plugin_errors"], found["dag_errors"]) == ({}, {})
    assert found["dags"] == {name: f"{installed.home}/dags/{name}.py" for name in DAG_IDS}
    assert found["again"] == DAG_IDS
    (job,) = found["jobs"]
    assert Path(job) == Path(found["package"]).parent / "spark_jobs" / "diff_snapshots.py"
    assert Path(job).is_file()


@pytest.mark.airflow
def test_mounted_folders_register_by_themselves(mounted):
    found = mounted.registered(ROOT)
    assert (found["plugins"], found["provider"]) == (["$PLUGINS_FOLDER/kafka_audit_plugin.py"], None)
    assert (found["plugin_errors"], found["dag_errors"]) == ({}, {})
    assert sorted(found["dags"]) == DAG_IDS
    assert found["jobs"] == [str(ROOT / "spark_jobs" / "diff_snapshots.py")]


@pytest.mark.airflow
def test_mounted_folders_beside_the_wheel_register_once(installed):
    """Airflow shows a plugin that is registered twice as an import error."""
    found = installed.registered(ROOT)
    assert [source.partition(":")[0] for source in found["plugins"]] == [f"kafka-audit=={__version__}"]
    assert (found["plugin_errors"], found["dag_errors"]) == ({}, {})
    assert found["dags"] == {name: str(ROOT / "dags" / f"{name}.py") for name in DAG_IDS}
    assert not Path(found["package"]).is_relative_to(ROOT)


@pytest.mark.airflow
def test_a_mounted_package_of_another_version_is_named(installed, tmp_path):
    """The installed package precedes plugins/ on Airflow's path."""
    folders = tmp_path / "mounted"
    (folders / "dags").mkdir(parents=True)
    shutil.copytree(ROOT / "plugins", folders / "plugins", ignore=shutil.ignore_patterns("__pycache__"))
    source = folders / "plugins" / "kafka_audit" / "__init__.py"
    script = "from airflow import plugins_manager; plugins_manager.ensure_plugins_loaded()"
    warning = "is used, version 0.0.1 in"
    assert warning not in installed.run("-c", script, folders=folders).stdout
    source.write_text(source.read_text().replace(f'"{__version__}"', '"0.0.1"'))
    completed = installed.run("-c", script, folders=folders)
    assert warning in completed.stdout + completed.stderr
