"""What `may` says before a step, and what happens when the step is done: the rows of docs/may-table.md, on real clusters."""

import time
from dataclasses import replace

import pytest

from scenarios import beds
from scenarios.may_table import Table
from testbed.jars import kafka_jars
from testbed.migration import Migration
from testbed.topics import await_reassigned, configure_topic
from testbed.upgrades import upgraded

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
REMOVE = "kafka-metadata-quorum.sh --bootstrap-server BOOTSTRAP remove-controller --controller-id {} --controller-directory-id {}"
QUICK = {"auto.leader.rebalance.enable": "false", "log.retention.check.interval.ms": "1000", "log.initial.task.delay.ms": "1000"}
PATIENT = {"initial.broker.registration.timeout.ms": "600000"}


def reassignments(table):
    plan = table.plan(orders_0=[0, 1, 9])
    with table.row("there is no broker 9", f"reassign {plan}", "NOT_NOW") as row:
        row.happened = table.refused(table.executed())
    plan = table.plan(orders_0=[1])
    with table.row("the plan takes two of three copies", f"reassign {plan}", "NOT_NOW") as row:
        table.tools.demand(table.executed().replace("BOOTSTRAP", table.tools.bootstrap))
        await_reassigned(table.cluster)
        assert "Replicas: 1\t" in table.described("orders")
        row.happened = "one broker alone has its records"
    plan = table.plan(orders_0=[1, 0, 2], pair_0=[1, 0])
    with table.row("all brokers run", f"reassign {plan}", "GO") as row:
        table.done(row.found)
        await_reassigned(table.cluster)
        assert "Replicas: 1,0,2" in table.described("orders")
        row.happened = f"the replicas are as planned, and {table.nothing_fails()}"
    entry = {"topic": "old", "partition": 0, "replicas": [1, 0]}
    plan = table.plan(entry, entry)
    with table.row("the plan names a partition twice", f"reassign {plan}", "NOT_NOW") as row:
        row.happened = table.refused(table.executed())


def refused_setting(table, cluster, step, entity, pair):
    with table.row(cluster, step, "NOT_NOW") as row:
        row.happened = table.refused(table.alter(entity, pair))


