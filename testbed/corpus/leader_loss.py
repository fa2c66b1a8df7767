"""Kill the leader of a metadata quorum, and see whether the other voters elect another one."""

import time
from collections.abc import Iterable
from typing import Any

from testbed.corpus.catalogue import Loss
from testbed.corpus.scene import Scene
from testbed.errors import BedError
from testbed.servers import Server

ELECTS_SECONDS = 10
"""In this time a quorum that can elect does so: it takes 2 to 6 seconds on a busy machine."""
STARTS_SECONDS = 45
"""The same, where all controllers have to start first."""


def quorum(scene: Scene) -> tuple[dict[int, Server], int]:
    """Return the servers that are controllers, and the id of the quorum's leader.

    Raises:
        BedError: no leader is known.
    """
    servers = scene.kraft.controllers or {broker.id: broker.server for broker in scene.cluster.brokers.values()}
    leader = int(scene.cluster.ask_topics("quorum-leader"))
    if leader not in servers:
        message = f"the quorum has no leader: {leader}"
        raise BedError(message)
    return servers, leader


def lose(scene: Scene, loss: Loss) -> dict[str, Any]:
    """Kill the leader, or all controllers and start them again; start the leader again after what then happens was seen.

    Returns:
        `killed`: the servers; `seconds` until the cluster's metadata could be written again, None where it could not; `waited`:
        for how long that was tried; `leader`: of the quorum then; `refused`: the last answer.
    """
    servers, leader = quorum(scene)
    topic = _topic(scene)  # before the kill: brokers that never applied the metadata list none without a leader
    chosen = [servers[leader]] if loss == "leader" else [server for server in servers.values() if server.is_running]
    killed = time.time()
    for server in chosen:
        server.signal_stop(hard=True)
    for server in chosen:
        server.await_end()
    if loss == "all":
        _launch(chosen)
    waited = ELECTS_SECONDS if loss == "leader" else STARTS_SECONDS
    seen = _write(scene, topic, waited, killed)
    if loss == "leader":
        _launch(chosen)
        _write(scene, topic, STARTS_SECONDS, time.time())
    return {"killed": leader if loss == "leader" else loss, "waited": waited, **seen}


def kill(server: Server) -> None:
    """Kill a server and wait for its end."""
    server.signal_stop(hard=True)
    server.await_end()


def _write(scene: Scene, topic: str, seconds: float, since: float) -> dict[str, Any]:
    if any(broker.server.is_running for broker in scene.cluster.brokers.values()):
        return dict(scene.cluster.ask_topics("write-metadata", topic=topic, seconds=seconds, since=since))
    return {"seconds": None, "leader": None, "refused": "no broker runs: each was refused by a controller, and ended"}


def _topic(scene: Scene) -> str:
    return next(name for view in scene.cluster.views().values() for name in view.topics if not name.startswith("__"))


def _launch(servers: Iterable[Server]) -> None:
    for server in servers:
        server.launch()
