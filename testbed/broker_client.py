"""Ask brokers for their own Metadata: ``broker_client.py COMMAND``, the answer as JSON.

Run as a script inside the worker host; imports nothing of the package. Standard input is a JSON object of ``options``
(kafka-python's; credentials in a command line would be seen by all) and the command's ``arguments``.
"""

import contextlib
import json
import logging
import os
import socket
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.admin import CreateTopicsRequest
from kafka.protocol.metadata import MetadataRequest

POLL_S = 0.1
REQUEST_MS = 5000
RECORD_S = 300.0  # for a record to be taken: a busy machine writes 60 MB in more than five seconds
AT_ONCE = 10


def send(address: str, options: dict[str, Any], request: object) -> Any:  # noqa: ANN401 - kafka-python is untyped
    """Send one request to the broker at this address and return the answer."""
    return send_all(address, options, [request])[0]


def send_all(address: str, options: dict[str, Any], requests: Sequence[object]) -> list[Any]:
    """Send requests over one connection to the broker at this address, one after the other, and return the answers.

    `KafkaAdminClient` would refuse a broker that lists no brokers, and afterwards ask any of them; hence one level down.
    """
    manager = KafkaConnectionManager(
        NetworkSelector(),
        bootstrap_servers=[address],
        request_timeout_ms=REQUEST_MS,
        socket_connection_setup_timeout_ms=REQUEST_MS,
        receive_message_max_bytes=100_000_000,
        **options,
    )

    async def ask() -> Any:  # noqa: ANN401 - kafka-python is untyped
        connection = manager.get_connection(manager.cluster.bootstrap_brokers()[0].node_id, refresh_metadata_on_err=False)
        await connection
        return [await connection.send_request(request) for request in requests]

    try:
        answers: list[Any] = manager.run(ask)
    finally:
        manager.close()
    return answers


def view(address: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return what the broker at this address says: brokers, controller and partitions, or an error."""
    try:
        answer = send(address, options, MetadataRequest(topics=None, allow_auto_topic_creation=False))
    except (KafkaError, OSError) as error:
        return {"error": f"{type(error).__name__}: {error}", "brokers": {}, "controller_id": None, "topics": {}}
    return {
        "error": None,
        "brokers": {str(broker.node_id): f"{broker.host}:{broker.port}" for broker in answer.brokers},
        "controller_id": answer.controller_id,
        "topics": {
            topic.name: {
                str(partition.partition_index): {
                    "leader": partition.leader_id,
                    "isr": list(partition.isr_nodes),
                    "replicas": list(partition.replica_nodes),
                }
                for partition in topic.partitions
            }
            for topic in answer.topics
        },
    }


def is_settled(views: dict[str, dict[str, Any]], brokers: int, *, one_controller: bool) -> bool:
    """Return whether all views are complete and, where that means something, agree on the controller."""
    controllers = {view["controller_id"] for view in views.values()}
    leaders = {state["leader"] for view in views.values() for topic in view["topics"].values() for state in topic.values()}
    return (
        (len(controllers) == 1 or not one_controller)
        and -1 not in controllers | leaders
        and all(len(view["brokers"]) == brokers for view in views.values())
    )


def ask_views(
    options: dict[str, Any], *, addresses: dict[str, str], settled: int, seconds: float, one_controller: bool
) -> dict[str, Any]:
    """Return all views; with a `settled` count ask until they list that many brokers or the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        views = {broker: view(address, options) for broker, address in addresses.items()}
        settled_now = not settled or is_settled(views, settled, one_controller=one_controller)
        if settled_now or time.monotonic() > deadline:
            return {"settled": settled_now, "views": views}
        time.sleep(POLL_S)


def create_topic(options: dict[str, Any], *, address: str, name: str, assignment: dict[str, list[int]]) -> str | None:
    """Create a topic; return None, or why it was refused."""
    kind = CreateTopicsRequest.CreatableTopic
    at = [
        kind.CreatableReplicaAssignment(partition_index=int(partition), broker_ids=brokers)
        for partition, brokers in assignment.items()
    ]
    topic = kind(name=name, num_partitions=-1, replication_factor=-1, assignments=at, configs=[])
    try:
        answer = send(address, options, CreateTopicsRequest(topics=[topic], timeout_ms=REQUEST_MS, validate_only=False))
    except (KafkaError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    refused = answer.topics[0]
    return f"error {refused.error_code} {refused.error_message}" if refused.error_code else None


def ports(_options: dict[str, Any], *, addresses: list[str], seconds: float) -> None:
    """Wait until each HOST:PORT accepts connections; exit with a complaint when the time is over."""
    deadline = time.monotonic() + seconds
    for address in addresses:
        host, port = address.rsplit(":", 1)
        while True:
            try:
                socket.create_connection((host, int(port)), 1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    sys.exit(f"timed out waiting for {address} to answer")
                time.sleep(POLL_S)


def produce(options: dict[str, Any], *, addresses: list[str], topic: str, partition: int, megabytes: int) -> dict[str, Any]:
    """Produce records of 100 kB to the leader alone until it refuses one; return how many it accepted, and its refusal."""
    producer = KafkaProducer(bootstrap_servers=addresses, acks=1, retries=0, max_request_size=2_000_000, **options)
    record, taken = os.urandom(100_000), 0
    try:
        for _ in range(0, megabytes * 10, AT_ONCE):
            sent = [producer.send(topic, record, partition=partition) for _ in range(AT_ONCE)]
            for future in sent:
                future.get(RECORD_S)
                taken += 1
    except (KafkaError, OSError) as error:
        return {"taken": taken, "refused": f"{type(error).__name__}: {error}"}
    finally:
        with contextlib.suppress(KafkaError):  # its unsent records are not needed
            producer.close(0)
    return {"taken": taken, "refused": None}


COMMANDS: dict[str, Callable[..., object]] = {
    "views": ask_views,
    "create-topic": create_topic,
    "ports": ports,
    "produce": produce,
}


def for_kafka(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `Secured.client_options` as kafka-python takes them."""
    if options.pop("trust_anybody", False):
        context = options["ssl_context"] = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if certificate := options.pop("ssl_certfile", None):
            context.load_cert_chain(certificate, options.pop("ssl_keyfile"))
    return options


def main() -> None:
    """Run one command."""
    logging.disable(logging.CRITICAL)
    request = json.load(sys.stdin)
    sys.stdout.write(json.dumps(COMMANDS[sys.argv[1]](for_kafka(request["options"]), **request["arguments"])))


if __name__ == "__main__":
    main()
