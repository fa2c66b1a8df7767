"""Ask brokers for their own Metadata: ``broker_client.py SECONDS SETTLED JSON``, the answers as JSON.

Run as a script inside the worker host; imports nothing of the package. JSON maps broker ids to HOST:PORT. With a SETTLED
count above 0 it asks again until every view lists that many brokers, a leader for each partition and the same controller.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from kafka.errors import KafkaError
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import MetadataRequest

POLL_S = 0.1
REQUEST_MS = 5000


def view(address: str) -> dict[str, Any]:
    """Return what the broker at this address says: brokers, controller and partitions, or an error.

    `KafkaAdminClient` would refuse a broker that lists no brokers, and afterwards ask any of them; hence one level down.
    """
    manager = KafkaConnectionManager(
        NetworkSelector(),
        bootstrap_servers=[address],
        request_timeout_ms=REQUEST_MS,
        socket_connection_setup_timeout_ms=REQUEST_MS,
        receive_message_max_bytes=100_000_000,
    )

    async def ask() -> Any:  # noqa: ANN401 - kafka-python is untyped
        connection = manager.get_connection(manager.cluster.bootstrap_brokers()[0].node_id, refresh_metadata_on_err=False)
        await connection
        return await connection.send_request(MetadataRequest(topics=None, allow_auto_topic_creation=False))

    try:
        answer = manager.run(ask)
    except (KafkaError, OSError) as error:
        return {"error": f"{type(error).__name__}: {error}", "brokers": {}, "controller_id": None, "topics": {}}
    finally:
        manager.close()
    return {
        "error": None,
        "brokers": {str(broker.node_id): f"{broker.host}:{broker.port}" for broker in answer.brokers},
        "controller_id": answer.controller_id,
        "topics": {
            topic.name: {
                str(one.partition_index): {
                    "leader": one.leader_id,
                    "isr": list(one.isr_nodes),
                    "replicas": list(one.replica_nodes),
                }
                for one in topic.partitions
            }
            for topic in answer.topics
        },
    }


def is_settled(views: dict[str, dict[str, Any]], brokers: int) -> bool:
    """Tell whether all views are complete and agree on the controller."""
    controllers = {one["controller_id"] for one in views.values()}
    leaders = {state["leader"] for one in views.values() for topic in one["topics"].values() for state in topic.values()}
    return (
        len(controllers) == 1
        and -1 not in controllers | leaders
        and all(len(one["brokers"]) == brokers for one in views.values())
    )


def main() -> None:
    """Ask until settled or until the time is over; the last views are printed either way."""
    logging.disable(logging.CRITICAL)
    deadline = time.monotonic() + float(sys.argv[1])
    wanted, addresses = int(sys.argv[2]), json.loads(sys.argv[3])
    while True:
        views = {broker: view(address) for broker, address in addresses.items()}
        settled = not wanted or is_settled(views, wanted)
        if settled or time.monotonic() > deadline:
            break
        time.sleep(POLL_S)
    sys.stdout.write(json.dumps({"settled": settled, "views": views}))


if __name__ == "__main__":
    main()
