"""How long from a fault to the suspicion, and to the mail that names it: `python benchmarks/fault_to_alert.py`.

Real brokers, and an Airflow with scheduler, triggerer, API server and DAG processor on a host of the test bed (Linux network
namespaces, Java 17). Its triggerer watches the cluster (`KAFKA_AUDIT_WATCH=on`), a suspicion starts `kafka_audit_suspected`, and
its gate sends the mail to an SMTP server beside it. No schedule, so that nothing else can start an audit. Where Airflow and the
cluster both want the CPU, the cluster gets a tenth of it: on other hosts they would share none, and brokers of Kafka 4.3 that
have no controller take 0.6 of a core each. Needs root.

Each fault is caused and repaired; with `--all` then rolling restarts and elections, which must start nothing. The time begins
with the step that causes the fault, a restart of the broker included where the fault needs one. Prints a Markdown table for each
cluster, and median and 95th percentile (nearest rank) of all; exits with 1 if a fault sent no mail that names it, a restart
started an audit, or a percentile is too long. Two faults of each cluster by default, in about 25 minutes; `--all` takes an hour
and a half. Other work on the machine makes the times longer.
"""

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cpu_group import LITTLE, cpu_group  # noqa: E402 -- beside this file

from kafka_audit.store import watch_files  # noqa: E402 -- found by the path above
from kafka_audit.watch.audit_requests import decode_watch  # noqa: E402 -- see above
from scenarios.scheduled import Scheduled  # noqa: E402 -- of the tests
from testbed import Bed  # noqa: E402 -- see above
from testbed.airflow_home import AirflowHome  # noqa: E402 -- see above
from testbed.corpus.actions import carry_out  # noqa: E402 -- see above
from testbed.corpus.catalogue import Step, presets  # noqa: E402 -- see above
from testbed.corpus.scene import Scene, started  # noqa: E402 -- see above
from testbed.faults import rolling_restart  # noqa: E402 -- see above

NAME = "prod"
RUNS = "/api/v2/dags/kafka_audit_suspected/dagRuns"
SMTP_PORT, HTTP_PORT = 18025, 18026  # on the loopback of the bed's worker host
SINK = ROOT / "tests" / "scenarios" / "alert_sink.py"
MAIL = {
    "conn_type": "smtp",
    "host": "127.0.0.1",
    "port": SMTP_PORT,
    "extra": {"disable_ssl": True, "disable_tls": True, "from_email": "airflow@example.com", "to": "oncall@example.com"},
}
LONGEST_S = 300
FEW = 2  # faults of each cluster without --all
QUIET_S = 130  # longer than the interval after a fault that requested two audits: twice KAFKA_AUDIT_WATCH_MINUTES=1
AFTER_S = 75  # a fault that lasts as long as a restart would be suspected by then
SUSPICION_P95_S, MAIL_P95_S = 60, 120


