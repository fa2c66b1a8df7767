"""Variables and settings of a broker in a text of any form: commands, units, code, files whose indentation is lost. Pure.

What is found becomes a service of a compose file, which is judged like each of these.
"""

import re
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import yaml

from kafka_audit.configuration.files import images, yaml_nodes
from kafka_audit.configuration.files.values_tree import MOST_NODES
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark

REST = "what the text leaves out"
"""The key of a service of which the text may not show all."""

_RUN = re.compile(r"\b(?:docker|podman|nerdctl)(?:\.exe)?[ \t]{1,4}(?:container[ \t]{1,4})?(?:run|create)\b(.*)")
_HELM = re.compile(r"\bhelm[ \t]{1,4}(?:install|upgrade|template)\b(.*)")
_GOES_ON = ("\\", "^", "`")
_FLAGS = re.compile(
    r"-[ditP]{1,5}|--(?:rm|init|detach|interactive|tty|privileged|read-only|publish-all|no-healthcheck|quiet)(?:=\w+)?"
)
_OPTIONS = {
    "e": "environment", "env": "environment", "p": "ports", "publish": "ports", "v": "volumes", "volume": "volumes",
    "name": "container_name", "h": "hostname", "hostname": "hostname", "net": "network_mode", "network": "network_mode",
    "env-file": "env_file", "u": "user", "user": "user", "m": "mem_limit", "memory": "mem_limit", "entrypoint": "entrypoint",
    "health-cmd": "test",
}  # fmt: skip
_LISTS = frozenset({"environment", "ports", "volumes", "env_file", "command"})
_OWN_NETWORK = re.compile(r"host|none|container:.*")
_DECLARED = re.compile(r"\bname[ \t]{0,4}:[ \t]{0,4}[\"']?([A-Za-z_][A-Za-z0-9_]{0,100})")
_SHELLS, _INDENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,100})\}"), 5
_SUBSTITUTED = re.compile(r"\$\([^()]{0,200}\)|`[^`]{0,200}`")
_VARIABLE = r"(KAFKA_[A-Z0-9_]{2,150}|CLUSTER_ID|ALLOW_PLAINTEXT_LISTENER)"
_VALUE = r"(?:\"((?:[^\"\\\n]|\\.){0,2000})\"|'([^'\n]{0,2000})'|([^\n]{0,2000}))"
_IS = r"(?:[\"']?[ \t]{0,20}(?:=>|=|:(?!-))|[\"'][ \t]{0,4},)[ \t]{0,20}"
_ASSIGNED = re.compile(rf"(?<![\w$@{{/-])(?<!env\.)([\"']?){_VARIABLE}{_IS}{_VALUE}")
_NAMED = rf"\bname[\"']?\s{{0,20}}[:=]\s{{0,20}}[\"']?{_VARIABLE}[\"']?[\s,;]{{0,80}}"
_PAIR = re.compile(rf"{_NAMED}[\"']?value[\"']?[ \t]{{0,20}}[:=][ \t]{{0,20}}{_VALUE}")
_IMAGE = re.compile(
    r"(?<![\w/.-])((?:[\w.-]{1,60}(?::\d{2,5})?/){0,4}[\w.-]{0,60}kafka[\w.-]{0,60}(?::[\w.-]{1,60}|(?=[\"'\s]|$)))"
)
_IMAGES_PLACE = re.compile(r"image|\bFROM\b|docker", re.IGNORECASE)
_OF_CLIENTS = re.compile(
    r"KAFKA_(?:CLUSTERS_\d.*|(?:.*_)?(?:BOOTSTRAP_SERVERS?|BROKERS?|BROKER_(?:LIST|URL)|URL|HOST|SERVERS?|VERSION|GROUP_ID|TOPICS?))"
)
_END = re.compile(r"(?:[ \t]{1,20}#.*|[ \t,;\\)\]}`]{1,20})$")
_NEXT = re.compile(r"[ \t]{1,20}(?:-|[A-Z_]{3,60}=).*")
_LATER = re.compile(r"^\s{0,20}services:", re.MULTILINE)


