"""Every reader of bytes from outside the process, as a function of one input.

The first bytes of an input choose among versions and relatives where a reader has several. Rows that a reader makes must be such
that a table takes them.
"""

import base64
import functools
import io
import json
import os
import shlex
import struct
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
from kafka.errors import KafkaError
from kafka.protocol.admin import DescribeLogDirsResponse
from kafka.protocol.metadata import ApiVersionsRequest
from kazoo.exceptions import KazooException
from kazoo.protocol.states import ZnodeStat

import bundled
from collect.columns import rows_of
from collect.fakes import FakeZookeeper
from fuzz import words
from fuzz.talk import Talk, instead
from hostile_parties.zookeeper import kafka_tree
from kafka_audit import settings
from kafka_audit.checks import catalogue
from kafka_audit.clients import probe_script, read_error, sasl
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.clients.protocol.kafka_errors import UNDECODABLE
from kafka_audit.clients.protocol.kafka_python import _FrameParser
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.secrets import secret_keys
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.sockets import Failure
from kafka_audit.clients.targets import Target
from kafka_audit.clients.tokens import oidc
from kafka_audit.clients.zookeeper.multi_read import MultiRead, Znode
from kafka_audit.clients.zookeeper.session import Session
from kafka_audit.collect.brokers import (
    acls,
    broker_view,
    configs,
    leader_questions,
    list_offsets,
    log_dirs,
    metadata,
    quorum,
    scram_users,
)
from kafka_audit.collect.brokers.consumer_groups import GroupReads
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.logs import lines as log_lines
from kafka_audit.collect.logs import rows as log_rows
from kafka_audit.collect.logs.pieces import LogFile
from kafka_audit.collect.probes import certificates, command_vantages, endpoint_probes
from kafka_audit.collect.properties import rows as property_rows
from kafka_audit.collect.rows import acl_sets, topic_config_columns
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper import migration, partition_states, security, znodes, zookeeper_view
from kafka_audit.collect.zookeeper.replication import decode_topic_configs, reassignments
from kafka_audit.collect.zookeeper.znode_sample import ZnodeSample
from kafka_audit.compare import connect_strings
from kafka_audit.configuration.definitions import VERSIONS
from kafka_audit.configuration.files import forms, jaas, java
from kafka_audit.configuration.files.described import described
from kafka_audit.configuration.principals import KerberosRules, MappingError, RulesError, SslRules, UnsupportedError
from kafka_audit.configuration.starts import start_refusal
from kafka_audit.lint import ignores, judging, members, places
from kafka_audit.lint.reading import Source
from kafka_audit.logs.diagnosis import log_document
from kafka_audit.logs.redaction import Redaction
from kafka_audit.logs.tally import LogTally
from kafka_audit.model.addresses import advertised_listeners
from kafka_audit.model.cluster import ZookeeperAccess
from kafka_audit.model.errors import SnapshotError, UsageError
from kafka_audit.model.names import LONGEST_HOST, NameKind, RefusedNames, can_be_name
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import TopicConfig
from kafka_audit.model.tables.fitting import misfit
from kafka_audit.report import digest, every_page, log_report, openmetrics
from kafka_audit.report.html import pages
from kafka_audit.report.plain_text import lines
from kafka_audit.says import reading as pasted
from kafka_audit.store import bundles, parquet, reports

_STAT = ZnodeStat(*range(1, 12))
_TARGETS = tuple(
    Target(broker_id=broker, listener=f"L{broker}", protocol=protocol, host=f"b{broker}", port=9092, via=None)
    for broker, protocol in enumerate(("PLAINTEXT", "SASL_SSL"))
)
_HERE = _TARGETS[0]
_LONG = 256 * 1024


@dataclass(frozen=True)
class Reader:
    """One reader; `errors` are those that its documentation names."""

    function: Callable[[bytes], object]
    errors: tuple[type[Exception], ...] = ()
    words: tuple[bytes, ...] = ()  # of its language
    longest: int = _LONG  # bytes that are tried
    weight: float = 1.0  # share of inputs; less for what takes long
    name: str = field(default="", compare=False)

    def read(self, data):
        """Read an input outside of the boundary that would make any error a failed row, "otherwise report this line as a bug"."""
        boundary, read_error.unexpected_failure = read_error.unexpected_failure, _unforeseen
        try:
            return self.function(data)
        finally:
            read_error.unexpected_failure = boundary


