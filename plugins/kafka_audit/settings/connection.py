"""An Airflow connection in the Kafka provider's format: its extra is librdkafka's configuration. Pure."""

import dataclasses
import re
from collections.abc import Mapping
from typing import NoReturn

from kafka_audit.model.cluster import Cluster, Oidc, Security, Tls
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import did_you_mean
from kafka_audit.settings import oidc as rules
from kafka_audit.settings.logins import MECHANISMS, NEEDS, PROTOCOLS

_FILES: Mapping[str, str] = {
    "ssl.ca.location": "ca_file",
    "ssl.certificate.location": "cert_file",
    "ssl.key.location": "key_file",
}
_METHOD, _ENDPOINT = "sasl.oauthbearer.method", "sasl.oauthbearer.token.endpoint.url"
_CLIENT_ID = ("sasl.oauthbearer.client.id", "sasl.oauthbearer.client.credentials.client.id")
_CLIENT_SECRET = ("sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret")
_EXTENSIONS, _SCOPE = "sasl.oauthbearer.extensions", "sasl.oauthbearer.scope"
_ENDPOINT_CA = "https.ca.location"
_OF_CLOUDS = _MSK_REGION, _GOOGLE, _AZURE_SCOPE = "msk.region", "google.cloud", "azure.scope"
_FORM: Mapping[str, str] = {
    key.replace(".", "_"): key
    for key in ("security.protocol", "sasl.mechanism", _ENDPOINT, _SCOPE, _EXTENSIONS, _ENDPOINT_CA, *_OF_CLOUDS, *_FILES)
}
"""Keys of librdkafka by the fields of the form of connection type `kafka_audit`: names of fields contain no dots.

Those of `_OF_CLOUDS` are our own: librdkafka has none, and Airflow's provider recognizes Amazon MSK and Google by the addresses.
"""

_WITH_PORT = re.compile(r":\d+$")
_PEM = f"use PEM files without a password in {', '.join(_FILES)}"
_UNVERIFIED = "the auditor sends a login only to a verified broker; set ssl.ca.location to its CA"
_REVOKED = "the auditor reads no lists of revoked certificates, and a login must not go to a broker whose certificate is revoked"
_FETCHED = f"set {_METHOD} to oidc"
_KINIT = "the auditor uses the ticket of the user of its process: run kinit or set KRB5_CLIENT_KTNAME there, and remove this key"
_NOT_READ: Mapping[str, Mapping[str, str]] = {
    "SSL": {
        **dict.fromkeys(("ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem", "ssl.keystore.location", "ssl.key.password"), _PEM),
        **dict.fromkeys(("ssl.ca.certificate.stores", "ssl.engine.location", "ssl_engine_callback_data"), _PEM),
        "ssl.crl.location": _REVOKED,
    },
    "GSSAPI": dict.fromkeys(("sasl.kerberos.keytab", "sasl.kerberos.principal", "sasl.kerberos.kinit.cmd"), _KINIT),
    "OAUTHBEARER": {
        "oauth_cb": f"the auditor runs no code that a connection names; {_FETCHED}",
        "sasl.oauthbearer.config": f"the auditor creates no tokens itself; {_FETCHED}",
        "enable.sasl.oauthbearer.unsecure.jwt": f"the auditor creates no tokens itself; {_FETCHED}",
    },
    "oidc": {
        "https.ca.pem": f"use a PEM file in {_ENDPOINT_CA}",
        **dict.fromkeys(
            ("sasl.oauthbearer.assertion.file", "sasl.oauthbearer.assertion.private.key.file"), "use a client secret"
        ),
    },
}
"""Other keys for TLS and the login, with the remedy. If they were ignored, what works for other clients would fail here."""

