import shutil
import subprocess
import sys

import pytest

import airflow_environment
from airflow_environment import ROOT

airflow_environment.apply()

BUILD = "from setuptools import build_meta; print('WHEEL', build_meta.build_wheel('.'))"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built from a copy of it."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("plugins", "dags", "spark_jobs", "testbed"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    completed = subprocess.run([sys.executable, "-c", BUILD], cwd=copy, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    (line,) = (line for line in completed.stdout.splitlines() if line.startswith("WHEEL "))
    return copy / line.removeprefix("WHEEL ")