def do(name: str, **arguments: object) -> Step:
    """Return a step of the corpus."""
    return Step(do=name, arguments=arguments)


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A fault.

    Attributes:
        title: in a few words.
        fault: the steps that cause it; the time begins before them.
        heal: the steps that repair it.
        before: steps before, which cause nothing.
        names: what the subject of the mail contains.
    """

    title: str
    fault: list[Step]
    heal: list[Step]
    before: list[Step] = field(default_factory=list)
    names: str = "roker 2"


KILLED = Timed(title="broker killed", fault=[do("stop", broker=2, hard=True)], heal=[do("start", broker=2)])
STALLED = Timed(title="broker stalled (SIGSTOP)", fault=[do("suspend", broker=1)], heal=[do("revert")], names="roker 1")
GROUPS: dict[str, tuple[str, str, list[Timed]]] = {
    "zookeeper": (
        "plain",
        "3.9.1 ZooKeeper",
        [
            Timed(
                title="broker restarts with an address that the controller cannot reach",
                before=[do("make_controller", broker=0)],
                fault=[do("advertise_forward", brokers=[2])],
                heal=[do("advertise_directly", brokers=[2])],
            ),
            KILLED,
            STALLED,
            Timed(
                title="controller killed",
                before=[do("make_controller", broker=0)],
                fault=[do("stop", broker=0, hard=True)],
                heal=[do("start", broker=0)],
                names="roker 0",
            ),
            Timed(
                title="controller moves to a broker that is cut from another",
                before=[do("make_controller", broker=0), do("cut", pairs=[[1, 2]])],
                fault=[do("make_controller", broker=1)],
                heal=[do("cut_end"), do("restart", broker=2)],
            ),
            Timed(title="clients cut from a broker", fault=[do("cut", pairs=[["worker", 2]])], heal=[do("revert")]),
            Timed(
                title="broker restarts and advertises localhost",
                fault=[do("advertise", broker=2, host="localhost", settle=[0, 1])],
                heal=[do("revert")],
            ),
        ],
    ),
    "logins": (
        "scram",
        "3.9.1 ZooKeeper",
        [
            Timed(
                title="broker restarts and refuses its controller",
                fault=[
                    do("set_properties", properties={2: {"super.users": "User:admin;User:auditor"}}, settle=[0, 1]),
                ],
                heal=[do("revert")],
            )
        ],
    ),
    "kraft": (
        "quorum",
        "4.3.0 KRaft",
        [
            Timed(
                title="broker cut from controllers and brokers",
                fault=[do("isolate", broker=2)],
                heal=[do("revert"), do("await_isr", topic="orders", partition=2, isr=[0, 1, 2])],
            ),
            KILLED,
            STALLED,
            Timed(
                title="two of three controllers killed",
                fault=[do("stop_controllers", followers=1, leader=True)],
                heal=[do("revert")],
                names="",
            ),
        ],
    ),
}


@dataclass(kw_only=True)
class Said:
    """Seconds from a fault to the suspicion, the run of the DAG and the mail; None: not within `LONGEST_S`.

    `tasks` has the seconds of each task that had ended when the mail came.
    """

    suspicion: float | None = None
    run: float | None = None
    mail: float | None = None
    subject: str = ""
    tasks: str = ""


class Alerted:
    """A cluster, the Airflow that watches it, and what arrived at the mail server."""

    def __init__(self, scene: Scene, airflow: Scheduled, folder: Path) -> None:
        """Keep them; `folder` has the store and the file of the mail server."""
        self.scene = scene
        self._airflow = airflow
        self._watch = watch_files.WatchFiles(folder / "store")
        self._mails = folder / "mails.jsonl"

    def mails(self) -> list[str]:
        """Return the subjects of all mails."""
        if not self._mails.is_file():
            return []
        found = [json.loads(line) for line in self._mails.read_text().splitlines()]
        return [dict(one["headers"])["Subject"] for one in found if one["kind"] == "mail"]

    def runs(self) -> int:
        """Return how many runs of the DAG there are."""
        return self._airflow.call("GET", f"{RUNS}?limit=1")["total_entries"]

    def tasks(self, *, seconds: bool = False) -> str:
        """Return the state of each task of the newest run, or how many seconds each one that has ended took, in their order."""
        (run,) = self._airflow.call("GET", f"{RUNS}?limit=1&order_by=-id")["dag_runs"]
        found = self._airflow.call("GET", f"{RUNS}/{quote(run['dag_run_id'], safe='')}/taskInstances?order_by=start_date")
        if seconds:
            return ", ".join(f"{one['task_id']} {one['duration']:.0f}" for one in found["task_instances"] if one["duration"])
        return ", ".join(f"{one['task_id']} {one['state']}" for one in found["task_instances"])

    def busy(self) -> bool:
        """Return whether a run of the DAG goes on."""
        return self._airflow.call("GET", f"{RUNS}?limit=1&state=running&state=queued")["total_entries"] > 0

    def suspected(self) -> list[str] | None:
        """Return what the watch suspects; None before its first reading."""
        content = self._watch.read(NAME)
        return None if content is None else [one.sentence() for one in decode_watch(content).state.suspicions]

    def quiet(self, seconds: float, within: float = 1200) -> None:
        """Wait until nothing has been suspected and no run has gone on for so long."""
        end, since = time.monotonic() + within, time.monotonic()
        while time.monotonic() - since < seconds:
            if self.suspected() != [] or self.busy():
                since = time.monotonic()
            if time.monotonic() > end:
                message = f"no quiet within {within} s: {self.suspected()}"
                raise RuntimeError(message)
            time.sleep(2)

    def timed(self, fault: Timed) -> Said:
        """Cause a fault and wait for its mail; return the seconds to suspicion, DAG run and mail, and the subject."""
        carry_out(self.scene, fault.before)
        self.quiet(QUIET_S)
        mails, runs = len(self.mails()), self.runs()
        said = Said()
        began = time.monotonic()
        carry_out(self.scene, fault.fault)
        while said.mail is None and time.monotonic() - began < LONGEST_S:
            now = time.monotonic() - began
            if said.suspicion is None and self.suspected():
                said.suspicion = now
            if said.run is None and self.runs() > runs:
                said.run = now
            new = [subject for subject in self.mails()[mails:] if not subject.startswith("[RESOLVED]")]
            if new:
                said.mail, said.subject = now, new[0]
            time.sleep(0.5)
        if said.mail is None and said.run is not None:
            said.subject = f"no mail: {self.tasks()}"
        elif said.mail is not None:
            said.tasks = self.tasks(seconds=True)
        carry_out(self.scene, fault.heal)
        return said


@contextmanager
def alerted(preset: str, version: str) -> Iterator[Alerted]:
    """Start a cluster, an Airflow and a mail server, and wait until the cluster is watched and whole."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-audit-", ignore_cleanup_errors=True)))
        group = stack.enter_context(cpu_group("kafka-audit-benchmark", LITTLE))
        group.add(os.getpid())
        bed = stack.enter_context(Bed(folder / "bed"))
        scene = started(bed, presets()[preset], version)
        (folder / "clusters.yaml").write_text(json.dumps({"clusters": {NAME: scene.entry}}))
        secrets = scene.cluster.secured.audit_environment() if scene.cluster.secured else {}
        home = AirflowHome(
            bed.worker,
            folder / "airflow",
            clusters=folder / "clusters.yaml",
            store=folder / "store",
            variables={
                **secrets,
                "KAFKA_AUDIT_WATCH": "on",
                "KAFKA_AUDIT_WATCH_MINUTES": "1",
                "AIRFLOW_CONN_KAFKA_AUDIT_SMTP": json.dumps(MAIL),
            },
        )
        command = [sys.executable, str(SINK), str(SMTP_PORT), str(HTTP_PORT), str(folder / "mails.jsonl")]
        sink = stack.enter_context(bed.worker.popen(command, stdin=-1, stdout=-1))
        stack.callback(sink.terminate)
        sink.stdout.readline()
        home.ready(home.migrate())
        server = Scheduled(home, host=bed.worker)
        # Airflow's default. Watchers of a DAG that was unpaused start when its file is parsed the next time.
        server._environment["AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL"] = "30"  # noqa: SLF001 -- of the tests
        with group.outside():
            airflow = stack.enter_context(server)
        airflow.unpause("kafka_audit_suspected")
        found = Alerted(scene, airflow, folder)
        airflow.wait_for(lambda: found.suspected() == [], 300, "the first reading of the watch")
        yield found


