"""What the bed does with topics through Kafka's own API: ``topics_client.py COMMAND``, the answer as JSON.

Run as a script inside the worker host. Standard input is a JSON object of ``options`` (kafka-python's) and the command's
``arguments``. The bed changes what an audit only reads: reassignments, settings of topics and brokers, deletions, elections.
"""

import contextlib
import json
import logging
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError
from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    DeleteTopicsRequest,
    DescribeQuorumRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    ListPartitionReassignmentsRequest,
    UpdateFeaturesRequest,
)
from kafka.protocol.producer import ProduceRequest
from kafka.record import MemoryRecordsBuilder

from testbed.broker_client import POLL_S, REQUEST_MS, for_kafka, send

BROKER, TOPIC = 4, 2
SET, DELETE = 0, 1
ELECTION_NOT_NEEDED = 84
UNKNOWN_PRODUCER = 987_654
UPGRADE, SAFE_DOWNGRADE = 1, 2
CAUGHT_UP_MS = 1500
MAY_WRITE_INTERNAL = "__admin_client"
COMMIT_KEY = b"\x00\x01\x7f\xff"  # version 1, a group id of 32,767 bytes
SETTLED_S = 3.0  # until brokers know a topic's new setting


def refusal(answers: list[Any], *harmless: int) -> str | None:
    """Return the first error among answers, None where there is none."""
    return next(
        (f"error {answer.error_code} {answer.error_message}" for answer in answers if answer.error_code not in {0, *harmless}),
        None,
    )


def reassign(options: dict[str, Any], *, address: str, moves: list[list[Any]]) -> str | None:
    """Ask for replicas of [topic, partition, replicas (null: take the reassignment back)]; return a refusal."""
    kind = AlterPartitionReassignmentsRequest.ReassignableTopic
    topics = [
        kind(name=topic, partitions=[kind.ReassignablePartition(partition_index=partition, replicas=replicas)])
        for topic, partition, replicas in moves
    ]
    answer = send(address, options, AlterPartitionReassignmentsRequest(timeout_ms=REQUEST_MS, topics=topics))
    return refusal([answer]) or refusal([partition for topic in answer.responses for partition in topic.partitions])


def reassigning(options: dict[str, Any], *, address: str) -> list[list[Any]]:
    """Return [topic, partition] of what is being reassigned."""
    answer = send(address, options, ListPartitionReassignmentsRequest(version=0, timeout_ms=REQUEST_MS, topics=None))
    return [[topic.name, partition.partition_index] for topic in answer.topics for partition in topic.partitions]


def configure(
    options: dict[str, Any], *, address: str, topic: str | None, broker: int, keys: Mapping[str, str | None]
) -> str | None:
    """Set keys of a topic, or of a broker where no topic is named; null takes one away. Return a refusal."""
    kind = IncrementalAlterConfigsRequest.AlterConfigsResource
    changes = [
        kind.AlterableConfig(name=key, config_operation=DELETE if value is None else SET, value=value)
        for key, value in keys.items()
    ]
    name = str(broker) if topic is None else topic
    resource = kind(resource_type=BROKER if topic is None else TOPIC, resource_name=name, configs=changes)
    answer = send(address, options, IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))
    return refusal(list(answer.responses))


def delete(options: dict[str, Any], *, address: str, topic: str) -> str | None:
    """Have a topic deleted; return a refusal. That a deletion takes longer than the request waits is none."""
    answer = send(address, options, DeleteTopicsRequest(version=1, topic_names=[topic], timeout_ms=1000))
    code = answer.responses[0].error_code
    return f"error {code}" if code not in {0, 7} else None


def elect(options: dict[str, Any], *, address: str) -> str | None:
    """Elect the preferred leaders of all partitions; return a refusal."""
    answer = send(address, options, ElectLeadersRequest(version=1, election_type=0, topic_partitions=None, timeout_ms=REQUEST_MS))
    found = [result for topic in answer.replica_election_results for result in topic.partition_result]
    return f"error {answer.error_code}" if answer.error_code else refusal(found, ELECTION_NOT_NEEDED)


def hang(options: dict[str, Any], *, address: str, topic: str, partition: int, age_s: int) -> str | None:
    """Write a record of a transaction that no coordinator knows, with an old timestamp, to the leader; return a refusal."""
    producer = KafkaProducer(bootstrap_servers=[address], transactional_id="known", **options)
    producer.init_transactions()  # brings the topic of transactions about
    producer.close()
    records = MemoryRecordsBuilder(
        2, 0, 16384, transactional=True, producer_id=UNKNOWN_PRODUCER, producer_epoch=0, base_sequence=0
    )
    records.append(round(time.time() - age_s) * 1000, None, b"hangs")
    records.close()
    return _written(options, address, topic, partition, records, "unknown")


def _written(  # noqa: PLR0913, PLR0917 -- what a request has
    options: dict[str, Any], address: str, topic: str, partition: int, records: MemoryRecordsBuilder, transaction: str | None
) -> str | None:
    """Write records as they are to the leader; return a refusal."""
    kind = ProduceRequest.TopicProduceData
    data = kind(name=topic, partition_data=[kind.PartitionProduceData(index=partition, records=bytes(records.buffer()))])
    request = ProduceRequest(version=7, transactional_id=transaction, acks=-1, timeout_ms=REQUEST_MS, topic_data=[data])
    answer = send(address, options, request)
    return next(
        (f"error {response.error_code}" for response in answer.responses[0].partition_responses if response.error_code), None
    )


