"""The zip that Spark gets."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import yaml

from kafka_audit.airflow.tasks import pyfiles
from kafka_audit.checks import catalogue


def test_equal_code_gives_equal_bytes():
    assert pyfiles.package_zip() == pyfiles.package_zip()


def test_data_files_come_along_and_compiled_ones_do_not():
    names = zipfile.ZipFile(io.BytesIO(pyfiles.package_zip())).namelist()
    assert "kafka_audit/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]


def test_the_catalogue_is_whole_inside_the_zip(tmp_path):
    """`Path(__file__).parent.glob()` finds nothing there; pkgutil does."""
    packed = tmp_path / "kafka_audit.zip"
    packed.write_bytes(pyfiles.package_zip())
    program = "import kafka_audit.checks as c; print(c.__file__); print(*c.catalogue())"
    # -S and -P: neither the editable install nor the working directory can stand in for the zip. PyYAML reads the texts.
    path = os.pathsep.join((str(packed), str(Path(yaml.__file__).parents[1])))
    completed = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    place, codes = completed.stdout.splitlines()
    assert place.startswith(str(packed))
    assert codes.split() == list(catalogue())
    assert codes
