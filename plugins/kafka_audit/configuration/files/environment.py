"""Environment variables that the common images turn into a server.properties. Pure.

They write a prefix + the key, in upper case with `_` for a dot, `__` for `_` and `___` for `-`. Each writes `key=value`
unchanged, so Java reads escapes in it. `images.yaml` has the images with their prefixes.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from kafka_audit.configuration.definitions import VERSIONS, definitions
from kafka_audit.configuration.files import images, java, setting_names
from kafka_audit.configuration.files.commands import OF_IMAGE, Start, StartKind
from kafka_audit.configuration.files.described import ANY_OPTIONS, COMMANDED, Described, is_brokers, is_placeholder
from kafka_audit.configuration.files.images import Image
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.programs import is_strongly_brokers
from kafka_audit.model.linted import Remark

_NOT_SETTINGS = re.compile(r"KAFKA_(?:VERSION|HOME|OPTS|HEAP_OPTS?|GC_LOG_OPTS|JMX_.*|JVM_PERFORMANCE_OPTS|(?:TOOLS_)?LOG4J_.*)")
_ESCAPED = re.compile(r"___|__|_")
_DOTS = MappingProxyType({"___": "-", "__": "_", "_": "."})
_ENV_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*+(.*)")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"(?:[ \t]+#.*)?|'([^']*)'(?:[ \t]+#.*)?")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_LONGEST_VALUE, _LONGEST_REFERRED, _MOST_GROWN = 10_000, 1_000, 1_000_000  # a reference to a reference doubles what it names
_VARIABLE = re.compile(r"\$[A-Za-z_]")
_COMMENT = re.compile(r"(?<![ \t])[ \t]++#.*")
_DIRS = ("log.dirs", "log.dir")
_SECRETS = "/etc/kafka/secrets/"
_JVM = ("KAFKA_OPTS", "KAFKA_JMX_OPTS", "KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", "EXTRA_ARGS", "JAVA_TOOL_OPTIONS")
_IGNORED = "ignored"  # what Confluent's examples set in containers of clients, whose image requires the variable
_OF_OTHERS, _MOST_PLAIN = Image(), 10
_HOST = re.compile(r"://[^,/]*?:(?=\d+(?:,|$))")


def is_env_file(text: str) -> bool:
    """Return whether all lines of a text are those of an env file."""
    lines = (line.strip() for line in text.split("\n"))
    return all(_ENV_LINE.fullmatch(line) and not line.endswith((";", ",")) for line in lines if line and line[0] != "#")


def parse_env_file(text: str) -> tuple[Property, ...]:
    """Return the variables of an env file (`NAME=value` lines, `export` and quotes as shells and compose know them).

    As these do, a reference to a variable of an earlier line becomes its value.
    """
    variables: dict[str, str] = {}
    found, grown = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        match = _ENV_LINE.fullmatch(line)
        if match:
            written = match[2].rstrip(" \t\r")
            value = _unquoted(written)
            if "$" in value and not written.startswith("'") and len(value) < _LONGEST_VALUE and grown < _MOST_GROWN:
                filled = _REFERENCE.sub(lambda one: variables.get(one[1] or one[2], one[0]), value)
                grown, value = grown + len(filled), filled
            if len(value) < _LONGEST_REFERRED:
                variables[match[1]] = value
            found.append(Property(match[1], value, number))
    return tuple(found)


def _unquoted(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    if match is None:
        return _COMMENT.sub("", value)
    return match[2] if match[1] is None else re.sub(r"\\([\"\\$])", r"\1", match[1])


def described_broker(  # noqa: PLR0913 -- a container is described in that many places
    variables: Iterable[Property],
    *,
    inside: str = "",
    image: str | None = None,
    unknown: Iterable[str] = (),
    literal: Collection[str] = (),
    release: str = "",
    elsewhere: Property | None = None,
    start: Start = OF_IMAGE,
    line: int = 0,
) -> Described | None:
    """Return the broker that a container with these variables runs, None where they are no broker's.

    Args:
        variables: names and values, a later one in place of an earlier one.
        inside: their place in the file.
        image: the container's image; it decides what is set where no variable sets it.
        unknown: names of variables whose values are stored elsewhere.
        literal: names of variables in whose values nothing is replaced, whatever they look like.
        release: the release of Helm that renders the file, "" where no chart does.
        elsewhere: the key that adds variables of other files, such as `env_file`, with its line.
        start: how the container starts the broker.
        line: of the container's image.
    """
    by_name = {setting.key: setting for setting in variables}
    of_image = images.image_of(image, by_name)
    keys = {name: key for name in by_name if (key := key_of(name, of_image)) is not None}
    # The image copies an alias over the variable that it stands for.
    found = {keys[name]: _written(keys[name], by_name[name]) for name in sorted(keys, key=lambda name: name in of_image.aliases)}
    serves = start.kind is StartKind.SERVER
    bare = not found and start.kind is StartKind.IMAGE and elsewhere is None and not of_image.alone
    if bare and (ends := tuple(of_image.ends(image or "", by_name, line))):
        return Described(properties={}, inside=inside, image=image, ends=ends, ended_by=of_image.label)
    sure = of_image.alone and start.kind is StartKind.IMAGE  # whatever variables it has, that image starts a broker
    if not serves and not sure and not _is_of_broker(found, strongly=image is not None and not of_image.label):
        return None
    if sure and not found and elsewhere is None and line:
        found = {key: Property(key, value, line) for key, value in of_image.unset.items()}
    filled_in = {name for name, setting in by_name.items() if is_placeholder(setting.value) or _VARIABLE.search(setting.value)}
    known_later = {*unknown, *(filled_in - set(literal)), *(name for name in filled_in if COMMANDED.search(by_name[name].value))}
    left = {key for name, key in keys.items() if name in known_later}
    if serves:
        found = {setting.key: setting for setting in start.overrides}
        left = {key for key, setting in found.items() if "$" in setting.value}
    elif start.kind is StartKind.OTHER:
        left = set(found)
    if not found:  # a file that another place describes has all settings
        return None
    first = min(setting.line for setting in found.values())
    alone = start.kind in {StartKind.IMAGE, StartKind.WRAPPED}
    properties, of_files = _completed(found, of_image, image, first) if alone else (found, frozenset())
    folder, hidden = _folder(found, of_image, first) if alone and elsewhere is None else ({}, frozenset(_DIRS) - found.keys())
    hidden |= of_files | (frozenset(of_image.hidden) - found.keys())
    if of_image.open or elsewhere is not None or not alone:
        hidden |= images.FROM_BASE - properties.keys() - (of_image.left_to(found) if alone and elsewhere is None else frozenset())
    if elsewhere is not None or not alone:
        hidden |= images.FACTORS - properties.keys()
    given = {
        name: replace(setting, value=setting.value or "?") if name in known_later else setting
        for name, setting in by_name.items()
    }
    own = start.kind is StartKind.IMAGE and elsewhere is None
    options = " ".join(by_name[name].value for name in _JVM if name in by_name)
    return Described(
        properties={**properties, **folder},
        unknown=frozenset(left | hidden),
        inside=inside,
        image=image,
        names=setting_names.of_environment(of_image.prefix, inside, release=release),
        remarks=(*of_image.withdrawal(image or "", line), *_remarks(by_name, of_image, image or "", elsewhere, start)),
        ends=tuple(of_image.ends(image or "", given, first)) if own and keys else (),
        ended_by=of_image.label,
        jvm=options if own and of_image.secured and known_later.isdisjoint(_JVM) else ANY_OPTIONS,
    )


def in_part(broker: Described) -> Described:
    """Return a broker of which more may be set than is known."""
    filled = {*images.FROM_BASE, *images.FACTORS, *_DIRS} - broker.properties.keys()
    return replace(broker, unknown=broker.unknown | filled, ends=(), jvm=ANY_OPTIONS, replicas=0)


def _is_of_broker(found: Mapping[str, Property], *, strongly: bool) -> bool:
    """Return whether settings are a broker's, those that have the prefix of Bitnami's image for another one, too."""
    if any(found[key].value == _IGNORED for key in ("broker.id", "zookeeper.connect") if key in found):
        return False
    if strongly:
        return is_strongly_brokers(found)
    return is_brokers(found) or is_brokers({key.removeprefix("cfg."): setting for key, setting in found.items()})


def _remarks(
    by_name: Mapping[str, Property], image: Image, name: str, elsewhere: Property | None, start: Start
) -> Iterator[Remark]:
    if elsewhere is not None:
        yield Remark(line=elsewhere.line, text=f"not judged: settings of {elsewhere.key}")
    if start.at is not None:
        what = "the file with which it starts Kafka" if start.kind is StartKind.SERVER else "what it does before Kafka starts"
        yield Remark(line=start.at.line, text=f"not judged: {start.at.key}, {what}")
    foreign = [setting for name, setting in by_name.items() if name.startswith(images.BITNAMIS_PREFIX)]
    if image.label and foreign and image.prefix != images.BITNAMIS_PREFIX:
        text = f"{image.label} image reads {images.PREFIX}NAME: variables with {images.BITNAMIS_PREFIX} set nothing"
        yield Remark(line=foreign[0].line, text=text)
    yield from image.of_others(name, by_name)
    for setting in [setting for name, setting in by_name.items() if _in_small_letters(name, image)][:_MOST_PLAIN]:
        text = f"{setting.key[:100]} sets nothing: {image.label} image reads {setting.key[:100].upper()}"
        yield Remark(line=setting.line, text=text)
    if image.label and image.prefix == images.BITNAMIS_PREFIX:
        plain = [setting for name, setting in by_name.items() if _sets_nothing(name, image)]
        for setting in plain[:_MOST_PLAIN]:
            text = f"{setting.key[:100]} sets nothing: {image.label} image reads {images.BITNAMIS_PREFIX}NAME here"
            yield Remark(line=setting.line, text=text)


def _in_small_letters(name: str, image: Image) -> bool:
    """Return whether the name of a variable is that of a setting, but for small letters."""
    return bool(image.label) and name != name.upper() and key_of(name.upper(), image) in definitions(VERSIONS[-1])


def _sets_nothing(name: str, image: Image) -> bool:
    """Return whether the name of a variable is that of a setting with the prefix of other images."""
    if name.startswith(image.prefix) or name in image.aliases:
        return False
    return key_of(name, _OF_OTHERS) in definitions(VERSIONS[-1])


def key_of(name: str, image: Image) -> str | None:
    """Return the property of a variable, None if it has none."""
    if name in image.aliases:
        return image.aliases[name]
    prefix = image.prefix
    if not name.startswith(prefix) or name == prefix or _NOT_SETTINGS.fullmatch(name):
        return None
    return _ESCAPED.sub(lambda match: _DOTS[match[0]], name.removeprefix(prefix)).lower()


def _written(key: str, variable: Property) -> Property:
    """Return the variable as Java reads it from the file that the image writes."""
    if "\\" not in variable.value and variable.value.isascii() and "\n" not in variable.value:
        return Property(key, variable.value.lstrip(), variable.line)
    try:
        value = java.parse_properties(f"{key}={variable.value}".encode())[key].value
    except java.PropertiesError as error:
        raise java.PropertiesError(variable.line, error.problem) from error
    return Property(key, value, variable.line)


def _completed(
    found: Mapping[str, Property], image: Image, name: str | None, line: int
) -> tuple[Mapping[str, Property], frozenset[str]]:
    """Return the settings after the image has changed them, and the keys that it sets itself."""
    stores, of_files = _stores(found) if image.secured else ({}, frozenset())
    base = image.settings(images.release_of(name or ""))
    own = {key: Property(key, value, line) for key, value in base.items() if key not in found}
    found = {**own, **found, **stores}
    advertised = found.get("advertised.listeners")
    roles = found.get("process.roles")
    alone = roles is not None and roles.value.strip() == "controller"
    if advertised is None or "listeners" in found or not image.derives or alone:
        return found, of_files
    listeners = Property("listeners", _HOST.sub("://0.0.0.0:", advertised.value), advertised.line)
    hidden = is_placeholder(listeners.value) or _VARIABLE.search(listeners.value)  # a placeholder for the host alone is replaced
    return {**found, "listeners": listeners}, of_files | ({"listeners"} if hidden else set())


def _folder(found: Mapping[str, Property], image: Image, line: int) -> tuple[Mapping[str, Property], frozenset[str]]:
    """Return the folder of the logs where the image decides, and the keys of it that are not known."""
    if "log.dirs" in found or ("log.dir" in found and not image.log_dirs):
        return {}, frozenset()
    if image.log_dirs is None:
        return {}, frozenset(_DIRS)
    return {"log.dirs": Property("log.dirs", image.log_dirs, line)} if image.log_dirs else {}, frozenset()


def _stores(found: Mapping[str, Property]) -> tuple[Mapping[str, Property], frozenset[str]]:
    """Return what Confluent's and Apache Kafka's images make of the names of stores and password files, and what those fill in.

    Source: their `configure`, which does so where an advertised listener's name ends in SSL.
    """
    if "SSL://" not in (advertised.value if (advertised := found.get("advertised.listeners")) else ""):
        return {}, frozenset()
    client = found.get("ssl.client.auth")
    trusting = client is not None and ("required" in client.value or "requested" in client.value)
    stores, keys = {}, {"ssl.key.password", "ssl.keystore.password"}
    for store in ("keystore", "truststore") if trusting else ("keystore",):
        name = found.get(f"ssl.{store}.filename")
        if name is not None:
            key = f"ssl.{store}.location"
            stores[key] = Property(key, f"{_SECRETS}{name.value}", name.line)
            keys.add(f"ssl.{store}.password")
    return stores, frozenset(keys)
