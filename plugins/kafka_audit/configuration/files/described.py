"""What a place in a file says of one broker, whatever the file's form. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_audit.configuration.files import setting_names
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.programs import is_strongly_brokers, other_program
from kafka_audit.configuration.files.setting_names import SettingNames
from kafka_audit.model.linted import Remark

ADVERTISED_BY_BITNAMI = "advertised-address-placeholder"
"""What Bitnami's init container replaces by the name of the pod."""

ANY_OPTIONS = "*"
"""Options of the JVM that are not known."""

_COMMENT = re.compile(r"\s#(?:\s|$)")
_PATHS = frozenset({"log.dirs", "log.dir", "metadata.log.dir", "ssl.keystore.location", "ssl.truststore.location"})
_OF_WINDOWS = re.compile(r"(?:^|,\s{0,5})[A-Za-z]:[^\\/,]")
_FOLDER_OF_BITNAMI = "/bitnami/kafka"
_MOST_REMARKS = 50
COMMANDED = re.compile(r"_\{(?:HOSTNAME|PORT)_COMMAND\}")
"""What wurstmeister's image replaces by what a command prints: start-kafka.sh, 901c084."""

_FILLED = r"%[A-Z][A-Z0-9_]{1,60}%|@[A-Z][A-Z0-9_]{1,60}@|__[A-Z][A-Z0-9_]{1,60}__|(?<!\?)<[A-Za-z][\w .-]{1,60}>"
"""What scripts and people replace: `%ID%`, `@HOST@`, `__PORT__`, `<your-ip>`; no named group of a regular expression."""

_WHOLE = re.compile(rf"{ADVERTISED_BY_BITNAMI}|{COMMANDED.pattern}|{_FILLED}")
_BEGINS = re.compile(rf"\$\{{|\$\(|\{{\{{|{_WHOLE.pattern}")
_ENDS = {"${": re.compile(r"\}"), "$(": re.compile(r"\)|\s"), "{{": re.compile(r"\}\}")}


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A volume of a container; `keeps` says that it is there to outlast the container, `claim` that it is a new file system."""

    path: str
    line: int
    keeps: bool = False
    claim: bool = False
    source: str = ""  # the name of a volume of Docker, "" for what is none


@dataclass(frozen=True, kw_only=True)
class ContainerClient:
    """Another container of the network that names a broker's address, and the line of it."""

    name: str
    port: int
    line: int
    bootstraps: bool  # whether it is certainly a client of Kafka


@dataclass(frozen=True, kw_only=True)
class Container:
    """What surrounds a broker in a network of containers.

    `own` are its names there, `ports` has by port of the host the port of the container and the line, for ports that are known.
    `new_host` says that a container that replaces it has another host name, `file` is what its command starts Kafka with.
    `probed` are the ports that decide whether it is ready (0: a command), `service` the one that names the pods of a
    StatefulSet, which wait for that if it is not `published`; `one_by_one` says that the next pod waits.
    """

    own: frozenset[str] = frozenset()
    ports: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    cluster_id: Property | None = None
    mounts: tuple[Mount, ...] = ()
    clients: tuple[ContainerClient, ...] = ()
    new_host: bool = False
    probed: frozenset[int] = frozenset()
    service: str = ""
    published: bool = True
    one_by_one: bool = False
    file: str = ""
    healthcheck: Property | None = None
    user: str = ""  # who runs it, "" where the image decides
    shared: frozenset[str] = frozenset()  # volumes that services without a broker have, too


