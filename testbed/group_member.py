"""A member of a group that lives as long as the process: ``group_member.py KIND``, a JSON object on the first line of stdin.

`start_member` runs it as a script inside the worker host. Kinds: ``blocked`` is a consumer of the classic protocol whose poll
loop stands still once it has partitions, while its heartbeats go on; ``polls`` is one that polls. ``keeps`` is one of the
consumer protocol (KIP-848) that gives up none of its partitions, ``gives`` one that does. Prints ``ready`` once it has
partitions, or waits for some. When it is ended, it leaves the group.
"""

import json
import logging
import signal
import sys
import tempfile
import time
import uuid
import zipfile
from importlib import import_module
from pathlib import Path
from subprocess import Popen
from typing import Any

from kafka import KafkaConsumer
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import FindCoordinatorRequest

from testbed.bed import Bed
from testbed.broker_client import send
from testbed.brokers import BaseCluster
from testbed.hosts import HERE
from testbed.jars import kafka_jars

HOUR_MS = 3_600_000
A_DAY_S = 86_400
CLASSIC = ("blocked", "polls")
JOINS, LEAVES = 0, -1
NOT_COORDINATOR = (14, 15, 16)
BEAT_S = 1.0


def start_member(bed: Bed, cluster: BaseCluster, kind: str, group: str, topic: str) -> Popen[str]:
    """Start a member of a group, and wait until it has partitions or waits for some; ended, it leaves the group.

    Raises:
        BedError: it ended instead.
    """
    release = cluster.plan.version
    of_kind = {} if kind in CLASSIC else {"jar": str(kafka_jars(release) / f"kafka-clients-{release}.jar")}
    addresses = [broker.address for broker in cluster.brokers.values()]
    line = json.dumps({"addresses": addresses, "group": group, "topic": topic, **of_kind})
    script = [sys.executable, "-P", str(HERE / "script.py"), str(A_DAY_S), str(HERE / "group_member.py"), kind]
    return bed.stay(bed.worker, script, line=line)


def ready() -> None:
    """Say so, once."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def classic(*, addresses: list[str], group: str, topic: str, blocked: bool) -> None:
    """Join by the classic protocol."""
    consumer = KafkaConsumer(topic, bootstrap_servers=addresses, group_id=group, client_id=group, max_poll_interval_ms=HOUR_MS)
    try:
        while not consumer.assignment():
            consumer.poll(timeout_ms=500)
            if not blocked:
                break
        ready()
        while True:
            time.sleep(BEAT_S)
            if not blocked:
                consumer.poll(timeout_ms=500)
    finally:
        consumer.close()


def heartbeat_message(jar: str) -> Any:  # noqa: ANN401 -- kafka-python is untyped
    """Return the class of ConsumerGroupHeartbeat's request, which kafka-python lacks, as kafka-clients defines it."""
    folder = Path(tempfile.mkdtemp())
    (folder / "heartbeats").mkdir()
    (folder / "heartbeats" / "__init__.py").touch()
    names = ("ConsumerGroupHeartbeatRequest", "ConsumerGroupHeartbeatResponse")
    with zipfile.ZipFile(jar) as packed:
        for name in names:
            (folder / "heartbeats" / f"{name}.json").write_bytes(packed.read(f"common/message/{name}.json"))
    sys.path.append(str(folder))
    package = import_module("heartbeats")
    request, _ = (type(ApiMessage)(name, (ApiMessage,), {}, load_json=package) for name in names)
    return request


def modern(*, addresses: list[str], group: str, topic: str, keeps: bool, jar: str) -> None:
    """Join by the consumer protocol."""
    kind = heartbeat_message(jar)
    member, epoch, address = str(uuid.uuid4()), JOINS, addresses[0]
    owned: Any = []

    def beat(number: int, held: Any) -> Any:  # noqa: ANN401 -- kafka-python is untyped
        nonlocal address
        for _ in range(60):
            topics = [topic] if number == JOINS else None
            request = kind(
                version=0, group_id=group, member_id=member, member_epoch=number, instance_id=None, rack_id=None,
                rebalance_timeout_ms=HOUR_MS if number == JOINS else -1, subscribed_topic_names=topics, server_assignor=None,
                topic_partitions=held,
            )  # fmt: skip
            answer = send(address, {}, request)
            if answer.error_code not in NOT_COORDINATOR:
                return answer
            send(address, {}, FindCoordinatorRequest(version=2, key=group, key_type=0))  # creates the topic of coordinators
            address = addresses[(addresses.index(address) + 1) % len(addresses)]
            time.sleep(BEAT_S)
        message = "no broker coordinates the group"
        raise SystemExit(message)

    def held(assignment: Any) -> Any:  # noqa: ANN401 -- kafka-python is untyped
        parts = kind.TopicPartitions
        return [parts(topic_id=found.topic_id, partitions=found.partitions) for found in assignment.topic_partitions]

    said = False
    try:
        while True:
            answer = beat(epoch, owned)
            if answer.error_code:
                message = f"error {answer.error_code}: {answer.error_message}"
                raise SystemExit(message)
            epoch, owned = answer.member_epoch, None  # nothing changed since then
            if answer.assignment is not None and not (keeps and said):
                owned = held(answer.assignment)
            if not said and (owned or not keeps):
                beat(epoch, owned)
                said, owned = True, None
                ready()
            time.sleep(BEAT_S)
    finally:
        beat(LEAVES, None)


def main() -> None:
    """Join, and stay."""
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    arguments = json.loads(sys.stdin.readline())
    if sys.argv[1] in CLASSIC:
        classic(blocked=sys.argv[1] == "blocked", **arguments)
    else:
        modern(keeps=sys.argv[1] == "keeps", **arguments)


if __name__ == "__main__":
    main()
