"""The sizes of replicas that are copied, by DescribeLogDirs of their partitions alone: what is left to be copied."""

import time
from collections.abc import Iterable, Mapping, Sequence

from kafka.protocol.admin import DescribeLogDirsRequest, DescribeLogDirsResponse

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.protocol.raw_requests import RawRequest
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import log_dirs
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED, MAY_DESCRIBE, Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import CopiedReplica, Row

COPIED = "DescribeLogDirs of copied replicas"

_NEEDS = {CLUSTER_DENIED: MAY_DESCRIBE}


def read_copied_replicas(
    conversation: Conversation, target: Target, asking: Asking, replicas: Sequence[tuple[str, int]]
) -> list[Row]:
    """Return the size of each of these replicas, and how the read ended; nothing where the broker has no such API."""
    version = conversation.version(DescribeLogDirsRequest)
    if version is None:
        return []
    started = time.monotonic()
    try:
        with any_answer():
            sizes = replica_sizes(conversation, version, replicas)
    except ReadError as error:
        return [asking.failed(COPIED, error, started)]
    conversation.add_rows(len(replicas))
    rows = (
        CopiedReplica(
            sample=asking.sample,
            observer=target.observer,
            broker_id=target.broker_id,
            topic=topic,
            partition=partition,
            size_bytes=sizes.get((topic, partition), 0),
        )
        for topic, partition in replicas
    )
    return [*rows, asking.answered(COPIED, started)]


def by_topic(partitions: Iterable[tuple[str, int]]) -> Mapping[str, list[int]]:
    """Return the partitions of each topic, as requests have them."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def replica_sizes(conversation: Conversation, version: int, replicas: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
    """Return the bytes of those replicas that a broker holds; raises ReadError."""
    version = min(version, log_dirs.HIGHEST)
    kind = DescribeLogDirsRequest.DescribableLogDirTopic
    wanted = [kind(topic=topic, partitions=partitions) for topic, partitions in by_topic(replicas).items()]
    request = DescribeLogDirsRequest(version=version, topics=wanted)
    body = bytes(conversation.ask(RawRequest(request, DescribeLogDirsResponse, DescribeLogDirsRequest.API_KEY, version)))
    try:
        answer = log_dirs.decode_log_dirs_answer(body, version)
    except WireError as error:
        raise ReadError(ReadFailure.UNREADABLE, str(error)) from error
    demand(answer.error, None, _NEEDS)
    if not answer.log_dirs:
        raise ReadError(ReadFailure.NOT_AUTHORIZED, "an empty list, which this version returns if access is denied", MAY_DESCRIBE)
    asked = {*replicas}
    found: dict[tuple[str, int], int] = {}
    for log_dir in answer.log_dirs:
        found |= {(topic, partition): size for topic, partition, size in log_dir.sizes() if (topic, partition) in asked}
    return found
