"""Files that let an audit on the worker host know a cluster of the bed."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from testbed.brokers import BaseCluster
    from testbed.hosts import Host


def write_on_node(folder: Path, hosts: Mapping[str, Host], variables: Mapping[str, Iterable[str]] | None = None) -> Path:
    """Write the script ``on-node ID COMMAND…``, which runs a command on the host of that broker or controller; return its path.

    It is for the worker host: from there no user namespace has to be entered, whichever user made the bed. `variables` has
    the prefix of a command that gives it the environment of a node, whose clock is its host's.
    """
    cases = "".join(
        f'  {node}) shift; exec nsenter -t {host.holder.pid} -n -m -- {_words((variables or {}).get(node, ()))}"$@" ;;\n'
        for node, host in hosts.items()
    )
    script = folder / "on-node"
    script.write_text(
        "#!/bin/sh\n# on-node ID COMMAND…: run a command on the host of that broker or controller\n"
        f'case "$1" in\n{cases}  *) echo "no node $1" >&2; exit 2 ;;\nesac\n'
    )
    script.chmod(0o755)
    return script


def _words(command: Iterable[str]) -> str:
    return "".join(f"{shlex.quote(word)} " for word in command)


def clusters_yaml(cluster: BaseCluster, name: str) -> str:
    """Return the text of a clusters.yaml with this cluster under a name; secured ones are audited as the user auditor."""
    folder = cluster.folder / "broker-{broker_id}"
    logs = [str(folder / "logs" / f"{log}.log*") for log in ("controller", "state-change", "server", "log-cleaner")]
    zookeeper: object = cluster.zookeeper_connect
    if zookeeper and cluster.secured:
        zookeeper = cluster.secured.audit_zookeeper(str(zookeeper))
    security = cluster.secured.audit_settings() if cluster.secured else None
    controllers = cluster.secured.audit_controllers() if cluster.secured and cluster.controller_addresses else None
    on_controller = {"command": cluster.vantage_command("controller"), "role": "controller"}
    apart = any(name.isdigit() and int(name) not in cluster.brokers for name in cluster.hosts())
    return (
        f"clusters:\n  {name}:\n"
        + (f"    zookeeper: {json.dumps(zookeeper)}\n" if zookeeper else "")
        + f"    bootstrap: {json.dumps([broker.address for broker in cluster.brokers.values()])}\n"
        + (f"    security: {json.dumps(security)}\n" if security else "")
        + (f"    trusted_hosts: {json.dumps(_hosts(cluster))}\n" if security else "")
        + (f"    controllers: {json.dumps(cluster.controller_addresses)}\n" if cluster.controller_addresses else "")
        + (f"    listeners: {{CONTROLLER: {json.dumps(controllers)}}}\n" if controllers else "")
        + f"    vantages:\n      brokers: {{command: {json.dumps(cluster.vantage_command())}, role: broker}}\n"
        + (f"      controllers: {json.dumps(on_controller)}\n" if apart else "")
        + f"    properties: {json.dumps([str(folder / 'server.properties')])}\n"
        f"    logs: {{paths: {json.dumps(logs)}}}\n"
        f"    expect: {{brokers: {len(cluster.brokers)}}}\n"
        "    progress: {deletion: 0.05}\n"  # audits of the bed are seconds apart
    )


def controller_files(cluster: BaseCluster) -> list[str]:
    """Return the paths of the configuration of KRaft controllers that are no brokers."""
    return [str(path) for path in sorted(cluster.folder.glob("controller-*/server.properties"))]


def controller_logs(cluster: BaseCluster) -> list[str]:
    """Return where the logs of these controllers are, as a cluster file has it."""
    return [str(cluster.folder / "controller-{controller_id}" / "logs" / "server.log*")]


def _hosts(cluster: BaseCluster) -> list[str]:
    """Return the brokers' hosts: their further listeners stand nowhere in the file."""
    return [broker.host.address for broker in cluster.brokers.values()]
