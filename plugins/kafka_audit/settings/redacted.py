"""An entry of the cluster file for readers outside of its team: what was audited and how, without anything that could be secret.

Only what is named here is shown, so a key that is new in the cluster file is left out until it is decided. A cluster holds no
password. What may hold one by mistake is left out: the names of password variables, the arguments of commands, and free text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from kafka_audit.model.cluster import Cluster, Oidc, Security, Tls, Vantage, ZookeeperAccess
from kafka_audit.model.text import without_logins

HIDDEN = "***"


def redacted_cluster(cluster: Cluster) -> dict[str, Any]:
    """Return an entry as plain data for JSON: `HIDDEN` stands for what was left out, a key that is not set is not there."""
    shown: dict[str, Any] = _without_empty(
        {
            "name": cluster.name,
            "labels": {name: without_logins(value) for name, value in cluster.labels.items()},
            "zookeeper": None if cluster.zookeeper is None else _zookeeper(cluster.zookeeper),
            "bootstrap": list(cluster.bootstrap),
            "controllers": list(cluster.controllers),
            "security": _security(cluster.security),
            "listeners": {
                name: "skip" if security is None else _security(security) for name, security in cluster.listeners.items()
            },
            "kafka_conn_id": cluster.kafka_conn_id,
            "trusted_hosts": list(cluster.trusted_hosts),
            "reach": dict(cluster.reach),
            "vantages": [_vantage(vantage) for vantage in cluster.vantages],
            "properties": [_path(path) for path in cluster.properties],
            "logs": None
            if cluster.logs is None
            else {
                "command": _command(cluster.logs.command),
                "paths": [_path(path) for path in cluster.logs.paths],
                **({"env": list(cluster.logs.env)} if cluster.logs.env else {}),
            },
            "expect": asdict(cluster.expect),
            "limits": asdict(cluster.limits),
            "progress": dict(cluster.progress),
            "keep": asdict(cluster.keep),
            "mute": [
                {
                    "code": mute.code,
                    "resource": mute.resource,
                    "reason": HIDDEN,
                    "owner": HIDDEN,
                    "until": None if mute.until is None else mute.until.isoformat(),
                }
                for mute in cluster.mute
            ],
        }
    )
    return shown


def _zookeeper(access: ZookeeperAccess) -> dict[str, Any]:
    return {
        "connect": access.connect,
        "username": access.username,
        "password_env": _hidden(access.password_env),
        "tls": _tls(access.tls),
    }


def _security(security: Security) -> dict[str, Any]:
    return {
        "protocol": security.protocol,
        "mechanism": security.mechanism,
        "username": security.username,
        "password_env": _hidden(security.password_env),
        "oidc": None if security.oidc is None else _oidc(security.oidc),
        "msk_region": security.msk_region,
        "google_cloud": security.google_cloud or None,
        "azure_scope": security.azure_scope,
        "tls": _tls(security.tls),
    }


def _oidc(oidc: Oidc) -> dict[str, Any]:
    return {
        "token_endpoint": _endpoint(oidc.token_endpoint),
        "scope": oidc.scope,
        "extensions": dict.fromkeys(dict(oidc.extensions), HIDDEN),
        "ca_file": oidc.ca_file,
    }


def _endpoint(url: str) -> str:
    """Return a URL without what may be a key in it: its query, and a path with an ID of a tenant."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{HIDDEN}"


def _tls(tls: Tls | None) -> dict[str, Any] | None:
    return None if tls is None else {"ca_file": tls.ca_file, "cert_file": tls.cert_file, "key_file": _hidden(tls.key_file)}


def _vantage(vantage: Vantage) -> dict[str, Any]:
    env = {"env": list(vantage.env)} if vantage.env else {}
    return {"name": vantage.name, "role": vantage.role, "queue": vantage.queue, "command": _command(vantage.command), **env}


def _command(command: Sequence[str] | None) -> list[str] | None:
    """Return the program, and of its arguments only that there are some: a login may be among them."""
    return None if command is None else [without_logins(command[0]), *([HIDDEN] if command[1:] else [])]


def _path(path: str) -> str:
    """Return a local path as it is, and of a URL what kind it is: users and keys have many forms there."""
    scheme, mark, _ = path.partition("://")
    return f"{scheme}://{HIDDEN}" if mark else path


def _hidden(value: str | None) -> str | None:
    return None if value is None else HIDDEN


def _without_empty(value: Any) -> Any:  # noqa: ANN401 -- plain data
    if isinstance(value, Mapping):
        shown = {key: _without_empty(item) for key, item in value.items()}
        return {key: item for key, item in shown.items() if item is not None and item not in ({}, [])}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value
