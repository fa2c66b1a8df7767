"""Predicts losses, and reads what a cluster does: ``loss_client.py``, a JSON object a line in, the answer as JSON a line out.

Run as a script inside the worker host. It lives as long as a cluster, because imports and the start of a JVM-free command would
cost more than a loss. `predict` is what ``kafka-audit what-if`` does; the rest are single requests to single brokers.
"""

import contextlib
import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka.errors import KafkaError, RequestTimedOutError
from kafka.protocol.admin import CreateTopicsRequest, IncrementalAlterConfigsRequest
from kafka.protocol.consumer import OffsetCommitRequest
from kafka.protocol.producer import InitProducerIdRequest, ProduceRequest
from kafka.record import MemoryRecordsBuilder

from kafka_audit import audit, settings
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.cluster.view import ClusterView
from kafka_audit.job.losses import answers
from kafka_audit.report.what_if.losses import loss_document
from kafka_audit.store import Store
from kafka_audit.what_if.losses import combined, loss_named
from testbed.broker_client import send, send_all, view

TAKEN, REFUSED, ABSENT = "taken", "refused", "absent"
NOT_ENOUGH = {19, 20}  # NOT_ENOUGH_REPLICAS, and the same after the append
COMMIT_FAILS = {7, 15}
"""COORDINATOR_NOT_AVAILABLE for too few replicas; REQUEST_TIMED_OUT from Kafka 4.0 on, whose coordinators write such
commits and wait for replicas in vain."""
GROUP, TRANSACTION = 0, 1
PATIENCE_S, PAUSE_S = 25.0, 0.25
TOPIC, EXISTS = 2, 36


def predict(*, config: str, names: list[str]) -> dict[str, Any]:
    """Return the answer to the loss of all of these, as JSON has it."""
    described = settings.load(Path(config))["bed"]

    def asked(view: ClusterView) -> list[Any]:
        return [combined(loss_named(view, name) for name in names)]

    with Scratch() as scratch:
        store = Store(scratch.path / "store")
        store.prepare()
        snapshot = audit.publish_snapshot(described, store, lambda *_: None)
        found_view, (found,) = answers(store, snapshot, asked, bootstrap=described.bootstrap)
    return loss_document(found, found_view)


def states(*, address: str) -> dict[str, Any]:
    """Return what a broker lists."""
    return view(address, {})


def create(
    *, addresses: dict[str, str], assignments: dict[str, dict[str, list[int]]], settings: dict[str, dict[str, str]]
) -> None:
    """Create topics, all by one request to the controller (KRaft: to the broker that stands for it)."""
    kind = CreateTopicsRequest.CreatableTopic
    rows = [
        kind(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                kind.CreatableReplicaAssignment(partition_index=int(partition), broker_ids=brokers)
                for partition, brokers in assignment.items()
            ],
            configs=[kind.CreatableTopicConfig(name=key, value=value) for key, value in settings[name].items()],
        )
        for name, assignment in assignments.items()
    ]
    controller = view(next(iter(addresses.values())), {})["controller_id"]
    request = CreateTopicsRequest(topics=rows, timeout_ms=30_000, validate_only=False)
    with contextlib.suppress(RequestTimedOutError):  # on a busy machine they come later
        send(addresses[str(controller)], {}, request)
    time.sleep(4 * PAUSE_S)
    answer = send(addresses[str(controller)], {}, request)
    if refused := [f"{one.name}: {one.error_code} {one.error_message}" for one in answer.topics if one.error_code != EXISTS]:
        raise KafkaError("; ".join(refused))


def write(*, addresses: dict[str, str], partitions: list[list[Any]], size: int = 1) -> list[list[Any]]:
    """Write a record with acks=all to each partition, one request to each leader; return what became of each.

    A leader that moved is asked again; other errors than too few replicas are repeated until the patience is over.
    """
    deadline, left, found = time.monotonic() + PATIENCE_S, [(topic, number) for topic, number in partitions], []
    last: dict[tuple[str, int], str] = {}
    while left and time.monotonic() < deadline:
        leaders = _leaders(addresses)
        for broker, address in addresses.items():
            led = [one for one in left if leaders.get(one) == int(broker)]
            for one, code in _produced(address, led, size).items():
                last[one] = f"error {code}"
                if code == 0 or code in NOT_ENOUGH:
                    found.append([*one, REFUSED if code else TAKEN])
                    left.remove(one)
        if left:
            time.sleep(PAUSE_S)
    return found + [[*one, last.get(one, "no leader")] for one in left]


def _leaders(addresses: dict[str, str]) -> dict[tuple[str, int], int]:
    for address in addresses.values():
        told = view(address, {})
        if not told["error"]:
            return {
                (topic, int(number)): state["leader"]
                for topic, states in told["topics"].items()
                for number, state in states.items()
            }
    return {}


