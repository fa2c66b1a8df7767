"""What Kafka refuses next, once its KafkaConfig has accepted a configuration: by the classes that read it during the start. Pure.

Sources: `JaasContext` (modules that are not allowed, no JAAS), `ChannelBuilders`, `ConfigurationUtils` of OAUTHBEARER (URLs), its
handler for tests, `LogConfig.validateBrokerLogConfigValues` (3.7), `RemoteLogManager` and `BrokerServer` (tiered storage),
`kafka.security.authorizer.AclAuthorizer.configure`, `QuorumConfig.parseVoterConnections` (run on 2.8.2 to 4.4.0).
"""

from collections.abc import Iterator, Mapping

from kafka_audit.configuration.definitions import is_missing, kafka_classes, version_numbers
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.configuration.files import jaas
from kafka_audit.configuration.files.described import ANY_OPTIONS
from kafka_audit.configuration.files.jaas import JaasError, Module
from kafka_audit.configuration.starts import StartRefusal
from kafka_audit.model.addresses.voters import VOTERS, named_voters

_MODULES = {"com.sun.security.auth.module.JndiLoginModule": (3, 4), "com.sun.security.auth.module.LdapLoginModule": (3, 9, 1)}
"""Login modules that are not allowed, since which release, unless a system property says otherwise."""

_OAUTH, _HANDLER, _URLS_SINCE = "OAUTHBEARER", "callback.handler.class", (4,)
_VALIDATOR = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
_PRINCIPAL, _CLAIM = "unsecuredLoginPrincipalClaimName", "unsecuredLoginStringClaim_"
_LOGIN_OF_TESTS = "OAuthBearerUnsecuredLoginCallbackHandler"
_JWKS = "sasl.oauthbearer.jwks.endpoint.url"
_ALLOWED = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
_DISALLOWED = "org.apache.kafka.disallowed.login.modules"
_LOGIN_CONFIG = "java.security.auth.login.config"
_TIERED, _STORAGE = "remote.log.storage.system.enable", "remote.log.storage.manager.class.name"
_TIERED_LISTENER = "remote.log.metadata.manager.listener.name"
_MINUTE, _HOUR = 60_000, 3_600_000
_OLD_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"
_WITHOUT_ZOOKEEPER = (3, 3)
_NOWHERE, _ROUTABLE_SINCE = "0.0.0.0", (3, 9)  # noqa: S104 -- compared, and not bound


def refusal_after_config(
    properties: Mapping[str, str], version: str, *, unknown: frozenset[str] = frozenset(), jvm: str | None = None
) -> StartRefusal | None:
    """Return what the start refuses once KafkaConfig has accepted a configuration, None where nothing is known to.

    Args:
        properties: keys and values as Java reads them; a value that is hidden is left out.
        version: one of `VERSIONS`.
        unknown: keys that may be set to a value that is not known.
        jvm: the options of the JVM, `ANY_OPTIONS` where it may have any, None to judge its defaults.
    """
    known = {key: value.strip() for key, value in properties.items() if key not in unknown}
    release = version_numbers(version)
    rules = (
        _voters(known, release),
        _authorizer(known, version),
        _tiered(known, release, unknown),
        _listeners(known, version, unknown, jvm),
    )
    return next((refusal for rule in rules for refusal in rule), None)


def _voters(known: Mapping[str, str], release: tuple[int, ...]) -> Iterator[StartRefusal]:
    hosts = [host for host, _ in named_voters(known.get(VOTERS, "")).values()]
    if release >= _ROUTABLE_SINCE and known.get("process.roles") and _NOWHERE in hosts:
        message = f"org.apache.kafka.common.config.ConfigException: Host string ({_NOWHERE}) is not routeable"
        yield StartRefusal(message=message, key=VOTERS)


def _authorizer(known: Mapping[str, str], version: str) -> Iterator[StartRefusal]:
    key = "authorizer.class.name"
    name, release = known.get(key, ""), version_numbers(version)
    if not name or release < _WITHOUT_ZOOKEEPER:
        return
    if is_missing(name, kafka_classes(version)):
        yield StartRefusal(message=f"java.lang.ClassNotFoundException: {name}", key=key)
    elif name == _OLD_AUTHORIZER and known.get("process.roles"):
        yield StartRefusal(message=f"{name}: java.lang.NullPointerException; without ZooKeeper it cannot be used", key=key)


