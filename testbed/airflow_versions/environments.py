"""Virtual environments that are made as a user makes them: Airflow as it was released, then the wheel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.airflow_home import ROOT
from testbed.errors import BedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PACKAGE = "kafka-audit"
TAIL_LINES = 20


@dataclass(frozen=True, order=True)
class Target:
    """A version of Airflow on a version of Python.

    Attributes:
        airflow: its version.
        python: major and minor.
        day: the day after the release; of each dependency, the newest version that existed on it is installed.
    """

    airflow: str
    python: str
    day: str

    @property
    def name(self) -> str:
        """Airflow's version and Python's, the key in the record."""
        return f"{self.airflow} on Python {self.python}"


TARGETS = (
    Target("3.1.8", "3.11", "2026-03-12"),
    Target("3.2.2", "3.11", "2026-05-30"),
    Target("3.3.2", "3.11", "2026-09-18"),
    Target("3.3.2", "3.12", "2026-09-18"),
    Target("3.3.2", "3.13", "2026-09-18"),
)
"""The newest release of each minor version that is supported, and the newest of them with each Python."""


def run(command: Sequence[str | Path], **options: object) -> str:
    """Run a command and return what it printed; raises `BedError` with the end of that if it fails."""
    completed = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if completed.returncode:
        tail = "\n".join((completed.stdout + completed.stderr).splitlines()[-TAIL_LINES:])
        message = f"{' '.join(map(str, command[:4]))} … ended with {completed.returncode}:\n{tail}"
        raise BedError(message)
    return str(completed.stdout)


@dataclass(frozen=True)
class Environment:
    """A virtual environment.

    Attributes:
        folder: where it is.
        target: what it was made for.
    """

    folder: Path
    target: Target

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def create(self) -> None:
        """Make it, with Airflow alone.

        Raises:
            BedError: there is no such Python here, or the registry does not answer.
        """
        run([_uv(), "venv", "--quiet", "--python", self.target.python, self.folder])
        self._install("--exclude-newer", self.target.day, f"apache-airflow=={self.target.airflow}")

    def add(self, wheel: Path) -> dict[str, list[str]]:
        """Install the wheel with its extra `airflow`, as docs/airflow.md says.

        Returns:
            Packages of Airflow that were replaced for it: version before and after.
        """
        before = self.packages()
        self._install(f"apache-airflow=={self.target.airflow}", f"{wheel}[airflow]")
        after = self.packages()
        return {name: [was, after.get(name, "")] for name, was in sorted(before.items()) if after.get(name) != was}

    def remove(self) -> None:
        """Remove the wheel, and keep what it requires."""
        run([_uv(), "pip", "uninstall", "--quiet", "--python", self.python, PACKAGE])

    def packages(self) -> dict[str, str]:
        """Return the version of each installed package."""
        listed = run([_uv(), "pip", "list", "--quiet", "--format", "json", "--python", self.python])
        return {package["name"]: package["version"] for package in json.loads(listed)}

    def variables(self, home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a process of this Airflow: nothing of another Airflow and of this checkout is in it."""
        strange = ("AIRFLOW", "_AIRFLOW", "KAFKA_AUDIT_", "PYTHONPATH", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
        own = {"AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
        return kept | own | {"PATH": f"{self.folder / 'bin'}:{os.environ.get('PATH', '')}"} | dict(more or {})

    def _install(self, *requirements: str) -> None:
        run([_uv(), "pip", "install", "--quiet", "--python", self.python, *requirements])


def build_wheel(folder: Path) -> Path:
    """Build the wheel from a copy of this checkout: a build leaves files behind, which the next one would take."""
    copy = folder / "checkout"
    copy.mkdir(parents=True)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("plugins", "dags", "spark_jobs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    # The locked setuptools builds it: build isolation would download another one.
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, copy])
    (wheel,) = folder.glob("kafka_audit-*.whl")
    return wheel


def _uv() -> Path:
    """Return uv, which requirements/build.txt holds."""
    return Path(sysconfig.get_path("scripts")) / "uv"
