import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.configuration.set_lines import set_lines
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.features import ELIGIBLE_REPLICAS
from kafka_audit.cluster.releases import does, releases
from kafka_audit.cluster.settings import ROLES, Settings
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.configuration.definitions import VERSIONS, version_numbers
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.configuration.near_keys import foreign_keys, known_keys, nearest_keys
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, parts

_KEY = re.compile(r"[A-Za-z0-9._-]{1,200}")
_PREFIX = re.compile(r"listener\.name\.([^.]+)\.(.+)", re.IGNORECASE)
_JAAS, _IBP, _MIN_ISR = "sasl.jaas.config", "inter.broker.protocol.version", "min.insync.replicas"
_ADDRESSES = frozenset({"advertised.host.name", "advertised.port", "host.name", "port"})
_SUPER, _MISPLACED = "super.users", re.compile(r",\s*User:")
_ZOOKEEPER, _MIGRATES = "zookeeper.", "zookeeper.metadata.migration.enable"
_SESSION, _TICK_MS = f"{_ZOOKEEPER}session.timeout.ms", 2000
_LISTENERS = (INSTEAD, KEY)
_OTHERS = ("inter.broker.listener.name", "control.plane.listener.name", CONTROLLERS)


@dataclass(frozen=True, kw_only=True)
class _Ignored:
    """A key of a file that has no effect."""

    key: str
    why: str
    severity: Severity = Severity.MEDIUM
    meant: str | None = None


@check(code="KA719", severity=Severity.MEDIUM, by_files=True)
def setting_ignored(view: ClusterView) -> Judgements:
    """A key in server.properties has no effect: it is misspelt, or Kafka does not use it there."""
    yield from one_finding(view, _of_nodes(view))
    if not view.settings.controllers:
        yield from no_brokers(view)


def _of_nodes(view: ClusterView) -> Judgements:
    settings = view.settings
    for node in sorted({*view.inter_broker.brokers, *settings.controllers}):
        who, party = settings.party(node), settings.resource(node)
        lines = set_lines(settings, node)
        if lines is None:
            needs = f"DescribeConfigs on Cluster, or server.properties of {who} (`properties` in the cluster file)"
            yield view.unknown(party, "its settings were not read", needs, who=who)
            continue
        found = {ignored.key: ignored for ignored in _ignored(view, node, lines) if _KEY.fullmatch(ignored.key)}
        for ignored in found.values():
            facts = {"broker": node, "who": who, "key": ignored.key, "why": ignored.why, "meant": ignored.meant}
            facts["of_old_mode"] = _is_kraft(settings, node) and (ignored.key == _IBP or ignored.key.startswith(_ZOOKEEPER))
            yield view.judge(f"{party}/config/{ignored.key}", Status.FAIL, facts, severity=ignored.severity)
        if not found:
            yield view.judge(party, Status.PASS, who=who)


def _is_kraft(settings: Settings, node: int) -> bool:
    return bool(settings.get(node, ROLES).value)


def _ignored(view: ClusterView, node: int, lines: Mapping[str, str | None]) -> Iterator[_Ignored]:
    for key, meant in nearest_keys(lines):
        yield _Ignored(key=key, why=f"Kafka has no such key; did you mean {meant}?", meant=meant)
    yield from _of_listeners(view.settings, node, lines)
    known = releases(view, node)
    exact = known[0] if len(known) == 1 and known[0] in VERSIONS else None
    for key, why in foreign_keys(lines, exact):
        yield _Ignored(key=key, why=why, severity=Severity.MEDIUM if key in _ADDRESSES or key.startswith("--") else Severity.LOW)
    if _MISPLACED.search(lines.get(_SUPER) or ""):
        why = "only a semicolon separates principals, and what follows a comma is part of a name"
        yield _Ignored(key=_SUPER, why=why, severity=Severity.HIGH)
    if _JAAS in lines:
        why = "brokers read listener.name.LISTENER.MECHANISM.sasl.jaas.config, in lower case"
        yield _Ignored(key=_JAAS, why=why)
    is_of_4 = len(known) == 1 and version_numbers(known[0]) >= (4,)  # it has no such keys, which is said above
    if _is_kraft(view.settings, node) and not is_of_4:
        yield from _of_old_mode(view, node, lines)
    decides = _min_isr_of_cluster(view, node)
    if decides and lines.get(_MIN_ISR) not in {None, decides}:
        why = f"with eligible leader replicas the value of the cluster holds, which is {decides}"
        yield _Ignored(key=_MIN_ISR, why=why)
    session = integer((lines.get(_SESSION) or "").strip())
    if session is not None and not _is_kraft(view.settings, node) and not 2 * _TICK_MS <= session <= 20 * _TICK_MS:
        why = "a ZooKeeper with its usual tickTime of 2,000 ms limits it to 4,000 to 40,000 ms"
        yield _Ignored(key=_SESSION, why=why, severity=Severity.LOW)


