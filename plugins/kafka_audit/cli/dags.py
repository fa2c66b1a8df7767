"""`dags install`: write the files by which Airflow finds the DAGs of the installed package."""

import argparse
import os
from pathlib import Path

from kafka_audit.cli.printing import console
from kafka_audit.model.errors import UsageError


def dags_command(arguments: argparse.Namespace) -> int:
    """Write the DAG files into a folder, or none of them; print a line for each.

    Raises:
        UsageError: no Airflow is installed, the package contains no DAGs, a file of that name has another content, or the folder
            cannot be written.
    """
    os.environ["AIRFLOW__LOGGING__LOGGING_LEVEL"] = "CRITICAL"  # Airflow logs to stdout
    try:
        from kafka_audit.airflow import dag_files  # noqa: PLC0415 -- the console needs no Airflow otherwise
    except ImportError as error:
        msg = f"DAGs require Airflow, which is not installed here ({error}): pip install 'kafka-audit[airflow]'"
        raise UsageError(msg) from None
    found = dag_files.dag_files()
    if not found:
        msg = "this copy of kafka-audit contains no DAGs: use the folder dags/ next to plugins/, or pip install the package"
        raise UsageError(msg)
    folder = dag_files.dags_folder() if arguments.to is None else Path(arguments.to)
    try:
        lines = install(found, folder)
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{folder}: the DAG files cannot be written: {error}; choose another folder with --to"
        raise UsageError(msg) from None
    console.write_result("\n".join(lines))
    return 0


def install(contents: dict[str, str], folder: Path) -> list[str]:
    """Write files by name and return what was done, a line for each file.

    Raises:
        UsageError: a file of that name has another content; then no file is written.
        OSError: the folder cannot be read or written.
        UnicodeDecodeError: a file of that name is no text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {folder / name: content for name, content in contents.items()}
    old = {path: path.read_text(encoding="utf-8") for path in paths if path.exists()}
    if changed := [str(path) for path, content in old.items() if content != paths[path]]:
        msg = f"{', '.join(changed)}: not written, because the file has other content; remove it, or choose a folder with --to"
        raise UsageError(msg)
    for path in paths.keys() - old.keys():
        path.write_text(paths[path], encoding="utf-8")
    return [f"{'unchanged' if path in old else 'written'}  {path}" for path in paths]
