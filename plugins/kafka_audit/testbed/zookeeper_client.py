"""What the bed does in a cluster's ZooKeeper: ``zookeeper_client.py COMMAND CONNECT SECONDS ARGUMENTS``, the answer as JSON.

Run as a script inside the worker host, because the bed's owner lives outside of its network; imports nothing of the
package. Unlike an audit the bed also writes: topics (as Kafka's AdminZkClient does) and the end of a controller's term.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import socket
import sys
import time
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POLL_S = 0.05
CONTROLLER = "/controller"


def until(condition: Callable[[], bool], deadline: float, what: str) -> None:
    """Poll until the condition holds; exit with `what` as the complaint when the deadline passes."""
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"timed out waiting for {what}")
        time.sleep(POLL_S)


def answers(address: str) -> bool:
    """Tell whether a TCP connection to HOST:PORT succeeds."""
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


def until_exists(client: KazooClient, path: str, deadline: float) -> None:
    """Wait for a znode."""
    until(lambda: client.exists(path) is not None, deadline, path)


def wait_registered(client: KazooClient, deadline: float, *, brokers: dict[str, str]) -> None:
    """Wait until each broker (id -> HOST:PORT) is registered and its port answers, and there is a controller."""
    for broker, address in brokers.items():
        until_exists(client, f"/brokers/ids/{broker}", deadline)
        until(partial(answers, address), deadline, f"{address} to answer")
    until_exists(client, CONTROLLER, deadline)


def wait_unregistered(client: KazooClient, deadline: float, *, brokers: list[int]) -> None:
    """Wait until none of these brokers is registered any more."""
    until(lambda: not any(client.exists(f"/brokers/ids/{broker}") for broker in brokers), deadline, f"{brokers} to expire")


def controller(client: KazooClient, _deadline: float) -> int | None:
    """Return the id in /controller, None while there is no controller."""
    try:
        data, _ = client.get(CONTROLLER)
    except NoNodeError:
        return None
    return int(json.loads(data)["brokerid"])


def elect(client: KazooClient, deadline: float, *, wanted: int) -> None:
    """End the controller's term and wait until the wanted broker holds the next one."""
    with contextlib.suppress(NoNodeError):
        client.delete(CONTROLLER)
    until(lambda: controller(client, deadline) == wanted, deadline, f"broker {wanted} to become controller")


def create_topic(client: KazooClient, deadline: float, *, name: str, assignment: dict[str, list[int]], with_id: bool) -> None:
    """Write the znodes of a topic and wait until the controller has made the state of each partition."""
    topic: dict[str, Any] = {"version": 1, "partitions": assignment}
    if with_id:
        # Kafka never takes an id that begins with "-", which command lines would read as an option.
        encoded = base64.urlsafe_b64encode(b"\x01" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
        topic |= {"version": 3, "topic_id": encoded, "adding_replicas": {}, "removing_replicas": {}}
    config = json.dumps({"version": 1, "config": {}}).encode()
    client.ensure_path("/config/topics")
    try:
        client.create(f"/config/topics/{name}", config)
    except NodeExistsError:
        client.set(f"/config/topics/{name}", config)
    client.create(f"/brokers/topics/{name}", json.dumps(topic).encode())
    for partition in assignment:
        until_exists(client, f"/brokers/topics/{name}/partitions/{partition}/state", deadline)


def walk(client: KazooClient, top: str) -> Iterator[str]:
    """Yield a path and all paths below it, without trailing slash."""
    waiting = [top]
    while waiting:
        path = waiting.pop()
        yield path
        try:
            waiting += [f"{path.rstrip('/')}/{child}" for child in client.get_children(path)]
        except NoNodeError:
            continue


def znodes(client: KazooClient, _deadline: float) -> dict[str, dict[str, Any]]:
    """Return each path with mzxid, pzxid (it tells of children that came and went) and a hash of its data."""
    found = {}
    for path in walk(client, "/"):
        try:
            data, stat = client.get(path)
        except NoNodeError:
            continue
        found[path] = {"mzxid": stat.mzxid, "pzxid": stat.pzxid, "sha256": hashlib.sha256(data or b"").hexdigest()}
    return found


def states(client: KazooClient, _deadline: float) -> dict[str, dict[str, Any]]:
    """Return leader, epoch and ISR of each partition, by ``topic/partition``."""
    found = {}
    for path in walk(client, "/brokers/topics"):
        if path.endswith("/state"):
            _, _, _, topic, _, partition, _ = path.split("/")
            found[f"{topic}/{partition}"] = json.loads(client.get(path)[0])
    return found


COMMANDS: dict[str, Callable[..., object]] = {
    "wait-registered": wait_registered,
    "wait-unregistered": wait_unregistered,
    "controller": controller,
    "elect": elect,
    "create-topic": create_topic,
    "znodes": znodes,
    "states": states,
}


def main() -> None:
    """Run one command: COMMAND CONNECT SECONDS JSON-OBJECT-OF-ARGUMENTS."""
    command, connect, seconds, arguments = sys.argv[1:5]
    deadline = time.monotonic() + float(seconds)
    # The server may still be starting: short pauses, where kazoo's own retry doubles them.
    retry = {"max_tries": -1, "delay": 0.1, "backoff": 1, "max_jitter": 0}
    client = KazooClient(hosts=connect, timeout=10, connection_retry=retry)
    try:
        client.start(timeout=float(seconds))
    except client.handler.timeout_exception:
        sys.exit(f"ZooKeeper at {connect} does not answer")
    try:
        sys.stdout.write(json.dumps(COMMANDS[command](client, deadline, **json.loads(arguments))))
    finally:
        client.stop()
        client.close()


if __name__ == "__main__":
    main()
