"""How to log in, as a cluster file says it: `security`, `listeners`, `zookeeper`."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from kafka_audit.model.cluster import Oidc, Security, Tls, ZookeeperAccess
from kafka_audit.settings import oidc as rules
from kafka_audit.settings.document import Item

SECURITY = (
    "protocol",
    "mechanism",
    "username",
    "password_env",
    "oidc",
    "msk_region",
    "google_cloud",
    "azure_scope",
    "ca_file",
    "cert_file",
    "key_file",
)
OIDC = ("token_endpoint", "scope", "extensions", "ca_file")
ZOOKEEPER = ("connect", "sasl", "tls")
ZOOKEEPER_SASL = ("username", "password_env")
TLS = ("ca_file", "cert_file", "key_file")
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER")
_WITH_PASSWORD = dict.fromkeys(("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"), ("username", "password_env"))
NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType({**_WITH_PASSWORD, "GSSAPI": (), "OAUTHBEARER": ("password_env",)})
"""Keys that a mechanism needs. GSSAPI takes the ticket of this process's user, OAUTHBEARER a token from `password_env`."""

_TOKEN_SOURCES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"oidc": ("username", "password_env"), "msk_region": (), "google_cloud": (), "azure_scope": ()}
)
"""Where OAUTHBEARER gets a token that it fetches, with the keys that this needs: client ID and client secret, or nothing."""

_CHROOT = re.compile(r"(?:/[^/,\s]+)+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHAT = {
    "username": "the user name",
    "password_env": "the name of the environment variable that holds the password",
    "mechanism": f"one of {', '.join(MECHANISMS)}",
    "token_endpoint": "the URL where tokens are fetched",
}
_OF_SASL = frozenset({"mechanism", "username", "password_env", *_TOKEN_SOURCES})


def zookeeper(item: Item, elsewhere: Mapping[str, str]) -> ZookeeperAccess:
    """Return how ZooKeeper is reached, from a connection string or a mapping; raises `UsageError`."""
    username, password_env, tls = None, None, None
    if isinstance(item.value, dict):
        given = item.fields(ZOOKEEPER, elsewhere)
        if "connect" not in given:
            item.refuse("requires connect: host:2181/chroot")
        if "sasl" in given:
            login = given["sasl"].fields(ZOOKEEPER_SASL, {})
            _demand(given["sasl"], login, ZOOKEEPER_SASL)
            username, password_env = login["username"].text("a user name"), _variable(login["password_env"])
        if "tls" in given:
            tls = _tls(given["tls"], given["tls"].fields(TLS, {})) or Tls()
        item = given["connect"]
    connect = item.text("host:2181/chroot")
    hosts, slash, chroot = connect.partition("/")
    for address in hosts.split(","):
        item.check_address(address.strip())
    if slash and not _CHROOT.fullmatch(slash + chroot):
        item.refuse(f"{slash + chroot!r} is not a chroot such as /kafka; it follows the last address, without a trailing slash")
    connect = ",".join(address.strip() for address in hosts.split(",")) + slash + chroot
    return ZookeeperAccess(connect=connect, username=username, password_env=password_env, tls=tls)


def security(item: Item, elsewhere: Mapping[str, str]) -> Security:
    """Return the security of one kind of listener; raises `UsageError`."""
    given = item.fields(SECURITY, elsewhere)
    if "protocol" not in given:
        item.refuse(f"requires protocol: one of {', '.join(PROTOCOLS)}")
    protocol = given["protocol"].choice(PROTOCOLS)
    sasl, tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    for key, entry in given.items():
        if (key in TLS and not tls) or (key in _OF_SASL and not sasl):
            entry.refuse(f"has no effect with protocol {protocol}; remove it")
    mechanism = None
    if sasl:
        _demand(item, given, ("mechanism",))
        mechanism = given["mechanism"].choice(MECHANISMS)
        source = next((key for key in _TOKEN_SOURCES if key in given), "") if mechanism == "OAUTHBEARER" else ""
        needs = _TOKEN_SOURCES[source] if source else NEEDS[mechanism]
        _demand(item, given, needs)
        for spare in sorted((_OF_SASL - {"mechanism", source}) & given.keys() - {*needs}):
            given[spare].refuse(f"has no effect with {source or f'mechanism {mechanism}'}; remove it")
    return Security(
        protocol=protocol,
        mechanism=mechanism,
        username=given["username"].text("a user name") if "username" in given else None,
        password_env=_variable(given["password_env"]) if "password_env" in given else None,
        oidc=_oidc(given["oidc"], elsewhere) if "oidc" in given else None,
        msk_region=_msk_region(given["msk_region"]) if "msk_region" in given else None,
        google_cloud="google_cloud" in given and _google_cloud(given["google_cloud"]),
        azure_scope=_azure_scope(given["azure_scope"]) if "azure_scope" in given else None,
        tls=_tls(item, given),
    )


def _oidc(item: Item, elsewhere: Mapping[str, str]) -> Oidc:
    given = item.fields(OIDC, elsewhere)
    _demand(item, given, ("token_endpoint",))
    endpoint = given["token_endpoint"]
    if fault := rules.token_endpoint_fault(endpoint.text("a URL")):
        endpoint.refuse(fault)
    extensions = {}
    for name, entry in (
        given["extensions"].names("a mapping such as {logicalCluster: lkc-1}").items() if "extensions" in given else ()
    ):
        extensions[name] = entry.text("the value of a SASL extension")
        if fault := rules.extension_fault(name, extensions[name]):
            entry.refuse(fault)
    return Oidc(
        token_endpoint=endpoint.text(),
        scope=given["scope"].text("scopes, separated by blanks") if "scope" in given else None,
        extensions=tuple(extensions.items()),
        ca_file=given["ca_file"].text("the path of a PEM file") if "ca_file" in given else None,
    )


def _msk_region(item: Item) -> str:
    region = item.text("an AWS region")
    if fault := rules.region_fault(region):
        item.refuse(f"{region!r} {fault}")
    return region


def _google_cloud(item: Item) -> bool:
    if not item.flag():
        item.refuse("is false, which is no source of tokens; remove it")
    return True


def _azure_scope(item: Item) -> str:
    scope = item.text("a scope of Microsoft Entra ID")
    if fault := rules.scope_fault(scope):
        item.refuse(f"{scope!r} {fault}")
    return scope


def listeners(item: Item, elsewhere: Mapping[str, str]) -> dict[str, Security | None]:
    """Return the security of listeners by name, None for a skipped one; raises `UsageError`."""
    expected = "a mapping such as {CLIENT: {protocol: PLAINTEXT}, EXTERNAL: skip}"
    found: dict[str, Security | None] = {}
    for name, entry in item.names(expected).items():
        if isinstance(entry.value, dict):
            found[name] = security(entry, elsewhere)
        else:
            entry.choice(("skip",))
            found[name] = None
    return found


def _demand(item: Item, given: Mapping[str, Item], keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in given:
            item.refuse(f"requires {key}: {_WHAT[key]}")


def _variable(item: Item) -> str:
    """Return the name of an environment variable. What is none may be the password itself and is not repeated."""
    if not _VARIABLE.fullmatch(item.text("the name of an environment variable")):
        item.refuse("is not the name of an environment variable such as KAFKA_AUDIT_PASSWORD; set the password in that variable")
    return str(item.value)


def _tls(item: Item, given: Mapping[str, Item]) -> Tls | None:
    files = {key: given[key].text("the path of a PEM file") for key in TLS if key in given}
    if "key_file" in files and "cert_file" not in files:
        item.refuse("has key_file without cert_file; a client certificate requires both")
    return Tls(**files) if files else None
