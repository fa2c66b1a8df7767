"""One file in whatever form: which brokers it describes. Pure."""

import contextlib
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from kafka_audit.configuration.definitions import VERSIONS, keys
from kafka_audit.configuration.files import (
    chart_values,
    compose,
    dockerfile,
    environment,
    java,
    manifests,
    pasted,
    scattered,
    templates,
    yaml_nodes,
)
from kafka_audit.configuration.files.described import ANY_OPTIONS, Described, described, is_brokers
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.configuration.files.pasted import Fragment
from kafka_audit.configuration.files.programs import is_part, other_program, unread_format
from kafka_audit.configuration.files.templates import YamlTemplate
from kafka_audit.model.linted import Remark

_YAML = (".yaml", ".yml", ".json")
_PROPERTIES = (".properties", ".config")
_WHOLE = (*_PROPERTIES, ".yaml", ".yml", ".env")
"""Endings of files that are one file, and no text about some."""

_MANIFEST = re.compile(r"^(?:apiVersion|kind|services|jobs|---)\b|^---", re.MULTILINE)
_RESOURCE = re.compile(r"^kind:.*(?:\n.*){0,20}\n[ \t]", re.MULTILINE)
"""A resource of Kubernetes whose lines have their indentation: it describes no broker if none was found."""

_NESTED = re.compile(r"^[A-Za-z][\w.-]{0,60}:[ \t]{0,9}\n[ \t]{1,9}[\w-]", re.MULTILINE)
_ASSIGNED = re.compile(r"^[a-z][\w.-]{0,100}[ \t]{0,9}=", re.MULTILINE)
STDIN = "-"
_COMPOSE = re.compile(r"(?:docker-)?compose\.ya?ml")
_OVERRIDES = tuple(f"{name}.override.{ending}" for name in ("compose", "docker-compose") for ending in ("yml", "yaml"))
"""Names of the file that Compose adds to one with its usual name (compose-go, `cli.DefaultOverrideFileNames`)."""

_PARTS_OF_MSK = re.compile(
    r"^[ \t]*server_properties[ \t]*=[ \t]*"
    r"(?:<<[-~]?(?P<end>[A-Z_]+)\n(?P<text>(?s:.*?))\n[ \t]*(?P=end)$|\"(?P<line>[^\"\n]*)\")",
    re.MULTILINE,
)
"""Settings of brokers in Terraform, between marks or in a line."""

_RENDER = "is a Helm template: render it: helm template RELEASE CHART | kafka-audit lint -"
_OF_HELM = re.compile(
    r"\{\{-?\s*(?:\.(?:Values|Release|Chart|Files|Capabilities)\b|include\s|template\s|define\s|toYaml\s|if\s|range\s|with\s)"
)
_RENDERED = "is an unrendered template; lint the rendered files"
_OF_JINJA = re.compile(r"^[ \t]*\{%|(?<!\$)\{\{\s*[\w.]+(?:\s*\|[^{}]*)?\s*\}\}", re.MULTILINE)
_TEMPLATE = re.compile(r"\{%|\{\{-?\s*(?:if|range|with|define|block)\b")


def read_described(
    data: bytes, name: str, beside: Callable[[str], str | None] = lambda _path: None, *, named: bool = True
) -> tuple[Described, ...]:
    """Return the brokers that a file describes, none where it is about something else.

    Args:
        data: the file.
        name: its name; its ending distinguishes YAML from properties if the text does not.
        beside: returns the text of another file by its path from this one, None where it cannot be read.
        named: whether the user means this file: a text of any form is searched for a broker.

    Raises:
        PropertiesError: it can be read in no form: binary, no YAML, a template; with the line.
    """
    whole = name.lower().endswith(_WHOLE) or dockerfile.is_dockerfile(name)
    text = data.decode("utf-8", "replace")
    if not named or b"\0" in data:
        return _of_form(data, name, beside)
    if not whole and pasted.is_paste(text):
        if _MANIFEST.search(text) and not pasted.is_marked(text):  # rendered charts have comments and scripts
            with contextlib.suppress(PropertiesError):
                if brokers := _of_form(data, name, beside):
                    return brokers
        return tuple(_of_paste(text)) or tuple(_of_parts(text, name))
    refusal: PropertiesError | None = None
    try:
        if brokers := _of_form(data, name, beside):
            return brokers
    except PropertiesError as error:
        if whole:
            raise
        refusal = error
    searched = not whole or (name.lower().endswith(_YAML) and unread_format(name, text))
    if searched and (refusal or not _RESOURCE.search(text)) and (found := _line_by_line(text, cut=False)):
        return found
    if refusal is not None:
        raise refusal
    return tuple(_of_parts(text, name))