def prepare(options: dict[str, Any], *, address: str, topic: str, partition: int, age_s: int) -> str | None:
    """Commit a transaction of which a partition takes no marker, as its ISR is too small by then; return a refusal.

    The producer is told that it is committed: the coordinator answers once it has prepared it.
    """
    producer = KafkaProducer(bootstrap_servers=[address], transactional_id="tx-prepared", max_block_ms=60_000, **options)
    producer.init_transactions()
    producer.begin_transaction()
    stamp = round(time.time() - age_s) * 1000
    producer.send(topic, b"prepared", partition=partition, timestamp_ms=stamp).get(timeout=60)
    refused = configure(options, address=address, topic=topic, broker=-1, keys={"min.insync.replicas": "2"})
    time.sleep(SETTLED_S)
    producer.commit_transaction()
    producer.close()
    return refused


def spoil(options: dict[str, Any], *, address: str, topic: str, partition: int) -> str | None:
    """Write a record whose key nothing can read to the leader of a partition of Kafka's own topics; return a refusal."""
    records = MemoryRecordsBuilder(2, 0, 16384)
    records.append(round(time.time() * 1000), COMMIT_KEY, b"cut")
    records.close()
    return _written(options | {"client_id": MAY_WRITE_INTERNAL}, address, topic, partition, records, None)


def finalize(options: dict[str, Any], *, address: str, feature: str, level: int, upgrade: bool) -> str | None:
    """Finalize a level of a feature, as ``kafka-features.sh`` does; return a refusal."""
    update = UpdateFeaturesRequest.FeatureUpdateKey(
        feature=feature, max_version_level=level, upgrade_type=UPGRADE if upgrade else SAFE_DOWNGRADE
    )
    request = UpdateFeaturesRequest(version=1, timeout_ms=REQUEST_MS, feature_updates=[update], validate_only=False)
    answer = send(address, options, request)
    return refusal([answer, *answer.results])


def quorum_leader(options: dict[str, Any], *, address: str) -> int:
    """Return the id of the controller that leads the metadata quorum, -1 for none."""
    return int(getattr(_quorum(options, address), "leader_id", -1))


def await_voters(options: dict[str, Any], *, address: str, count: int, seconds: float) -> int:
    """Wait until this many voters are caught up with the metadata log, or the time is over; return how many are."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            voters = getattr(_quorum(options, address), "current_voters", ())
        except (KafkaError, OSError):
            voters = ()
        recent = time.time() * 1000 - CAUGHT_UP_MS
        following: int = sum(voter.last_caught_up_timestamp >= recent for voter in voters)
        if following >= count or time.monotonic() > deadline:
            return following
        time.sleep(POLL_S)


def await_endpoint(options: dict[str, Any], *, address: str, node: int, endpoint: str, seconds: float) -> str | None:
    """Wait until the quorum has this address for a voter, or the time is over; return what it has then.

    A voter that starts sends its addresses only after it has followed a leader for three fetch timeouts.
    """
    deadline, found = time.monotonic() + seconds, None
    while True:
        with contextlib.suppress(KafkaError, OSError):
            nodes = _describe_quorum(options, address).nodes
            found = next((f"{at.host}:{at.port}" for listed in nodes if listed.node_id == node for at in listed.listeners), None)
        if found == endpoint or time.monotonic() > deadline:
            return found
        time.sleep(POLL_S)


def _quorum(options: dict[str, Any], address: str) -> Any:  # noqa: ANN401 - kafka-python is untyped
    answer = _describe_quorum(options, address)
    return answer.topics[0].partitions[0] if answer.topics else None


def _describe_quorum(options: dict[str, Any], address: str) -> Any:  # noqa: ANN401 - kafka-python is untyped
    kind = DescribeQuorumRequest.TopicData
    topic = kind(topic_name="__cluster_metadata", partitions=[kind.PartitionData(partition_index=0)])
    return send(address, options, DescribeQuorumRequest(topics=[topic]))


def write_metadata(options: dict[str, Any], *, address: str, topic: str, seconds: float, since: float) -> dict[str, Any]:
    """Change a setting of a topic, again and again until the controller has done it or the time is over.

    Returns:
        `seconds` from `since` (as `time.time` has it) until it was done, None where it was not, `refused`: the last reason, and
        `leader`: of the quorum then, if one is known.
    """
    refused = None
    while True:
        value = str(60_000 + round(time.monotonic() * 10) % 1000)  # each time another one, so that there is something to write
        try:
            refused = configure(options, address=address, topic=topic, broker=-1, keys={"file.delete.delay.ms": value})
        except (KafkaError, OSError) as error:
            refused = f"{type(error).__name__}: {error}"
        passed = time.time() - since
        if refused is None or passed > seconds:
            break
        time.sleep(POLL_S)
    try:
        leader = quorum_leader(options, address=address)
    except (KafkaError, OSError):
        leader = -1
    return {"seconds": None if refused else round(passed, 1), "refused": refused, "leader": None if leader < 0 else leader}


COMMANDS: dict[str, Callable[..., object]] = {
    "quorum-leader": quorum_leader,
    "await-voters": await_voters,
    "await-endpoint": await_endpoint,
    "write-metadata": write_metadata,
    "hang": hang,
    "prepare": prepare,
    "spoil": spoil,
    "finalize": finalize,
    "reassign": reassign,
    "reassigning": reassigning,
    "configure": configure,
    "delete": delete,
    "elect": elect,
}


def main() -> None:
    """Run one command."""
    logging.disable(logging.CRITICAL)
    request = json.load(sys.stdin)
    sys.stdout.write(json.dumps(COMMANDS[sys.argv[1]](for_kafka(request["options"]), **request["arguments"])))


if __name__ == "__main__":
    main()
