"""What a cluster file can give an audit of a KRaft cluster: an entry for each set of inputs, from one address to all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed.audit_files import controller_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from testbed.corpus.scene import Scene

_INPUTS = ("controllers", "properties", "logs", "vantages")


def quorum_inputs(scene: Scene) -> Mapping[str, dict[str, Any]]:
    """Return entries of a clusters.yaml by what they give; rights and logins are in each."""
    cluster, whole = scene.cluster, scene.entry
    bare = {key: value for key, value in whole.items() if key not in _INPUTS}
    controllers = {"controllers": whole["controllers"]}
    of_brokers = [f"{cluster.folder}/broker-{{broker_id}}/server.properties"]
    of_controllers = controller_files(cluster)
    files = {"properties": [*of_brokers, *of_controllers]}
    nodes = ["broker-{broker_id}", *(["controller-{controller_id}"] if of_controllers else [])]
    logs = {"logs": {"paths": [f"{cluster.folder}/{node}/logs/server.log*" for node in nodes]}}
    on_controllers = {name: vantage for name, vantage in whole["vantages"].items() if vantage["role"] == "controller"}
    everything = bare | controllers | files | logs | {"vantages": whole["vantages"]}
    entries = {
        "one address": bare | {"bootstrap": whole["bootstrap"][:1]},
        "addresses of brokers": bare,
        "addresses of controllers": bare | controllers,
        "address of one controller": bare | {"controllers": whole["controllers"][:1]},
        "files of brokers": bare | {"properties": of_brokers},
        "files of controllers": bare | {"properties": of_controllers},
        "file of one controller": bare | controllers | {"properties": of_controllers[:1]},
        "files of all": bare | files,
        "logs": bare | logs,
        "vantages on brokers": bare | {"vantages": {"brokers": whole["vantages"]["brokers"]}},
        "vantages on controllers": bare | controllers | {"vantages": on_controllers},
        "all inputs": everything,
        "all but addresses of controllers": {key: value for key, value in everything.items() if key != "controllers"},
    }
    # Brokers that are controllers too have no file and no vantage as controllers.
    return {name: entry for name, entry in entries.items() if entry.get("properties") != [] and entry.get("vantages") != {}}