def services(text: str, *, cut: bool) -> Iterator[tuple[yaml.Node, bool]]:
    """Yield groups of services, each as the mapping of a compose file: those of commands, or else of all variables.

    Beside each is whether its network is that of the text.
    """
    found = [*map(_service, _commands(text.split("\n"), _RUN))]
    if not found:
        found = [*_of_variables(text, whole=not cut and _LATER.search(text) is not None)]
    ids = [body["environment"] for body in found if "environment" in body]
    twice = len({_own_id(node) or str(place) for place, node in enumerate(ids)}) < len(ids)
    for group in [[body] for body in found] if twice else [found]:
        pairs = []
        for number, body in enumerate(group, 1):
            name = body["container_name"].value if "container_name" in body else f"kafka{number if group[1:] else ''}"
            mark = next(iter(body.values())).start_mark
            parts = [(yaml_nodes.scalar(key, node.start_mark), node) for key, node in body.items()]
            pairs.append((yaml_nodes.scalar(name, mark), yaml_nodes.mapping_of(parts, mark)))
        if pairs:
            networks = {body["networks"].value if "networks" in body else "" for body in group}
            closed = len(networks) == 1 and networks != {""} and len(group) > 1
            yield yaml_nodes.mapping_of(pairs, pairs[0][0].start_mark), closed


def references(text: str) -> Iterator[Remark]:
    """Yield that variables of a pod refer to others of it as a shell does."""
    line_of, declared = _lines(text), {match[1] for match in _DECLARED.finditer(text)}
    for match in _PAIR.finditer(text):
        begin = text[max(match.start() - _INDENT, 0) : match.start()].rstrip(" ")
        for name in _SHELLS.findall(_value(match, "")) if begin.endswith("-") else ():
            if name in declared:
                yield Remark(
                    line=line_of(match.end() - 1) + 1, text=f"Kubernetes leaves ${{{name}}} as it is: it replaces $({name})"
                )


def _own_id(node: yaml.Node) -> str:
    values = (item.value for item in node.value if re.match(r"KAFKA_(?:CFG_)?(?:NODE|BROKER)_ID=", item.value))
    return next((value.rpartition("=")[2] for value in values), "")


def values(text: str) -> Iterator[yaml.Node]:
    """Yield the values that each command of Helm sets, as the mapping of a file of values."""
    lines = text.split("\n")
    for words in _commands(lines, _HELM):
        root = yaml_nodes.mapping_of([], _mark(words[0][1] if words else 0))
        given = iter(words)
        for word, _ in given:
            option, equals, value = word.partition("=")
            if option in {"--set", "--set-string"}:
                pairs, place = (value, 0) if equals else next(given, ("", 0))
                for pair in re.split(r"(?<!\\),", pairs):
                    path, _, text_of = pair.partition("=")
                    _set(root, re.split(r"(?<!\\)\.", path), text_of, place or root.start_mark.line)
        if root.value:
            yield root


def _set(root: yaml.MappingNode, path: Sequence[str], value: str, place: int) -> None:
    *parents, last = [part.replace("\\", "") for part in path]
    for parent in parents:
        found = next((node for key, node in root.value if key.value == parent), None)
        if not isinstance(found, yaml.MappingNode):
            found = yaml_nodes.mapping_of([], _mark(place))
            root.value.append((yaml_nodes.scalar(parent, _mark(place)), found))
        root = found
    root.value.append((yaml_nodes.scalar(last, _mark(place)), yaml_nodes.scalar(value, _mark(place))))


def _mark(place: int) -> yaml.Mark:
    return yaml.Mark("", 0, place, 0, None, 0)


def _commands(lines: Sequence[str], begins: re.Pattern[str]) -> Iterator[list[tuple[str, int]]]:
    """Yield the words of each command behind what it begins with, each with its place."""
    place = 0
    while place < len(lines):
        match = begins.search(lines[place])
        if match is None:
            place += 1
            continue
        words: list[tuple[str, int]] = []
        inline = lines[place].count("`", 0, match.start()) % 2 == 1  # a piece of code in a sentence
        line = match[1].partition("`")[0] if inline else match[1]
        while True:
            goes_on = line.rstrip().endswith(_GOES_ON)
            words += [(word, place) for word in _split(line.rstrip()[:-1] if goes_on else line)]
            place += 1
            if not goes_on or place >= len(lines):
                break
            line = lines[place]
        yield words