def _of_parts(text: str, name: str) -> Iterator[Described]:
    """Yield what a text says of a broker without its addresses, roles and number, each at its lines."""
    for part in _PARTS_OF_MSK.finditer(text) if "aws_msk_configuration" in text else ():
        written = part["text"] or part["line"].replace(r"\n", "\n")
        yield from _of_part("\n" * text.count("\n", 0, part.start("text" if part["text"] else "line")) + written)
    if name.lower().endswith(_PROPERTIES) or name == STDIN:
        yield from _of_part(text)


def _of_part(text: str) -> Iterator[Described]:
    with contextlib.suppress(PropertiesError):
        properties = java.parse_properties(text.encode())
        if is_part(properties):
            first = min(setting.line for setting in properties.values())
            remark = Remark(line=first, text="a part of a broker's settings: what it leaves out is not known")
            broker = described(properties)
            left = {key for version in VERSIONS for key in keys(version)} - properties.keys()
            yield replace(
                broker, unknown=broker.unknown | left, jvm=ANY_OPTIONS, fragment=first, remarks=(remark, *broker.remarks)
            )


def _of_paste(text: str) -> Iterator[Described]:
    """Yield the brokers of the files in a text, each with a remark on what was read; raises where none can be read."""
    refusals: list[PropertiesError] = []
    found = False
    for number, fragment in enumerate(pasted.fragments(text), 1):
        if found and not fragment.fenced:  # what stands outside counts where nothing else does
            return
        brokers, problem = _of_fragment(fragment)
        refusals += [] if problem is None or brokers else [problem]
        found = found or (fragment.fenced and bool(brokers))
        for broker in brokers:
            named = f" as {fragment.name[:60]}" if fragment.name else ""
            what = f"read in a text: lines {fragment.first} to {fragment.last}{named}"
            remarks = [Remark(line=fragment.first, text=what + "; what it leaves out is not known" * fragment.cut)]
            if problem is not None:
                remarks.append(Remark(line=problem.line, text=f"{problem.problem}: judged by each line alone"))
            broker = environment.in_part(broker) if fragment.cut else broker  # noqa: PLW2901 -- the same, in part
            yield replace(broker, fragment=number, remarks=(*remarks, *broker.remarks))
            refusals.clear()
    if refusals and not found:
        raise refusals[0]


def _of_fragment(fragment: Fragment) -> tuple[tuple[Described, ...], PropertiesError | None]:
    """Return the brokers of a fragment, and why it is not read as a file."""
    problem: PropertiesError | None = None
    for name in dict.fromkeys((fragment.name or STDIN, STDIN)):
        try:
            if brokers := _of_form(fragment.text.encode(), name, lambda _path: None):
                return brokers, None
        except PropertiesError as error:
            problem = problem or error
    if problem is None and _RESOURCE.search(fragment.text):
        return (), None
    return _line_by_line(fragment.text, cut=fragment.cut), problem


def _line_by_line(text: str, *, cut: bool) -> tuple[Described, ...]:
    """Return the brokers of a part of a file, of one without its indentation, and of a text that has their variables."""
    with contextlib.suppress(PropertiesError):
        roots = yaml_nodes.composed(pasted.indented(text))
        if brokers := tuple(compose.bare_services(roots)):
            return brokers
    found: list[Described] = []
    for node in scattered.values(text):
        with contextlib.suppress(PropertiesError):
            found += chart_values.described_values(yaml_nodes.mapping(node), yaml_nodes.line(node)) or ()
    for node, closed in scattered.services(text, cut=cut):
        found += compose.described_services(node, lambda _path: None, closed=closed)
    remarks = tuple(scattered.references(text))
    return tuple(replace(broker, fragment=1, remarks=(*broker.remarks, *remarks)) for broker in found)


