"""Whether KafkaConfig accepts a broker's settings, as far as placeholders let that be known. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from kafka_audit.configuration.definitions import Definition, StartRule, definitions
from kafka_audit.configuration.definitions.addresses import VOTERS
from kafka_audit.configuration.files.described import Described, is_placeholder, stand_in
from kafka_audit.configuration.starts import StartRefusal, start_refusal
from kafka_audit.configuration.starts.after_config import refusal_after_config

_PORT = re.compile(r"(?<=[^/]:)\0(?=,|$)")
_VOTER = re.compile(r"(?:^|,)\s*(\d+)@")
_NAMES = re.compile(r"(?:^|,)\s*([A-Za-z0-9_.-]+):/")
_FIRST_PORT = 40_000
_MODES = ("process.roles", "zookeeper.connect")
_NO_VOTER = "2000000001"
_LISTS = ("listeners", "advertised.listeners")

_OTHERS_REST_ON = frozenset(
    [
        *("listeners", "process.roles", "node.id", "broker.id", "zookeeper.connect", "listener.security.protocol.map"),
        *("controller.listener.names", VOTERS, "controller.quorum.bootstrap.servers"),
    ]
)
"""Keys whose correction may lift a refusal of another one: what is refused without them says nothing."""

_TEXT = frozenset({"STRING", "LIST", "PASSWORD", "CLASS"})


@dataclass(frozen=True, kw_only=True)
class StartVerdict:
    """`starts` is None where a placeholder decides; then `refused` is Kafka's message for the likeliest value."""

    starts: bool | None
    refused: StartRefusal | None
    by_image: bool = False  # the image refuses, and Kafka says nothing
    later: bool = False  # KafkaConfig accepts, and a class that reads the settings next does not


def start_verdict(broker: Described, version: str, patch: str | None = None) -> StartVerdict:
    """Return what a release's KafkaConfig says of a broker's settings.

    A placeholder is first taken for something sensible. What is refused even so, and without that key in the same words, is
    refused, and so is what stays refused for the same key of the file however the keys that are not known are filled in. A
    refusal that their values could lift is not known. An image that ends before Kafka starts decides alone.

    Args:
        broker: its settings.
        version: a release that is known.
        patch: the release that runs, where another one of its minor judges it.
    """
    if broker.ends:
        who = "operator refuses the resource" if broker.image is None else "image ends before Kafka starts"
        message = f"{broker.ended_by} {who}: {'; '.join(end.value for end in broker.ends)}"
        return StartVerdict(starts=False, refused=StartRefusal(message=message, key=broker.ends[0].key), by_image=True)
    values = {key: setting.value for key, setting in broker.properties.items()}
    present = broker.unknown & values.keys()
    likely = {**values, **_sensible(values, present, definitions(version))}
    refused = start_refusal(likely, version, patch)
    if refused is not None and "node.id" in present and (voter := _VOTER.search(likely.get(VOTERS, ""))):
        # A node that is a controller must be among the voters, and one that is not must not.
        refused = start_refusal(likely | {"node.id": voter[1]}, version, patch)
    if broker.image and not broker.ended_by and is_placeholder(broker.image):  # what makes settings of the variables is not known
        return StartVerdict(starts=None, refused=refused)
    if refused is None:
        next_one = refusal_after_config(values, version, unknown=broker.unknown, jvm=broker.jvm)
        return StartVerdict(starts=True, refused=next_one, later=next_one is not None)
    if not broker.unknown:
        return StartVerdict(starts=False, refused=refused)
    known = {key: value for key, value in values.items() if key not in present}
    bare = start_refusal(known, version, patch)
    reported = (refused.rule is StartRule.VALUE and refused.key not in broker.unknown) or _is_missing(refused, broker)
    certain = bare is not None and bare.message == refused.message and (reported or present == broker.unknown)
    if certain or (refused.rule is StartRule.LISTS and broker.unknown.isdisjoint(_LISTS)):
        return StartVerdict(starts=False, refused=refused)
    every = [start_refusal({**likely, **filled}, version, patch) for filled in _fillings(likely, broker.unknown)]
    every = [one for one in every if one is None or one.rule is not StartRule.MISSING or one.key not in broker.unknown]
    same = {refusal.key for refusal in every if refusal is not None}
    always = None not in every and len(same) == 1 and not same & ({None} | broker.unknown)
    return StartVerdict(starts=False if always else None, refused=every[0] if always else refused)


def next_refusals(broker: Described, verdict: StartVerdict, version: str, patch: str | None = None) -> Iterator[StartRefusal]:
    """Yield what KafkaConfig refuses of a broker's settings once the keys that it refuses first are corrected."""
    if verdict.starts is not False or broker.unknown or verdict.by_image:
        return
    values, refused = {key: setting.value for key, setting in broker.properties.items()}, verdict.refused
    while refused is not None and refused.key in values and refused.key not in _OTHERS_REST_ON:
        del values[refused.key]
        refused = start_refusal(values, version, patch)
        if refused is None or refused.rule is StartRule.MISSING or refused.key not in values:
            return
        yield refused


def _fillings(values: Mapping[str, str], unknown: frozenset[str]) -> Iterator[dict[str, str]]:
    """Yield how an image or a file may fill in keys that are not known: as a broker with ZooKeeper, or in a role of KRaft.

    Names of listeners come from the keys that are known, so what is refused in each of these ways is refused in any.
    """
    listed = [name for key in _LISTS for name in _NAMES.findall(values.get(key, ""))]
    names = tuple(dict.fromkeys((*listed, "CONTROLLER", "PLAINTEXT")))
    mapped = ",".join(f"{name}:PLAINTEXT" for name in names)
    quorum = values.get(VOTERS) or "1@controller:9093"
    voter = match[1] if (match := _VOTER.search(quorum)) else "1"
    kraft = {VOTERS: quorum}
    modes = [{"zookeeper.connect": "zookeeper:2181", "broker.id": values.get("node.id", "1")}]
    for roles, node in (("broker", _NO_VOTER), ("broker,controller", voter), ("controller", voter)):
        modes += [
            {**kraft, "process.roles": roles, "node.id": node, "controller.listener.names": name}
            for name in {names[-2], *names[:3]}
        ]
    for mode, between, everything in product(modes, (None, *names[:3]), (True, False)):
        listeners = {"listener.security.protocol.map": mapped} if everything else {}
        listeners |= {"inter.broker.listener.name": between} if between else {}
        yield {key: value for key, value in {**mode, **listeners}.items() if key in unknown}


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
            if key == VOTERS and not _VOTER.search(text):
                text = f"{values.get('node.id', '1') if 'controller' in values.get('process.roles', '') else _NO_VOTER}@\0:\0"
            found[key] = _PORT.sub(lambda _: str(next(port)), text).replace("\0", "placeholder")
    return found
