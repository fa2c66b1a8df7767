"""Values of charts made with the common library of bjw-s, such as app-template: containers and the volumes beside them. Pure.

Source: bjw-s-labs/helm-charts charts/library/common/values.yaml, 44699bec3371 (controllers, persistence).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import yaml

from kafka_audit.configuration.files import commands, environment, yaml_nodes
from kafka_audit.configuration.files.described import Container, Described, Mount
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.yaml_nodes import YamlMapping

_CLAIM = "persistentVolumeClaim"


def described_controllers(values: YamlMapping) -> Iterator[Described]:
    """Yield the brokers of the containers of `controllers`."""
    for controller, node in values.mapping("controllers").items():
        own = yaml_nodes.mapping(node)
        for name, body in own.mapping("containers").items():
            broker = _described(yaml_nodes.mapping(body), f"controller {controller}, container {name}")
            if broker is not None:
                mounts = tuple(_mounts(values, own, (controller, name)))
                replicas = own.text("replicas") or "1"
                yield replace(broker, container=Container(mounts=mounts), replicas=int(replicas == "1"))


def _described(body: YamlMapping, inside: str) -> Described | None:
    image = body.mapping("image")
    parts = [part for key in ("command", "args") if key in body for part in yaml_nodes.one_or_more(body[key])]
    at = next((Property(key, "", body.line(key)) for key in ("command", "args") if key in body), Property("", "", 1))
    start = commands.start_of("\n".join(yaml_nodes.text(part) or "" for part in parts), at)
    if start is None:
        return None
    variables, unknown = _variables(body.get("env"))
    elsewhere = Property("envFrom", "", body.line("envFrom")) if "envFrom" in body else None
    named = ":".join(filter(None, (image.text(key) for key in ("repository", "tag"))))
    return environment.described_broker(
        variables, inside=inside, image=named, unknown=unknown, elsewhere=elsewhere, start=start, release="release"
    )


def _variables(env: yaml.Node | None) -> tuple[Sequence[Property], Sequence[str]]:
    given = [(name, node) for name, node in yaml_nodes.mapping(env).items()]
    for item in yaml_nodes.items(env):
        entry = yaml_nodes.mapping(item)
        given.append((entry.text("name") or "", entry.get("value") or item))
    values = [(name, yaml_nodes.mapping(node).get("value") or node) for name, node in given]
    found = [yaml_nodes.as_property(name, node) for name, node in values]
    return found, [name for name, node in values if yaml_nodes.text(node) is None]


def _mounts(values: YamlMapping, controller: YamlMapping, owner: tuple[str, str]) -> Iterator[Mount]:
    templates = controller.sequence("statefulset", "volumeClaimTemplates")
    volumes = [(name, yaml_nodes.mapping(node)) for name, node in values.mapping("persistence").items()]
    volumes += [(volume.text("name") or "", volume) for volume in map(yaml_nodes.mapping, templates)]
    for name, volume in volumes:
        if volume.text("enabled") == "false" or not volume:
            continue
        keeps = (volume.text("type") or _CLAIM) == _CLAIM
        advanced = volume.node("advancedMounts", owner[0], owner[1])
        places = [
            yaml_nodes.mapping(place) for node in (volume.get("globalMounts"), advanced) for place in yaml_nodes.items(node)
        ]
        if volume.keys().isdisjoint({"globalMounts", "advancedMounts"}):
            yield Mount(path=f"/{name}", line=min(map(yaml_nodes.line, volume.values())), keeps=keeps)
        for place in places:
            root = keeps and "subPath" not in place and "initContainers" not in controller
            line = min(map(yaml_nodes.line, place.values()), default=1)
            yield Mount(path=place.text("path") or f"/{name}", line=line, keeps=keeps, claim=root)