_ONLY: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "SSL": {
        "enable.ssl.certificate.verification": ("true", _UNVERIFIED),
        "ssl.endpoint.identification.algorithm": ("https", _UNVERIFIED),
    },
    "GSSAPI": {"sasl.kerberos.service.name": ("kafka", "the auditor asks for tickets of the service kafka")},
    "oidc": {
        "sasl.oauthbearer.grant.type": ("client_credentials", "the auditor uses a client secret"),
        "sasl.oauthbearer.metadata.authentication.type": (
            "none",
            f"the auditor uses a client ID and a client secret; for Azure, set {_AZURE_SCOPE} instead of {_METHOD}",
        ),
    },
}
"""Keys of which one value works, in lower case, with the reason."""


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
    if protocol.endswith("SSL"):
        _demand_supported(where, given, "SSL")
    files = {name: _file(given, key) for key, name in _FILES.items() if _file(given, key)} if protocol.endswith("SSL") else {}
    if "key_file" in files and "cert_file" not in files:
        _refuse(where, "ssl.key.location requires ssl.certificate.location")
    name = f"connection {cluster.kafka_conn_id}"
    login, secret = Security(), None
    if protocol.startswith("SASL_"):
        login, secret = _login(where, given)
    security = dataclasses.replace(
        login, protocol=protocol, password_env=None if secret is None else name, tls=Tls(**files) if files else None
    )
    own = (address.strip() for address in given.get("bootstrap.servers", "").split(","))
    bootstrap = tuple(dict.fromkeys((*cluster.bootstrap, *filter(None, own))))
    return dataclasses.replace(cluster, security=security, bootstrap=bootstrap), {} if secret is None else {name: secret}


def extra_of_form(
    host: str | None, port: int | None, login: str | None, password: str | None, extra: Mapping[str, object]
) -> dict[str, object]:
    """Return a connection of type `kafka_audit` in the Kafka provider's format; its extra takes precedence over the form.

    Args:
        host: bootstrap servers.
        port: of those that name none.
        login: the user, or the client ID.
        password: of the user, or the client secret.
        extra: further fields of the form, and keys of librdkafka.
    """
    if host and port:
        named_servers = (server.strip() for server in host.split(","))
        host = ",".join(server if _WITH_PORT.search(server) else f"{server}:{port}" for server in named_servers if server)
    named = {key: extra.get(field) for field, key in _FORM.items()}
    fields: dict[str, object] = {"bootstrap.servers": host, "sasl.username": login, "sasl.password": password}
    if named[_ENDPOINT] or extra.get(_ENDPOINT):
        fields = {"bootstrap.servers": host, _METHOD: "oidc", _CLIENT_ID[0]: login, _CLIENT_SECRET[0]: password}
    given = {key: value for key, value in extra.items() if key not in _FORM}
    return {key: value for key, value in (fields | named).items() if value} | given


def _login(where: str, given: Mapping[str, str]) -> tuple[Security, str | None]:
    """Return the login without the protocol, and the password if it takes one."""
    stated = _any(given, "sasl.mechanism", "sasl.mechanisms")
    if not stated:
        _refuse(where, f"sasl.mechanism is missing; set it to one of {', '.join(MECHANISMS)}")
    mechanism = _choice(where, given, "sasl.mechanism", stated.upper(), MECHANISMS)
    if mechanism == "OAUTHBEARER":
        return _token_login(where, given)
    _demand_supported(where, given, mechanism)
    if not NEEDS[mechanism]:
        return Security(mechanism=mechanism), None
    for key in ("sasl.username", "sasl.password"):
        if not given.get(key):
            _refuse(where, f"{key} is missing; sasl.mechanism {mechanism} requires it")
    return Security(mechanism=mechanism, username=given["sasl.username"]), given["sasl.password"]