def _of_form(data: bytes, name: str, beside: Callable[[str], str | None]) -> tuple[Described, ...]:
    """Return the brokers of a text that is one file as a whole."""
    if b"\0" in data:
        reported = "UTF-16 text, which Kafka does not read" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "binary"
        raise PropertiesError(data.count(b"\n", 0, data.index(b"\0")) + 1, f"is {reported}")
    text = data.decode("utf-8", "replace")
    if name.lower().endswith(_YAML) or (name == STDIN and _is_yaml(text)):
        for pattern, what in ((_OF_HELM, _RENDER), (_OF_JINJA, _RENDERED)):
            if (match := pattern.search(text)) is not None:
                return _of_template(text, PropertiesError(text.count("\n", 0, match.start()) + 1, what))
        added = _OVERRIDES if _COMPOSE.fullmatch(posixpath.basename(name)) else ()
        return manifests.parse_manifests(_utf8(data), beside, next(filter(None, map(beside, added)), None))
    properties = java.parse_properties(data)
    if is_brokers(properties):
        _refuse_template(data)
        return (described(properties),)
    if dockerfile.is_dockerfile(name):
        broker = dockerfile.described_dockerfile(text)
    elif name.lower().endswith(_WHOLE) or environment.is_env_file(text):
        broker = environment.described_broker(environment.parse_env_file(text))
    else:
        broker = None
    if broker is not None:
        return (broker,)
    if _MANIFEST.search(text):
        return manifests.parse_manifests(_utf8(data), beside)
    listens = any(key.startswith("listener") for key in properties) and other_program(properties) is None
    return (described(properties),) if listens and "http://" not in text else ()


def _is_yaml(text: str) -> bool:
    """Return whether a text is a manifest, or the values of a chart, and no properties."""
    return bool(_MANIFEST.search(text) or (_NESTED.search(text) and not _ASSIGNED.search(text)))


def what_else(data: bytes, name: str) -> str:
    """Return what a file is that describes no broker, with what to do: the end of a sentence, "" where that is not known."""
    text = data.decode("utf-8", "replace")
    if found := unread_format(name, text):
        return found
    try:
        program = None if name.lower().endswith(_YAML) else other_program(java.parse_properties(data))
    except PropertiesError:
        return ""
    return f"is for {program}, not for a broker; lint the brokers' files" if program else ""


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PropertiesError(data.count(b"\n", 0, error.start) + 1, "is not UTF-8 text") from error


def _refuse_template(data: bytes) -> None:
    match = _TEMPLATE.search(data.decode("latin-1"))
    if match is not None:
        line = data.count(b"\n", 0, match.start()) + 1
        raise PropertiesError(line, _RENDERED)


def _of_template(text: str, refusal: PropertiesError) -> tuple[Described, ...]:
    """Return the brokers of a template, with the settings that are its own; raises the refusal if it shows none."""
    plain = templates.plain_template(text)
    brokers: tuple[Described, ...] = ()
    for yaml_text in (plain.text, plain.certain):
        with contextlib.suppress(PropertiesError):
            brokers = brokers or manifests.parse_manifests(yaml_text)
    brokers = brokers or _line_by_line(plain.text, cut=True)
    if not brokers:
        raise refusal
    remark = Remark(line=refusal.line, text=f"judged by what the template itself says: it {refusal.problem}")
    doubted = plain.doubts("mountPath")
    own = (_own_of_template(broker, plain, mounts=not doubted) for broker in brokers)
    return tuple(replace(broker, remarks=(remark, *broker.remarks)) for broker in own)


def _own_of_template(broker: Described, plain: YamlTemplate, *, mounts: bool) -> Described:
    doubtful = {
        key
        for key, setting in broker.properties.items()
        if setting.line in plain.doubtful or templates.PLACEHOLDER in setting.value
    }
    around = broker.container
    if around is not None and not mounts:
        around = replace(around, mounts=())
    return environment.in_part(replace(broker, unknown=broker.unknown | doubtful, container=around))
