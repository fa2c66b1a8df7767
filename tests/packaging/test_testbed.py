"""The test bed is in the repository alone: not in the wheel, not in Spark's zip, not in Airflow's plugins folder."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import PurePosixPath

import pytest

from airflow_environment import ROOT
from kafka_audit.airflow.tasks import pyfiles
from kafka_audit.checks import catalogue
from kafka_audit.report.plain_text import explain


def of_the_bed(names):
    """Return those file names that belong to the test bed: by their folder, or Java sources, which it alone has."""
    return [name for name in names if "testbed" in PurePosixPath(name).parts or name.endswith(".java")]


def demo(package, folder, *arguments):
    """Run `kafka-audit demo` in a folder, with the package that lies in another one."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "kafka_audit.cli", "demo", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that holds what the wheel installs."""
    folder = tmp_path_factory.mktemp("installed") / "lib" / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_holds_the_package_and_no_test_bed(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "kafka_audit/cli/arguments.py" in names
    assert of_the_bed(names) == []
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"kafka_audit"}


def test_the_wheel_holds_every_file_that_the_checkout_gives_to_spark(wheel):
    """No kind of file that the package reads is left out of `package-data`."""
    ours = zipfile.ZipFile(io.BytesIO(pyfiles.package_zip())).namelist()
    assert set(ours) <= set(zipfile.ZipFile(wheel).namelist())


def test_an_installed_wheel_explains_with_the_cases_of_the_checkout(installed, tmp_path):
    completed = subprocess.run(
        [sys.executable, "-P", "-m", "kafka_audit.cli", "explain", "KA304"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    example = explain.first_failing_case(catalogue()["KA304"])
    assert example.startswith("two_brokers_behind_one_forward:")
    assert [line.strip() for line in completed.stdout.partition("Example that fails\n")[2].splitlines()] == [
        line.strip() for line in example.splitlines()
    ]


def test_the_zip_for_spark_holds_no_test_bed():
    assert of_the_bed(zipfile.ZipFile(io.BytesIO(pyfiles.package_zip())).namelist()) == []


def test_the_plugins_folder_holds_no_test_bed():
    files = [path.relative_to(ROOT) for path in (ROOT / "plugins").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert of_the_bed(path.as_posix() for path in files) == []


def test_the_demo_of_an_installed_wheel_asks_for_a_clone_in_one_line(installed, tmp_path):
    for arguments in ((), ("--help",), ("--kafka-version", "2.8.2")):
        completed = demo(installed, tmp_path, *arguments)
        assert (completed.returncode, completed.stdout) == (2, "")
        assert completed.stderr == (
            "kafka-audit: the demo requires a clone of the repository, because the test bed is not installed; "
            "run `make demo` in a clone\n"
        )


def test_no_other_package_of_that_name_is_run(installed, tmp_path):
    """A module `testbed` in the working directory or on the path is not ours."""
    stranger = tmp_path / "testbed"
    stranger.mkdir()
    (stranger / "__init__.py").touch()
    (stranger / "demo.py").write_text("raise SystemExit('a stranger')")
    assert demo(f"{installed}{os.pathsep}{tmp_path}", tmp_path).returncode == 2


def test_the_demo_of_a_clone_is_found_from_any_folder(tmp_path):
    completed = demo(ROOT / "plugins", tmp_path, "--help")
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith("usage: kafka-audit demo [-h] [--kafka-version")