def _tiered(known: Mapping[str, str], release: tuple[int, ...], unknown: frozenset[str]) -> Iterator[StartRefusal]:
    if known.get(_TIERED, "").lower() != "true" or known.get("process.roles") == "controller" or release < (3, 6):
        return
    if _STORAGE not in known and _STORAGE not in unknown:
        message = (
            f"org.apache.kafka.server.log.remote.storage.RemoteLogManager: java.lang.NullPointerException; {_STORAGE} is not set"
        )
        yield StartRefusal(message=message, key=_TIERED)
    names = [part.partition("://")[0].strip().upper() for part in known.get("listeners", "PLAINTEXT").split(",")]
    wanted = known.get(_TIERED_LISTENER, "")
    if wanted and "listeners" not in unknown and wanted.upper() not in names:
        valid = f"Should be set as a listener name within valid broker listener name list: {','.join(names)}"
        yield StartRefusal(
            message=f"Invalid value {wanted.upper()} for configuration {_TIERED_LISTENER}: {valid}", key=_TIERED_LISTENER
        )
    if release < (3, 7) or not unknown.isdisjoint(
        {"log.retention.ms", "log.retention.minutes", "log.retention.hours", "log.retention.bytes"}
    ):
        return
    kept = _number(known, "log.retention.hours", 168) * _HOUR
    kept = _number(known, "log.retention.minutes", kept // _MINUTE) * _MINUTE
    totals = {"ms": _number(known, "log.retention.ms", kept), "bytes": _number(known, "log.retention.bytes", -1)}
    for unit, total in totals.items():
        local = _number(known, f"log.local.retention.{unit}", -2)
        if total >= 0 and (local > total or local == -1):
            why = f"must not be {'more than' if local > 0 else '-1 as'} property: retention.{unit} value: {total}"
            message = f"Invalid value {local} for configuration local.retention.{unit}: Value {why}"
            yield StartRefusal(message=message, key=f"log.local.retention.{unit}")


def _number(known: Mapping[str, str], key: str, default: int) -> int:
    number = integer(known.get(key, ""), 64)
    return default if number is None else number


def _listeners(known: Mapping[str, str], version: str, unknown: frozenset[str], jvm: str | None) -> Iterator[StartRefusal]:
    if not unknown.isdisjoint({"listeners", "listener.security.protocol.map"}):
        return
    mapped = dict(part.strip().upper().partition(":")[::2] for part in known.get("listener.security.protocol.map", "").split(","))
    for name in (part.partition("://")[0].strip() for part in known.get("listeners", "").split(",")):
        if mapped.get(name.upper(), name.upper()).startswith("SASL_"):
            yield from _sasl(name.lower(), known, version, unknown, jvm)


def _sasl(name: str, known: Mapping[str, str], version: str, unknown: frozenset[str], jvm: str | None) -> Iterator[StartRefusal]:
    own = f"listener.name.{name}."
    enabled = known.get(f"{own}sasl.enabled.mechanisms") or known.get("sasl.enabled.mechanisms") or "GSSAPI"
    for mechanism in filter(None, (part.strip() for part in enabled.split(","))):
        below = f"{own}{mechanism.lower()}."
        key = f"{below}sasl.jaas.config"
        module = _module(known.get(key))
        if module is not None:
            yield from _refused_module(module, key, version, jvm)
        for handler in (f"{below}sasl.{side}.{_HANDLER}" for side in ("server", "login")):
            if handler in known and is_missing(known[handler], kafka_classes(version)):
                text = f"Invalid value {known[handler]} for configuration {handler}: Class {known[handler]} could not be found."
                yield StartRefusal(message=text, key=handler)
        if mechanism == _OAUTH:
            yield from _oauth(own, module, known, unknown, allows=version_numbers(version) < _URLS_SINCE or _has(jvm, _ALLOWED))
        if key not in known and key not in unknown and jvm is not None and not _has(jvm, _LOGIN_CONFIG):
            text = f"Could not find a 'KafkaServer' or '{name}.KafkaServer' entry in the JAAS configuration."
            text = f"{text} System property '{_LOGIN_CONFIG}' is not set"
            yield StartRefusal(message=text, key="listeners")


def _has(jvm: str | None, option: str) -> bool:
    return jvm is not None and (jvm == ANY_OPTIONS or option in jvm)


def _module(text: str | None) -> Module | None:
    """Return the login module of a JAAS text; None where Kafka cannot read it, which KA414 reports."""
    try:
        return None if text is None else jaas.parse_jaas(text)
    except JaasError:
        return None


def _refused_module(module: Module, key: str, version: str, jvm: str | None) -> Iterator[StartRefusal]:
    since = _MODULES.get(module.name)
    if since and version_numbers(version) >= since and not _has(jvm, _DISALLOWED):
        text = f"is not allowed. Update System property '{_DISALLOWED}' to allow"
        yield StartRefusal(message=f"java.lang.IllegalArgumentException: {module.name} {text} {module.name}", key=key)


def _oauth(
    own: str, module: Module | None, known: Mapping[str, str], unknown: frozenset[str], *, allows: bool
) -> Iterator[StartRefusal]:
    below = f"{own}{_OAUTH.lower()}.sasl"
    login = f"{below}.login.{_HANDLER}"
    options = module.options if module else {}
    claim = options.get(_PRINCIPAL, "").strip() or "sub"
    if options and not options.get(_CLAIM + claim, "").strip() and login not in known and login not in unknown:
        text = f"No principal name in JWT claim: {claim} ({login} is not set: {_LOGIN_OF_TESTS})"
        yield StartRefusal(message=text, key=f"{below}.jaas.config")
    url = next((key for key in (f"{own}{_JWKS}", _JWKS) if key in known), "")
    if not allows and known.get(f"{below}.server.{_HANDLER}") == _VALIDATOR and known.get(url, "").startswith("http"):
        text = f"The value of {_JWKS} is not allowed. Update system property '{_ALLOWED}' to allow {known[url]}"
        yield StartRefusal(message=text, key=url)
