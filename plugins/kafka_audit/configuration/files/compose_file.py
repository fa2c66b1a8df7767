"""What Compose itself has against a file, and what its services say against each other besides Kafka. Pure."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import yaml

from kafka_audit.configuration.files import images, yaml_nodes
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark
from kafka_audit.model.package_yaml import package_yaml

_NAMED = re.compile(r"[A-Za-z0-9][\w.-]{0,200}")
_PART = re.compile(r"(\d{1,6})(ms|[hms])")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_START = 15  # seconds that a broker may well take until it answers
_LISTS = ("ports", "volumes")
_MOST, _MOST_KEYS, _LONGEST = 20, 50, 200


@cache
def _keys() -> frozenset[str]:
    return frozenset(package_yaml(__package__, "field_names.yaml")["service"])


def file_remarks(root: YamlMapping) -> Iterator[Remark]:
    """Yield why Compose refuses a file, and what keeps its services apart."""
    services = {name: yaml_nodes.mapping(body) for name, body in root.mapping("services").items()}
    whole = "include" not in root and not any("extends" in body for body in services.values())
    whole = whole and (len(services) > 1 or not root.keys() <= {"services"})  # a part of a file has one service alone
    for name, body in [*services.items()][:_MOST]:
        yield from _keys_of(body)
        yield from _undeclared(body, root, services) if whole else ()
        yield from _waits(name, body, services)


def _keys_of(body: YamlMapping) -> Iterator[Remark]:
    for key, node in [(key, node) for key, node in body.items() if len(key) < _LONGEST][:_MOST_KEYS]:
        line = yaml_nodes.line(node)
        if key.startswith("KAFKA_"):
            yield Remark(line=line, text=f"Compose refuses {key[:100]} here: variables stand below `environment`")
        elif key not in _keys() and not key.startswith("x-") and (near := difflib.get_close_matches(key, _keys(), 1, 0.75)):
            yield Remark(line=line, text=f"Compose refuses {key[:60]}: a service has {near[0]}")
        elif key in _LISTS and isinstance(node, yaml.ScalarNode) and yaml_nodes.text(node):
            yield Remark(line=line, text=f"Compose refuses {key}: it has to be a list")
    if body.text("network_mode") == "host" and "ports" in body:
        yield Remark(line=body.line("ports"), text="`ports` have no effect with `network_mode: host`")


def _undeclared(body: YamlMapping, root: YamlMapping, services: Mapping[str, YamlMapping]) -> Iterator[Remark]:
    """Yield volumes, networks and services that a service names, and the file does not have."""
    for item in body.sequence("volumes"):
        long = yaml_nodes.mapping(item)
        source, colon, _ = (yaml_nodes.text(item) or "").partition(":")
        if long.text("type") == "volume":
            source, colon = long.text("source") or "", ":"
        if colon and _NAMED.fullmatch(source) and len(source) > 1 and source not in root.mapping("volumes"):
            yield Remark(
                line=yaml_nodes.line(item), text=f"Compose refuses the file alone: its `volumes` do not have {source[:60]}"
            )
    for name, line in _listed(body.get("networks")):
        if name not in {"default", *root.mapping("networks")}:
            yield Remark(line=line, text=f"Compose refuses the file alone: its `networks` do not have {name[:60]}")
    for name, line in _listed(body.get("depends_on")):
        if name not in services:
            yield Remark(line=line, text=f"Compose refuses the file alone: no service of it has the name {name[:60]}")


def names_of(node: yaml.Node | None, *, healthy: bool = False) -> Iterator[str]:
    """Yield the names of a list, or of a mapping; of services that have to be healthy, if only these are meant."""
    for name, _ in _listed(node):
        condition = yaml_nodes.mapping(node).node(name, "condition")
        if not healthy or yaml_nodes.text(condition) == "service_healthy":
            yield name


def corrected(body: YamlMapping) -> YamlMapping:
    """Return a service with its variables, if their key is almost `environment`."""
    odd = [key for key in body if key not in _keys()][:_MOST] if "environment" not in body else []
    found = difflib.get_close_matches("environment", [key for key in odd if len(key) < _MOST], 1, 0.75)
    return YamlMapping(body, environment=body[found[0]]) if found else body


def _listed(node: yaml.Node | None) -> list[tuple[str, int]]:
    """Return the names of a list, or of a mapping, with their lines."""
    listed = [(yaml_nodes.text(item) or "", yaml_nodes.line(item)) for item in yaml_nodes.items(node)]
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return listed + [
        (key.value, yaml_nodes.line(key)) for key, _ in pairs if isinstance(key, yaml.ScalarNode) and key.value != "<<"
    ]


def _waits(name: str, body: YamlMapping, services: Mapping[str, YamlMapping]) -> Iterator[Remark]:
    """Yield that a service waits for the health of one that checks none, or gives up before it may have started."""
    for other, node in body.mapping("depends_on").items():
        condition = yaml_nodes.mapping(node).get("condition")
        if condition is None or yaml_nodes.text(condition) != "service_healthy" or other not in services:
            continue
        there = services[other]
        image, check = there.text("image") or "", there.mapping("healthcheck")
        known = images.image_of(image, {}).label or "zookeeper" in image
        if "healthcheck" not in there and known and "extends" not in there:
            text = f"{name[:60]} never starts: it waits until {other[:60]} is healthy, which has no health check"
            yield Remark(line=yaml_nodes.line(condition), text=text)
        retries = check.text("retries") or "3"
        interval, period = _seconds(check.get("interval"), 30), _seconds(check.get("start_period"), 0)
        if known and "test" in check and retries.isdecimal() and len(retries) < len("10000"):
            total = period + interval * int(retries)
            if 0 < total < _START:
                text = (
                    f"the health check gives up after {total:.0f} seconds, which a start may take: then {name[:60]} never starts"
                )
                yield Remark(line=there.line("healthcheck"), text=text)


def _seconds(node: yaml.Node | None, default: float) -> float:
    parts = _PART.findall(yaml_nodes.text(node) or "")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts) if parts else default


def without_network(
    name: str, body: YamlMapping, services: Mapping[str, YamlMapping], named: Iterable[tuple[str, int]] = ()
) -> Iterator[Remark]:
    """Yield that a service depends on one, or names one in an address, with which it has no network in common."""
    own, others = _networks(body), {**dict(named), **dict(_listed(body.get("depends_on")))}
    for other, line in others.items():
        if other in services and own and (there := _networks(services[other])) and own.isdisjoint(there):
            text = f"{name[:60]} does not reach {other[:60]}: they have no network in common"
            yield Remark(line=line, text=text)


def _networks(body: YamlMapping) -> set[str]:
    """Return the networks of a service, none where it has another kind of them."""
    if "network_mode" in body or "extends" in body:
        return set()
    return {name for name, _ in _listed(body.get("networks"))} or {"default"}