def _produced(address: str, partitions: list[tuple[str, int]], size: int) -> dict[tuple[str, int], int]:
    if not partitions:
        return {}
    kind = ProduceRequest.TopicProduceData
    by_topic: dict[str, list[Any]] = {}
    for topic, number in partitions:
        records = MemoryRecordsBuilder(2, 0, max(16384, 2 * size))
        records.append(round(time.time() * 1000), None, b"x" * size)
        records.close()
        by_topic.setdefault(topic, []).append(kind.PartitionProduceData(index=number, records=bytes(records.buffer())))
    data = [kind(name=topic, partition_data=rows) for topic, rows in by_topic.items()]
    request = ProduceRequest(version=7, transactional_id=None, acks=-1, timeout_ms=4500, topic_data=data)
    try:
        answer = send(address, {}, request)
    except (KafkaError, OSError):
        return {}
    return {(topic.name, one.index): one.error_code for topic in answer.responses for one in topic.partition_responses}


def coordinate(*, addresses: dict[str, str], ids: list[list[Any]], topic: str) -> list[list[Any]]:
    """Commit for each group, begin with each transactional id: [kind, id, what became of it, coordinator].

    `ids` has [kind, id, topic and partition that hold its state]: the leader of that is the coordinator, and says so.
    """
    deadline, found = time.monotonic() + PATIENCE_S, []
    left = {(kind, name): (holder, partition) for kind, name, holder, partition in ids}
    last: dict[tuple[int, str], tuple[str, int]] = {}
    while left:
        for one, (outcome, node) in _coordinated(addresses, left, _leaders(addresses), topic).items():
            # A coordinator that loads, or is not known yet, comes; one that refuses twice does.
            if outcome == TAKEN or (outcome in {REFUSED, ABSENT} and last.get(one) == (outcome, node)):
                found.append([*one, outcome, node])
                del left[one]
            last[one] = (outcome, node)
        if left and time.monotonic() > deadline:
            return found + [[*one, *last[one]] for one in left]
        if left:
            time.sleep(3 * PAUSE_S)
    return found


def _coordinated(
    addresses: dict[str, str], ids: dict[tuple[int, str], tuple[str, int]], leaders: dict[tuple[str, int], int], topic: str
) -> dict[tuple[int, str], tuple[str, int]]:
    found = {one: (ABSENT, -1) for one, place in ids.items() if leaders.get(place, -1) < 0}
    for broker, address in addresses.items():
        led = [one for one, place in ids.items() if leaders.get(place) == int(broker)]
        try:
            answers = send_all(address, {}, [_commit(name, topic) if kind == GROUP else _begin(name) for kind, name in led])
        except (KafkaError, OSError) as error:
            found |= dict.fromkeys(led, (type(error).__name__, int(broker)))
            continue
        for one, answer in zip(led, answers, strict=True):
            code = answer.topics[0].partitions[0].error_code if one[0] == GROUP else answer.error_code
            outcome = TAKEN if not code else REFUSED if code in COMMIT_FAILS else f"error {code}"
            found[one] = (outcome, int(broker))
    return found | {one: ("no answer", -1) for one in ids if one not in found}


def _commit(group: str, topic: str) -> OffsetCommitRequest:
    of_topic = OffsetCommitRequest.OffsetCommitRequestTopic
    row = of_topic.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_leader_epoch=-1, committed_metadata=""
    )
    return OffsetCommitRequest(
        version=7,
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        group_instance_id=None,
        topics=[of_topic(name=topic, partitions=[row])],
    )


def _begin(name: str) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        version=3, transactional_id=name, transaction_timeout_ms=60_000, producer_id=-1, producer_epoch=-1
    )


def change(*, address: str, topic: str, seconds: float) -> bool:
    """Return whether a setting of a topic is changed within some seconds: whether there is somebody who takes changes."""
    deadline = time.monotonic() + seconds
    kind = IncrementalAlterConfigsRequest.AlterConfigsResource
    while True:
        value = str(60_000 + round(time.monotonic() * 10) % 1000)  # each time another one, so that there is something to write
        keys = [kind.AlterableConfig(name="file.delete.delay.ms", config_operation=0, value=value)]
        resource = kind(resource_type=TOPIC, resource_name=topic, configs=keys)
        try:
            answer = send(address, {}, IncrementalAlterConfigsRequest(resources=[resource], validate_only=False))
            if not answer.responses[0].error_code:
                return True
        except (KafkaError, OSError):
            pass
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)


COMMANDS: dict[str, Callable[..., object]] = {
    "predict": predict,
    "states": states,
    "create": create,
    "write": write,
    "coordinate": coordinate,
    "change": change,
}


def main() -> None:
    """Answer until standard input ends."""
    logging.disable(logging.CRITICAL)
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"answer": COMMANDS[asked["command"]](**asked["arguments"])}
        except Exception as error:  # noqa: BLE001 -- the test bed shows it
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(f"{json.dumps(answer)}\n")
        out.flush()


if __name__ == "__main__":
    main()
