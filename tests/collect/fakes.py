"""Fakes at the edge of the protocols: TCP servers that misbehave, a broker that answers frames, a ZooKeeper in memory."""

import random
import socket
import struct
import threading
import time
import uuid
from contextlib import closing, contextmanager

from kafka.protocol.admin import (
    DescribeAclsResponse,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeLogDirsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    ListPartitionReassignmentsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata import ApiVersionsResponse, MetadataRequest, MetadataResponse
from kazoo.exceptions import NoNodeError
from kazoo.protocol.serialization import int_struct, stat_struct, write_buffer
from kazoo.protocol.states import ZnodeStat
from kazoo.security import ACL, Id

from kafka_audit.clients.protocol.kafka_python import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)

TOPIC = 2
NO_ACCESS, NO_AUTHORIZER = 31, 54
FUTURE = 1000  # partitions from this number on are copies that a broker is still making
SORTED = {75}
"""APIs whose answers Kafka sorts: the pages of DescribeTopicPartitions. All others may come in any order."""
MEMBER = {"member_id": "m", "client_host": "/10.1.1.1"}


@contextmanager
def server(behave, *, one_at_a_time=False, host="127.0.0.1", port=0):
    """Listen on loopback and give each connection to `behave`, side by side or one after the other; yields (host, port)."""
    with closing(socket.create_server((host, port))) as listener:

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                thread = threading.Thread(target=_guarded, args=(behave, connection), daemon=True)
                thread.start()
                if one_at_a_time:
                    thread.join()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()
        listener.shutdown(socket.SHUT_RDWR)


def _guarded(behave, connection):
    with closing(connection):
        try:
            behave(connection)
        except OSError:
            return


def silent(connection):
    """Accept, and never say a word, like a process under SIGSTOP."""
    while connection.recv(4096):
        pass


def garbage(connection):
    """Answer like a web server."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    silent(connection)


def tls_alert(connection):
    """Answer like a TLS listener that was spoken to in plain text."""
    connection.recv(4096)
    connection.sendall(bytes.fromhex("15030300020250"))
    silent(connection)


def closing_at_once(connection):
    """Accept and hang up."""
    connection.recv(4096)


def hanging_up(_connection):
    """Accept, and close before a byte is read, as a broker does above its limit of connections."""


def one_byte_a_second(connection):
    """Promise a frame of a kilobyte and trickle."""
    connection.recv(4096)
    connection.sendall(struct.pack("!i", 1024))
    for _ in range(1024):
        connection.sendall(b"\0")
        time.sleep(1)


def refused():
    """Return an address at which nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        return listener.getsockname()


