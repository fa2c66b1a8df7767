"""What is checked in an environment, in this order; each check is a function, whose docstring is its row of the table."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testbed.airflow_home import ROOT
from testbed.airflow_server import AirflowServer
from testbed.airflow_versions import names
from testbed.airflow_versions.environments import PACKAGE, TAIL_LINES, Environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from testbed.hosts import Host

_ASKED = Path(__file__).with_name("asked.py")
DAGS = tuple(sorted(path.stem for path in (ROOT / "dags").glob("*.py")))
CONNECTION = "kafka_bed"
CLUSTER = "bed"
OWN_DAG = """from airflow.sdk import dag
from kafka_audit.airflow import KafkaAuditOperator, KafkaCleanSensor


@dag
def deployment():
    audit = KafkaAuditOperator(task_id="audit", cluster="bed")
    audit >> KafkaCleanSensor(task_id="clean", cluster="bed")


deployment()
"""


class CheckError(Exception):
    """What a check found instead, in one line."""


@dataclass
class Room:
    """An environment with an Airflow home, on a host that reaches a healthy cluster.

    Attributes:
        environment: the virtual environment.
        folder: for homes, logs and the store.
        host: of the test bed.
        clusters: the cluster file, with the cluster `CLUSTER`.
        bootstrap: addresses of brokers, for a connection.
        names: of Airflow, whether each exists; a check fills it.
    """

    environment: Environment
    folder: Path
    host: Host
    clusters: Path
    bootstrap: str
    names: dict[str, bool] = field(default_factory=dict)

    def variables(self, home: str = "installed", **more: str) -> dict[str, str]:
        """Return the environment of this Airflow."""
        (self.folder / home).mkdir(parents=True, exist_ok=True)
        extra = {"bootstrap.servers": self.bootstrap}
        own = {
            "KAFKA_AUDIT_CLUSTERS": str(self.clusters),
            "KAFKA_AUDIT_STORE": str(self.folder / "store"),
            "KAFKA_AUDIT_CACHE": "none",
            "AIRFLOW__CORE__TEST_CONNECTION": "Enabled",
            f"AIRFLOW_CONN_{CONNECTION.upper()}": json.dumps({"conn_type": "kafka_audit", "extra": extra}),
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        return self.environment.variables(self.folder / home, own | more)

    def call(self, *arguments: str, host: Host | None = None, **more: str) -> str:
        """Run a program of the environment and return what it printed.

        Args:
            arguments: the program and its arguments.
            host: where it runs, None for this machine.
            more: variables.

        Raises:
            CheckError: with the last lines, if it fails.
        """
        command = [str(self.environment.folder / "bin" / arguments[0]), *arguments[1:]]
        options: dict[str, Any] = {"env": self.variables(**more), "cwd": self.folder}
        if host is None:
            completed = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        else:
            completed = host.run(command, **options)
        log = self.folder / "commands.log"
        with log.open("a", encoding="utf-8") as out:
            out.write(f"\n$ {' '.join(arguments)}\n{completed.stdout}{completed.stderr}")
        if completed.returncode:
            lines = [line for line in (completed.stdout + completed.stderr).splitlines() if line.strip()][-TAIL_LINES:]
            message = f"`{' '.join(arguments[:3])}` ended with {completed.returncode}: {lines[-1] if lines else ''}"
            raise CheckError(message)
        return str(completed.stdout)

    def listed(self, *arguments: str) -> list[dict[str, str]]:
        """Return what a command of Airflow lists; warnings may precede the JSON."""
        out = self.call("airflow", *arguments, "--output", "json")
        start = re.search(r"^\[", out, re.MULTILINE)
        return list(json.loads(out[start.start() :])) if start else []

    def found(self, **more: str) -> dict[str, Any]:
        """Return what Airflow finds, by `asked`."""
        command = [str(self.environment.python), "-P", str(_ASKED)]
        wanted = json.dumps(names.wanted())
        completed = subprocess.run(
            command, input=wanted, env=self.variables(**more), cwd=self.folder, capture_output=True, text=True, check=False
        )
        lines = [line for line in completed.stdout.splitlines() if line.startswith("FOUND ")]
        if not lines:
            message = (completed.stderr.strip().splitlines() or ["no output"])[-1]
            raise CheckError(message)
        return dict(json.loads(lines[-1].removeprefix("FOUND ")))


def expect(actual: object, wanted: object, what: str) -> None:
    """Compare; raises `CheckError` with both."""
    if actual != wanted:
        message = f"{what}: {actual}, expected {wanted}"
        raise CheckError(message)


def provider(room: Room) -> None:
    """`airflow providers list` names `kafka-audit`."""
    room.call("airflow", "db", "migrate")
    expect(PACKAGE in {entry["package_name"] for entry in room.listed("providers", "list")}, wanted=True, what="listed")


def plugin(room: Room) -> None:
    """`airflow plugins` names `kafka_audit`."""
    expect([entry["name"] for entry in room.listed("plugins")].count("kafka_audit"), 1, "times listed")


def installed_dags(room: Room) -> None:
    """The DAGs of `kafka-audit dags install` import."""
    room.call("kafka-audit", "dags", "install")
    found = room.found()
    room.names.update(found["names"])
    _once(found)


def mounted_beside(room: Room) -> None:
    """Wheel and mounted folders: plugin and DAGs are registered once."""
    _once(room.found(**_mounted()))


def connection(room: Room) -> None:
    """`airflow connections test` of a connection **Kafka audit** succeeds."""
    output = room.call("airflow", "connections", "test", CONNECTION, host=room.host)
    expect("Connection success!" in output.splitlines(), wanted=True, what="success")


def audit(room: Room) -> None:
    """The DAG `kafka_audit` runs to its end on a healthy cluster of three brokers."""
    room.call("airflow", "dags", "test", "kafka_audit", host=room.host)
    report = json.loads((room.folder / "store" / "findings.json").read_text(encoding="utf-8"))
    expect((report["cluster"], report["incidents"]), (CLUSTER, []), "report")


def own_dag(room: Room) -> None:
    """Operator and sensor in a DAG of ten lines run."""
    file = room.folder / "installed" / "dags" / "deployment.py"
    file.write_text(OWN_DAG, encoding="utf-8")
    try:
        room.call("airflow", "dags", "test", "deployment", host=room.host)
    finally:
        file.unlink()


def page(room: Room) -> None:
    """The page opens for a viewer, in the menu and alone; without a login it does not."""
    home = room.folder / "installed"
    server = AirflowServer(home, room.variables(KAFKA_AUDIT_SCHEDULE="none"), python=room.environment.python)
    with server as airflow:
        expect(_status(f"{airflow.url}/kafka-audit/"), http.client.UNAUTHORIZED, "without a login")
        token = _token(airflow.url, "viewer")
        expect(_status(f"{airflow.url}/kafka-audit/clusters/{CLUSTER}", token), http.client.OK, "the page of a viewer")
        with urllib.request.urlopen(_request(f"{airflow.url}/api/v2/plugins", token)) as answer:  # noqa: S310 -- loopback
            plugins = json.load(answer)["plugins"]
    views = [view["destination"] for plugin in plugins if plugin["name"] == "kafka_audit" for view in plugin["external_views"]]
    expect(sorted(views), ["dag_run", "nav"], "external views")


def mounted(room: Room) -> None:
    """Mounted folders without the wheel: plugin and DAGs are registered."""
    room.environment.remove()
    found = room.found(home="mounted", **_mounted())
    _once(found)
    expect(found["plugins"], ["$PLUGINS_FOLDER/kafka_audit_plugin.py"], "source of the plugin")


CHECKS: Mapping[str, Callable[[Room], None]] = {
    check.__name__: check
    for check in (provider, plugin, installed_dags, mounted_beside, connection, audit, own_dag, page, mounted)
}
"""In their order: the last one removes the wheel."""


def _mounted() -> dict[str, str]:
    return {"AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"), "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins")}


def _once(found: Mapping[str, Any]) -> None:
    expect((found["plugin_errors"], found["dag_errors"]), ({}, {}), "import errors")
    expect(len(found["plugins"]), 1, "registrations of the plugin")
    expect(tuple(found["dags"]), DAGS, "DAGs")


def _token(url: str, user: str) -> str:
    body = json.dumps({"username": user, "password": user}).encode()
    request = urllib.request.Request(f"{url}/auth/token", data=body, headers={"Content-Type": "application/json"})  # noqa: S310 -- loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310 -- loopback
        return str(json.load(answer)["access_token"])


def _request(url: str, token: str | None) -> urllib.request.Request:
    return urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})  # noqa: S310 -- loopback


def _status(url: str, token: str | None = None) -> int:
    try:
        with urllib.request.urlopen(_request(url, token)) as answer:  # noqa: S310 -- loopback
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
