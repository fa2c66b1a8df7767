"""What the bed does in a cluster's ZooKeeper: ``zookeeper_client.py COMMAND CONNECT SECONDS``, the answer as JSON.

Run as a script inside the worker host, because the bed's owner lives outside of its network; imports nothing of the
package. Standard input is a JSON object of ``options`` (kazoo's, and what enters a secured server) and ``arguments``;
credentials in a command line would be seen by all. Unlike an audit the bed also writes: topics, users and ACLs (as
Kafka's AdminZkClient does), preferred elections, and the end of a controller's term.
"""

import base64
import contextlib
import hashlib
import json
import os
import re
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError, NoNodeError
from kazoo.security import ACL, make_acl

POLL_S = 0.05
STOP_SECONDS = 5
CONTROLLER = "/controller"


def until(condition: Callable[[], bool], deadline: float, what: str) -> None:
    """Poll until the condition holds; exit with `what` as the complaint when the deadline passes."""
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"timed out waiting for {what}")
        time.sleep(POLL_S)


def answers(address: str) -> bool:
    """Return whether a TCP connection to HOST:PORT succeeds."""
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


def controller_epoch(client: KazooClient, _deadline: float) -> int:
    """Return the number in /controller_epoch."""
    return int(client.get("/controller_epoch")[0])


def elect(client: KazooClient, deadline: float, *, wanted: int) -> None:
    """End the controller's term and wait until the wanted broker holds the next one."""
    with contextlib.suppress(NoNodeError):
        client.delete(CONTROLLER)
    until(lambda: controller(client, deadline) == wanted, deadline, f"broker {wanted} to become controller")