class FakeBroker:
    """Answers ApiVersions, Metadata, DescribeCluster and DescribeConfigs, and keeps every request.

    Fields may be changed between two questions: `brokers` (id -> (host, port)), `topics` (name -> {partition: (leader,
    replicas)}, or (leader, replicas, leader epoch, isr)), `controller_id`, `configs` (key -> (value,
    sensitive)), `apis`, `may_describe_configs`, `operations`, `mute` (API keys that get no answer). Once
    their keys are in `apis`, it answers DescribeAcls (29: `acls`, or the error `acls_error`),
    DescribeLogDirs (35: `log_dirs`, path -> (error, {topic: partitions})) and ListPartitionReassignments (46: `reassignments`,
    or the error `reassignments_error`) as well; who may not Describe (`may_describe`) is refused as by Kafka.
    """

    def __init__(self, broker_id, cluster_id="fake"):
        self.id = broker_id
        self.cluster_id = cluster_id
        self.brokers = {}
        self.topics = {}
        self.controller_id = broker_id
        self.configs = {"broker.id": (str(broker_id), False)}
        self.apis = {3: (0, 12), 18: (0, 3), 32: (0, 4), 60: (0, 0)}
        self.topic_configs = {}  # topic -> {key: value}, or the error of DescribeConfigs for it
        self.may_describe_configs = True
        self.refusal = ""  # instead of the words with which Kafka refuses the id of another broker
        self.operations = 1 << 8 | 1 << 10
        self.mute = set()
        self.may_describe = True
        self.acls = []  # (resource type, name, pattern type, [(principal, host, operation, permission)]), numbers as on the wire
        self.acls_error = 0
        self.log_dirs = {"/data": (0, {"orders": [0, 1]})}
        self.reassignments = {}  # (topic, partition) -> (replicas, adding, removing)
        self.reassignments_error = 0
        self.requests = []

    def __call__(self, connection):
        while head := exactly(connection, 4):
            self._answer(connection, exactly(connection, struct.unpack("!i", head)[0]))

    def asked(self, key):
        """Return the versions in which an API was asked."""
        return [version for api, version, _ in self.requests if api == key]

    def _answer(self, connection, request):
        key, version, correlation = struct.unpack_from("!hhi", request)
        self.requests.append((key, version, request))
        if key in self.mute:
            return
        answers = {3: self._metadata, 18: self._versions, 29: self._acls, 32: self._configs, 35: self._log_dirs}
        answers |= {46: self._reassignments, 60: self._cluster}
        if key not in answers:
            raise ConnectionAbortedError  # as Kafka does with a request that it does not know
        message = answers[key](version, request)
        connection.sendall(frame(message, correlation, in_order=key in SORTED))

    def _versions(self, version, _request):
        known = version <= self.apis[18][1]
        kind = ApiVersionsResponse.ApiVersion
        entries = [kind(api_key=key, min_version=low, max_version=high) for key, (low, high) in self.apis.items()]
        return ApiVersionsResponse(version=version if known else 0, error_code=0 if known else 35, api_keys=entries)

    def _metadata(self, version, _request):
        return metadata(version, self.brokers, self.topics, self.controller_id, self.cluster_id)

    def _cluster(self, version, _request):
        operations = {bit for bit in range(32) if self.operations >> bit & 1}
        own = {"cluster_id": self.cluster_id, "controller_id": self.controller_id}
        return DescribeClusterResponse(version=version, **own, authorized_operations=operations)

    def _acls(self, version, _request):
        resource = DescribeAclsResponse.DescribeAclsResource
        rule = resource.AclDescription
        code = self.acls_error if self.may_describe else NO_ACCESS
        resources = [
            resource(
                resource_type=kind,
                resource_name=name,
                pattern_type=pattern,
                acls=[
                    rule(principal=who, host=host, operation=operation, permission_type=permission)
                    for who, host, operation, permission in entries
                ],
            )
            for kind, name, pattern, entries in (() if code else self.acls)
        ]
        message = "No Authorizer is configured on the broker" if code == NO_AUTHORIZER else None
        return DescribeAclsResponse(version=version, error_code=code, error_message=message, resources=resources)

    def _log_dirs(self, version, _request):
        if not self.may_describe:
            return DescribeLogDirsResponse(version=version, error_code=NO_ACCESS)
        result = DescribeLogDirsResponse.DescribeLogDirsResult
        topic = result.DescribeLogDirsTopic
        replica = topic.DescribeLogDirsPartition
        results = []
        for path, (error, held) in self.log_dirs.items():
            topics = [
                topic(
                    name=name,
                    partitions=[replica(partition_index=at, partition_size=1, is_future_key=at >= FUTURE) for at in numbers],
                )
                for name, numbers in held.items()
            ]
            results.append(result(error_code=error, log_dir=path, topics=topics, total_bytes=1000))
        return DescribeLogDirsResponse(version=version, results=results)

    def _reassignments(self, version, _request):
        topic = ListPartitionReassignmentsResponse.OngoingTopicReassignment
        code = self.reassignments_error if self.may_describe else NO_ACCESS
        topics = []
        for (name, number), moved in () if code else self.reassignments.items():
            replicas = dict(zip(("replicas", "adding_replicas", "removing_replicas"), map(list, moved), strict=True))
            topics.append(topic(name=name, partitions=[topic.OngoingPartitionReassignment(partition_index=number, **replicas)]))
        return ListPartitionReassignmentsResponse(version=version, error_code=code, error_message=None, topics=topics)

    def _configs(self, version, request):
        resources = DescribeConfigsRequest.decode(request, version=version, header=True).resources
        results = [
            (self._topic_config if resource.resource_type == TOPIC else self._broker_config)(resource) for resource in resources
        ]
        return DescribeConfigsResponse(version=version, results=results)

    def _broker_config(self, resource):
        asked = resource.resource_name
        code, message, entries = 0, None, []
        if not self.may_describe_configs:
            code, message = NO_ACCESS, "Cluster authorization failed."
        elif asked not in {str(self.id), ""}:
            code, message = 42, self.refusal or f"Unexpected broker id, expected {self.id} or empty string, but received {asked}"
        else:
            held = self.configs if asked else {}
            entries = [_config(key, value, source=4, is_sensitive=sensitive) for key, (value, sensitive) in held.items()]
        return _configs_of(resource, code, message, entries)

    def _topic_config(self, asked):
        own = self.topic_configs.get(asked.resource_name, {})
        if isinstance(own, int):
            return _configs_of(asked, own, None, [])
        values = {key: (own[key], 1) if key in own else ("2", 5) for key in asked.configuration_keys}
        return _configs_of(asked, 0, None, [_config(key, value, source=source) for key, (value, source) in values.items()])


