"""An Airflow connection in the Kafka provider's format: its extra is librdkafka's configuration. Pure."""

import dataclasses
from collections.abc import Mapping
from typing import NoReturn

from kafka_audit.model.cluster import Cluster, Security, Tls
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import did_you_mean
from kafka_audit.settings.logins import MECHANISMS, NEEDS, PROTOCOLS

_FILES: Mapping[str, str] = {
    "ssl.ca.location": "ca_file",
    "ssl.certificate.location": "cert_file",
    "ssl.key.location": "key_file",
}
_NOT_READ = ("ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem", "ssl.keystore.location", "ssl.key.password")
"""Other keys for the settings of `_FILES`. If they were ignored, the handshake would fail here and work for other clients."""


def with_connection(cluster: Cluster, extra: Mapping[str, object]) -> tuple[Cluster, dict[str, str]]:
    """Return the cluster with a connection's addresses and security, and its password by the name that `password_env` has there.

    Args:
        cluster: names the connection in `kafka_conn_id`.
        extra: the connection's extra; values may be text or numbers.

    Raises:
        UsageError: a combination that cannot work, named by the connection's own keys; no value that may be secret is repeated.
    """
    where = f"{cluster.name}: the Airflow connection {cluster.kafka_conn_id!r}"
    given = {str(key): str(value).strip() for key, value in extra.items() if value is not None}
    protocol = _choice(where, given, "security.protocol", given.get("security.protocol", "PLAINTEXT").upper(), PROTOCOLS)
    for key in _NOT_READ:
        if protocol.endswith("SSL") and given.get(key):
            _refuse(where, f"{key} is not supported; use PEM files without a password in {', '.join(_FILES)}")
    mechanism, secret = _login(where, given) if protocol.startswith("SASL_") else (None, None)
    files = {name: given[key] for key, name in _FILES.items() if given.get(key)} if protocol.endswith("SSL") else {}
    if "key_file" in files and "cert_file" not in files:
        _refuse(where, "ssl.key.location requires ssl.certificate.location")
    name = f"connection {cluster.kafka_conn_id}"
    needed = NEEDS.get(mechanism or "", ())
    security = Security(
        protocol=protocol,
        mechanism=mechanism,
        username=given["sasl.username"] if "username" in needed else None,
        password_env=name if secret is not None else None,
        tls=Tls(**files) if files else None,
    )
    own = (address.strip() for address in given.get("bootstrap.servers", "").split(","))
    bootstrap = tuple(dict.fromkeys((*cluster.bootstrap, *filter(None, own))))
    return dataclasses.replace(cluster, security=security, bootstrap=bootstrap), {} if secret is None else {name: secret}


def _login(where: str, given: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the mechanism, and the password if it takes one."""
    stated = _any(given, "sasl.mechanism", "sasl.mechanisms")
    if not stated:
        _refuse(where, f"sasl.mechanism is missing; set it to one of {', '.join(MECHANISMS)}")
    mechanism = _choice(where, given, "sasl.mechanism", stated.upper(), MECHANISMS)
    if mechanism == "OAUTHBEARER":
        _refuse(where, "OAUTHBEARER is not supported in a connection; configure security with a token in password_env")
    if not NEEDS[mechanism]:
        return mechanism, None
    for key in ("sasl.username", "sasl.password"):
        if not given.get(key):
            _refuse(where, f"{key} is missing; sasl.mechanism {mechanism} requires it")
    return mechanism, given["sasl.password"]


def _choice(where: str, given: Mapping[str, str], key: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        _refuse(where, f"{key} {given.get(key, value)!r} is not one of {', '.join(choices)}{did_you_mean(value, choices)}")
    return value


def _any(given: Mapping[str, str], *keys: str) -> str:
    return next((given[key] for key in keys if given.get(key)), "")


def _refuse(where: str, message: str) -> NoReturn:
    msg = f"{where}: {message}"
    raise UsageError(msg)