def silent(cluster: Alerted) -> Iterator[tuple[str, bool]]:
    """Restart all brokers and move the controller, twice each; return the title of each with whether it started nothing."""
    brokers = cluster.scene.cluster

    def restart() -> None:
        for _ in rolling_restart(brokers):
            pass

    def elect() -> None:
        carry_out(cluster.scene, [do("move_controller", times=1)])
        brokers.await_settled()

    for title, churn in (("rolling restart", restart), ("election of the controller", elect)) * 2:
        cluster.quiet(QUIET_S)
        before = cluster.runs(), cluster.mails()
        churn()
        time.sleep(AFTER_S)
        yield title, (cluster.runs(), cluster.mails()) == before


def seconds(value: float | None) -> str:
    """Return seconds as a cell."""
    return "none" if value is None else f"{value:.0f} s"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=GROUPS, help="only faults of this cluster; may be repeated")
    parser.add_argument("--fault", action="append", metavar="WORD", help="only faults with this in their title; may be repeated")
    parser.add_argument("--all", action="store_true", help="all twelve faults, rolling restarts and elections")
    arguments = parser.parse_args()
    chosen = arguments.group or list(GROUPS)
    measured: list[tuple[Timed, Said]] = []
    loud: list[str] = []
    quiet = 0
    for group in chosen:
        preset, version, all_faults = GROUPS[group]
        words = arguments.fault or [""]
        faults = [one for one in all_faults if any(word in one.title for word in words)]
        if not (arguments.all or arguments.fault):
            faults = faults[:FEW]
        if not faults:
            continue
        with alerted(preset, version) as cluster:
            print(f"\nKafka {version}{', SCRAM' if preset == 'scram' else ''}\n")
            print("| fault | suspicion | DAG run | mail | seconds of its tasks | subject of the mail |")
            print("|---|---|---|---|---|---|", flush=True)
            for fault in faults:
                said = cluster.timed(fault)
                measured.append((fault, said))
                times = " | ".join(seconds(value) for value in (said.suspicion, said.run, said.mail))
                print(f"| {fault.title} | {times} | {said.tasks} | {said.subject} |", flush=True)
            if group != "logins" and arguments.all:
                for title, started_nothing in silent(cluster):
                    print(f"| {title} | {'none | none | none' if started_nothing else 'SUSPECTED | | '} | | |", flush=True)
                    quiet += started_nothing
                    loud += [] if started_nothing else [title]
    return verdict(measured, loud, quiet)


def verdict(measured: list[tuple[Timed, Said]], loud: list[str], quiet: int) -> int:
    """Print percentiles and what failed; return the exit code."""
    print()
    missed = [fault.title for fault, said in measured if said.mail is None or fault.names not in said.subject]
    reached = {
        "suspicion": ([said.suspicion for _, said in measured], SUSPICION_P95_S),
        "mail": ([said.mail for _, said in measured], MAIL_P95_S),
    }
    late = False
    for name, (found, most) in reached.items():
        times = sorted(math.inf if one is None else one for one in found)
        p95 = times[math.ceil(0.95 * len(times)) - 1]
        late |= p95 > most
        print(f"{len(times)} faults, seconds to {name}: median {times[len(times) // 2]:.0f}, p95 {p95:.0f} (at most {most})")
    if quiet or loud:
        print(f"{quiet} of {quiet + len(loud)} restarts and elections started nothing")
    for title in missed:
        print(f"no mail that names it: {title}")
    return 1 if missed or loud or late else 0


if __name__ == "__main__":
    sys.exit(main())
