"""What became of a process that does not answer: the audit says it from its log, the printed steps are done, and it is healed."""

import shlex
import signal
import subprocess
import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing
from scenarios.audits import finding_of as finding
from testbed.audit_files import controller_logs

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
CODE = "KA116"


@pytest.fixture(params=["3.9.1", "4.3.0"])
def cluster(request, bed):
    cluster = bed.cluster("3.9.1") if request.param < "4" else bed.kraft("4.3.0", controllers=3)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


@pytest.fixture
def audits(bed, cluster, tmp_path):
    audits = Audits(bed, cluster, tmp_path / "audits")
    logs = [str(cluster.folder / "broker-{broker_id}" / "logs" / "server.log*"), *controller_logs(cluster)]
    audits.describe("logged", logs={"paths": logs[: None if cluster.controller_addresses else 1]})
    return audits


def ended(broker, seconds=60):
    """Start a broker, and wait until its process has ended."""
    broker.server.launch()
    deadline = time.monotonic() + seconds
    while broker.server.is_running and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not broker.server.is_running


def gone(cluster):
    """Wait until broker 2 is neither registered nor listed."""
    cluster.await_settled([0, 1])


def incident(audits):
    found = audits.by_command("logged", "--all")
    assert finding(found.report, CODE, "broker/2")["status"] == "FAIL", found.said
    assert {code for code, _ in failing(found.report, at_least="HIGH")} & {"KA113", CODE} == {"KA113", CODE}, found.said
    (first,) = [one for one in found.report["incidents"] if one["cause"] == CODE]
    assert found.report["incidents"][0] == first
    assert "KA113" not in {one["cause"] for one in found.report["incidents"]}
    return first


def test_a_broker_that_is_gone_is_named_by_what_ended_it(cluster, audits):
    broker = cluster.brokers[2]
    healthy = audits.by_command("logged", "--all")
    assert {finding(healthy.report, CODE, f"broker/{node}")["status"] for node in range(3)} == {"PASS"}
    wrong = {}

    def named(state, headline, step):
        first = incident(audits)
        texts = [part["text"] for part in first["remediation"]]
        if first["headline"] != headline or not any(step in text for text in texts) or not first["evidence_for"]:
            wrong[state] = (first["headline"], texts, first["evidence_for"])
        return first

    def healed():
        broker.start()
        cluster.await_settled()
        found = audits.by_command("logged", "--all")
        if CODE in {code for code, _ in failing(found.report)} or finding(found.report, CODE, "broker/2")["status"] != "PASS":
            wrong[len(wrong)] = found.said

    broker.stop()
    gone(cluster)
    named("stopped", "Broker 2 was stopped by SIGTERM", "Start broker 2, unless")
    healed()

    broker.stop(hard=True)
    gone(cluster)
    named("killed", "Broker 2 was killed without a word", "It recovers its logs first")
    healed()

    broker.stop()
    folder = broker.server.folder / "data" / "lost+found"
    folder.mkdir()
    ended(broker)
    gone(cluster)
    named("refused", "Broker 2 does not start: its log dir holds lost+found", "remove it")
    for _ in range(3):
        ended(broker)
    first = named("loop", "Broker 2 does not start: its log dir holds lost+found", "remove it")
    assert "starts within" in first["confidence_why"]
    (command,) = [part["commands"] for part in first["remediation"] if part["kind"] == "quick"]
    subprocess.run(shlex.split(command[0].removeprefix("sudo ")), check=True)
    healed()
    assert wrong == {}


def test_one_that_hangs_is_named_and_so_is_a_controller_that_was_stopped(cluster, audits):
    broker = cluster.brokers[2]
    audits.by_command("logged")  # shows where broker 2 listens
    broker.server.send(signal.SIGSTOP)
    time.sleep(25)  # until its registration has ended
    hung = audits.by_command("logged", "--all")
    broker.server.send(signal.SIGCONT)
    first = hung.report["incidents"][0]
    assert (first["cause"], first["headline"]) == (CODE, "Broker 2 hangs: it holds its port and answers nothing"), hung.said
    cluster.await_settled()
    if not cluster.controller_addresses:
        return
    leader = finding(audits.by_command("logged", "--all").report, "KA209", "cluster")["evidence"]["leader"]
    node, controller = next((node, server) for node, server in cluster.controllers.items() if node != leader)
    controller.signal_stop()
    controller.await_end()
    time.sleep(12)
    first = audits.by_command("logged", "--all").report["incidents"][0]
    assert (first["cause"], first["headline"]) == (CODE, f"Controller {node} was stopped by SIGTERM")
