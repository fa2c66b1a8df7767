"""KRaft 4.3.0 with an authorizer: controllers that do not let each other in, and controllers that wait for ACLs of each other."""

import re
import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing
from testbed.audit_files import controller_files
from testbed.security import ADMIN, AUDITOR, BROKER, Listener, Security

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test
LOGIN = Listener(protocol="SASL_PLAINTEXT", mechanisms=("SCRAM-SHA-512",))
WITHOUT_CONTROLLERS = ";".join(f"User:{user}" for user in (ADMIN, BROKER, AUDITOR))


@pytest.fixture
def cluster(bed):
    users = tuple(f"User:{user}" for user in (ADMIN, BROKER, AUDITOR))
    security = Security(listeners=(LOGIN,), inter_broker=LOGIN.label, authorizer=True, super_users=users)
    cluster = bed.kraft("4.3.0", controllers=3, security=security)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


@pytest.fixture
def audits(bed, cluster, tmp_path):
    audits = Audits(bed, cluster, tmp_path / "audits")
    nodes = str(cluster.folder / "{node}-{{{node}_id}}" / "logs" / "server.log")
    audits.describe(
        "controllers",
        logs={"paths": [nodes.format(node="broker"), nodes.format(node="controller")]},
        properties=[*controller_files(cluster), str(cluster.folder / "broker-{broker_id}" / "server.properties")],
    )
    return audits


def stop(*servers):
    for server in servers:
        server.signal_stop(hard=True)
    for server in servers:
        server.await_end()


def codes(report, resource="controller/"):
    return {code for code, where in failing(report) if where.startswith(resource)}


def leader_of(report):
    (finding,) = [f for f in report["findings"] if f["code"] == "KA201"]
    return int(re.match(r"Controller (\d+) is the controller", finding["message"])[1])


def test_a_controller_that_rejects_the_others_ends_them(cluster, audits):
    whole = audits.by_command("controllers", "--all")
    assert whole.code == 0, whole.said
    settings = {f["evidence"]["factor"] for f in whole.report["findings"] if f["code"] == "KA707" and "node" in f["evidence"]}
    assert settings == {1}, "what controllers report of themselves"
    assert not codes(whole.report) & {"KA220", "KA221", "KA222", "KA402", "KA407", "KA408"}, whole.said

    leader = leader_of(whole.report)
    rejects = min(set(cluster.controllers) - {leader})
    server, right = cluster.controllers[rejects], cluster.controllers[rejects].properties["super.users"]
    stop(server)
    server.properties["super.users"] = WITHOUT_CONTROLLERS
    server.launch()
    time.sleep(15)
    stop(cluster.controllers[leader])
    time.sleep(20)
    broken = audits.by_command("controllers")
    assert broken.code == 3, broken.said
    assert ("KA220", f"controller/{rejects}") in failing(broken.report, at_least="CRITICAL"), broken.said
    incident = broken.report["incidents"][0]
    assert (incident["cause"], incident["confidence"]) == ("KA220", "measured"), broken.said
    assert incident["headline"].startswith(f"Controller {rejects} rejects requests of"), broken.said
    assert {f["resource"]["name"] for f in broken.report["findings"] if f["code"] == "KA220" and f["status"] == "FAIL"} == {
        f"controller/{rejects}"
    }, "who rejects, and not who ended because of it"
    assert "tart the controllers that are down" not in broken.said

    # As the leader it rejects brokers, too, and all of them have ended.
    ended = [broker.server for broker in cluster.brokers.values() if not broker.server.is_running]
    stop(*(controller for controller in cluster.controllers.values() if controller.is_running))
    server.properties["super.users"] = right
    for controller in (*cluster.controllers.values(), *ended):
        controller.launch()
    cluster.await_settled()
    healed = audits.by_command("controllers")
    assert healed.code == 0, healed.said
    assert not {code for code, _ in failing(healed.report)} & {"KA220", "KA221"}, healed.said


def test_controllers_that_wait_for_the_acls_of_each_other(cluster, audits):
    stop(*cluster.controllers.values())
    for server in cluster.controllers.values():
        server.properties["early.start.listeners"] = ""
        server.launch()
    time.sleep(30)
    waiting = audits.by_command("controllers")
    assert {resource for code, resource in failing(waiting.report) if code == "KA222"} == {
        f"controller/{node}" for node in cluster.controllers
    }, waiting.said
    assert ("KA201", "cluster") in failing(waiting.report, at_least="CRITICAL"), waiting.said

    stop(*cluster.controllers.values())
    for server in cluster.controllers.values():
        del server.properties["early.start.listeners"]
        server.launch()
    cluster.await_settled()
    healed = audits.by_command("controllers")
    assert healed.code == 0, healed.said
    assert "KA222" not in codes(healed.report)
