"""Check the wheel with versions of Airflow: ``python -m testbed.airflow_versions run``, ``docs``, ``list``.

`run` makes a virtual environment for each, of packages of the registry, and starts one real cluster for all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testbed.airflow_versions import record
from testbed.airflow_versions.checks import CHECKS, CLUSTER, CheckError, Room
from testbed.airflow_versions.environments import TARGETS, Environment, Target, build_wheel
from testbed.bed import Bed
from testbed.errors import BedError
from testbed.faults import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.cluster import Cluster

KAFKA = "3.9.1"
_BEGAN = time.monotonic()


def say(line: str) -> None:
    """Print a step with the time since the start."""
    sys.stdout.write(f"[{time.monotonic() - _BEGAN:5.0f} s] {line}\n")
    sys.stdout.flush()


def run(targets: Sequence[Target], folder: Path) -> int:
    """Check each target, and write record and page; return 1 if a check failed."""
    wheel = build_wheel(folder)
    failed = False
    with Bed(folder / "bed", say=say) as bed:
        cluster = bed.cluster(KAFKA)
        for name, assignment in spread(2, 3, list(cluster.brokers)).items():
            cluster.create_topic(name, assignment)
        cluster.await_settled()
        for target in targets:
            say(f"Airflow {target.name}")
            seen = _check(target, wheel, cluster, bed, folder / target.name.replace(" ", "-"))
            failed |= any(seen["checks"].values())
            record.add(target, seen)
            record.write_page()
    return int(failed)


def _check(target: Target, wheel: Path, cluster: Cluster, bed: Bed, folder: Path) -> dict[str, Any]:
    environment = Environment(folder / "venv", target)
    environment.create()
    say("  Airflow is installed")
    replaced = environment.add(wheel)
    say("  the wheel is installed")
    clusters = folder / "clusters.yaml"
    clusters.write_text(cluster.clusters_yaml(CLUSTER), encoding="utf-8")
    bootstrap = ",".join(broker.open_address for broker in cluster.brokers.values())
    room = Room(environment=environment, folder=folder, host=bed.worker, clusters=clusters, bootstrap=bootstrap)
    results = {}
    for name, check in CHECKS.items():
        try:
            check(room)
            results[name] = ""
        except (CheckError, BedError) as error:
            results[name] = str(error)
        say(f"  {name}: {results[name] or 'passed'}")
    shutil.rmtree(environment.folder)
    day = datetime.now(UTC).date().isoformat()
    return {"day": day, "dependencies_of": target.day, "replaced": replaced, "checks": results, "names": room.names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m testbed.airflow_versions", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("run", help="check, then write docs/airflow-versions.json and the table of docs/airflow.md")
    checking.add_argument("targets", nargs="*", metavar="AIRFLOW[/PYTHON]", help="only these, such as 3.1.8 or 3.3.2/3.12")
    checking.add_argument("--folder", type=Path, help="for environments and logs (default: a temporary one, removed)")
    commands.add_parser("docs", help="write the table of docs/airflow.md from the record")
    commands.add_parser("list", help="list what `run` checks")
    options = parser.parse_args(arguments)
    if options.command == "list":
        sys.stdout.writelines(f"{target.airflow}/{target.python}\n" for target in TARGETS)
        return 0
    if options.command == "docs":
        record.write_page()
        return 0
    targets = [
        target
        for target in TARGETS
        if not options.targets or {target.airflow, f"{target.airflow}/{target.python}"} & {*options.targets}
    ]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-audit-airflow-", ignore_cleanup_errors=True))
        )
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return run(targets, folder.resolve())
        except BedError as error:
            say(str(error))
            return 1


if __name__ == "__main__":
    sys.exit(main())