READERS: dict[str, Reader] = {}


def _reader(*errors, **options):
    def add(function):
        name = function.__name__
        READERS[name] = Reader(function, errors, name=name, **options)
        return function

    return add


def _stored(rows):
    """Raise where a row is none that its table takes."""
    for row in rows:
        fault = misfit(row)
        if fault is not None:
            raise AssertionError(fault)


def _unforeseen(error):
    """Let an error out."""
    raise error


def _text(data):
    return data.decode("utf-8", "replace")


# --- what brokers answer


@_reader(metadata.MetadataError)
def wire_metadata(data):
    version = 1 + data[0] % 13 if data else 1
    answer = metadata.decode_metadata_answer(data[1:], version)
    metadata.read_topics(answer.topics, version)


@_reader(metadata.MetadataError, ReadError)
def wire_views(data):
    book = ViewBook()
    version = 1 + data[0] % 13 if data else 1
    view = book.add(data[1:], version)
    _stored(rows_of(Collected(rows=tuple(book.rows([view.brokers_digest])), large=book.large([view.topics_digest]))))


@_reader(WireError)
def wire_acls(data):
    book = acls.AclBook()
    found = book.add(data[1:], data[0] % 4 if data else 0)
    if not isinstance(found, acls.AclsRefusal):
        _stored(book.rows([found[0]]))


@_reader(WireError)
def wire_log_dirs(data):
    version, body = data[0] % 6 if data else 0, data[1:]
    found = log_dirs.decode_log_dirs_answer(body, version)
    for log_dir in found.log_dirs:
        assert len([*log_dir.future_replicas()]) == log_dir.future
    theirs = DescribeLogDirsResponse.decode(body, version=version)
    for ours, other in zip(found.log_dirs, theirs.results, strict=True):
        replicas = [bool(replica.is_future_key) for topic in other.topics for replica in topic.partitions]
        assert (ours.path, ours.error, ours.future) == (other.log_dir, other.error_code, sum(replicas))
        assert ours.replicas == len(replicas) - sum(replicas)
        stays = sorted(
            (topic.name.encode(), replica.partition_index)
            for topic in other.topics
            for replica in topic.partitions
            if not replica.is_future_key
        )
        names, lengths, partitions = ours.held()
        assert [*zip(np.repeat([name.encode() for name in names], lengths).tolist(), partitions.tolist(), strict=True)] == stays
    book = log_dirs.DiskBook()
    book.large(filter(None, book.add(found.log_dirs, Budget())))


@_reader(WireError)
def wire_offsets(data):
    none = np.zeros(2, np.int64)
    asked = leader_questions.LeaderQuestions(
        topics=["orders"],
        topic=none,
        partition=np.arange(2),
        as_leader=none > 0,
        leader=none,
        leader_epoch=none,
        preferred=none > 0,
        listed_offline=none > 0,
    )
    list_offsets.errors(data[1:], 1 + data[0] % 5 if data else 1, asked)


_ASKED = ((3, 12), (60, 2), (32, 4), (35, 4), (29, 3), (46, 0), (55, 2))


@_reader(ReadError, weight=0.5)
def wire_broker(data):
    """The whole conversation with one broker, one of whose answers is the input."""
    key, newest = _ASKED[data[0] % len(_ASKED)] if data else _ASKED[0]
    talk = Talk(key, data[1] % (newest + 1) if len(data) > 1 else 0, data[2:])
    book = ViewBook()
    asker = broker_view.BrokerAsker([_HERE], 1, ClientOptions(read_s=300), book)
    with instead(broker_view, talk):
        asker._converse(Asking(sample=1, observer="broker:0", target="b0:9092"), _HERE, ClientOptions(read_s=300))
    _stored(asker._rows)


@_reader(ReadError, weight=0.5)
def wire_groups(data):
    talk = Talk(*((16, data[0] % 5) if data[:1] < b"\x80" else (15, data[0] % 6)) if data else (16, 0), data[1:])
    _stored(GroupReads(talk, _HERE, Asking(sample=1, observer="broker:0", target="b0:9092")).rows())


