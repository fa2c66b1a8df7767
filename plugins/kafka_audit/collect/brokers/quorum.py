"""Ask for the metadata quorum: brokers pass the question on to its leader, controllers in the cluster file answer themselves.

A controller is asked for DescribeQuorum, and from Kafka 3.7 on for its settings, for which DescribeConfigs on Cluster is enough.
For DescribeCluster it wants Alter on Cluster, which no auditor should hold: only one without an authorizer is asked, for the
controllers that are registered.
"""

import base64
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kafka.protocol.admin import DescribeClusterRequest, DescribeConfigsRequest, DescribeQuorumRequest

from kafka_audit.clients.credentials import NotAsked
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation, demand
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import CONTROLLER_LISTENER, UNREGISTERED, Target, routes, split_address
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.brokers.configs import CONFIGS, controller_settings
from kafka_audit.collect.brokers.listener_names import settings_of
from kafka_audit.collect.probes import endpoint_probes
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED, MAY_DESCRIBE, Asking
from kafka_audit.compare.addresses import address_text, canonical_address
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, first_controllers_listener, protocols_by_listener
from kafka_audit.model.addresses.voters import voter_addresses
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.names import NameKind, can_be_name, is_port
from kafka_audit.model.quorum import newest_view
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    BrokerConfig,
    ControllerConfig,
    ControllerProbe,
    FencedBroker,
    QuorumReplica,
    QuorumView,
    QuorumVoter,
    RegisteredController,
    Row,
)

QUORUM, API_VERSIONS = "DescribeQuorum", "ApiVersions"
PLANNED = (API_VERSIONS, QUORUM)
"""What every controller of the cluster file is asked for."""

PROTOCOLS = "listener.security.protocol.map"

_ANSWER_S = 3.0
"""For so long this worker waits for a voter; others wait 2 s for an answer (`controller.quorum.request.timeout.ms`)."""

FENCED_FROM = 2
"""The first version of DescribeCluster with fenced brokers (KIP-1073)."""

_NODES_FROM = 2
_CONTROLLERS_FROM, _CONTROLLERS = 1, 2
"""The first version of DescribeCluster that a controller answers (KIP-919), and the kind of nodes that are asked for."""

REGISTERED = "DescribeCluster controllers"
_TOPIC, _AUTHORIZER = "__cluster_metadata", "authorizer.class.name"
_NOT_LEADER = 6
_NEEDS = {CLUSTER_DENIED: MAY_DESCRIBE}
_ELSE = "a leader of the metadata quorum"


def quorum(conversation: Conversation, sample: int, observer: str, node_id: int | None) -> tuple[Row, ...]:
    """Return what the other end says of the quorum, nothing where it is a controller that does not lead.

    Raises:
        ReadError: it did not answer, or refused.
    """
    return quorum_rows(conversation, conversation.ask(quorum_request(conversation)), sample, observer, node_id)


def quorum_rows(
    conversation: Conversation,
    answer: Any,  # noqa: ANN401 -- kafka-python is untyped
    sample: int,
    observer: str,
    node_id: int | None,
) -> tuple[Row, ...]:
    """Return what an answer says, as `quorum`; raises ReadError."""
    partition = quorum_partition(answer)
    if partition is None:
        return ()
    view = _view(partition, sample, observer, node_id)
    voters, observers = answers.each(partition.current_voters, "voters"), answers.each(partition.observers, "observers")
    nodes = answers.each(answer.nodes, "nodes") if (conversation.version(DescribeQuorumRequest) or 0) >= _NODES_FROM else ()
    addresses = _voters(nodes, {row.replica_id for row in voters}, sample, observer)
    conversation.add_rows(1 + len(voters) + len(observers) + len(addresses))
    return (
        view,
        *(_replica(row, sample, observer, voter=True) for row in voters),
        *(_replica(row, sample, observer, voter=False) for row in observers),
        *addresses,
    )


