"""What Services, claims and volumes of a file say against the brokers of its workloads. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.configuration.files import images, yaml_nodes
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries
from kafka_audit.model.addresses.voters import SERVERS, VOTERS
from kafka_audit.model.linted import Remark
from kafka_audit.model.text import listing

_ADDRESS = re.compile(r"(?:^|[/@,\s])([a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9-]{1,63}){0,6}):(\d{1,5})(?=,|\s|$)")
_MOST = 10


@dataclass(frozen=True, kw_only=True)
class Service:
    """A Service: what it selects, its ports with where they lead, and whether it gives pods names."""

    name: str
    line: int
    selector: Mapping[str, str]
    selector_line: int
    ports: Mapping[str, tuple[str, int]]
    headless: bool
    external: bool  # whether it only stands for another name


def service_of(root: YamlMapping, name: str, line: int) -> Service:
    """Return the Service of a document."""
    spec = root.mapping("spec")
    ports = {}
    for item in spec.sequence("ports"):
        port = yaml_nodes.mapping(item)
        number = port.text("port") or ""
        ports[number] = (port.text("targetPort") or number, yaml_nodes.line(item))
    selector = {key: yaml_nodes.text(value) or "" for key, value in spec.mapping("selector").items()}
    return Service(
        name=name,
        line=line,
        selector=selector,
        selector_line=spec.line("selector") if "selector" in spec else line,
        ports=ports,
        headless=spec.text("clusterIP") == "None",
        external=spec.text("type") == "ExternalName" or not selector,
    )


def service_remarks(
    broker: Described, root: YamlMapping, services: Sequence[Service], claims: frozenset[str]
) -> Iterator[Remark]:
    """Yield what is wrong around the broker of a workload.

    Args:
        broker: the broker.
        root: the document of the workload.
        services: of its namespace.
        claims: the names of claims that the file makes in that namespace.
    """
    spec = root.mapping("spec")
    template = spec.mapping("template")
    pod = template.mapping("spec") or spec
    labels = yaml_nodes.mapping(template.get("metadata") or root.get("metadata")).mapping("labels")
    own = {key: yaml_nodes.text(value) or "" for key, value in labels.items()}
    if services and not any("$" in value for value in own.values()):
        yield from _of_addresses(broker, pod, own, services, spec.text("serviceName") or "")
    yield from _of_volumes(spec, pod, claims)
    kind = root.text("kind")
    claimed = next((one for one in pod.mappings("volumes") if "persistentVolumeClaim" in one), None)
    strategy = spec.text("strategy", "type")
    if kind == "Deployment" and claimed is not None and strategy != "Recreate" and "log.dirs" in broker.properties:
        text = "a new pod starts before the old one ends, and does not get the lock of the log directory: `strategy: Recreate`"
        yield Remark(line=claimed.line("persistentVolumeClaim"), text=text)


def _of_addresses(
    broker: Described, pod: YamlMapping, own: Mapping[str, str], services: Sequence[Service], naming: str
) -> Iterator[Remark]:
    """Yield that a Service by whose name the broker is reached does not lead to it."""
    by_name = {service.name: service for service in services}
    chosen = [service for service in services if service.selector and service.selector.items() <= own.items()]
    for setting, host, port in _addressed(broker):
        first, *rest = host.split(".")
        below = bool(rest) and (rest[0] == naming or re.search(r"-\d+$", first) is not None)
        name = rest[0] if below else first
        if name in by_name:
            yield from _of_service(by_name[name], setting, port, own, below=below)
        elif chosen and name != "localhost" and (not rest or rest[0] == naming or rest[1:2] == ["svc"]):
            text = f"no Service of the file has the name {name[:60]}: {chosen[0].name[:60]} selects these pods"
            yield Remark(line=setting.line, text=text)
    yield from _targets(broker, pod, chosen)


def _of_service(service: Service, setting: Property, port: str, own: Mapping[str, str], *, below: bool) -> Iterator[Remark]:
    """Yield what is wrong with a Service that is named with a port."""
    if service.external:
        return
    if not service.selector.items() <= own.items():
        text = f"Service {service.name[:60]} selects no pod of the broker: other labels"
        yield Remark(line=service.selector_line, text=text)
    elif below and not service.headless:
        yield Remark(
            line=service.line, text=f"pods have no names below Service {service.name[:60]}: that needs `clusterIP: None`"
        )
    elif not service.headless and service.ports and port not in service.ports and all(map(str.isdecimal, service.ports)):
        text = f"Service {service.name[:60]} has no port {port}: it has {listing(sorted(service.ports), 5)}"
        yield Remark(line=setting.line, text=text)


def _targets(broker: Described, pod: YamlMapping, chosen: Sequence[Service]) -> Iterator[Remark]:
    """Yield the ports of Services that lead to one where nothing of the pod listens."""
    ports = [port for body in pod.mappings("containers") for port in body.mappings("ports")]
    names = {port.text("name"): port.text("containerPort") or "" for port in ports}
    bound = {str(one.port) for one in entries({KEY: broker.value(INSTEAD)})}
    for service in [one for one in chosen if bound and not one.headless and not one.external]:
        for target, line in service.ports.values():
            there = names.get(target, target)
            if there.isdecimal() and there not in bound | set(names.values()):
                yield Remark(line=line, text=f"the port leads to {there[:5]}, where the broker does not listen")


def _addressed(broker: Described) -> Iterator[tuple[Property, str, str]]:
    """Yield the addresses by which clients and nodes reach the broker."""
    controllers = {name.strip() for name in broker.value(CONTROLLERS).split(",")}
    for entry in entries({KEY: broker.value(KEY)}):
        if entry.host and entry.listener not in controllers and not re.search(r"[$:{]", entry.host):
            yield broker.properties[KEY], entry.host, str(entry.port)
    for key in (VOTERS, SERVERS):
        for host, port in [*_ADDRESS.findall(broker.value(key))][:_MOST]:
            yield broker.properties[key], host, port


def _of_volumes(spec: YamlMapping, pod: YamlMapping, claims: frozenset[str]) -> Iterator[Remark]:
    """Yield volumes that the pod does not have, claims that the file does not make, and data that ends with the pod."""
    named = {one.text("metadata", "name") for one in spec.mappings("volumeClaimTemplates")}
    volumes = {one.text("name"): one for one in pod.mappings("volumes")}
    for body in pod.mappings("containers"):
        for item in body.sequence("volumeMounts"):
            mount = yaml_nodes.mapping(item)
            name, path = mount.text("name") or "", mount.text("mountPath") or ""
            if name and name not in {*named, *volumes} and "$" not in name:
                yield Remark(line=yaml_nodes.line(item), text=f"Kubernetes refuses the pod: it has no volume {name[:60]}")
            elif "emptyDir" in volumes.get(name, {}) and images.is_for_data(path):
                text = "emptyDir is deleted with the pod, and the broker's data with it: a claim keeps them"
                yield Remark(line=yaml_nodes.line(item), text=text)
    for one in volumes.values():
        claim = one.node("persistentVolumeClaim", "claimName")
        if claim is not None and claims and yaml_nodes.text(claim) not in claims:
            yield Remark(line=yaml_nodes.line(claim), text=f"the file makes no claim {(yaml_nodes.text(claim) or '')[:60]}")