@_reader(ReadError)
def wire_controller(data):
    talk = Talk(*((60, 1 + data[0] % 2) if data[:1] < b"\x80" else (55, data[0] % 3)) if data else (60, 1), data[1:])
    asker = quorum.ControllerAsker(_HERE, 1, ClientOptions(read_s=300))
    with instead(quorum, talk):
        asker._converse()
    _stored(asker._rows)


@_reader(ReadError)
def wire_scram_users(data):
    _stored(scram_users._describe(Talk(50, 0, data), ["kafka"]))


@_reader(ReadError)
def wire_topic_configs(data):
    settings = configs.ask_topic_configs(Talk(32, data[0] % 5 if data else 0, data[1:]), _HERE, ["orders", "payments"])
    _stored(parquet.rows_of(TopicConfig, settings))


@_reader(KafkaError, *UNDECODABLE, words=words.SCRAM)
def wire_scram_login(data):
    """What a server says at a login by SCRAM, in two messages; `as_read_error` turns these errors into words."""
    first, _, last = data.partition(b"\0")
    client = sasl.BoundedScramClient("auditor", "secret", "SCRAM-SHA-256")
    client.nonce = b"abc"
    client.first_message()
    client.process_server_first_message(first)
    client.process_server_final_message(last)


@_reader(ReadError, KafkaError, *UNDECODABLE)
def wire_frames(data):
    """Bytes of a connection as they come, lengths and correlation ids included, in pieces whose size the input says."""
    parser = _FrameParser(Budget(), client_id="kafka-audit")
    parser.send_request(ApiVersionsRequest(version=data[0] % 4 if data else 0), correlation_id=7)
    size = 1 + (data[1] if len(data) > 1 else 0)
    for at in range(2, len(data), size):
        parser.receive_bytes(data[at : at + size])