def quorum_request(conversation: Conversation) -> Any:  # noqa: ANN401 -- kafka-python is untyped
    """Return the question for the quorum, in the highest version that both sides support."""
    kind = DescribeQuorumRequest.TopicData
    topic = kind(topic_name=_TOPIC, partitions=[kind.PartitionData(partition_index=0)])
    return DescribeQuorumRequest(version=conversation.version(DescribeQuorumRequest), topics=[topic])


def quorum_view(answer: Any, sample: int, observer: str, node_id: int | None) -> QuorumView | None:  # noqa: ANN401 -- see above
    """Return what an answer says of the leader, None where a controller answers that does not lead. Raises ReadError."""
    partition = quorum_partition(answer)
    return None if partition is None else _view(partition, sample, observer, node_id)


def quorum_partition(answer: Any) -> Any:  # noqa: ANN401 -- see above
    """Return the only partition of an answer, None where a controller answers that does not lead. Raises ReadError."""
    demand(answer.error_code, getattr(answer, "error_message", None), _NEEDS, _ELSE)
    topics = answers.each(answer.topics, "topics")
    reported = [partition for topic in topics for partition in answers.each(topic.partitions, f"partitions of {_TOPIC}")]
    if len(reported) != 1:
        raise ReadError(ReadFailure.UNEXPECTED_ANSWER, f"{len(reported)} partitions of {_TOPIC}")
    (partition,) = reported
    if partition.error_code == _NOT_LEADER:
        return None
    demand(partition.error_code, getattr(partition, "error_message", None), _NEEDS, _ELSE)
    return partition


def _view(partition: Any, sample: int, observer: str, node_id: int | None) -> QuorumView:  # noqa: ANN401 -- see above
    return QuorumView(
        sample=sample,
        observer=observer,
        node_id=node_id,
        leader_id=answers.at_least(-1, partition.leader_id, "the leader's id"),
        leader_epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
    )


def _replica(row: Any, sample: int, observer: str, *, voter: bool) -> QuorumReplica:  # noqa: ANN401 -- kafka-python is untyped
    return QuorumReplica(
        sample=sample,
        observer=observer,
        replica_id=answers.int32(row.replica_id, "the id of a node of the quorum"),
        voter=voter,
        directory_id=_directory(getattr(row, "replica_directory_id", None)),
        log_end_offset=_known(row.log_end_offset),
        last_fetch_ms=_known(getattr(row, "last_fetch_timestamp", None)),
        last_caught_up_ms=_known(getattr(row, "last_caught_up_timestamp", None)),
    )


def _voters(nodes: Iterable[Any], voters: Collection[int], sample: int, observer: str) -> list[QuorumVoter]:
    """Return where voters are reached; an answer before version 2 has no nodes."""
    return [
        QuorumVoter(
            sample=sample,
            observer=observer,
            voter_id=node.node_id,
            listener=answers.checked_text(end.name, "a listener of a voter"),
            host=answers.checked_text(end.host, "the host of a voter"),
            port=end.port,
        )
        for node in nodes
        if node.node_id in voters
        for end in answers.each(node.listeners, "listeners of a voter")
    ]


def _directory(value: object) -> str | None:
    """Return the id of a directory as Kafka writes it; None for zeros."""
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=") if isinstance(value, uuid.UUID) and value.int else None