def _of_old_mode(view: ClusterView, node: int, lines: Mapping[str, str | None]) -> Iterator[_Ignored]:
    """Yield what a node in KRaft mode before 4.0 does not read."""
    if (lines.get(_MIGRATES) or "").strip().lower() != "true":
        for key in lines:
            if key.startswith(_ZOOKEEPER):
                yield _Ignored(key=key, why="in KRaft no node reads ZooKeeper", severity=Severity.LOW)
    if _IBP in lines and does(view, node, "protocol_by_feature"):
        yield _Ignored(key=_IBP, why="in KRaft the feature metadata.version decides", severity=Severity.LOW)


def _min_isr_of_cluster(view: ClusterView, node: int) -> str | None:
    """Return the min ISR that holds in place of a broker's file, as far as that is known.

    A running cluster reports it. A new one takes it from the file of the controller that is active when the feature is enabled.
    """
    settings = view.settings
    if _MIN_ISR not in settings.every_file.get(node, {}) or node in settings.controllers:
        return None
    if view.inter_broker.asked:
        feature, answer = view.features.get(ELIGIBLE_REPLICAS), settings.answers.get(node, {}).get(_MIN_ISR)
        return answer.value if answer is not None and feature is not None and feature.finalized else None
    votes = settings.with_controller_role & settings.every_file.keys()
    values = {settings.get(other, _MIN_ISR).value or "1" for other in votes if settings.get(other, _MIN_ISR).known}
    return values.pop() if does(view, node, "min_isr_by_cluster") and node not in votes and len(values) == 1 else None


def _of_listeners(settings: Settings, node: int, lines: Mapping[str, str | None]) -> Iterator[_Ignored]:
    """Yield keys of one listener that Kafka does not read: in upper case, without mechanism, of no listener."""
    values = {key: settings.get(node, key) for key in (*_LISTENERS, *_OTHERS)}
    lists = [name for key in _LISTENERS for name, _ in parts(values[key].value or ("PLAINTEXT://" if key == INSTEAD else ""))]
    named = {canonical_listener(name) for key in _OTHERS for name in (values[key].value or "").split(",")}
    unknown = any(setting.state == "hidden" for setting in values.values())
    for key in lines:
        match = _PREFIX.fullmatch(key)
        if match is None:
            continue
        listener, setting = match[1], match[2]
        lower = setting.lower()  # but for keys of plugins
        is_known = lower in known_keys() or lower.partition(".")[2] in known_keys()
        right = f"listener.name.{listener.lower()}.{lower if is_known else setting}"
        if key != right:
            yield _Ignored(key=key, why=f"Kafka reads {right}", meant=right)
        elif setting == _JAAS:
            yield _Ignored(key=key, why="Kafka reads it with the mechanism before sasl.jaas.config")
        elif not unknown and canonical_listener(listener) not in {*lists, *named}:
            yield _Ignored(key=key, why=f"the file names no listener {canonical_listener(listener)}", severity=Severity.LOW)
