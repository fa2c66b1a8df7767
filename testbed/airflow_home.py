"""A real Airflow of its own on a host of the bed: database, DAGs of this checkout, one process per run.

`airflow dags test` runs the whole DAG in its own process, with no server and no port, and ends with 1 if a task failed.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import BedError
from testbed.hosts import Host

ROOT = Path(__file__).resolve().parents[1]
DAG = "kafka_audit"
FROM_OUTSIDE = ("AIRFLOW", "_AIRFLOW", "KAFKA_AUDIT_")  # settings of another Airflow must not reach this one
STARTING = re.compile(r"\[DAG TEST\] starting task_id=(\S+) map_index=(-?\d+)")
TAIL_LINES = 30


@dataclass(frozen=True, kw_only=True)
class DagRun:
    """One run of the DAG: `returncode` is 0 if every task succeeded; `log` holds what all of them logged."""

    returncode: int
    log: Path

    def tail(self) -> str:
        """Return the last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:])


class AirflowHome:
    """An AIRFLOW_HOME with a cluster file and a store, used from one host.

    Attributes:
        environment: complete, for further commands on that host.
    """

    def __init__(
        self, host: Host, folder: Path, *, clusters: Path, store: Path, variables: Mapping[str, str] | None = None
    ) -> None:
        """Describe it; `migrate` makes it.

        Args:
            host: where Airflow runs.
            folder: becomes AIRFLOW_HOME.
            clusters: the cluster file.
            store: root of the store.
            variables: further environment, e.g. connections.
        """
        self._host = host
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        own = {
            "AIRFLOW_HOME": str(folder),
            "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
            "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{folder}/airflow.db",
            "KAFKA_AUDIT_CLUSTERS": str(clusters),
            "KAFKA_AUDIT_STORE": str(store),
            # Spark plans for a minute over a handful of rows here: compiling its planner with C2 costs a third of that.
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(FROM_OUTSIDE)}
        self.environment: dict[str, str] = {**inherited, **own, **(variables or {})}

    def migrate(self) -> subprocess.Popen[str]:
        """Start making the database (6 s), which needs no cluster yet; `ready` waits for it."""
        with (self.folder / "migrate.log").open("w") as log:
            return self._start(["db", "migrate"], stdout=log, stderr=subprocess.STDOUT)

    def ready(self, migration: subprocess.Popen[str]) -> None:
        """Wait until the database is made; raises `BedError` with the log's end if it is not."""
        if migration.wait():
            log = DagRun(returncode=migration.returncode, log=self.folder / "migrate.log")
            message = f"airflow db migrate failed:\n{log.tail()}"
            raise BedError(message)

    def run(self, log: Path, *, dag: str = DAG, conf: str | None = None, say: Callable[[str], None] | None = None) -> DagRun:
        """Run a DAG once to its end.

        Args:
            log: file for everything that Airflow and its tasks say.
            dag: its id.
            conf: the run's configuration, JSON.
            say: receives the name of each task that starts.
        """
        arguments = ["dags", "test", dag, *(["--conf", conf] if conf else [])]
        with (
            log.open("w", buffering=1) as out,
            self._start(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process,
        ):
            for line in process.stdout or ():
                out.write(line)
                started = STARTING.search(line)
                if started and say:
                    say(started[1] if started[2] == "-1" else f"{started[1]}[{started[2]}]")
        return DagRun(returncode=process.wait(), log=log)

    def _start(self, arguments: list[str], **options: object) -> subprocess.Popen[str]:
        return self._host.popen([sys.executable, "-m", "airflow", *arguments], cwd=self.folder, env=self.environment, **options)