def _known(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


def fenced(answer: Any, sample: int, observer: str, broker_id: int) -> Iterator[FencedBroker]:  # noqa: ANN401 -- see above
    """Yield the brokers that an answer to DescribeCluster, asked to include them, calls fenced."""
    for broker in answers.each(answer.brokers, "brokers"):
        if getattr(broker, "is_fenced", False):
            host, port = answers.checked_text(broker.host, "the host of a broker"), broker.port
            yield FencedBroker(
                sample=sample,
                observer=observer,
                broker_id=broker_id,
                fenced_id=answers.int32(broker.broker_id, "the id of a broker"),
                address=address_text(host, port) if can_be_name(NameKind.HOST, host) and is_port(port) else None,
            )


def controllers(cluster: Cluster) -> tuple[Target, ...]:
    """Return the addresses of `controllers`; none where the cluster file skips their listener.

    Raises:
        UsageError: an address cannot be read.
    """
    named = cluster.listeners.get(CONTROLLER_LISTENER)
    if CONTROLLER_LISTENER in cluster.listeners and named is None:
        return ()
    protocol = (named or cluster.security).protocol
    found = []
    for text in dict.fromkeys(cluster.controllers):
        host, port = split_address(text, f"clusters.{cluster.name}.controllers")
        probe = routes(cluster).get(canonical_address(host, port))
        found.append(
            Target(broker_id=UNREGISTERED, listener=CONTROLLER_LISTENER, protocol=protocol, host=host, port=port, via=probe)
        )
    return tuple(found)


def voter_targets(cluster: Cluster, rows: Sequence[Row]) -> tuple[Target, ...]:
    """Return the voters' addresses as the newest leader has them; before Kafka 3.9 as most brokers are set to.

    None where the cluster file skips the controllers' listener. Where neither the file nor brokers' settings have its protocol,
    no byte is sent to them.
    """
    named = cluster.listeners.get(CONTROLLER_LISTENER)
    if CONTROLLER_LISTENER in cluster.listeners and named is None:
        return ()
    settings = settings_of(rows, BrokerConfig)
    newest = newest_view(row for row in rows if isinstance(row, QuorumView))
    if newest is None and cluster.zookeeper is not None:
        return ()
    reported = [row for row in rows if isinstance(row, QuorumVoter) and newest is not None and row.observer == newest.observer]
    protocol = _protocol(settings.values()) if named is None else named.protocol
    return tuple(
        Target(
            broker_id=UNREGISTERED,
            listener=CONTROLLER_LISTENER,
            protocol=protocol,
            host=host,
            port=port,
            via=routes(cluster).get(canonical_address(host, port)),
            voter_id=voter,
        )
        for voter, (host, port) in sorted(voter_addresses(reported, settings).items())
        if can_be_name(NameKind.HOST, host) and is_port(port)
    )


def _protocol(settings: Iterable[Mapping[str, str | None]]) -> str:
    """Return the security protocol of the controllers' listener by brokers' settings; empty where they do not agree on one."""
    found = {
        protocols_by_listener(values.get(PROTOCOLS) or "").get(first_controllers_listener(values.get(CONTROLLERS)))
        for values in settings
    }
    return (found.pop() if len(found) == 1 else None) or ""


class VoterProber:
    """Probes the address of a voter from this worker, and asks nothing: only the cluster says that there is a controller."""

    def __init__(self, target: Target, sample: int, options: ClientOptions) -> None:
        """Take the address; `options.read_s` bounds the probe, and what voters grant each other."""
        self._target = target
        self._sample = sample
        self._options = options

    def probe(self) -> tuple[Row, ...]:
        """Return the row of the probe."""
        options = self._options
        seconds = min(options.read_s, _ANSWER_S)
        return self._rows(endpoint_probes.probe_from_here(self._target, seconds, options.logins, options.budget))

    def unanswered(self, error: ReadError) -> tuple[Row, ...]:
        """Return the row of a probe that did not end."""
        return self._rows([endpoint_probes.unknown_step(error)])

    def _rows(self, steps: Sequence[endpoint_probes.ProbeStep]) -> tuple[Row, ...]:
        return endpoint_probes.voter_rows(self._sample, endpoint_probes.FROM_WORKER, self._target, steps)


def observer(target: Target) -> str:
    """Return the observer's name of a controller: its address, which is known also where it does not answer."""
    return f"controller@{target.advertised}"


class ControllerAsker:
    """Reads one controller at its address: whether it answers, what it is set to, and if it leads, the quorum."""

    def __init__(self, target: Target, sample: int, options: ClientOptions) -> None:
        """Take the address; `options.read_s` bounds every read."""
        self._target = target
        self._sample = sample
        self._options = options
        self._asking = Asking(sample=sample, observer=observer(target), target=target.address)
        self._rows: list[Row] = []

    def ask(self) -> tuple[Row, ...]:
        """Ask; a controller that does not answer is rows, never an exception."""
        target, options = self._target, self._options
        steps = endpoint_probes.probe_from_here(target, options.read_s, options.logins, options.budget)
        node: int | None = None
        try:
            options.logins.demand_known(target)
            if steps[-1].outcome != "ok":
                raise endpoint_probes.read_error_of_probe(steps[-1], target.address)
            with any_answer():
                node = self._converse()
        except NotAsked as reported:
            self._rows.append(self._asking.failed(API_VERSIONS, reported))
        except ReadError as reported:
            self._rows += [self._asking.failed(operation, reported) for operation in PLANNED]
        last = endpoint_probes.deciding_step(steps)
        probe = ControllerProbe(
            sample=self._sample,
            address=target.advertised,
            node_id=node,
            layer=last.layer,
            outcome=last.outcome,
            error=last.error,
            reason=None if last.failure is None else last.failure.name,
            needs=last.needs,
            via=target.via,
            addresses=endpoint_probes.addresses_shown(steps),
        )
        return (*self._rows, probe, *endpoint_probes.certificates_shown(self._sample, target, steps, options.logins))

    def unanswered(self, error: ReadError) -> tuple[Row, ...]:
        """Return the rows of a controller that gave none."""
        return tuple(self._asking.failed(operation, error) for operation in PLANNED)

    def _converse(self) -> int | None:
        """Ask at one connection; return the node id of a controller that leads or names it. Raises ReadError."""
        started = time.monotonic()
        host, port = self._target.dialled
        with Conversation(host, port, self._options.at(self._target)) as conversation:
            self._rows.append(self._asking.answered(API_VERSIONS, started))
            if conversation.version(DescribeQuorumRequest) is None:
                return None
            reported = self._asking.read(
                self._rows, QUORUM, lambda: quorum(conversation, self._sample, self._asking.observer, None)
            )
            # It answers as the leader or not at all, so that the leader's id is its own.
            rows = [replace(row, node_id=row.leader_id) if isinstance(row, QuorumView) else row for row in reported or ()]
            self._rows += rows
            leader = next((row.node_id for row in rows if isinstance(row, QuorumView)), None)
            if conversation.version(DescribeConfigsRequest) is None:
                return leader
            read = partial(controller_settings, conversation, self._asking.observer)
            settings = self._asking.read(self._rows, CONFIGS, read) or ()
            self._rows += settings
            if self._is_open(settings) and (conversation.version(DescribeClusterRequest) or 0) >= _CONTROLLERS_FROM:
                listed = partial(registered_controllers, conversation, self._sample, self._asking.observer)
                self._rows += self._asking.read(self._rows, REGISTERED, listed) or ()
            return leader if leader is not None else next((row.node_id for row in settings), None)

    @staticmethod
    def _is_open(settings: Sequence[ControllerConfig]) -> bool:
        """Return whether a controller has no authorizer: with one the question takes Alter, and each refusal is logged."""
        found = [row for row in settings if row.key == _AUTHORIZER]
        return bool(found) and all(not row.value and not row.sensitive for row in found)


def registered_controllers(conversation: Conversation, sample: int, observer: str) -> tuple[RegisteredController, ...]:
    """Return the controllers that the metadata log has as registered; raises ReadError."""
    version = conversation.version(DescribeClusterRequest)
    request = DescribeClusterRequest(
        version=version, include_cluster_authorized_operations=False, endpoint_type=_CONTROLLERS, include_fenced_brokers=False
    )
    answer = conversation.ask(request)
    demand(answer.error_code, getattr(answer, "error_message", None), {})
    found = answers.each(answer.brokers, "controllers")
    conversation.add_rows(len(found))
    ids = sorted({answers.int32(entry.broker_id, "the id of a controller") for entry in found})
    return tuple(RegisteredController(sample=sample, observer=observer, node_id=node) for node in ids)
