"""Commands for the release in front of the reader, and for its login."""

from dataclasses import replace

import pytest

from kafka_audit.checks import catalogue
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.remedies import filled_page, what_to_do
from kafka_audit.incidents.tools import Tools, oldest_release
from kafka_audit.model import quoting
from kafka_audit.model.commands import Command, command
from kafka_audit.model.tables import BrokerApi, BrokerView, Sample, Snapshot
from printed_commands import HOSTILE, RELEASES, files_made, meant, words_of

ELECTION = "kafka-leader-election.sh --bootstrap-server BROKER:9092 --election-type preferred"
MOVE = "kafka-reassign-partitions.sh --bootstrap-server b0:9092"
ACLS = "kafka-acls.sh --bootstrap-server b0:9092 --command-config admin.properties --list"
TOPICS = "kafka-topics.sh --bootstrap-server b0:9092 --describe"
CONFIGS = "kafka-configs.sh --bootstrap-server b0:9092 --alter"
ADD_CONTROLLER = (
    "kafka-metadata-quorum.sh --command-config controller.properties --bootstrap-controller CONTROLLER:9093 add-controller"
)
ASKING = {"--bootstrap-server", "--bootstrap-controller"}
LOGINS = {"--command-config", "--admin.config", "--config"}
ZOOKEEPER = {
    "kafka-topics.sh": (2, 2),
    "kafka-acls.sh": (2, 1),
    "kafka-reassign-partitions.sh": (2, 6),
    "kafka-leader-election.sh": (2, 4),
    "kafka-cluster.sh cluster-id": (2, 8),
}
"""Tools that ask a broker, from that release on."""


def tools(*release):
    return Tools(release=release or None, zookeeper="zk:2181/kafka")


def printed(tools, written):
    (line,) = quoting.lines((tools.line(command(written)),))
    return line


@pytest.mark.parametrize(
    ("release", "written", "older"),
    [
        ((2, 3), f"{ELECTION} --all-topic-partitions", "kafka-preferred-replica-election.sh --zookeeper zk:2181/kafka"),
        ((2, 5), f"{MOVE} --reassignment-json-file p --execute",
         f"{MOVE.replace('--', '--zookeeper zk:2181/kafka --', 1)} --reassignment-json-file p --execute"),
        ((2, 5), f"{MOVE} --generate --topics-to-move-json-file t.json --broker-list 1,2",
         "kafka-reassign-partitions.sh --zookeeper zk:2181/kafka --generate --topics-to-move-json-file t.json --broker-list 1,2"),
        ((2, 5), f"{MOVE} --list", "zookeeper-shell.sh zk:2181/kafka get /admin/reassign_partitions"),
        ((2, 5), f"{MOVE} --reassignment-json-file p.json --cancel", "# kafka-reassign-partitions.sh of Kafka 2.6 or later"),
        ((2, 0), ACLS, "kafka-acls.sh --authorizer-properties zookeeper.connect=zk:2181/kafka --list"),
        ((2, 1), f"{TOPICS} --under-replicated-partitions",
         "kafka-topics.sh --zookeeper zk:2181/kafka --describe --under-replicated-partitions"),
        ((2, 2), f"{TOPICS} --under-min-isr-partitions", f"{TOPICS} --under-replicated-partitions"),
        ((2, 4), f"{CONFIGS} --entity-type topics --entity-name t --add-config a=1",
         "kafka-configs.sh --zookeeper zk:2181/kafka --alter --entity-type topics --entity-name t --add-config a=1"),
        ((2, 6), f"{CONFIGS} --entity-type users --entity-name u",
         "kafka-configs.sh --zookeeper zk:2181/kafka --alter --entity-type users --entity-name u"),
        ((2, 7), "kafka-cluster.sh cluster-id --bootstrap-server b0:9092", "grep cluster.id LOG_DIR/meta.properties"),
        ((2, 3), "kafka-cluster.sh cluster-id --bootstrap-server b0:9092", "grep 'Cluster ID =' server.log"),
        ((1, 1), f"{CONFIGS} --entity-type broker-loggers --entity-name 0 --add-config kafka.authorizer.logger=DEBUG",
         "log4j.logger.kafka.authorizer.logger=DEBUG"),
    ],
)  # fmt: skip
def test_an_older_release_gets_its_own_command(release, written, older):
    assert printed(tools(*release), written) == older