@dataclass(frozen=True, kw_only=True)
class Described:
    """The settings of one broker, or of several that share a text.

    `unknown` are keys that something fills in before the broker starts: a placeholder, a reference, a default of the image. They
    may be absent from `properties`. Their values decide nothing. `ends` says why the image ends before Kafka starts, or what the
    operator refuses: variable or field, reason and line.
    """

    properties: Mapping[str, Property]
    unknown: frozenset[str] = frozenset()
    inside: str = ""  # where in the file, "" where it is the whole of it
    image: str | None = None  # the container's image, where the file names one
    version: str | None = None  # the Kafka version, where a resource names one
    neighbours: frozenset[str] = frozenset()  # names that resolve only in the network that the file makes
    cluster: str = ""  # its cluster's namespace and name, where a resource names them
    remarks: tuple[Remark, ...] = ()
    names: SettingNames = setting_names.PROPERTIES
    ends: tuple[Property, ...] = ()
    ended_by: str = ""  # whose image or operator that is, of one that is known
    jvm: str | None = None  # its options, None where the file is not that of a container
    replicas: int = 0  # how many nodes it describes, 0 where that is not known
    partial: bool = False  # whether it adds to a service of another file, as an override of compose does
    container: Container | None = None
    fragment: int = 0  # which of the files in a text has it, 0 where the file is one

    def value(self, key: str) -> str:
        """Return the value that decides, "" where the key is not set or something fills it in before the start."""
        setting = self.properties.get(key)
        return setting.value.strip() if setting is not None and key not in self.unknown else ""


def _placeholders(value: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of placeholders. One search for an end counts for all that begin before it."""
    ends: dict[str, re.Match[str] | None] = {}
    at = 0
    while begin := _BEGINS.search(value, at):
        kind, at = begin[0], begin.end()
        if _WHOLE.fullmatch(kind):
            yield begin.span()
            continue
        end = ends.get(kind)
        if kind not in ends or (end is not None and end.start() < at):
            end = ends[kind] = _ENDS[kind].search(value, at)
        if end is not None and not end[0].isspace():
            yield begin.start(), end.end()
            at = end.end()
        else:
            at = begin.start() + 1


def is_placeholder(value: str) -> bool:
    """Return whether a value, or a part of it, contains a placeholder: `${env:HOST}`, `$(POD_IP)`, `{{ host }}`."""
    return next(_placeholders(value), None) is not None


def stand_in(value: str, text: str) -> str:
    """Return a value with `text` in place of each placeholder."""
    parts, at = [], 0
    for start, end in _placeholders(value):
        parts += [value[at:start], text]
        at = end
    return "".join([*parts, value[at:]])


def is_brokers(properties: Mapping[str, Property]) -> bool:
    """Return whether properties are a broker's, and not those of a client, a Connect worker or a logger."""
    return is_strongly_brokers(properties) or ("zookeeper.connect" in properties and other_program(properties) is None)


def _is_bitnamis(properties: Mapping[str, Property]) -> bool:
    values = [properties[key].value for key in ("advertised.listeners", "log.dir") if key in properties]
    return any(ADVERTISED_BY_BITNAMI in value or value.startswith(_FOLDER_OF_BITNAMI) for value in values)


def described(properties: Mapping[str, Property], inside: str = "", names: SettingNames = setting_names.PROPERTIES) -> Described:
    """Return the unchanged properties of a file; the id that Bitnami's init container fills in is a placeholder."""
    if "process.roles" in properties and "node.id" not in properties and _is_bitnamis(properties):
        properties = {**properties, "node.id": Property("node.id", "${node.id}", properties["process.roles"].line)}
    unknown = frozenset(setting.key for setting in properties.values() if is_placeholder(setting.value))
    twice = (setting for setting in properties.values() if setting.earlier)
    inner = (setting for setting in properties.values() if _COMMENT.search(setting.value) and "jaas" not in setting.key)
    remarks = [
        Remark(line=one.earlier, text=f"{one.key[:200]} has no effect here: line {one.line} sets it again") for one in twice
    ]
    remarks += [
        Remark(line=one.line, text=f"what follows # is part of the value of {one.key[:100]}: a comment needs a line of its own")
        for one in inner
    ]
    for key in _PATHS & properties.keys():
        if _OF_WINDOWS.search(properties[key].value):
            text = f"Java takes each backslash away, which leaves {properties[key].value[:60]}: write / or two backslashes"
            remarks.append(Remark(line=properties[key].line, text=text))
    return Described(properties=properties, unknown=unknown, inside=inside, names=names, remarks=listed(remarks))


def listed(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """Return the first remarks, and how many there are more."""
    more = len(remarks) - _MOST_REMARKS
    rest = [Remark(line=remarks[_MOST_REMARKS].line, text=f"{more} more keys like these are not listed")] if more > 0 else []
    return (*remarks[:_MOST_REMARKS], *rest)
