"""Actions that break an edge between brokers in ways that look alike from outside."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from testbed.corpus.actions import action
from testbed.errors import BedError

if TYPE_CHECKING:
    from testbed.corpus.scene import Scene


@action
def trust_stranger(scene: Scene, broker: int) -> None:
    """Let the auditor trust the authority of a broker's certificate, which the other brokers do not trust."""
    if scene.cluster.secured is None:
        message = "this cluster is not secured"
        raise BedError(message)
    ca_file = scene.cluster.secured.authority.ca_file
    both = ca_file.with_name("both-ca.pem")
    shutil.copy(ca_file, both)
    stranger = ca_file.with_name(f"broker-{broker}-stranger-ca.pem")
    both.write_bytes(both.read_bytes() + stranger.read_bytes())
    scene.entry["security"] = {**scene.entry["security"], "ca_file": str(both)}


@action
def misplace_vantage(scene: Scene, broker: int) -> None:
    """Let the probes of all brokers' hosts start at a further host, which does not reach one of the brokers."""
    prefix = next(iter(scene.cluster.brokers.values())).host.address.rpartition(".")[0]
    host = scene.bed.hosts.add(f"{scene.cluster.folder.name}-elsewhere", f"{prefix}.6")
    scene.bed.cut(host, scene.cluster.brokers[broker].host)
    command = ["env", "BROKER={broker_id}", "nsenter", "-t", str(host.holder.pid), "-n", "-m", "--"]
    scene.entry["vantages"] = {"brokers": {"command": command, "role": "broker"}}


@action
def refuse_connections(scene: Scene, broker: int) -> None:
    """Let a broker accept no connection from the other brokers' addresses, by its limit of connections."""
    others = [one.host.address for one in scene.cluster.brokers.values() if one.id != broker]
    limit = {"max.connections.per.ip.overrides": ",".join(f"{address}:0" for address in others)}
    scene.cluster.restart_brokers({broker: limit})
    time.sleep(1)
