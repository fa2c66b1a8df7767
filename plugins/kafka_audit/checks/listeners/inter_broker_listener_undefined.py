from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.listeners.inter_broker import PROTOCOLS
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.model.addresses.advertised_listeners import INSTEAD, KEY, entries, protocols_by_listener

_KEYS = ("inter.broker.listener.name", "security.inter.broker.protocol", "advertised.listeners", "listeners")


_NOT_ADVERTISED = (
    "inter.broker.listener.name must be a listener name defined in advertised.listeners. "
    "The valid options based on currently configured listeners are {}"
)
_NO_PROTOCOL = "Listener with name {} defined in inter.broker.listener.name not found in listener.security.protocol.map."
_DEFAULT = "PLAINTEXT"
"""The only listener of a broker without `listeners`."""


@check(code="KA311", severity=Severity.CRITICAL, by_files=True)
def inter_broker_listener_undefined(view: ClusterView) -> Judgements:
    """The inter-broker listener is not among the advertised listeners."""
    yield from no_files(view)
    between = view.next_start
    for broker, lines in sorted(between.settings.files.items()):
        used, hidden = between.listener(broker), [key for key in _KEYS if key in lines and lines[key].value is None]
        if hidden or used is None:
            error = f"{hidden[0]} contains a placeholder" if hidden else "its inter-broker listener is unknown"
            yield view.unknown(f"broker/{broker}", error, "the file as the broker reads it", who=f"broker {broker}")
            continue
        properties = {key: row.value for key, row in lines.items() if row.value}
        names = list(dict.fromkeys(entry.listener for entry in entries(properties)))
        names = names if properties.get(KEY) or properties.get(INSTEAD) else [_DEFAULT]
        says = _NO_PROTOCOL.format(used.name) if _without_protocol(properties) else _NOT_ADVERTISED.format(",".join(names))
        evidence = {"broker": broker, "listener": used.name, "advertised": tuple(names), "kafka_says": says}
        evidence["key"] = between.settings.first_set(broker, *_KEYS)
        yield view.judge(f"broker/{broker}", Status.PASS if used.name in names else Status.FAIL, evidence)


def _without_protocol(properties: Mapping[str, str]) -> bool:
    """Return whether Kafka stops earlier: the name has no entry in listener.security.protocol.map."""
    name, mapped = properties.get("inter.broker.listener.name"), properties.get("listener.security.protocol.map")
    return name is not None and canonical_listener(name) not in (protocols_by_listener(mapped) if mapped else PROTOCOLS)