class _Socket:
    """Stands for a connection that says this and ends."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def settimeout(self, _):
        pass

    def sendall(self, _):
        pass

    def recv(self, size):
        found = self._data[self._at : self._at + size]
        self._at += len(found)
        return found


@_reader(Failure)
def wire_probe(data):
    """What a broker answers to the probes from here and from vantages."""
    ask = (
        probe_script.ask_versions,
        lambda sock, end: probe_script.ask_mechanisms(sock, {}, "PLAIN", end),
        lambda sock, end: probe_script.ask_identity(sock, 1, end),
    )[data[0] % 3 if data else 0]
    ask(_Socket(struct.pack("!i", len(data) + 3) + b"\0\0\0\7" + data[1:]), float("inf"))


# --- what stands in ZooKeeper


@_reader(znodes.ZnodeError, words=words.JSON)
def znode(data):
    """All znodes but the secured ones."""
    which, content = data[0] % 8 if data else 0, data[1:]
    match which:
        case 0:
            znodes.parse_cluster_id(content).encode()
        case 1:
            struct.pack("!q", znodes.parse_controller(content))
        case 2:
            found = znodes.parse_assignment(content)
            struct.pack("!q", max(found.replicas, default=0))
        case 3:
            together = partition_states.decoded([content, content], np.zeros(2, np.int64))
            state = znodes.parse_state(content)
            assert together is None or together.leader.tolist() == [state.leader] * 2
        case 4:
            registration = znodes.parse_registration(1, 0, content, _STAT)
            _stored((registration.broker, *registration.endpoints))
        case 5:
            struct.pack("!q", znodes.read_int(content))
        case 6:
            claim, _, state = content.partition(b"\n")
            row = migration.migration_row(1, claim or None, state or None)
            _stored([row] if row else [])
        case _:
            struct.pack("!q", znodes.read_int(_text(content)))


_KINDS = (
    (znodes.SMALL, znodes.parse_controller),
    (znodes.SMALL, znodes.parse_cluster_id),
    (znodes.SMALL, znodes.parse_state),
    (znodes.SMALL, lambda data: znodes.parse_registration(1, 0, data, _STAT)),
    (znodes.SMALL, lambda data: migration.migration_row(1, data, data)),
    (znodes.CONFIG, decode_topic_configs),
    (znodes.CONFIG, lambda data: security.broker_configs("0", Znode(data, _STAT))),
    (znodes.CONFIG, lambda data: security.users("u", Znode(data, _STAT))),
    (znodes.LARGE, znodes.parse_assignment),
    (znodes.LARGE, lambda data: security.acls("Topic", "t", "LITERAL", Znode(data, _STAT))),
    (znodes.LARGE, lambda data: reassignments(1, Znode(data, _STAT))),
)


@_reader(znodes.ZnodeError, words=words.JSON, weight=0.02, longest=1024)
def znode_sizes(data):
    """A znode of each kind whose middle is repeated to a share of its bound, or beyond: `kind, share, before, middle, after`."""
    kind, share, *parts = (*data[:2], *data[2:].split(b"\n", 2)) if len(data) > 1 else (0, 0)
    most, decode = _KINDS[kind % len(_KINDS)]
    before, middle, after = (*parts, b"", b"", b"")[:3]
    over = share % 5 == 4
    size = most + len(middle) + 1 + share if over else min(most * (share % 5) // 4, 1 << 20)
    content = before + middle * ((size - len(before) - len(after)) // max(1, len(middle))) + after
    if len(content) <= most:
        decode(content)
        return
    text = ""
    try:
        decode(content)
    except znodes.ZnodeError as error:
        text = str(error)
    assert text == f"{len(content)} bytes, more than {most}"


@_reader(words=words.NAMES)
def cluster_names(data):
    """A host, a port, a rack and a topic as parties of all kinds name them: what is taken can be dialled, quoted and kept."""
    (port,) = struct.unpack("!i", data[:4].rjust(4, b"\0"))
    host, rack, topic = (part[:4000] for part in (*_text(data[4:]).split("\n", 2), "", "")[:3])
    refused = RefusedNames()
    taken = not refused.address(host, port)
    assert len(refused.text or "") < 500
    if taken:
        plain = host.removeprefix("[").removesuffix("]")
        assert shlex.quote(plain) in {plain, "''"}
        assert len(host) <= LONGEST_HOST
        assert (endpoint_probes.not_probed(host, port) is None) == (bool(host) and port > 0)
    if can_be_name(NameKind.RACK, rack):
        assert len(rack.splitlines()) <= 1
    if can_be_name(NameKind.TOPIC, topic):
        assert shlex.quote(topic) == topic
    name, place = (struct.pack("!h", len(text)) + text for text in (host.encode(), rack.encode()))
    listed = struct.pack("!ii", 1, 7) + name + struct.pack("!i", port) + place
    answer = metadata.decode_metadata_answer(listed + struct.pack("!ii", 0, 0), 1)
    assert len(answer.brokers) == taken
    content = json.dumps({"endpoints": [f"L://{host}:{port}"], "rack": rack}, ensure_ascii=False)
    found = znodes.parse_registration(1, 0, content.encode(), _STAT)
    assert len(found.endpoints) <= taken
    _stored((found.broker, *found.endpoints))


@_reader(znodes.ZnodeError, ReadError, words=words.SECURITY, longest=1 << 20)
def znode_security(data):
    which, (name, _, content) = data[0] % 5 if data else 0, data[1:].partition(b"\n")
    held = Znode(content, _STAT)
    match which:
        case 0:
            acl_sets.digest(security.acls("Topic", _text(name), "LITERAL", held))
        case 1:
            _stored(security.broker_configs(_text(name), held))
        case 2:
            _stored(security.users(_text(name), held))
        case 3:
            settings = topic_config_columns.TopicConfigs("zookeeper")
            for key, value in decode_topic_configs(content):
                settings.add(_text(name), key, value)
            _stored(parquet.rows_of(TopicConfig, settings.table()))
        case _:
            _stored(reassignments(1, held))


@_reader(struct.error, KazooException)
def znode_multiread(data):
    contents = MultiRead.deserialize(data, 0)
    assert [result.data if isinstance(result, Znode) else b"" for result in contents.results()] == contents.data


@_reader(words=words.SRVR)
def zookeeper_srvr(data):
    _stored([zookeeper_view.parse_server_answer(_text(data), 1, "z1:2181")])
    connect_strings.servers_of(_text(data))


@functools.cache
def _honest_znodes():
    brokers = {0: ("b0", 9092), 1: ("b1", 9092)}
    tree = kafka_tree(brokers, {"orders": {0: (0, [0, 1])}})
    return tree | {
        "/config/brokers/0": b'{"version":1,"config":{"log.cleaner.threads":"2"}}',
        "/config/users/kafka": b'{"version":1,"config":{"SCRAM-SHA-256":"x"}}',
        "/kafka-acl/Topic/orders": b'{"version":1,"acls":[]}',
    }


@_reader(words=words.PATHS, weight=0.05, longest=32 * 1024)
def zookeeper_look(data):
    """A whole look at ZooKeeper, in which one znode has the name and the content of the input."""
    path, _, content = data.partition(b"\n")
    client = FakeZookeeper({**_honest_znodes(), "/" + _text(path).strip("/"): content})
    access = ZookeeperAccess(connect="zk:2181")
    asking = Asking(sample=1, observer="zookeeper", target=access.connect)
    _stored(rows_of(ZnodeSample(Session(client=client, access=access), asking, 300.0, time.monotonic() + 3600).take()))


# --- configuration


@_reader(java.PropertiesError, ReadError, words=words.PROPERTIES)
def properties(data):
    """server.properties as the audit reads it: settings and logins."""
    found = java.parse_properties(data)
    _stored(property_rows.setting_rows(found, "f", 0))
    for _login in property_rows.login_rows(found, "f", 0, b"k"):
        pass
    property_rows.broker_id_of_file(found, "f")


@_reader(java.PropertiesError, words=words.PROPERTIES, weight=0.2, longest=64 * 1024)
def kafka_config(data):
    """KafkaConfig's word on server.properties, of one of the releases."""
    version = VERSIONS[data[0] % len(VERSIONS)] if data else VERSIONS[0]
    start_refusal({key: setting.value for key, setting in java.parse_properties(data[1:]).items()}, version)


