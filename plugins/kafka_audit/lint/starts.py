"""Whether KafkaConfig accepts a broker's settings, as far as placeholders let that be known. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_audit.configuration.definitions import Definition, StartRule, definitions
from kafka_audit.configuration.files.described import Described, is_placeholder, stand_in
from kafka_audit.configuration.starts import StartRefusal, start_refusal

_PORT = re.compile(r"(?<=[^/]:)\0(?=,|$)")
_VOTER = re.compile(r"(?:^|,)\s*(\d+)@")
_FIRST_PORT = 40_000
_MODES = ("process.roles", "zookeeper.connect")
_NO_VOTER = "2000000001"
_TEXT = frozenset({"STRING", "LIST", "PASSWORD", "CLASS"})


@dataclass(frozen=True, kw_only=True)
class StartVerdict:
    """`starts` is None where a placeholder decides; then `refused` is Kafka's message for the likeliest value."""

    starts: bool | None
    refused: StartRefusal | None


def start_verdict(broker: Described, version: str) -> StartVerdict:
    """Return what a release's KafkaConfig says of a broker's settings.

    A placeholder is first taken for something sensible. What is refused even so, and without that key in the same words, is
    refused; a refusal that the placeholder's value could lift is not known.

    Args:
        broker: its settings.
        version: a release that is known.
    """
    values = {key: setting.value for key, setting in broker.properties.items()}
    present = broker.unknown & values.keys()
    likely = {**values, **_sensible(values, present, definitions(version))}
    refused = start_refusal(likely, version)
    if refused is not None and "node.id" in present and (voter := _VOTER.search(likely.get("controller.quorum.voters", ""))):
        # A node that is a controller must be among the voters, and one that is not must not.
        refused = start_refusal(likely | {"node.id": voter[1]}, version)
    if refused is None:
        return StartVerdict(starts=True, refused=None)
    if not broker.unknown:
        return StartVerdict(starts=False, refused=refused)
    bare = start_refusal({key: value for key, value in values.items() if key not in present}, version)
    reported = (refused.rule is StartRule.VALUE and refused.key not in broker.unknown) or _is_missing(refused, broker)
    certain = bare is not None and bare.message == refused.message and (reported or present == broker.unknown)
    return StartVerdict(starts=False if certain else None, refused=refused)


def _is_missing(refused: StartRefusal, broker: Described) -> bool:
    """Return whether a required key is missing that nothing fills in, nor a key that makes another one required."""
    missing = refused.rule is StartRule.MISSING and refused.key is not None
    return missing and broker.unknown.isdisjoint({refused.key, *_MODES})


def _sensible(values: Mapping[str, str], keys: frozenset[str], known: Mapping[str, Definition]) -> dict[str, str]:
    """Return likely values for keys that hold placeholders: names for names, ports for ports, numbers for numbers."""
    port = iter(range(_FIRST_PORT, 65_000))
    found = {}
    for key in sorted(keys):
        definition = known.get(key)
        if definition is not None and definition.type not in _TEXT:
            default = definition.default
            found[key] = _NO_VOTER if key == "node.id" else "1" if default in {None, -1} else str(default).lower()
        elif not is_placeholder(values[key]):
            found[key] = values[key] or "placeholder"
        else:
            text = stand_in(values[key], "\0")
            found[key] = _PORT.sub(lambda _: str(next(port)), text).replace("\0", "placeholder")
    return found
