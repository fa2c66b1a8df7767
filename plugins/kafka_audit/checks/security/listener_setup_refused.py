import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.listeners.inter_broker import DEFAULT_MECHANISM, InterBroker
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import SourceRead

_JAAS, _ENABLED, _MAP = ".sasl.jaas.config", "sasl.enabled.mechanisms", "listener.security.protocol.map"
_STORES = ("ssl.keystore", "ssl.truststore")
_MOST_SEVERE = (Status.FAIL, Status.UNKNOWN, Status.PASS)
_NO_ENTRY = (
    "Could not find a 'KafkaServer' or '{}.KafkaServer' entry in the JAAS configuration. "
    "System property 'java.security.auth.login.config' is not set"
)
_NO_STORE = (
    "A client SSLEngine created with the provided settings can't connect to a server SSLEngine created with those settings"
)
_GIVES_KEYS = re.compile(r"ssl\.(?:keystore\.(?!type$|password$).+|engine\.factory\.class)")


@dataclass(frozen=True, kw_only=True)
class _Need:
    """One requirement of a listener: `key` is its line, `says` is Kafka's message, or what is unknown and `needs` provides."""

    status: Status
    key: str
    says: str = ""
    needs: str = ""
    lacks: str = ""  # the key that should be there
    confidence: Confidence = Confidence.MEASURED


@check(code="KA414", severity=Severity.CRITICAL, by_files=True)
def listener_setup_refused(view: ClusterView) -> Judgements:
    """A listener's JAAS configuration or keystore is missing or invalid, and the broker does not start."""
    between = view.next_start
    for broker in sorted(between.settings.files):
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        need = _worst(view, broker)
        if need is None or (between.asked and need.status is Status.UNKNOWN):
            yield view.not_applicable(resource, need.says if need else "no listener uses SASL or names a keystore", evidence)
            continue
        reported = {
            Status.FAIL: {"key": need.key, "what": _what(need), "says": need.says},
            Status.UNKNOWN: {"key": need.key, "error": need.says, "needs": need.needs},
        }
        judged = view.judge(resource, need.status, evidence | reported.get(need.status, {}))
        yield replace(judged, confidence=need.confidence)
    yield from no_files(view)


def _what(need: _Need) -> str:
    return f"{need.key}, which requires {need.lacks}" if need.lacks else need.key


def _worst(view: ClusterView, broker: int) -> _Need | None:
    """Return what is worst of all that a broker's listeners need, None where none has SASL or a key store."""
    return min(_needs(view, broker), key=lambda need: _MOST_SEVERE.index(need.status), default=None)


def _needs(view: ClusterView, broker: int) -> Iterator[_Need]:
    between = view.next_start
    reads = {read.operation: read for read in view.last_reads if read.observer == f"properties:{broker}"}
    setting = between.settings.get(broker, "listeners")
    if setting.state == "hidden":
        yield _later(broker, "listeners")
    for listener in dict.fromkeys(entry.partition("://")[0].strip() for entry in (setting.value or "").split(",")):
        protocol = between.protocol(broker, listener) or ""
        if not protocol and between.settings.get(broker, _MAP).state == "hidden":
            yield _later(broker, _MAP)
        if protocol.startswith("SASL"):
            yield from _texts(between, broker, listener, reads)
        if protocol.endswith("SSL"):
            yield from _keyless(between, broker, listener)
            yield from _stores(between, broker, listener, reads)


def _later(broker: int, key: str) -> _Need:
    return _Need(
        status=Status.UNKNOWN, key=key, says=f"{key} contains a placeholder", needs=f"the file as broker {broker} reads it"
    )


def _texts(between: InterBroker, broker: int, listener: str, reads: Mapping[str, SourceRead]) -> Iterator[_Need]:
    enabled = between.settings.at(broker, listener, _ENABLED)
    if enabled.state == "hidden":
        yield _later(broker, _ENABLED)
        return
    lines = between.settings.files[broker]
    for mechanism in filter(None, (part.strip() for part in (enabled.value or DEFAULT_MECHANISM).split(","))):
        key = f"listener.name.{listener.lower()}.{mechanism.lower()}{_JAAS}"
        read = reads.get(f"properties {key}")
        if key not in lines:
            yield _absent(between, broker, listener, key)
        elif read is not None and read.failure is ReadFailure.JAAS_REFUSED:
            yield _Need(status=Status.FAIL, key=key, says=read.message or "")
        elif read is not None or not lines[key].secret:
            yield _later(broker, key)
        else:
            yield _Need(status=Status.PASS, key=key)


def _absent(between: InterBroker, broker: int, listener: str, key: str) -> _Need:
    """Judge a text that the file does not hold: the JVM may be given one, which is less likely where others are in the file."""
    own = f"listener.name.{listener.lower()}.{_ENABLED}"
    line = between.settings.first_set(broker, own, _ENABLED, "listeners")
    if any(file.startswith("listener.name.") and file.endswith(_JAAS) for file in between.settings.files[broker]):
        says = _NO_ENTRY.format(listener.lower())
        return _Need(status=Status.FAIL, key=line, says=says, lacks=key, confidence=Confidence.INFERRED)
    needs = f"{key}, or a JVM of broker {broker} with -Djava.security.auth.login.config"
    return _Need(status=Status.UNKNOWN, key=line, says=f"{key} is not in the file, and the JVM may have a JAAS file", needs=needs)


def _keyless(between: InterBroker, broker: int, listener: str) -> Iterator[_Need]:
    """Yield that a listener has no key at all: Kafka tries the one between brokers against itself, and no other."""
    used, own = between.listener(broker), f"listener.name.{listener.lower()}."
    given = any(_GIVES_KEYS.fullmatch(key.removeprefix(own)) for key in between.settings.files[broker])
    if used is not None and used.name == listener and not given:
        key = between.settings.first_set(broker, "inter.broker.listener.name", "security.inter.broker.protocol")
        yield _Need(status=Status.FAIL, key=key, says=_NO_STORE, lacks="ssl.keystore.location")


def _stores(between: InterBroker, broker: int, listener: str, reads: Mapping[str, SourceRead]) -> Iterator[_Need]:
    for name in _STORES:
        own = f"listener.name.{listener.lower()}.{name}.location"
        key = own if own in between.settings.files[broker] else f"{name}.location"
        setting, read = between.settings.get(broker, key), reads.get(f"properties {key}")
        if setting.state == "unset":
            continue
        if setting.state == "hidden":
            yield _later(broker, key)
        elif read is not None and read.failure is ReadFailure.NO_FILE:
            kind = between.settings.at(broker, listener, f"{name}.type").value or "JKS"
            text = "Failed to load PEM SSL keystore {}" if kind == "PEM" else "Failed to load SSL keystore {} of type {}"
            yield _Need(status=Status.FAIL, key=key, says=text.format(setting.value, kind))
        elif read is not None and read.outcome == "answered":
            says = f"{setting.value} exists, and its password was not tested"
            yield _Need(status=Status.UNKNOWN, key=key, says=says, needs=f"a start of broker {broker}")
        else:
            says = f"the files do not show whether {setting.value} exists"
            yield _Need(status=Status.UNKNOWN, key=key, says=says, needs=f"kafka-audit lint on the host of broker {broker}")