QUORUM = "kafka-metadata-quorum.sh --bootstrap-controller c0:9093 --command-config admin.properties"
FEATURES = "kafka-features.sh --bootstrap-server b0:9092 upgrade --feature metadata.version=14"


@pytest.mark.parametrize(
    ("release", "written", "older"),
    [
        ((3, 5), f"{QUORUM} describe --status", "kafka-metadata-quorum.sh --bootstrap-server BROKER:9092 describe --status"),
        ((3, 7), f"{QUORUM} describe --status", f"{QUORUM} describe --status"),
        ((3, 8), f"{QUORUM} remove-controller --controller-id 1", "# kafka-metadata-quorum.sh of Kafka 3.9 or later"),
        ((3, 9), f"{QUORUM} remove-controller --controller-id 1", f"{QUORUM} remove-controller --controller-id 1"),
        ((3, 5), f"{FEATURES} --dry-run",
         "# validate with kafka-features.sh of Kafka 3.6 or later: older ones change the level"),
        ((3, 5), FEATURES, FEATURES),
        ((3, 6), f"{FEATURES} --dry-run", f"{FEATURES} --dry-run"),
    ],
)  # fmt: skip
def test_a_release_of_kraft_gets_its_own_command(release, written, older):
    assert printed(tools(*release), written) == older


def test_a_broker_is_asked_in_place_of_a_controller_as_its_own_listener_lets_in():
    older = replace(secured(release=(3, 5), controllers=["SASL_SSL"]), server="b0:9093")
    assert printed(older, f"{QUORUM} describe --status").startswith(
        "kafka-metadata-quorum.sh --bootstrap-server b0:9093 --command-config"
    )


def test_any_broker_of_a_page_is_one_that_answered_and_lists_most():
    def server(*views, again=None):
        samples = sorted({sample for sample, *_ in views})
        rows = [
            Sample(
                sample=number, started_ms=number, finished_ms=number, reason="first", asked_again=again if number > 1 else None
            )
            for number in samples
        ]
        rows += [
            BrokerView(
                sample=sample, observer=f"broker:{broker}", broker_id=broker, listener="L", address=address,
                kafka_cluster_id=None, controller_id=0, brokers_listed=listed, topics_listed=0, brokers_digest="",
                topics_digest="", metadata_version=1,
            )
            for sample, broker, address, listed in views
        ]  # fmt: skip
        return Tools.of(ClusterView.of_files(Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=tuple(rows)))).server

    assert server() == "BROKER:9092"
    assert server((1, 0, "b0:9092", 0), (1, 1, "b1:9092", 3), (1, 2, "b2:9092", 3)) == "b1:9092"  # broker 0 is cut off
    assert server((1, 0, "b0:9092", 3), (2, 1, "b1:9092", 3)) == "b1:9092"  # broker 0 did not answer again
    assert server((1, 0, "b0:9092", 3), (2, 1, "b1:9092", 0), again=("broker:1",)) == "b0:9092"  # nor was it asked again
    assert server((1, 0, "b 0;reboot:9092", 3), (1, 1, "x" * 300 + ":9092", 3), (1, -1, "seed:9092", 3)) == "BROKER:9092"
    assert printed(replace(tools(), server="b1:9092"), f"{ELECTION} --all-topic-partitions").startswith(
        "kafka-leader-election.sh --bootstrap-server b1:9092 "
    )
    assert printed(tools(), "zookeeper-shell.sh ZOOKEEPER:2181 ls /brokers/ids").startswith("zookeeper-shell.sh zk:2181/kafka ")


def test_the_own_command_names_the_cluster_and_another_tool_keeps_its_word():
    named = Tools(release=None, zookeeper="zk:2181", cluster="prod eu")
    assert printed(named, "kafka-audit may CLUSTER restart 1") == "kafka-audit may 'prod eu' restart 1"
    assert printed(named, f"{ACLS} --topic CLUSTER") == f"{ACLS} --topic CLUSTER"


