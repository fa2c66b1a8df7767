"""KRaft 4.3.0: a static quorum becomes dynamic, then a voter is replaced, by the steps as the gate prints them."""

import shutil
import time
from types import SimpleNamespace

import pytest
import yaml

from scenarios import beds
from scenarios.gates import gate_of
from testbed.audit_files import controller_files
from testbed.corpus.tools import Tools
from testbed.names import own_names

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"


@pytest.fixture
def cluster(bed):
    cluster = bed.kraft("4.3.0", controllers=3)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


def servers_of(cluster):
    return cluster.controllers | {number: broker.server for number, broker in cluster.brokers.items()}


def restart(cluster, node, changed):
    """Restart a node with other lines in its file, as a plan has it done."""
    server = servers_of(cluster)[node]
    server.signal_stop()
    server.await_end()
    for key, value in changed.items():
        server.properties.pop(key, None)
        if value is not None:
            server.properties[key] = value
    server.launch()


def followers(tools, least):
    """Wait until the leader reports at least this many voters without a lag; returns the leader."""
    deadline = time.monotonic() + 3000
    while time.monotonic() < deadline:
        completed = tools.run(f"kafka-metadata-quorum.sh --bootstrap-server {tools.bootstrap} describe --replication")
        rows = [line.split() for line in completed.stdout.splitlines()[1:]]
        leaders = [int(row[0]) for row in rows if row[-1] == "Leader"]
        if leaders and sum(row[-1] in {"Leader", "Follower"} and int(row[3]) <= 2 for row in rows) >= least:
            return leaders[0]
        time.sleep(1)
    pytest.fail(f"{completed.stdout}{completed.stderr}")


def leads(tools):
    """Return whether the quorum has a leader that answers."""
    completed = tools.run(f"kafka-metadata-quorum.sh --bootstrap-server {tools.bootstrap} describe --status", seconds=100)
    return not completed.returncode and "LeaderId" in completed.stdout


def commands_with(report, part):
    return [line for step in report["steps"] for line in step["commands"] if part in line]


@pytest.fixture
def change(bed, cluster, tmp_path):
    """The cluster, its tools, and the gate for the files of all nodes."""
    gate = gate_of(bed, tmp_path)

    def entry(controllers=None):
        found = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"]
        found["properties"] += controller_files(cluster)
        return found | ({"controllers": controllers} if controllers else {})

    return SimpleNamespace(
        cluster=cluster,
        tools=Tools(bed, cluster),
        before=lambda kind, *options: gate("before-migration", entry(), "--kind", kind, *options),
        after=lambda planned, controllers=None: gate(
            "after-migration", entry(controllers), "--baseline", planned.report["snapshot_id"]
        ),
    )


def test_a_static_quorum_becomes_dynamic_and_a_voter_is_replaced(change):
    leader = followers(change.tools, 3)
    others = [node for node in change.cluster.controllers if node != leader]
    voter_down(change, leader, others[0])
    new_addresses(change, *others)
    leader = followers(change.tools, 3)
    others = [node for node in change.cluster.controllers if node != leader]
    without_voters(change, leader, others)
    made_dynamic(change)
    voter_replaced(change)


def voter_down(change, leader, node):
    """One voter is down: no-go; and Kafka refuses the upgrade, if the leader was elected after that."""
    down = change.cluster.controllers[node]
    down.signal_stop(hard=True)
    down.await_end()
    time.sleep(12)
    blocked = change.before("dynamic-quorum")
    assert blocked.code == 3
    assert ("KA209", f"controller/{node}") in {(blocker["code"], blocker["resource"]) for blocker in blocked.report["blockers"]}
    restart(change.cluster, leader, {})
    followers(change.tools, 2)
    (validate,) = (line for line in commands_with(blocked.report, "kafka-features.sh") if line.endswith("--dry-run"))
    refused = change.tools.run(validate)
    assert refused.returncode, refused.stdout
    assert "because not all of the voters support it" in refused.stdout + refused.stderr
    down.launch()
    followers(change.tools, 3)


def new_addresses(change, node, other):
    """A proposed address of a controller is probed: it is there, or it is another controller's."""
    place = f"{change.cluster.controllers[node].host.address}:9093"
    there = change.before("controller-hosts", "--advertised", f"{node}: CONTROLLER://{place}")
    assert there.report["blockers"] == [], there.report
    messages = [item["message"] for name in ("information", "warnings") for item in there.report[name]]
    assert any(f"reaches {place}, the proposed address of controller {node}" in message for message in messages), there.report
    taken = change.before("controller-hosts", "--advertised", f"{other}: CONTROLLER://{place}")
    assert ("KA304", f"broker/{other}/listener/CONTROLLER") in {
        (item["code"], item["resource"]) for item in taken.report["blockers"]
    }


def without_voters(change, leader, others):
    """What the first step predicts: without the key, while kraft.version is 0, two of three voters elect no leader."""
    cluster, servers = change.cluster, ",".join(change.cluster.controller_addresses)
    for node in others:
        restart(cluster, node, {VOTERS: None, SERVERS: servers})
    time.sleep(5)
    kill(cluster, leader)
    assert not leads(change.tools)
    cluster.controllers[leader].launch()
    for node in others:
        restart(cluster, node, {SERVERS: None, VOTERS: cluster.brokers[0].server.properties[VOTERS]})
    now = followers(change.tools, 3)
    kill(cluster, now)
    assert leads(change.tools), "with the key, two of three do"
    cluster.controllers[now].launch()
    followers(change.tools, 3)