def _split(line: str) -> list[str]:
    line = _SUBSTITUTED.sub("${SUBSTITUTED}", line)
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # a quote without its end
        return line.split()


def _service(words: Sequence[tuple[str, int]]) -> YamlMapping:
    body = YamlMapping()
    given = iter(words)
    for word, place in given:
        if "image" in body or not word.startswith("-"):
            _add(body, "command" if "image" in body else "image", word, place)
        elif not _FLAGS.fullmatch(word):
            name, inline, value = word.lstrip("-").partition("=") if word.startswith("--") else (word[-1], "", "")
            if not word.startswith("--") and re.match(r"-[epvhum].", word):
                name, inline, value = word[1], "=", word[2:]
            value, place = (value, place) if inline else next(given, ("", place))  # noqa: PLW2901 -- the value's
            key = _OPTIONS.get(name, "")
            key = "networks" if key == "network_mode" and not _OWN_NETWORK.fullmatch(value) else key
            if key:
                _add(body, key, value, place)
    if "test" in body:
        node = body.pop("test")
        body["healthcheck"] = yaml_nodes.mapping_of([(yaml_nodes.scalar("test", node.start_mark), node)], node.start_mark)
    return body


def _add(body: YamlMapping, key: str, value: str, place: int) -> None:
    mark = _mark(place)
    node = yaml_nodes.scalar(value, mark)
    if key in _LISTS:
        body.setdefault(key, yaml.SequenceNode("tag:yaml.org,2002:seq", [], mark)).value.append(node)
    else:
        body[key] = node


def _of_variables(text: str, *, whole: bool) -> Iterator[YamlMapping]:
    """Yield a service for each broker whose variables a text has: a name that comes again, or another image, begins the next."""
    found = [(match.start(), "", match[1]) for match in _IMAGE.finditer(text) if _is_image(text, match)]
    paired = {match.start(1): (match[1], _value(match, "")) for match in _PAIR.finditer(text)}
    found += [(at, name, value) for at, (name, value) in paired.items()]
    for match in _ASSIGNED.finditer(text):
        if match.start(2) not in paired:
            found.append((match.start(2), match[2], _value(match, match[1])))
    line_of = _lines(text)
    bodies: list[YamlMapping] = []
    names: set[str] = set()
    for at, name, value in sorted(found):
        if not _OF_CLIENTS.fullmatch(name):
            key = name or "image"
            if not bodies or key in names:
                if len(bodies) == MOST_NODES:
                    break
                bodies.append(YamlMapping())
                names.clear()
            names.add(key)
            written = f"{name}={_SUBSTITUTED.sub('${SUBSTITUTED}', value)}" if name else value
            _add(bodies[-1], "environment" if name else "image", written, line_of(at))
    for body in bodies:
        if "environment" in body:
            if not whole or "image" not in body:
                _add(body, REST, "", min(item.start_mark.line for item in body["environment"].value))
            yield body


def _lines(text: str) -> Callable[[int], int]:
    """Return what says in which line, from 0, a place of the text is."""
    ends = [match.start() for match in re.finditer("\n", text)]
    return partial(bisect_left, ends)


def _is_image(text: str, match: re.Match[str]) -> bool:
    """Return whether a word is the name of an image of Kafka's broker."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return bool(images.image_of(match[1], {}).label) and (_IMAGES_PLACE.search(line) is not None or ":" in match[1])


def _value(match: re.Match[str], quote: str) -> str:
    double, single, plain = match.groups()[-3:]
    if plain is None:
        return double if double is not None else single or ""
    if quote:  # the quote is around name and value
        return plain.partition(quote)[0]
    return _END.sub("", _NEXT.sub("", plain)).strip()