def create_topics(client: KazooClient, deadline: float, *, topics: dict[str, dict[str, list[int]]], with_ids: bool) -> None:
    """Write the znodes of topics and wait until the controller has made the state of each partition."""
    client.ensure_path("/config/topics")
    config = json.dumps({"version": 1, "config": {}}).encode()
    for name, assignment in topics.items():
        topic: dict[str, Any] = {"version": 1, "partitions": assignment}
        if with_ids:
            # Kafka never takes an id that begins with "-", which command lines would read as an option.
            encoded = base64.urlsafe_b64encode(b"\x01" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
            topic |= {"version": 3, "topic_id": encoded, "adding_replicas": {}, "removing_replicas": {}}
        try:
            client.create(f"/config/topics/{name}", config)
        except NodeExistsError:
            client.set(f"/config/topics/{name}", config)
        client.create(f"/brokers/topics/{name}", json.dumps(topic).encode())
    for name, assignment in topics.items():
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


def notify(client: KazooClient, path: str, data: str) -> None:
    """Tell running brokers of a change: they watch for new children."""
    client.create(path, data.encode(), sequence=True, makepath=True)


def put(client: KazooClient, path: str, content: object, acl: list[ACL] | None = None) -> None:
    """Create a znode with JSON in it, or change it."""
    data = json.dumps(content).encode()
    try:
        client.create(path, data, acl=acl, makepath=True)
    except NodeExistsError:
        client.set(path, data)


def users(client: KazooClient, _deadline: float, *, configs: dict[str, dict[str, str]], owner: str = "") -> None:
    """Write the SCRAM credentials of users, by mechanism (an empty mapping removes a user's), and tell the brokers."""
    acl = [make_acl("sasl", owner, all=True)] if owner else None  # as Kafka does with zookeeper.set.acl
    client.ensure_path("/config")
    for user, config in configs.items():
        put(client, f"/config/users/{user}", {"version": 1, "config": config}, acl)
        notify(client, "/config/changes/config_change_", json.dumps({"version": 2, "entity_path": f"users/{user}"}))


def acls(client: KazooClient, _deadline: float, *, put_in: list[dict[str, str]], taken: list[dict[str, str]]) -> None:
    """Add and take away ACL entries, fields as in `acls.Acl`, and tell the brokers."""
    for changed, adding in ((put_in, True), (taken, False)):
        for acl in changed:
            entry = {"principal": acl["principal"], "permissionType": acl["permission"]}
            entry |= {"operation": acl["operation"], "host": acl["host"]}
            literal = acl["pattern"] == "LITERAL"
            path = f"{'/kafka-acl' if literal else '/kafka-acl-extended/prefixed'}/{acl['resource']}/{acl['name']}"
            try:
                held = json.loads(client.get(path)[0])["acls"]
            except NoNodeError:
                held = []
            put(client, path, {"version": 1, "acls": [other for other in held if other != entry] + [entry] * adding})
            if literal:
                # Brokers from 2.4 read the constant's name here (ResourceType.fromString), as they write it: TRANSACTIONAL_ID.
                constant = re.sub("(?<=[a-z])(?=[A-Z])", "_", acl["resource"]).upper()
                notify(client, "/kafka-acl-changes/acl_changes_", f"{constant}:{acl['name']}")
            else:
                change = {"version": 1, "resourceType": acl["resource"], "name": acl["name"], "patternType": acl["pattern"]}
                notify(client, "/kafka-acl-extended-changes/acl_changes_", json.dumps(change))


def write(client: KazooClient, _deadline: float, *, znodes: dict[str, str | None]) -> dict[str, str | None]:
    """Write raw text into znodes, as a slip would; None removes one and what is below it. Return what was there, in this form."""
    before: dict[str, str | None] = {}
    for path, text in znodes.items():
        there = client.exists(path) is not None
        before[path] = client.get(path)[0].decode() if there else None
        if text is None:
            client.delete(path, recursive=True)
        elif there:
            client.set(path, text.encode())
        else:
            client.create(path, text.encode(), makepath=True)
    return before


def load(client: KazooClient, _deadline: float, *, writes: int) -> None:
    """Write a znode this many times at once, and remove it."""
    path = client.create("/load", b"", ephemeral=True)
    for answer in [client.set_async(path, str(number).encode()) for number in range(writes)]:
        answer.get()
    client.delete(path)


def prefer(client: KazooClient, deadline: float, *, partitions: list[list[Any]]) -> None:
    """Ask the controller for preferred leaders of [topic, partition] pairs and wait until it has dealt with that."""
    path = "/admin/preferred_replica_election"
    asked = [{"topic": topic, "partition": partition} for topic, partition in partitions]
    put(client, path, {"version": 1, "partitions": asked})
    until(lambda: client.exists(path) is None, deadline, f"{path} to be dealt with")


def await_leader(client: KazooClient, deadline: float, *, partitions: list[str], not_one_of: list[int]) -> None:
    """Wait until partitions, written topic/partition, have leaders other than those."""
    until(
        lambda: all(states(client, deadline)[partition]["leader"] not in [-1, *not_one_of] for partition in partitions),
        deadline,
        f"{partitions} to be led by others than {not_one_of}",
    )


def await_in_sync(client: KazooClient, deadline: float, *, partition: str, broker: int) -> None:
    """Wait until a broker is in the ISR of a partition, written topic/partition."""
    until(lambda: broker in states(client, deadline)[partition]["isr"], deadline, f"{broker} in the ISR of {partition}")


COMMANDS: dict[str, Callable[..., object]] = {
    "wait-registered": wait_registered,
    "wait-unregistered": wait_unregistered,
    "controller": controller,
    "controller-epoch": controller_epoch,
    "elect": elect,
    "create-topics": create_topics,
    "znodes": znodes,
    "states": states,
    "users": users,
    "acls": acls,
    "write": write,
    "load": load,
    "prefer": prefer,
    "await-leader": await_leader,
    "await-in-sync": await_in_sync,
}


def main() -> None:
    """Run one command: COMMAND CONNECT SECONDS, the rest by standard input."""
    command, connect, seconds = sys.argv[1:4]
    request = json.load(sys.stdin)
    options: dict[str, Any] = request["options"]
    password = options.pop("super", None)
    deadline = time.monotonic() + float(seconds)
    # The server may still be starting: short pauses, where kazoo's own retry doubles them.
    retry = {"max_tries": -1, "delay": 0.1, "backoff": 1, "max_jitter": 0}
    auth = [("digest", f"super:{password}")] if password else None
    client = KazooClient(hosts=connect, timeout=10, connection_retry=retry, auth_data=auth, **options)
    try:
        client.start(timeout=float(seconds))
    except client.handler.timeout_exception:
        sys.exit(f"ZooKeeper at {connect} does not answer")
    try:
        sys.stdout.write(json.dumps(COMMANDS[command](client, deadline, **request["arguments"])))
        sys.stdout.flush()
    finally:
        # kazoo's stop() can wait for ever where the connection breaks at that moment; the session then ends by itself.
        stopping = threading.Thread(target=client.stop, daemon=True)
        stopping.start()
        stopping.join(STOP_SECONDS)
    os._exit(0)  # what kazoo does at the interpreter's end waits for the same threads


if __name__ == "__main__":
    main()