def kill(cluster, node):
    cluster.controllers[node].signal_stop(hard=True)
    cluster.controllers[node].await_end()
    time.sleep(15)


def made_dynamic(change):
    """Run the steps as they are printed; old files start beside new ones."""
    cluster, tools = change.cluster, change.tools
    leader = followers(tools, 3)
    others = [node for node in cluster.controllers if node != leader]
    cluster.await_settled()
    planned = change.before("dynamic-quorum")
    assert (planned.code, planned.report["verdict"]) == (0, "go"), planned.report
    validate, upgrade = commands_with(planned.report, "kafka-features.sh")
    tools.demand(validate)
    tools.demand(upgrade)
    (status,) = commands_with(planned.report, "describe --status")
    assert "directoryId" in tools.demand(status)
    assert change.after(planned).code == 3, "the files are left to do"
    assert not commands_with(change.before("dynamic-quorum").report, "kafka-features.sh")
    restart(cluster, others[0], {})
    followers(tools, 3)
    line = commands_with(planned.report, SERVERS)[0].partition("=")[2]
    for node in (*others, leader):
        restart(cluster, node, {VOTERS: None, SERVERS: line})
        followers(tools, 3)
    for node in cluster.brokers:
        restart(cluster, node, {VOTERS: None, SERVERS: line})
        cluster.await_settled()
    result = change.after(planned)
    assert (result.code, result.report["verdict"]) == (0, "as expected"), result.report
    assert "kraft_version" in {change["kind"] for change in result.report["meant"]}


def voter_replaced(change):
    """A controller is added, and another one removed, by the printed commands."""
    cluster, tools = change.cluster, change.tools
    leader = followers(tools, 3)
    leaving = next(node for node in cluster.controllers if node != leader)
    server = cluster.start_observer(203)
    shutil.copy(server.config_file, tools.folder / "controller.properties")
    time.sleep(8)
    wanted = sorted({*cluster.controllers} - {leaving})
    swap = change.before("quorum-voters", "--node-ids", ",".join(map(str, wanted)))
    assert (swap.code, swap.report["verdict"]) == (0, "go"), swap.report
    (add,) = commands_with(swap.report, " add-controller")
    (remove,) = commands_with(swap.report, " remove-controller ")
    tools.demand(add)
    followers(tools, 4)
    tools.demand(remove)
    followers(tools, 3)
    gone = cluster.controllers.pop(leaving)
    gone.signal_stop()
    gone.await_end()
    gone.config_file.unlink()
    time.sleep(12)
    swapped = change.after(swap, [f"{cluster.controllers[node].host.address}:9093" for node in wanted])
    assert swapped.report["not_done"] == [], swapped.report
    assert "quorum_voters" in {change["kind"] for change in swapped.report["meant"]}


@pytest.fixture
def dynamic(change):
    """The same with a dynamic quorum, by the printed upgrade."""
    followers(change.tools, 3)
    change.tools.demand(commands_with(change.before("dynamic-quorum").report, "kafka-features.sh")[1])
    return change


def test_a_controller_that_joins_by_itself_is_stopped_before_it_is_removed(dynamic):
    cluster, tools = dynamic.cluster, dynamic.tools
    cluster.start_observer(203)
    restart(cluster, 203, {"controller.quorum.auto.join.enable": "true"})
    followers(tools, 4)
    planned = dynamic.before("quorum-voters", "--node-ids", "200,201,202")
    assert (planned.code, planned.report["verdict"]) == (0, "go"), planned.report
    assert planned.report["steps"][0]["text"].startswith("Stop controller 203: ")
    (remove,) = commands_with(planned.report, " remove-controller ")
    tools.demand(remove)
    followers(tools, 4)  # it runs, and joined again
    server = cluster.controllers[203]
    server.signal_stop()
    server.await_end()
    tools.demand(remove)
    followers(tools, 3)
    server.launch()  # only now would it join again
    followers(tools, 4)


def test_a_controller_gets_another_name(bed, dynamic, tmp_path):
    cluster, tools = dynamic.cluster, dynamic.tools
    leader = followers(tools, 3)
    node = next(controller for controller in cluster.controllers if controller != leader)
    name = "renamed.bed.example"
    for host in (*cluster.hosts().values(), bed.worker):
        own_names(host, tmp_path / "names", hosts={name: cluster.controllers[node].host.address})
    line = f"{node}: CONTROLLER://{name}:9093"
    planned = dynamic.before("controller-hosts", "--vantage", "brokers", "--advertised", line)
    assert (planned.report["blockers"], planned.report["not_known"]) == ([], []), planned.report
    half, place = dynamic.after(planned), f"{cluster.controllers[node].host.address}:9093"
    assert half.report["not_done"] == [f"The quorum reaches controller {node} at {place}, not at {name}:9093."]
    (line,) = commands_with(planned.report, "listeners=")
    key, _, value = line.partition("=")
    restart(cluster, node, {key: value})
    followers(tools, 3)
    (status, *_) = commands_with(planned.report, "describe --status")
    deadline = time.monotonic() + 300
    while f"CONTROLLER://{name}:9093" not in (output := tools.demand(status)) and time.monotonic() < deadline:
        time.sleep(1)
    assert f"CONTROLLER://{name}:9093" in output
    kill(cluster, leader)
    assert leads(tools), "the others reach it by its new name"
    cluster.controllers[leader].launch()
    followers(tools, 3)
    assert dynamic.after(planned).report["not_done"] == []