@pytest.mark.parametrize("release", [(), (3, 0)])
@pytest.mark.parametrize("written", [ELECTION, f"{MOVE} --list", ACLS, TOPICS, f"{CONFIGS} --entity-type users"])
def test_a_new_or_unknown_release_gets_commands_as_written(release, written):
    assert printed(tools(*release), written) == written


@pytest.mark.parametrize("release", [(1, 1), (2, 3), (2, 5)])
def test_no_remedy_prints_what_the_release_lacks(release):
    parts = [part for check in catalogue().values() for part in tools(*release).prose(filled_page(what_to_do(check), {}))]
    commands = [words for part in parts if isinstance(part, Command) for words in part.stages]
    assert len(commands) > len(catalogue())
    for words in commands:
        lacking = [tool for tool, since in ZOOKEEPER.items() if {*tool.split()} <= {*words} and release < since]
        assert not lacking or "--bootstrap-server" not in words or "--zookeeper" in words
        assert not {"--under-min-isr-partitions", "--at-min-isr-partitions"} & {*words} or release >= (2, 3)
        assert not {"--cancel", "--all-topic-partitions", "--election-type"} & {*words} or release >= (2, 6) or not lacking


@pytest.mark.parametrize("release", RELEASES)
def test_every_command_of_every_page_logs_in_where_all_listeners_need_it(release):
    secured = Tools(release=release, zookeeper="zk", asked=frozenset({"SASL_SSL"}), controllers=frozenset({"SSL"}))
    parts = [part for check in catalogue().values() for part in secured.prose(filled_page(what_to_do(check), {}))]
    asking = [words for part in parts if isinstance(part, Command) for words in part.stages if ASKING & {*words}]
    assert len(asking) > 20
    assert [words for words in asking if not LOGINS & {*words}] == []


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stays_one_word_in_every_release(name):
    """Commands used to be rewritten after they were quoted, which took a host out of its quotes."""
    made = (
        command("kafka-acls.sh --bootstrap-server {name} --command-config admin.properties --list --topic {name}", name=name),
        command("kafka-topics.sh --bootstrap-server {name} --describe --under-min-isr-partitions --topic {name}", name=name),
        command("kafka-leader-election.sh --bootstrap-server {name} --election-type unclean --topic {name}", name=name),
        command("kafka-configs.sh --bootstrap-server {name} --alter --entity-type users --entity-name {name}", name=name),
        command("kafka-cluster.sh cluster-id --bootstrap-server {name}", name=name),
    )
    tools_of_all = [Tools(release=release, zookeeper=f"zk{name}") for release in RELEASES]
    lines = [tools_of_one.line(each) for tools_of_one in tools_of_all for each in made]
    assert [words_of(quoting.shell(line)) for line in lines] == [meant(line) for line in lines]
    assert files_made([quoting.shell(line) for line in lines]) == []


def secured(*asked, release=None, controllers=()):
    """Return the tools of a cluster with open and secured listeners; `asked` are the protocols that the audit used."""
    protocols = {"plain:9092": "PLAINTEXT", "b0:9093": "SASL_SSL", "b1:9093": "SSL", "b2:9093": None}
    return Tools(release=release, zookeeper="zk", protocols=protocols, asked=frozenset(asked), controllers=frozenset(controllers))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("kafka-topics.sh --bootstrap-server b0:9093 --list", "b0:9093 --command-config admin.properties --list"),
        ("kafka-leader-election.sh --bootstrap-server b1:9093 --x", "b1:9093 --admin.config admin.properties --x"),
        ("kafka-cluster.sh cluster-id --bootstrap-server b1:9093", "b1:9093 --config admin.properties"),
        ("kafka-topics.sh --bootstrap-server BROKER:9092 --list", "BROKER:9092 --command-config admin.properties"),
        ("kafka-topics.sh --bootstrap-server b0:9093 --command-config c --list", "b0:9093 --command-config c --list"),
        (
            "kafka-metadata-quorum.sh --bootstrap-controller CONTROLLER:9093 remove-controller",
            "CONTROLLER:9093 --command-config admin.properties remove-controller",
        ),
        (ADD_CONTROLLER, ADD_CONTROLLER),
    ],
)
def test_a_command_for_a_listener_with_a_login_names_the_file_of_the_login(written, shown):
    line = printed(secured("SASL_SSL", controllers=["SASL_PLAINTEXT"]), written)
    assert shown in line
    assert line.count("config ") == 1


