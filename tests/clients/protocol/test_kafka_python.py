"""What is used of kafka-python beyond its public interface: the release that is pinned has it."""

import json
import socket
import sys
from pathlib import Path

import pytest
from kafka.net.connection import KafkaConnection
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport
from kafka.protocol.parser import KafkaProtocol

from kafka_audit.clients.protocol import kafka_python
from testbed import Bed, messages


def _codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            yield from _codes(constant)


def _private(names):
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


@pytest.fixture(scope="module")
def theirs():
    """The private names of kafka-python's objects, by class."""
    net = NetworkSelector()
    with socket.socket() as plain:
        made = [KafkaProtocol(), KafkaConnection(net), KafkaConnectionManager(net), KafkaTCPTransport(net, plain)]
        of_tls = [name for base in KafkaSSLTransport.__mro__ for name in vars(base)]
        found = {type(one): _private(dir(one)) for one in made}
        found[KafkaSSLTransport] = found[KafkaTCPTransport] | _private(of_tls)
        made[2].close()
        net.close()
    return found


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, names in kafka_python.PRIVATE.items() for name in names])
def test_the_pinned_release_has_each_private_name(theirs, owner, name):
    assert name in theirs[owner]


def test_no_other_private_name_is_used(theirs):
    path = Path(kafka_python.__file__)
    whole = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    used = {name for code in _codes(whole) for name in _private({*code.co_names, code.co_name})}
    listed = {name for names in kafka_python.PRIVATE.values() for name in names}
    # `_budget` and the like are ours, in classes of ours.
    assert used & {name for names in theirs.values() for name in names} == listed


def test_messages_are_those_of_kafka_clients():
    written = messages.written()
    assert {path.name: path.read_text(encoding="utf-8") for path in messages.FOLDER.glob("*.json")} == written


@pytest.mark.parametrize("name", messages.NAMES)
@pytest.mark.parametrize("part", ["Request", "Response"])
def test_each_version_of_a_message_is_read_as_it_was_written(name, part):
    message = getattr(kafka_python, f"{name}{part}")
    for version in range(message.valid_versions[0], message.valid_versions[1] + 1):
        made = message(version=version)
        assert message[version].decode(bytes(made.encode())).encode() == made.encode()


ASK = """
import json, sys
from kafka_audit.clients.protocol import kafka_python
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
Group = kafka_python.DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
asked = {
    "ConsumerGroupDescribe": {"group_ids": ["none"]},
    "ShareGroupDescribe": {"group_ids": ["none"]},
    "StreamsGroupDescribe": {"group_ids": ["none"]},
    "DescribeShareGroupOffsets": {"groups": [Group(group_id="none", topics=None)]},
    "DescribeDelegationToken": {"owners": None},
}
with Conversation(sys.argv[1], 9092, ClientOptions(read_s=300)) as broker:
    answers = {}
    for name, values in asked.items():
        request = getattr(kafka_python, f"{name}Request")
        answer = broker.ask(request(version=broker.version(request), **values))
        of_groups = getattr(answer, "groups", None)
        answers[name] = (of_groups[0] if of_groups else answer).error_code
print(json.dumps(answers))
"""


@pytest.mark.bed
def test_a_broker_answers_each_message(tmp_path):
    with Bed(tmp_path) as bed:
        bed.kraft("4.4.0", brokers=1, controllers=0)
        completed = bed.worker.run([sys.executable, "-c", ASK, "10.99.0.10"])
        assert completed.returncode == 0, completed.stderr
    not_coordinator, not_without_login = 16, 64  # of a group that nobody has: there is no __consumer_offsets yet
    assert json.loads(completed.stdout) == {
        **dict.fromkeys(messages.NAMES, not_coordinator),
        "DescribeDelegationToken": not_without_login,
    }