def _token_login(where: str, given: Mapping[str, str]) -> tuple[Security, str | None]:
    """Return the login with tokens, and the client secret if it takes one."""
    if given.get(_METHOD, "").lower() == "oidc":
        return _oidc_login(where, given)
    _demand_supported(where, given, "OAUTHBEARER")
    servers = given.get("bootstrap.servers", "")
    region = given.get(_MSK_REGION) or rules.msk_region_of(servers)
    scope = given.get(_AZURE_SCOPE) or rules.event_hubs_scope_of(servers)
    sources = [key for key in _OF_CLOUDS if given.get(key)]
    if len(sources) > 1:
        _refuse(where, f"{' and '.join(sources)} exclude each other; remove all but one")
    if _GOOGLE in sources:
        _choice(where, given, _GOOGLE, given[_GOOGLE].lower(), ("true",))
    if _GOOGLE in sources or (rules.is_google_cloud(servers) and not sources):
        return Security(mechanism="OAUTHBEARER", google_cloud=True), None
    if region and _AZURE_SCOPE not in sources:
        if fault := rules.region_fault(region):
            _refuse(where, f"{_MSK_REGION} {fault}")
        return Security(mechanism="OAUTHBEARER", msk_region=region), None
    if not scope:
        hint = f"; for Amazon MSK with other names, set {_MSK_REGION}, for Google Cloud {_GOOGLE}, for Azure {_AZURE_SCOPE}"
        _refuse(where, f"{_METHOD} is missing; set it to oidc, with {_ENDPOINT}, client ID and client secret{hint}")
    if fault := rules.scope_fault(scope):
        _refuse(where, f"{_AZURE_SCOPE} {fault}")
    return Security(mechanism="OAUTHBEARER", azure_scope=scope), None


def _oidc_login(where: str, given: Mapping[str, str]) -> tuple[Security, str]:
    _demand_supported(where, given, "oidc")
    endpoint, client_id, secret = (_any(given, *keys) for keys in ((_ENDPOINT,), _CLIENT_ID, _CLIENT_SECRET))
    for key, value in ((_ENDPOINT, endpoint), (_CLIENT_ID[0], client_id), (_CLIENT_SECRET[0], secret)):
        if not value:
            _refuse(where, f"{key} is missing; {_METHOD} oidc requires it")
    if fault := rules.token_endpoint_fault(endpoint):
        _refuse(where, f"{_ENDPOINT} {fault}")
    oidc = Oidc(
        token_endpoint=endpoint,
        scope=given.get(_SCOPE) or None,
        extensions=tuple(_extensions(where, given.get(_EXTENSIONS, "")).items()),
        ca_file=_file(given, _ENDPOINT_CA) or None,
    )
    return Security(mechanism="OAUTHBEARER", username=client_id, oidc=oidc), secret


def _extensions(where: str, text: str) -> dict[str, str]:
    """Return SASL extensions of librdkafka's form `NAME=VALUE,NAME=VALUE`."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if fault := rules.extension_fault(name, value):
            _refuse(where, f"{_EXTENSIONS}: an entry {fault}; the format is name=value,name=value")
        found[name] = value
    return found


def _file(given: Mapping[str, str], key: str) -> str:
    """Return a path; librdkafka's word for the authorities of the machine is none."""
    return "" if given.get(key, "").lower() == "probe" else given.get(key, "")


def _demand_supported(where: str, given: Mapping[str, str], part: str) -> None:
    for key, remedy in _NOT_READ.get(part, {}).items():
        if given.get(key, "").lower() not in {"", "false"}:
            _refuse(where, f"{key} is not supported; {remedy}")
    for key, (only, reason) in _ONLY.get(part, {}).items():
        if given.get(key, only).lower() not in {"", only}:
            _refuse(where, f"{key} is not supported, except {only}: {reason}")


def _choice(where: str, given: Mapping[str, str], key: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        _refuse(where, f"{key} {given.get(key, value)!r} is not one of {', '.join(choices)}{did_you_mean(value, choices)}")
    return value


def _any(given: Mapping[str, str], *keys: str) -> str:
    return next((given[key] for key in keys if given.get(key)), "")


def _refuse(where: str, message: str) -> NoReturn:
    msg = f"{where}: {message}"
    raise UsageError(msg)