@pytest.mark.parametrize("login", ["", " --command-config admin.properties"])
@pytest.mark.parametrize("server", ["plain:9092", "BROKER:9092"])
def test_a_command_for_a_listener_without_a_login_names_none(server, login):
    written = f"kafka-topics.sh --bootstrap-server {server}{login} --list"
    assert printed(secured("PLAINTEXT"), written) == f"kafka-topics.sh --bootstrap-server {server} --list"
    assert printed(Tools(release=None, zookeeper="zk"), written) == written, "nothing is known of the listeners"


def test_a_login_is_named_where_the_reader_may_choose_a_listener_that_needs_one():
    written = "kafka-topics.sh --bootstrap-server BROKER:9092 --list"
    assert all("--command-config" in printed(tools, written) for tools in (secured("PLAINTEXT", "SASL_SSL"), secured()))


def test_a_file_that_is_no_login_stays():
    """`add-controller` reads the directory of the controller in it."""
    assert printed(secured(controllers=["PLAINTEXT"]), ADD_CONTROLLER) == ADD_CONTROLLER


@pytest.mark.parametrize(
    ("release", "written", "shown"),
    [
        ((2, 0), "kafka-log-dirs.sh --bootstrap-server b0:9093 --describe", "# kafka-log-dirs.sh of Kafka 2.1 or later"),
        ((2, 0), "kafka-log-dirs.sh --bootstrap-server plain:9092 --describe", "--bootstrap-server plain:9092 --describe"),
        ((2, 1), "kafka-log-dirs.sh --bootstrap-server b0:9093 --describe", "--command-config admin.properties --describe"),
        ((2, 0), "kafka-reassign-partitions.sh --bootstrap-server b0:9093 --execute", "--zookeeper zk --execute"),
        (
            (2, 1),
            "kafka-reassign-partitions.sh --bootstrap-server b0:9093 --execute",
            "--zookeeper zk --bootstrap-server b0:9093 --command-config admin.properties --execute",
        ),
    ],
)
def test_no_login_is_named_that_the_tool_of_the_release_does_not_take(release, written, shown):
    assert printed(secured(release=release), written).endswith(shown)


def test_what_asks_zookeeper_instead_needs_no_login():
    older = Tools(release=(2, 1), zookeeper="zk:2181", protocols={"b0:9093": "SASL_SSL"})
    assert printed(older, "kafka-topics.sh --bootstrap-server b0:9093 --list") == "kafka-topics.sh --zookeeper zk:2181 --list"


@pytest.mark.parametrize(
    ("apis", "release"),
    [
        ({1: 7, 3: 5}, (1, 1)),
        ({1: 8}, (2, 0)),
        ({1: 10}, (2, 1)),
        ({1: 11, 44: 0}, (2, 3)),
        ({1: 12, 44: 1, 46: 0, 48: 0, 50: 0, 60: 0}, (2, 8)),
        ({1: 12, 60: 0, 65: 0}, (3, 0)),
    ],
)
def test_the_release_is_told_by_the_apis_on_offer(apis, release):
    assert oldest_release(view_of({0: apis, 1: {1: 16, 65: 0}})) == min(release, (3, 0))


def test_no_release_is_known_without_an_answer():
    assert oldest_release(view_of({})) is None


def view_of(brokers):
    rows = [
        BrokerApi(observer=f"broker:{broker}", broker_id=broker, api_key=key, min_version=0, max_version=newest)
        for broker, apis in brokers.items()
        for key, newest in apis.items()
    ]
    return ClusterView.of_files(Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=tuple(rows)))
