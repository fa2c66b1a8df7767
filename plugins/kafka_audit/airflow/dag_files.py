"""The DAG files of an installed package. They import the DAGs, so an upgrade of the package upgrades the DAGs."""

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from kafka_audit.airflow.moved import conf

PACKAGE = "kafka_audit.dags"
"""`dags/` of the repository, which the wheel contains under this name."""


def dags_folder() -> Path:
    """Return `[core] dags_folder`."""
    return Path(conf.get("core", "dags_folder"))


def dag_files() -> dict[str, str]:
    """Return the content of each DAG file by its name; empty where this copy of the package contains no DAGs."""
    if find_spec(PACKAGE) is None:
        return {}
    return {
        entry.name: _content(entry.name.removesuffix(".py"))
        for entry in sorted(files(PACKAGE).iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".py")
    }


def _content(module: str) -> str:
    # Airflow reads only files that contain the words "airflow" and "dag".
    return (
        f'"""The Airflow DAG of the installed package kafka-audit. Written by `kafka-audit dags install`."""\n\n'
        f"from {PACKAGE}.{module} import *  # noqa: F403\n"
    )