def _config(key, value, *, source, is_sensitive=False):
    kind = DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult
    return kind(name=key, value=value, read_only=source == 4, config_source=source, is_sensitive=is_sensitive)


def _configs_of(resource, code, message, entries):
    asked = {"resource_type": resource.resource_type, "resource_name": resource.resource_name}
    return DescribeConfigsResponse.DescribeConfigsResult(error_code=code, error_message=message, **asked, configs=entries)


class Serving(FakeBroker):
    """Answers ListOffsets by `errors`, ListGroups and DescribeGroups by `groups` (name -> (error, members)).

    `group_states` has those that are not Stable, `made_up_errors` the error for a group that is not there, else 69;
    `new_groups` (name -> (error, [(client, {topic: partitions})])) are of the consumer protocol: ConsumerGroupDescribe has them,
    and DescribeGroups does not find them. `offsets` by partition: high watermark, last stable offset, and the first offset of a
    young record (or a function of the seconds that it may be old). `leaderless` by partition: ELR and LastKnownElr;
    DescribeTopicPartitions has them, one partition a page. `shares` (name -> (error, {(topic, partition): (error, start, lag)}))
    are share groups, whose only member has all partitions; `silent_about` are those that are left out of their offsets.
    """

    def __init__(self, broker_id):
        super().__init__(broker_id)
        self.apis |= {2: (0, 7), 15: (0, 5), 16: (0, 5)}
        self.errors = {}
        self.epochs = {}
        self.offsets = {}
        self.leaderless = {}
        self.behind = {}
        self.leaderless_error = 0
        self.pages = []
        self.groups = {}
        self.groups_error = 0
        self.group_states = {}
        self.made_up_errors = {}
        self.new_groups = {}
        self.shares = {}
        self.silent_about = ()
        self.transactions = {}  # id -> (state, start, time-out, {topic: partitions})
        self.transactions_error = 105  # of an id that it does not have

    def _answer(self, connection, request):
        key, version, correlation = struct.unpack_from("!hhi", request)
        answers = {2: self._offsets, 15: self._describe_groups, 16: self._list_groups, 69: self._describe_new_groups}
        answers |= {77: self._describe_share_groups, 90: self._share_offsets}
        answers |= {65: self._describe_transactions, 66: self._list_transactions, 75: self._describe_partitions}
        if key not in answers or key in self.mute:
            super()._answer(connection, request)
            return
        message = answers[key](version, request)
        connection.sendall(frame(message, correlation, in_order=key in SORTED))

    def _offsets(self, version, request):
        question = ListOffsetsRequest.decode(request, version=version, header=True)
        self.pages.append(sum(len(topic.partitions) for topic in question.topics))
        kind = ListOffsetsResponse.ListOffsetsTopicResponse
        topics = []
        for topic in question.topics:
            partitions = []
            for partition in topic.partitions:
                self.epochs[topic.name, partition.partition_index] = partition.current_leader_epoch
                error = self.errors.get((topic.name, partition.partition_index), 0)
                end, stable, young = self.offsets.get((topic.name, partition.partition_index), (9, 9, -1))
                latest = stable if getattr(question, "isolation_level", 0) else end
                young = young(time.time() - partition.timestamp / 1000) if callable(young) else young
                offset = {-2: 0, -1: latest}.get(partition.timestamp, young)
                fields = {"partition_index": partition.partition_index, "error_code": error, "timestamp": -1, "offset": offset}
                partitions.append(kind.ListOffsetsPartitionResponse(leader_epoch=0, **fields))
            topics.append(kind(name=topic.name, partitions=partitions))
        return ListOffsetsResponse(version=version, topics=topics)

    def _describe_partitions(self, version, request):
        question = DescribeTopicPartitionsRequest.decode(request, version=version, header=True)
        kind = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
        part = kind.DescribeTopicPartitionsResponsePartition
        asked = {topic.name for topic in question.topics}
        left = sorted(name for name in self.leaderless if name[0] in asked)
        if question.cursor is not None:
            left = [name for name in left if name >= (question.cursor.topic_name, question.cursor.partition_index)]
        topics = []
        for topic, number in left[:1]:
            eligible, last = self.leaderless[topic, number]
            leader, isr = (-1, []) if eligible is not None else (2, [0, 1])
            leader, isr = self.behind.get((topic, number), (leader, isr))
            who = {"replica_nodes": [0, 1], "isr_nodes": isr, "eligible_leader_replicas": eligible, "last_known_elr": last}
            partition = part(error_code=0, partition_index=number, leader_id=leader, leader_epoch=5, offline_replicas=[], **who)
            topics.append(kind(error_code=self.leaderless_error, name=topic, topic_id=uuid.UUID(int=7), partitions=[partition]))
        after = [DescribeTopicPartitionsResponse.Cursor(topic_name=name, partition_index=number) for name, number in left[1:2]]
        return DescribeTopicPartitionsResponse(version=version, topics=topics, next_cursor=after[0] if after else None)

    def _list_transactions(self, version, request):
        states = ListTransactionsRequest.decode(request, version=version, header=True).state_filters
        kind = ListTransactionsResponse.TransactionState
        listed = [
            kind(transactional_id=name, producer_id=7, transaction_state=state)
            for name, (state, *_) in self.transactions.items()
            if state in states
        ]
        return ListTransactionsResponse(version=version, error_code=0, unknown_state_filters=[], transaction_states=listed)

    def _describe_transactions(self, version, request):
        kind = DescribeTransactionsResponse.TransactionState
        found = []
        for name in DescribeTransactionsRequest.decode(request, version=version, header=True).transactional_ids:
            state, start, time_out, topics = self.transactions.get(name, ("", -1, 0, {}))
            code = 0 if name in self.transactions else self.transactions_error
            fields = {
                "transaction_timeout_ms": time_out,
                "transaction_start_time_ms": start,
                "producer_id": 7,
                "producer_epoch": 3,
            }
            named = [kind.TopicData(topic=topic, partitions=numbers) for topic, numbers in topics.items()]
            found.append(kind(error_code=code, transactional_id=name, transaction_state=state, topics=named, **fields))
        return DescribeTransactionsResponse(version=version, transaction_states=found)

    def _list_groups(self, version, request):
        question = ListGroupsRequest.decode(request, version=version, header=True)
        kinds = {name: (kind, "classic") for name, (_, kind, _) in self.groups.items()}
        kinds |= dict.fromkeys(self.new_groups, ("consumer", "consumer"))
        kinds |= dict.fromkeys(self.shares, ("share", "share"))
        listed = [
            ListGroupsResponse.ListedGroup(
                group_id=name, protocol_type=kind, group_state=self.group_states.get(name, "Stable"), group_type=protocol
            )
            for name, (kind, protocol) in kinds.items()
            if protocol in (getattr(question, "types_filter", None) or [protocol])
        ]
        return ListGroupsResponse(version=version, error_code=self.groups_error, groups=listed)

    def _describe_new_groups(self, version, request):
        asked = ConsumerGroupDescribeRequest.decode(request, version=version, header=True).group_ids
        kind = ConsumerGroupDescribeResponse.DescribedGroup
        topics = kind.Member.Assignment.TopicPartitions
        head = {"group_epoch": 2, "assignment_epoch": 2, "assignor_name": "uniform"}
        groups = []
        for name in asked:
            error, members = self.new_groups[name]
            described = []
            for client, assigned in members:
                held = [topics(topic_name=topic, partitions=numbers) for topic, numbers in assigned.items()]
                described.append(
                    kind.Member(
                        **MEMBER,
                        client_id=client,
                        member_epoch=1,
                        member_type=1,
                        assignment=kind.Member.Assignment(topic_partitions=held),
                        target_assignment=kind.Member.Assignment(topic_partitions=[]),
                    )
                )
            state = self.group_states.get(name, "Stable")
            groups.append(kind(error_code=error, error_message=None, group_id=name, group_state=state, **head, members=described))
        return ConsumerGroupDescribeResponse(version=version, groups=groups)

    def _describe_share_groups(self, version, request):
        kind = ShareGroupDescribeResponse.DescribedGroup
        given = kind.Member.Assignment
        head = {"group_state": "Stable", "group_epoch": 3, "assignment_epoch": 3, "assignor_name": "simple"}
        found = []
        for name in ShareGroupDescribeRequest.decode(request, version=version, header=True).group_ids:
            error, partitions = self.shares[name]
            held = [given.TopicPartitions(topic_name=topic, partitions=[n]) for topic, n in partitions]
            assignment = given(topic_partitions=held)
            member = kind.Member(**MEMBER, client_id="app", member_epoch=3, subscribed_topic_names=[], assignment=assignment)
            found.append(kind(error_code=error, group_id=name, **head, members=[] if error else [member]))
        return ShareGroupDescribeResponse(version=version, groups=found)

    def _share_offsets(self, version, request):
        kind = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup
        topic_kind = kind.DescribeShareGroupOffsetsResponseTopic
        found = []
        for group in DescribeShareGroupOffsetsRequest.decode(request, version=version, header=True).groups:
            offsets, topics = self.shares[group.group_id][1], []
            for topic in group.topics:
                partitions = []
                for number in topic.partitions:
                    error, start, lag = offsets[topic.topic_name, number]
                    fields = {
                        "partition_index": number,
                        "start_offset": start,
                        "leader_epoch": 0,
                        "lag": lag,
                        "error_code": error,
                    }
                    part = topic_kind.DescribeShareGroupOffsetsResponsePartition(**fields)
                    partitions += [part] if (topic.topic_name, number) not in self.silent_about else []
                topics.append(topic_kind(topic_name=topic.topic_name, topic_id=uuid.UUID(int=7), partitions=partitions))
            found.append(kind(group_id=group.group_id, topics=topics, error_code=0))
        return DescribeShareGroupOffsetsResponse(version=version, groups=found)

    def _describe_groups(self, version, request):
        asked = DescribeGroupsRequest.decode(request, version=version, header=True).groups
        kind = DescribeGroupsResponse.DescribedGroup
        head = {"protocol_type": "consumer", "protocol_data": "range"}
        entries = []
        for name, (error, protocol, members) in self.groups.items():
            if protocol == "consumer" and name in asked:
                described = [
                    kind.DescribedGroupMember(**MEMBER, client_id=client, member_assignment=assignment)
                    for client, assignment in members
                ]
                state = self.group_states.get(name, "Stable")
                entries.append(kind(error_code=error, group_id=name, group_state=state, **head, members=described))
        entries += [kind(error_code=69, group_id=name) for name in asked if name in self.new_groups]
        unknown = [name for name in asked if name not in {*self.groups, *self.new_groups}]
        entries += [kind(error_code=self.made_up_errors.get(name, 69), group_id=name) for name in unknown]
        return DescribeGroupsResponse(version=version, groups=entries)