@_reader(words=words.LISTENERS)
def listeners(data):
    text = _text(data)
    for key in (advertised_listeners.KEY, advertised_listeners.INSTEAD):
        list(advertised_listeners.entries({key: text, advertised_listeners.CONTROLLERS: text[:40]}))
    znodes._endpoint(1, 0, text, {text[:10]: "SSL"})


def _lint_form(name, data):
    found = forms.read_described(data, name)
    ignores.find_ignores(data, catalogue(), trailing=name.endswith(".yaml"))
    text = places.file_lines(data)
    for broker in found:
        hidden = places.secrets(broker)
        for setting in broker.properties.values():
            if setting.line <= len(text):
                places.line_of_property(setting, text[setting.line - 1], hidden)


@_reader(java.PropertiesError, words=words.YAML, weight=0.5, longest=64 * 1024)
def lint_yaml(data):
    _lint_form("deployment.yaml", data)


@_reader(java.PropertiesError, words=words.FILES)
def lint_file(data):
    """A file whose form its text tells: server.properties, an env file, a manifest."""
    _lint_form(("server.properties", ".env", "x.config")[data[0] % 3] if data else ".env", data[1:])


@functools.cache
def _rules():
    return judging.Rules(checks=catalogue(), mutes=(), today=date(2026, 1, 1))


@_reader(java.PropertiesError, words=words.PROPERTIES, weight=0.02, longest=16 * 1024)
def lint_judged(data):
    """What lint says of a server.properties: all checks that files can answer."""
    broker = described(java.parse_properties(data))
    source = Source(path="server.properties", data=data, brokers=(broker,), ignores=())
    judging.linted((members.Member(source=source, broker=broker, broker_id=0),), _rules())


@_reader(jaas.JaasError, words=words.JAAS)
def jaas_text(data):
    for login in jaas.parse_jaas(_text(data)).logins():
        repr(login)


@_reader(RulesError, MappingError, UnsupportedError, words=words.RULES, longest=16 * 1024)
def ssl_rules(data):
    rules, _, subject = _text(data).partition("\n")
    SslRules(rules).name(subject or "CN=kafka-0,OU=infra,O=Example,C=CH")


@_reader(RulesError, MappingError, UnsupportedError, words=words.RULES, longest=16 * 1024)
def kerberos_rules(data):
    rules, _, principal = _text(data).partition("\n")
    KerberosRules(rules).name(principal or "kafka/b0.example.com@EXAMPLE.COM", "EXAMPLE.COM")