def settings(table):
    refused_setting(table, "4 threads", "set broker:1 num.io.threads=64", "brokers --entity-name 1", "num.io.threads=64")
    refused_setting(
        table, "1 cleaner", "set broker:1 log.cleaner.threads=16", "brokers --entity-name 1", "log.cleaner.threads=16"
    )
    refused_setting(table, "a key of files", "set broker:1 log.dirs=/x", "brokers --entity-name 1", "log.dirs=/x")
    rate = "leader.replication.throttled.rate=fast"
    refused_setting(table, "a rate is a number", f"set brokers {rate}", "brokers --entity-default", rate)
    refused_setting(
        table, "no such codec", "set topic:pair compression.type=zip", "topics --entity-name pair", "compression.type=zip"
    )
    with table.row("a codec that there is", "set topic:pair compression.type=gzip", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    with table.row("for all brokers", "set brokers log.segment.bytes=100000000", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    with table.row("both replicas in sync", "set topic:pair min.insync.replicas=2", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    lag = "max.compaction.lag.ms=1000"
    configure_topic(table.cluster, "old", {"min.compaction.lag.ms": "5000"})
    refused_setting(table, "min.compaction.lag.ms is 5000", f"set topic:old {lag}", "topics --entity-name old", lag)
    configure_topic(table.cluster, "old", {"min.compaction.lag.ms": None})
    with table.row("kept for a week until now", "set topic:old retention.ms=86400000000", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    with table.row("older records are there", "set topic:old retention.ms=1000", "NEVER") as row:
        assert "records of old" in row.found.loses
        configure_topic(table.cluster, "old", {"retention.ms": "1000"})
        row.happened = table.awaits("records are lost", lambda: table.offsets("old")[0] > 0, 300)


def deletions(table):
    with table.in_use():
        with table.row("no such topic", "delete-topic odl", "exit 2") as row:
            assert "the cluster has no topic odl; did you mean old?" in row.found.text
            row.happened = table.refused("kafka-topics.sh --bootstrap-server BOOTSTRAP --delete --topic odl")
        with table.row("an unused topic, beside one in use", "delete-topic old", "GO") as row:
            table.done(row.found)
            row.happened = table.awaits("it is gone", lambda: "old" not in table.topics())
        with table.row("a group reads, a producer writes", "delete-topic busy", "NOT_NOW") as row:
            assert "readers" in row.found.waits_for
            assert "producers" in row.found.waits_for
            before = table.offsets("busy")[1]
            assert before
            table.tools.demand(f"kafka-topics.sh --bootstrap-server {table.tools.bootstrap} --delete --topic busy")
            made = table.awaits("its records are gone", lambda: "busy" not in table.topics() or table.offsets("busy")[1] < before)
            row.happened = made
    if "busy" in table.topics():  # made again by its producer
        table.tools.run(f"kafka-topics.sh --bootstrap-server {table.tools.bootstrap} --delete --topic busy")
        time.sleep(10)


def stops(table):
    cluster = table.cluster
    with table.row("the only replica of a partition", "restart 2", "NOT_NOW") as row:
        cluster.brokers[2].stop()
        row.happened = "until it is back " + table.some_fail("produce", "single-0")
        cluster.brokers[2].start()
        cluster.await_settled()
    with table.row("the only replica of a partition", "stop 2", "NOT_NOW") as row:
        cluster.brokers[2].stop(hard=True)
        row.happened = table.some_fail("produce", "single-0")
    with table.row("a replica is down", "set topic:orders min.insync.replicas=3", "NOT_NOW") as row:
        assert "in-sync" in row.found.waits_for
        configure_topic(cluster, "orders", {"min.insync.replicas": "3"})
        row.happened = table.some_fail("produce_acks_all", "orders-0", "orders-1")
    configure_topic(cluster, "orders", {"min.insync.replicas": "2"})


def records_end(table):
    """The disk with the only replica of a partition is emptied."""
    cluster = table.cluster
    with table.row("it is down with the only copy", "format 2", "NEVER") as row:
        assert "single" in row.found.loses
        server = cluster.brokers[2].server
        table.wipe(server)
        if "process.roles" in server.properties:
            table.formatted(server, f"kafka-storage.sh format --cluster-id {cluster.cluster_id} --config server.properties")
        cluster.brokers[2].start()
        cluster.await_settled()
        assert table.offsets("single")[1] < 3, table.offsets("single")
        row.happened = "all records of single are lost"


def registrations(table):
    """The last broker holds nothing."""
    cluster, last = table.cluster, max(table.cluster.brokers)
    run = f"kafka-cluster.sh unregister --bootstrap-server BOOTSTRAP --id {last}"
    with table.row("it runs", f"unregister {last}", "NOT_NOW") as row:
        table.tools.demand(run.replace("BOOTSTRAP", table.tools.bootstrap))
        table.awaits("the others do not list it", lambda: last not in next(iter(cluster.views([0]).values())).brokers)
        row.happened = "it runs on, and no broker lists it until its restart"
    cluster.brokers[last].restart()
    cluster.await_settled()
    with table.row("it holds nothing", f"stop {last}", "GO") as row:
        cluster.brokers[last].stop()
        row.happened = table.nothing_fails()
    with table.row("it is down and holds nothing", f"format {last}", "GO") as row:
        table.formatted(cluster.brokers[last].server, row.found.command)
        cluster.brokers[last].start()
        cluster.await_settled()
        row.happened = "it starts, and registers"
    cluster.brokers[last].stop()
    time.sleep(10)  # for five seconds its last fetch of metadata says that it runs
    table.entry["expect"] = {"brokers": 3}
    with table.row("it is down and holds nothing", f"unregister {last}", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    with table.row("it was unregistered", f"unregister {last}", "NOT_NOW") as row:
        row.happened = table.refused(run)
    cluster.brokers.pop(last)
    table.reread()
    table.entry["expect"] = {"brokers": 3}


def test_registrations(bed, tmp_path):
    cluster = bed.kraft("4.3.0", brokers=4, controllers=1, properties=QUICK | PATIENT)
    table = Table(bed, cluster, tmp_path, "4.3.0 with four brokers").start()
    server = cluster.brokers[1].server
    server.properties["node.id"] = "7"
    server.write_config()
    with table.row("its file was changed: node.id=7", "restart 1", "UNKNOWN") as row:
        cluster.brokers[1].stop()
        row.happened = table.does_not_start(server)
    server.properties["node.id"] = "1"
    cluster.brokers[1].start()
    cluster.await_settled()
    reassignments(table)
    registrations(table)
    table.judge()


def test_kraft(bed, tmp_path):
    cluster = bed.kraft("4.3.0", brokers=3, controllers=3, dynamic=True, metadata_release="4.2", properties=QUICK | PATIENT)
    table = Table(bed, cluster, tmp_path, "4.3.0 in KRaft mode").start()
    with table.row("every partition has another replica", "restart 0", "GO") as row:
        cluster.brokers[0].restart()
        row.happened = table.nothing_fails()
    settings(table)
    deletions(table)
    with table.row("all nodes support 4.3", "finalize", "GO") as row:
        table.done(row.found)
        said = table.tools.demand(f"kafka-features.sh --bootstrap-server {table.tools.bootstrap} describe")
        assert any("metadata.version" in line and "FinalizedVersionLevel: 4.3" in line for line in said.splitlines()), said
        row.happened = "metadata.version is 4.3"
    said = table.tools.demand(f"kafka-features.sh --bootstrap-server {table.tools.bootstrap} describe")
    if "eligible.leader.replicas.version\t" in said and "FinalizedVersionLevel: 1" in said.partition("eligible.leader")[2]:
        pair = "min.insync.replicas=1"
        refused_setting(table, "eligible leader replicas", f"set broker:1 {pair}", "brokers --entity-name 1", pair)
    with table.row("metadata.version is 4.3", "upgrade 3.9", "NOT_NOW") as row:
        server = cluster.brokers[0].server
        cluster.brokers[0].stop()
        server.jars = kafka_jars("3.9.1")
        row.happened = table.does_not_start(server)
    server.jars = kafka_jars("4.3.0")
    cluster.brokers[0].start()
    cluster.await_settled()
    stops(table)
    run = "kafka-cluster.sh unregister --bootstrap-server BOOTSTRAP --id 2"
    with table.row("it is down with the only copy", "unregister 2", "NOT_NOW") as row:
        table.tools.demand(run.replace("BOOTSTRAP", table.tools.bootstrap))
        assert "Leader: none" in table.described("single")
        cluster.brokers[2].start()
        table.awaits("it leads again", lambda: "Leader: 2" in table.described("single"))
        assert table.offsets("single")[1] > 3
        row.happened = "no broker leads single-0 until it starts and registers again"
    cluster.brokers[2].stop(hard=True)
    records_end(table)
    voters(table)
    table.judge()


def voters(table):
    cluster, controllers = table.cluster, table.cluster.controllers
    with table.row("it has no vote", "remove-voter 1", "NOT_NOW") as row:
        row.happened = table.refused(REMOVE.format(1, "AAAAAAAAAAAAAAAAAAAAAQ"))
    with table.row("two others follow", "stop 202", "GO") as row:
        controllers[202].signal_stop()
        controllers[202].await_end()
        row.happened = table.nothing_fails()
    time.sleep(10)  # until then 202 may be restarting, and the answer is UNKNOWN
    with table.row("one of three is down", "stop 201", "NOT_NOW") as row:
        controllers[201].signal_stop(hard=True)
        controllers[201].await_end()
        row.happened = table.some_fail("create_topics", "cluster")
    for node in (201, 202):
        controllers[node].launch()
    cluster.await_controllers([201, 202])
    time.sleep(10)
    with table.row("two others follow", "restart 201", "GO") as row:
        controllers[201].signal_stop()
        controllers[201].await_end()
        controllers[201].launch()
        cluster.await_controllers([201])
        row.happened = table.nothing_fails()
    time.sleep(10)
    with table.row("two others follow", "remove-voter 202", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    controllers[202].signal_stop()
    controllers[202].await_end()
    time.sleep(10)  # as above: it follows without a vote
    with table.row("it was removed, and is down", "format 202", "GO") as row:
        table.formatted(controllers[202], row.found.command)
        row.happened = "its disk is formatted"
    with table.row("it holds a vote", "format 201", "NOT_NOW") as row:
        controllers[201].signal_stop(hard=True)
        controllers[201].await_end()
        form = f"kafka-storage.sh format --cluster-id {cluster.cluster_id} --config server.properties --no-initial-controllers"
        table.formatted(controllers[201], form)
        controllers[201].launch()
        row.happened = table.some_fail("create_topics", "cluster")
    controllers[201].signal_stop(hard=True)
    controllers[201].await_end()
    time.sleep(15)
    ids = dict(zip((200, 201, 202), (cluster.directories[node] for node in (200, 201, 202)), strict=True))
    with table.row("the other voter is down", "remove-voter 200", "UNKNOWN") as row:
        row.happened = table.refused(REMOVE.format(200, ids[200]))


def znodes(table):
    cluster = table.cluster
    with table.row("a broker leads", "delete-znode /controller", "GO") as row:
        assert "deleteall /controller" in row.found.command
        before = cluster.controller_id()
        cluster.write_znodes({"/controller": None})
        table.awaits("elected", lambda: cluster.controller_id() is not None)
        row.happened = f"a broker is elected ({before} before), and {table.nothing_fails()}"
    with table.row("no such broker", "delete-znode /brokers/ids/9", "NOT_NOW") as row:
        row.happened = "there is nothing to delete"
    other = next(broker for broker in (0, 1) if broker != cluster.controller_id())
    with table.row("the broker runs", f"delete-znode /brokers/ids/{other}", "NEVER") as row:
        cluster.write_znodes({f"/brokers/ids/{other}": None})
        row.happened = table.awaits(
            "it leads nothing until its restart", lambda: f"Leader: {other}" not in table.described("orders")
        )
        time.sleep(15)
        assert other not in next(iter(cluster.views([2]).values())).brokers
    cluster.brokers[other].stop(hard=True)
    cluster.brokers[other].start()
    cluster.await_settled()
    with table.row("the topic lives", "delete-znode /config/topics/orders", "NEVER") as row:
        cluster.write_znodes({"/config/topics/orders": None})
        for broker in cluster.brokers.values():
            broker.restart()
        assert "min.insync.replicas=2" not in table.described("orders")
        row.happened = "its min.insync.replicas is lost with the next restart"
    configure_topic(cluster, "orders", {"min.insync.replicas": "2"})


def test_zookeeper(bed, tmp_path):  # noqa: PLR0915 -- row by row on one bed
    cluster = bed.cluster("3.9.1", properties=QUICK | {"inter.broker.protocol.version": "3.8"})
    table = Table(bed, cluster, tmp_path, "3.9.1 with ZooKeeper").start()
    with table.row("every partition has another replica", "restart 1", "GO") as row:
        cluster.brokers[1].restart()
        row.happened = table.nothing_fails()
    reassignments(table)
    settings(table)
    with table.row("batches are larger", "set topic:pair segment.bytes=50", "UNKNOWN") as row:
        configure_topic(cluster, "pair", {"segment.bytes": "50"})
        row.happened = table.some_fail("produce", "pair-0")
    configure_topic(cluster, "pair", {"segment.bytes": None})
    deletions(table)
    with table.row("ZooKeeper decides", "remove-voter 1", "NOT_NOW") as row:
        row.happened = table.refused(REMOVE.format(1, "AAAAAAAAAAAAAAAAAAAAAQ"))
    with table.row("ZooKeeper decides", "unregister 1", "NOT_NOW") as row:
        row.happened = table.refused("kafka-cluster.sh unregister --bootstrap-server BOOTSTRAP --id 1")
    znodes(table)
    server = cluster.brokers[0].server
    with table.row("4.x has no ZooKeeper", "upgrade 4.3", "NOT_NOW", "--oldest-client", "2.1") as row:
        cluster.brokers[0].stop()
        server.jars = kafka_jars("4.3.0")
        row.happened = table.does_not_start(server)
    server.jars = kafka_jars("3.9.1")
    cluster.brokers[0].start()
    cluster.await_settled()
    with table.row("inter.broker.protocol.version is 3.8", "finalize", "GO") as row:
        assert "inter.broker.protocol.version=3.9" in row.found.command
        for broker in cluster.brokers.values():
            broker.restart({"inter.broker.protocol.version": "3.9"})
        cluster.await_settled()
        row.happened = table.nothing_fails()
    server = cluster.brokers[1].server
    server.properties["num.io.threads"] = "0"
    server.write_config()
    with table.row("its file was changed: num.io.threads=0", "restart 1", "NOT_NOW") as row:
        cluster.brokers[1].stop()
        row.happened = table.does_not_start(server)
    with table.row("the other replica is down", "stop 0", "NOT_NOW") as row:
        cluster.brokers[0].stop()
        row.happened = table.some_fail("produce", "pair-0")
    cluster.brokers[0].start()
    with table.row("a broker with a replica is down", "delete-topic pair", "NOT_NOW") as row:
        table.tools.demand(f"kafka-topics.sh --bootstrap-server {table.tools.bootstrap} --delete --topic pair")
        time.sleep(20)
        assert "/admin/delete_topics/pair" in cluster.znodes()
        row.happened = "it is marked, and stays until the broker is back"
    with table.row("its file still has num.io.threads=0", "format 1", "NOT_NOW") as row:
        row.happened = table.does_not_start(server)
    server.properties["num.io.threads"] = "4"
    server.write_config()
    cluster.brokers[1].start()
    table.awaits("pair is deleted", lambda: "/admin/delete_topics/pair" not in cluster.znodes())
    cluster.await_settled()
    cluster.brokers[1].stop()
    with table.row("copies are elsewhere, and it is down", "format 1", "GO") as row:
        table.wipe(server)
        cluster.brokers[1].start()
        cluster.await_settled()
        row.happened = table.nothing_fails()
    stops(table)
    records_end(table)
    table.judge()


def one_replica_delays_an_upgrade(table, version):
    """Until the topic is deleted."""
    broker = table.cluster.brokers[2]
    with table.row("single has one replica", f"upgrade {version}", "NOT_NOW", "--oldest-client", "2.1") as row:
        broker.stop()
        row.happened = "while broker 2 restarts " + table.some_fail("produce", "single-0")
    broker.start()
    table.cluster.await_settled()
    table.tools.demand(f"kafka-topics.sh --bootstrap-server {table.tools.bootstrap} --delete --topic single")
    table.awaits("it is gone", lambda: "single" not in table.topics())


def test_combined(bed, tmp_path):  # noqa: PLR0915 -- row by row on one bed
    """Three nodes that are broker and controller, voters by their files."""
    unclean = {"unclean.leader.election.interval.ms": "5000"}
    cluster = bed.kraft("4.3.0", brokers=3, controllers=0, properties=QUICK | PATIENT | unclean)
    table = Table(bed, cluster, tmp_path, "4.3.0, combined nodes").start()
    nodes = cluster.brokers
    with table.row("a quorum by controller.quorum.voters", "remove-voter 1", "NOT_NOW") as row:
        row.happened = table.refused(REMOVE.format(1, cluster.directories[1]))
    with table.row("no ZooKeeper", "migrate", "NOT_NOW") as row:
        row.happened = "not done: there is nothing to migrate"
    with table.row("it votes and runs", "unregister 1", "NOT_NOW") as row:
        table.tools.demand(f"kafka-cluster.sh unregister --bootstrap-server {table.tools.bootstrap} --id 1")
        row.happened = table.awaits("no broker lists it until its restart", lambda: 1 not in cluster.views([0])[0].brokers)
    nodes[1].restart()
    cluster.await_settled()
    plan = table.plan({"topic": "pair", "partition": 0, "replicas": [1, 0], "log_dirs": ["any", "/nowhere"]})
    with table.row("no such log dir", f"reassign {plan}", "NOT_NOW") as row:
        row.happened = table.refused(table.executed())
    plan = table.plan(pair_0=[0, 1, 2])
    with table.row("one replica more", f"reassign {plan}", "GO") as row:
        table.done(row.found)
        await_reassigned(cluster)
        row.happened = table.nothing_fails()
    with table.row("every partition has another replica", "restart 1", "GO") as row:
        nodes[1].restart()
        row.happened = table.nothing_fails()
    with table.row("every partition has another replica", "stop 1", "GO") as row:
        nodes[1].stop()
        row.happened = table.nothing_fails()
    with table.row("one of three is down", "upgrade 4.4", "NOT_NOW") as row:
        row.happened = "its first restart is the next row"
    with table.row("one of three is down", "stop 2", "NOT_NOW") as row:
        nodes[2].stop(hard=True)
        row.happened = table.some_fail("create_topics", "cluster")
    nodes[2].start()
    cluster.await_settled()
    with table.row("copies and metadata are elsewhere, and it is down", "format 1", "GO") as row:
        table.formatted(nodes[1].server, row.found.command)
        nodes[1].start()
        cluster.await_settled()
        row.happened = table.nothing_fails(120)
    with table.row("it is not used", "delete-topic old", "GO") as row:
        table.done(row.found)
        row.happened = table.awaits("it is gone", lambda: "old" not in table.topics())
    one_replica_delays_an_upgrade(table, "4.4")
    with table.row("every partition has another replica", "upgrade 4.4", "GO", "--oldest-client", "2.1") as row:
        assert (refusal := upgraded(cluster, "4.4.0")) is None, refusal
        cluster.plan = replace(cluster.plan, version="4.4.0")
        row.happened = table.nothing_fails()
    nodes[1].stop()
    assert cluster.produce("busy", 0, 1) is None
    before = table.offsets("busy")[1]
    nodes[0].stop(hard=True)
    nodes[1].start()
    with table.row(
        "only a replica without the newest records runs", "set topic:busy unclean.leader.election.enable=true", "NEVER"
    ) as row:
        assert "busy" in row.found.loses
        configure_topic(cluster, "busy", {"unclean.leader.election.enable": "true"})
        row.happened = table.awaits("acknowledged records are lost", lambda: 0 <= table.offsets("busy")[1] < before)
    table.judge()


def test_upgrade(bed, tmp_path):  # noqa: PLR0915 -- row by row on one bed
    """A removed controller is in the way of the next level: Kafka takes it once that node has registered anew."""
    cluster = bed.kraft("3.9.1", brokers=3, controllers=3, dynamic=True, properties=PATIENT)
    table = Table(bed, cluster, tmp_path, "3.9.1 to 4.3.0")
    cluster.create_topic("pair", {0: [0, 1]})
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0]})
    cluster.await_settled()
    unregister = "kafka-cluster.sh unregister --bootstrap-server BOOTSTRAP --id 2"
    cluster.brokers[2].stop()
    table.entry["expect"] = {"brokers": 2}
    with table.row("it is down with replicas", "unregister 2", "NOT_NOW") as row:
        table.tools.demand(unregister.replace("BOOTSTRAP", table.tools.bootstrap))
        assert "Replicas: 0,1,2" in table.described("orders")
        row.happened = "its partitions stay under-replicated, and no broker lists it"
    table.plan(orders_0=[0, 1], orders_1=[1, 0])
    table.tools.demand(table.executed().replace("BOOTSTRAP", table.tools.bootstrap))
    await_reassigned(cluster)
    cluster.brokers[2].start()
    cluster.await_settled()
    cluster.brokers[2].stop()
    time.sleep(10)  # for five seconds its last fetch of metadata says that it runs
    with table.row("it is down and holds nothing", "unregister 2", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    cluster.brokers[2].start()
    cluster.await_settled()
    table.entry.pop("expect")
    with table.row("two others follow", "remove-voter 202", "GO") as row:
        table.done(row.found)
        row.happened = table.nothing_fails()
    ghost = cluster.controllers.pop(202)
    ghost.signal_stop()
    ghost.await_end()
    table.reread()
    table.entry["controllers"] = [address for address in table.entry["controllers"] if ".212:" not in address]
    with table.row("two voters", "upgrade 4.3", "NOT_NOW", "--oldest-client", "2.1") as row:
        cluster.controllers[201].signal_stop()
        cluster.controllers[201].await_end()
        row.happened = "while a controller restarts " + table.some_fail("create_topics", "cluster")
        change_software([*cluster.controllers.values(), cluster.brokers[0].server, cluster.brokers[2].server], "4.3.0")
        cluster.await_settled()
    finalize = "kafka-features.sh --bootstrap-server BOOTSTRAP upgrade --feature metadata.version=30"
    cluster.plan = replace(cluster.plan, version="4.3.0")
    with table.row("broker 1 runs 3.9.1", "finalize", "NOT_NOW") as row:
        row.happened = table.refused(finalize)
    change_software([cluster.brokers[1].server], "4.3.0")
    cluster.await_settled()
    with table.row("a removed controller is registered", "finalize", "NOT_NOW") as row:
        assert "KA225" in row.found.waits_for
        row.happened = table.refused(finalize)
        assert "Controller 202 only supports versions" in table.said
    ghost.jars = kafka_jars("4.3.0")
    with table.row("it was removed, and is down", "format 202", "GO") as row:
        table.formatted(ghost, row.found.command)
        ghost.launch()
        row.happened = "it starts, and registers"
    table.awaits("it registers", lambda: table.may("finalize").answer == "GO", 400)
    with table.row("it has registered anew", "finalize", "GO") as row:
        table.done(row.found)
        row.happened = "metadata.version is 4.3"
    table.judge()


def change_software(servers, version):
    """Restart servers with the software of another release."""
    for server in servers:
        server.signal_stop()
        server.await_end()
        server.jars = kafka_jars(version)
        server.launch()


def test_migration(bed, tmp_path):
    cluster = bed.cluster("3.9.1", properties=QUICK)
    table = Table(bed, cluster, tmp_path, "3.9.1 to KRaft").start()
    with table.row("broker 1 has this id", "migrate", "NOT_NOW", "--node-ids", "1") as row:
        row.happened = "not done"
    moving = Migration(bed, cluster)
    cluster.brokers[1].stop()  # of no partition alone
    with table.row("a broker is down", "migrate", "NOT_NOW", "--node-ids", "200") as row:
        moving.start_controllers()
        moving.prepare_brokers([0, 2])
        time.sleep(20)
        assert not moving.has_taken_over()
        row.happened = "the controllers wait for it"
    cluster.brokers[1].start()
    table.reread()
    with table.row("all brokers run", "migrate", "GO", "--node-ids", "200") as row:
        moving.prepare_brokers()
        row.happened = f"KRaft takes over, and {table.nothing_fails()}"
    with table.row("KRaft leads and writes to ZooKeeper", "delete-znode /controller", "NEVER") as row:
        cluster.write_znodes({"/controller": None})
        table.awaits("elected", lambda: cluster.controller_id() is not None)
        row.happened = f"broker {cluster.controller_id()} is elected beside the KRaft controller"
    moving.stop_controllers()
    moving.roll_back()
    table.reread()
    with table.row("rolled back", "delete-znode /controller", "GO") as row:
        cluster.write_znodes({"/controller": None})
        table.awaits("elected", lambda: cluster.controller_id() in {0, 1, 2})
        row.happened = f"a broker is elected, and {table.nothing_fails()}"
    with table.row("rolled back", "delete-znode /migration", "GO") as row:
        cluster.write_znodes({"/migration": None})
        row.happened = table.nothing_fails()
    table.judge()


def test_old_release(bed, tmp_path):
    cluster = bed.cluster("2.8.2", properties=QUICK | {"inter.broker.protocol.version": "2.8"})
    table = Table(bed, cluster, tmp_path, "2.8.2 with ZooKeeper").start()
    brokers = cluster.brokers
    with table.row("2.8 cannot migrate", "migrate", "NOT_NOW", "--node-ids", "200") as row:
        row.happened = "not done: the software has no migration"
    with table.row("each partition has another replica", "stop 1", "GO") as row:
        brokers[1].stop()
        row.happened = table.nothing_fails()
    brokers[1].start()
    cluster.await_settled()
    plan = table.plan(pair_0=[1, 0])
    with table.row("another order", f"reassign {plan}", "GO") as row:
        table.done(row.found)
        await_reassigned(cluster)
        row.happened = table.nothing_fails()
    one_replica_delays_an_upgrade(table, "3.9")
    with table.row("every partition has another replica", "upgrade 3.9", "GO", "--oldest-client", "2.1") as row:
        change_software([brokers[0].server], "3.9.1")
        cluster.await_settled()
        row.happened = table.nothing_fails()
    with table.row("two brokers run 2.8.2", "finalize", "NOT_NOW") as row:
        brokers[0].restart({"inter.broker.protocol.version": "3.9"})
        time.sleep(30)
        said = table.described("orders")
        assert "Isr: 0\n" in said or not any(
            "0" in line.partition("Isr: ")[2].split("\t")[0] for line in said.splitlines()[1:]
        ), said
        row.happened = "it does not replicate with them"
    brokers[0].restart({"inter.broker.protocol.version": "2.8"})
    cluster.await_settled()
    change_software([brokers[1].server, brokers[2].server], "3.9.1")
    cluster.await_settled()
    cluster.plan = replace(cluster.plan, version="3.9.1")
    table.reread()
    with table.row("all brokers run 3.9.1", "finalize", "GO") as row:
        assert "inter.broker.protocol.version=3.9" in row.found.command
        for broker in brokers.values():
            broker.restart({"inter.broker.protocol.version": "3.9"})
        cluster.await_settled()
        row.happened = table.nothing_fails()
    with table.row("all brokers run 3.9.1", "migrate", "GO", "--node-ids", "200") as row:
        moving = Migration(bed, cluster)
        moving.start_controllers()
        moving.prepare_brokers()
        row.happened = f"KRaft takes over, and {table.nothing_fails()}"
    table.reread()
    with table.row("KRaft leads and writes to ZooKeeper", "delete-znode /migration", "NEVER") as row:
        cluster.write_znodes({"/migration": None})
        table.tools.run(f"kafka-topics.sh --bootstrap-server {table.tools.bootstrap} --create --topic later")
        time.sleep(30)
        assert not {"/migration", "/brokers/topics/later"} & {*cluster.znodes()}
        row.happened = "a new topic does not reach ZooKeeper"
    table.judge()