def frame(message, correlation, *, in_order=False):
    """Return an answer as bytes; its brokers, topics, partitions, groups, … come in the reverse order unless `in_order`."""
    if not in_order:
        _reverse(message)
    message.with_header(correlation_id=correlation)
    return message.encode(framed=True, header=True)


def _reverse(part):
    for name in part._struct.fields:
        value = getattr(part, name)
        if isinstance(value, list) and any(hasattr(item, "_struct") for item in value):
            setattr(part, name, value[::-1])
            for item in value:
                _reverse(item)


class Garbling(FakeBroker):
    """Answers in well-formed frames whose insides were changed, cut or lengthened by a seeded dice, but for the keys to spare."""

    def __init__(self, broker_id, seed, spare=()):
        super().__init__(broker_id)
        self._spare = spare
        self.brokers = {broker_id: ("h", 1)}
        self.topics = {"orders": {0: (broker_id, [broker_id])}}
        self._dice = random.Random(seed)  # noqa: S311 -- no secret

    def _answer(self, connection, request):
        caught = Caught()
        super()._answer(caught, request)
        spared = len(self.requests) == 1 or self.requests[-1][0] in self._spare
        connection.sendall(caught.data if spared else self._garbled(caught.data))

    def _garbled(self, data):
        data, dice = bytearray(data), self._dice
        for _ in range(dice.randrange(1, 4)):
            data[dice.randrange(8, len(data))] = dice.randrange(256)
        data = data[: dice.randrange(8, len(data))] if dice.random() < 0.3 else data
        data += b"more" if dice.random() < 0.2 else b""
        return struct.pack("!i", len(data) - 4) + data[4:]