_FOLDER = tempfile.TemporaryDirectory(prefix="kafka-audit-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)  # noqa: S108


@_reader(UsageError, words=words.CLUSTER, weight=0.3, longest=8 * 1024)
def cluster_file(data):
    path = Path(_FOLDER.name) / f"{os.getpid()}.yaml"
    path.write_bytes(data)
    settings.load(path, codes=("KA101",))


@_reader(SnapshotError, weight=0.1)
def bundle_file(data):
    """What `kafka-audit report F.zip` opens."""
    path = Path(_FOLDER.name) / f"{os.getpid()}.zip"
    path.write_bytes(data)
    with bundles.Bundle(path):
        pass


_TOKEN_SECRET = "s3cr+t/of:the=auditor"  # noqa: S105 -- of nobody


@_reader(ValueError, words=words.REPORT, weight=0.2, longest=64 * 1024)
def imported_report(data):
    """What `kafka-audit import` publishes, and the digest beside it: if it takes one, every page of other clusters shows it."""
    if data[:1] == b"d":
        try:
            found = digest.restored(json.loads(data[1:]), bundled.ID, 1.0)
        except RecursionError:
            return
        if found is not None:
            pages.overview_page([pages.Glance(cluster="c", link="c", digests=[found])], now=datetime.now(UTC), up="./")
            pages.history_page("c", [found], up="./", here="./", compared=None, ends=(found, found))
        return
    document = reports.parse_report(data)
    every_page.require_publishable(document, json.loads(data))
    openmetrics.openmetrics([document])


@_reader(words=words.TOKENS)
def token_answer(data):
    """The answer of a token endpoint: a status that its first byte chooses, and a body, which may repeat the secret."""
    status = (200, 301, 400, 401, 429, 500)[data[0] % 6] if data else 200
    client = oidc.TokenClient("audit", _TOKEN_SECRET, "kafka")
    body = data[1:].replace(b"SECRET", _TOKEN_SECRET.encode())
    found = _token_or_error(status, body, client)
    if isinstance(found, ReadError):
        assert found.error in {ReadFailure.NO_TOKEN.words, ReadFailure.TOKEN_REFUSED.words}
        assert _TOKEN_SECRET not in f"{found.message} {found.needs}"
        _stored([Asking(sample=1, observer="broker:0", target="b0:9092").failed("Metadata", found)])
    else:
        assert 0 < found.lifetime_s <= 86_400
        assert found.value.isascii()
        assert found.about.isprintable()


def _token_or_error(status, body, client):
    try:
        return oidc.token_of_answer(status, body, "https://idp.example.com/token", client)
    except ReadError as error:
        return error


# --- logs, vantages, certificates, and what must not be shown


@_reader(words=words.LOGS)
def log_text(data):
    tail = log_rows.Tail(log="server.log", scan=log_lines.scan(_text(data), 0), read_ms=0)
    zone = log_rows.zone([tail], None)
    _stored(log_rows.log_rows(0, [tail], zone, {}, 1))


@_reader(words=words.LOGS)
def logs_alone(data):
    tally = LogTally()
    tally.read(LogFile("server.log", io.BytesIO(data)))
    document = log_document(tally, Redaction(["kafka-1"]))
    log_report.log_text(document, width=100)
    log_report.log_markdown(document)


@_reader(words=words.LOGS)
def pasted_lines(data):
    lines.line_text(catalogue(), pasted.read_pasted(_text(data)), width=100)


@_reader(words=words.LOGS)
def masking(data):
    masked(_text(data))


@_reader(words=words.SECRETS, longest=1 << 20)
def secret_filter(data):
    key, _, value = _text(data).partition("\n")
    secret_keys.is_secret(key, value)
    secret_keys.is_secret("x", value)


@_reader(words=words.VANTAGES)
def vantage_output(data):
    text = command_vantages.Output(text=_text(data), status=0)
    text.first_line()
    for steps in command_vantages.parse_probe_output(text.text, _TARGETS).values():
        for step in steps:
            struct.pack("!q", step.elapsed_ms)


@_reader()
def certificate(data):
    where = {"sample": 1, "vantage": "v", "broker_id": 0, "listener": "L", "host": "b0.example.com", "port": 1}
    found = certificates.certificate_row(base64.b64encode(data).decode(), **where, trusted=None, error=None)
    _stored([found] if found else [])


@_reader(ValueError)
def certificate_name(data):
    certificates.java_name(data).encode()