class Trickling(FakeBroker):
    """Answers one API a byte a second."""

    def __init__(self, broker_id, key):
        super().__init__(broker_id)
        self._key = key

    def _answer(self, connection, request):
        caught = Caught()
        super()._answer(caught, request)
        if self.requests[-1][0] != self._key:
            connection.sendall(caught.data)
            return
        for item in caught.data:
            connection.sendall(bytes([item]))
            time.sleep(1)


class Caught:
    """Stands for a connection; keeps what is sent."""

    data = b""

    def sendall(self, data):
        self.data = bytes(data)


def metadata(version, brokers, topics, controller_id=0, cluster_id="fake"):
    """Return a Metadata response of kafka-python, with everything in the order given."""
    broker, topic = MetadataResponse.MetadataResponseBroker, MetadataResponse.MetadataResponseTopic
    partition = topic.MetadataResponsePartition
    described = []
    for name, partitions in list(topics.items()):
        held = [
            partition(
                partition_index=number,
                leader_id=leader,
                leader_epoch=epoch,
                replica_nodes=list(replicas),
                isr_nodes=list(isr),
            )
            for number, (leader, replicas, epoch, isr) in _whole(partitions)
        ]
        described.append(topic(name=name, topic_id=uuid.uuid5(uuid.NAMESPACE_DNS, name), partitions=held))
    listed = [broker(node_id=node, host=host, port=port) for node, (host, port) in brokers.items()]
    own = {"cluster_id": cluster_id, "controller_id": controller_id}
    return MetadataResponse(version=version, **own, brokers=listed, topics=described)


def _whole(partitions):
    for number, (leader, replicas, *rest) in list(partitions.items()):
        epoch, isr = rest or (3, replicas)
        yield number, (leader, replicas, epoch, isr)


def creates_topics(request, version):
    """Whether a Metadata request would let the broker create a topic."""
    return MetadataRequest.decode(request, version=version, header=True).allow_auto_topic_creation


def exactly(connection, size):
    """Return as many bytes of a connection, b"" where it ends before."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            return b""
        data += part
    return data


class Result:
    """An asynchronous result that is there already."""

    def __init__(self, value):
        self.value = value

    def get(self, timeout=None):
        assert timeout is not None, "every read has a deadline"
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


class FakeZookeeper:
    """A kazoo client with znodes in memory: path -> bytes, or an exception to raise. Paths include the chroot."""

    def __init__(self, znodes, chroot="", *, version="3.8.4", has_multi=True):
        self.znodes = dict(znodes)
        self.stats = {}
        self.chroot = chroot
        self.last_zxid = 100
        self.version = version
        self.has_multi = has_multi
        self.multi_reads = []
        self.single_reads = []
        self.acls = {}
        self.then = {}  # path -> what happens right after its first read
        self.handler = self

    def async_result(self):
        return Result(None)

    def command(self, _cmd):
        return f"Zookeeper version: {self.version}-abc, built on today\n" if self.version else ""

    def stat(self, path):
        children = len(self._children(path))
        defaults = {"czxid": 10, "mzxid": 10, "pzxid": 10, "ephemeralOwner": 7}
        values = {**dict.fromkeys(ZnodeStat._fields, 0), **defaults, **self.stats.get(path, {}), "numChildren": children}
        return ZnodeStat(**values)

    def _children(self, path):
        head = path.rstrip("/") + "/"
        return sorted({znode[len(head) :].partition("/")[0] for znode in self.znodes if znode.startswith(head)})

    def _read(self, path):
        found = self.znodes.get(path)
        if isinstance(found, BaseException):
            return found
        if found is None and not self._children(path):
            return NoNodeError()
        return found, self.stat(path)  # kazoo has None for a znode that was created without data, as parents are

    def get_async(self, path):
        self.single_reads.append(path)
        result = Result(self._read(self.chroot + path))
        self.then.pop(path, lambda: None)()
        return result

    def exists_async(self, path):
        found = self._read(self.chroot + path)
        return Result(None if isinstance(found, NoNodeError) else found if isinstance(found, BaseException) else found[1])

    def get_children_async(self, path, *, include_data=False):
        found = self._read(self.chroot + path)
        if isinstance(found, BaseException):
            return Result(found)
        children = self._children(self.chroot + path)
        return Result((children, self.stat(self.chroot + path)) if include_data else children)

    def get_acls_async(self, path):
        found = self._read(self.chroot + path)
        acls = self.acls.get(path, [ACL(31, Id("world", "anyone"))])
        return Result(found if isinstance(found, BaseException) else (acls, found[1]))

    def sync_async(self, path):
        return Result(path)

    def _call(self, request, result):
        self.multi_reads.append(list(request.paths))
        if isinstance(self.has_multi, BaseException):
            result.value = self.has_multi
            return
        reply = b""
        for path in request.paths:
            found = self._read(path)
            if isinstance(found, BaseException):
                reply += struct.pack("!iBi", -1, 0, found.code) + int_struct.pack(found.code)
            else:
                data, stat = found
                reply += struct.pack("!iBi", 4, 0, 0) + write_buffer(data) + stat_struct.pack(*stat[:11])
        result.value = request.deserialize(b"head" + reply + struct.pack("!iBi", -1, 1, -1), 4)
