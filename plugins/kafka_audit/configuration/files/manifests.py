"""Kubernetes manifests and compose files: which brokers their texts, variables and resources describe, line by line. Pure.

YAML is composed into nodes, never into objects: a value is the text in the file. Aliases may repeat a node any number
of times, so their content is counted first.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import yaml

from kafka_audit.bounds import bounded_yaml
from kafka_audit.configuration.files import (
    app_template,
    chart_values,
    compose,
    compose_file,
    environment,
    java,
    memory,
    pod_containers,
    pod_services,
    setting_names,
    strimzi,
    strimzi_beside,
    yaml_nodes,
)
from kafka_audit.configuration.files.bitnami_pods import BitnamiPods, ConfigText, bitnami_pods
from kafka_audit.configuration.files.described import Described, described, is_brokers
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.strimzi import StrimziResource
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.package_yaml import LOADER

_Part = Described | ConfigText | BitnamiPods | StrimziResource
_LINKED = "kafka"
_NO_BROKERS = frozenset({"Job", "CronJob"})
_OF_OTHERS = frozenset({"Application", "HelmRelease", "HelmChart", "HelmChartConfig"})
"""Resources that have the values of a chart inside."""

_LONGEST_LABEL, _LONGEST_NUMBER = 63, 5


@dataclass(frozen=True)
class _GivenToContainers:
    """What other documents, and files beside the text, give to containers.

    `maps` has the variables of ConfigMaps and Secrets by name, `services` the namespaces with a Service named kafka, `headless`
    the Services that name pods only when these are ready, `used` the maps that containers take variables from, `beside` reads a
    file, `override` has the services of the file that Compose adds, `named` the Services and `claims` the claims by namespace.
    """

    beside: Callable[[str], str | None]
    override: yaml.Node | None = None
    maps: dict[tuple[str, str], Sequence[Property]] = field(default_factory=dict)
    services: set[str] = field(default_factory=set)
    headless: set[tuple[str, str]] = field(default_factory=set)
    used: set[tuple[str, str]] = field(default_factory=set)
    named: dict[str, list[pod_services.Service]] = field(default_factory=dict)
    claims: set[tuple[str, str]] = field(default_factory=set)


def parse_manifests(
    text: str, beside: Callable[[str], str | None] = lambda _path: None, override: str | None = None
) -> tuple[Described, ...]:
    """Return the brokers of all documents; raises PropertiesError where the text is no YAML.

    Args:
        text: the documents.
        beside: returns the text of another file by its path from this one, None where it cannot be read.
        override: the file that Compose adds to this one.
    """
    nodes, more = yaml_nodes.composed(text), []
    with contextlib.suppress(PropertiesError):
        more = yaml_nodes.composed(override or "")
    try:
        around = _GivenToContainers(beside, override=next((yaml_nodes.mapping(node).get("services") for node in more), None))
        for node in nodes:
            _note(yaml_nodes.mapping(node), yaml_nodes.line(node), around)
        found = tuple(_joined([part for node in nodes for part in _document(node, around)], around))
        return _with_remarks(found, [yaml_nodes.mapping(node) for node in nodes])
    except RecursionError as error:  # thousands of merges, one in the other
        raise PropertiesError(1, "is nested too deeply") from error


def _with_remarks(found: tuple[Described, ...], roots: Sequence[YamlMapping]) -> tuple[Described, ...]:
    """Return brokers with what resources of Strimzi say around them, at the first broker of Strimzi's."""
    nodes = [broker for broker in found if broker.ended_by == "Strimzi's"]
    if not nodes:
        return found
    counts: dict[str, int] = {}
    for node in nodes if all(node.replicas for node in nodes) else ():
        name = node.cluster.rpartition("/")[2]
        counts[name] = counts.get(name, 0) + ("broker" in node.value("process.roles") or "process.roles" not in node.properties)
    more = tuple(strimzi_beside.beside_remarks(roots, counts))
    return tuple(replace(one, remarks=(*one.remarks, *more)) if one is nodes[0] else one for one in found)


def _note(root: YamlMapping, line: int, around: _GivenToContainers) -> None:
    kind, name, namespace = _identity(root)
    if kind in {"ConfigMap", "Secret"}:
        data = {**root.mapping("data"), **root.mapping("stringData")}
        hidden = root.mapping("data") if kind == "Secret" else {}
        around.maps[namespace, name] = [
            Property(key, "" if key in hidden else yaml_nodes.text(value) or "", yaml_nodes.line(value))
            for key, value in data.items()
        ]
    elif kind == "PersistentVolumeClaim":
        around.claims.add((namespace, name))
    elif kind == "Service":
        around.named.setdefault(namespace, []).append(pod_services.service_of(root, name, line))
        spec = root.mapping("spec")
        if spec.text("clusterIP") != "None":
            around.services.update({namespace} if name == _LINKED else ())
        elif spec.text("publishNotReadyAddresses") != "true":
            around.headless.add((namespace, name))


def _identity(root: YamlMapping) -> tuple[str, str, str]:
    """Return kind, name and namespace of a resource, "" where it has none."""
    return root.text("kind") or "", root.text("metadata", "name") or "", root.text("metadata", "namespace") or ""


def _joined(parts: Sequence[_Part], around: _GivenToContainers) -> Iterator[Described]:
    """Yield the brokers of all documents: pods of Bitnami's chart with the text that they mount, then the nodes of Strimzi.

    A ConfigMap whose variables a container takes is no broker of its own.
    """
    taken = {f"{kind} {name}" for _, name in around.used for kind in ("ConfigMap", "Secret")}
    texts = {(part.namespace, part.name) for part in parts if isinstance(part, ConfigText)}
    pods = [part for part in parts if isinstance(part, BitnamiPods)]
    mounted = {(part.namespace, name): part for part in pods for name in part.texts}
    for part in parts:
        if isinstance(part, ConfigText):
            owner = mounted.get((part.namespace, part.name))
            yield from (part.broker,) if owner is None else owner.pods(part)
        elif isinstance(part, BitnamiPods):
            yield from () if any((part.namespace, name) in texts for name in part.texts) else part.containers
        elif isinstance(part, Described) and part.inside not in taken:
            yield part
    yield from strimzi.described_nodes([part for part in parts if isinstance(part, StrimziResource)])


def _document(node: yaml.Node, around: _GivenToContainers) -> Iterator[_Part]:
    root = yaml_nodes.mapping(node)
    kind, name, _ = _identity(root)
    if (resource := strimzi.strimzi_resource(root, yaml_nodes.line(node))) is not None:
        yield resource
    elif (of_chart := chart_values.described_values(root, yaml_nodes.line(node))) is not None:
        yield from of_chart
    elif not kind and "controllers" in root:
        yield from app_template.described_controllers(root)
    elif kind in {"ConfigMap", "Secret"}:
        yield from _config_map(root, kind, name)
    elif kind in _OF_OTHERS:
        yield from _values_inside(root)
    else:
        yield from _running(root, node, around)


def _running(root: YamlMapping, node: yaml.Node, around: _GivenToContainers) -> Iterator[Described | BitnamiPods]:
    """Yield the brokers of compose services, of jobs' services in CI, and of the containers of a workload."""
    kind, name, namespace = _identity(root)
    if "services" in root and isinstance(root["services"], yaml.MappingNode):
        joined = any("external" in yaml_nodes.mapping(one) for one in root.mapping("networks").values())
        brokers = tuple(compose.described_services(root["services"], around.beside, around.override, closed=not joined))
        faults = tuple(compose_file.file_remarks(root)) if around.override is None else ()
        yield from (replace(one, remarks=(*one.remarks, *(() if place else faults))) for place, one in enumerate(brokers))
    elif not kind:
        bare = any({"image", "environment"} <= yaml_nodes.mapping(body).keys() for body in root.values())
        yield from compose.bare_services([node]) if bare else compose.services_of_jobs(root)
    elif kind not in _NO_BROKERS:
        release = _release(_labels(root))
        spec = root.mapping("spec")
        replicas = spec.text("replicas") or "1"
        pods = int(replicas) if replicas.isdecimal() and len(replicas) < _LONGEST_NUMBER else 0
        service = spec.text("serviceName") or ""
        workload = pod_containers.Workload(
            inside=f"{kind} {name}",
            first_pod=f"{name}-0" if kind == "StatefulSet" else f"{name}-pod",
            release=release,
            maps={key: variables for (space, key), variables in around.maps.items() if space == namespace},
            linked=namespace in around.services,
            claims=frozenset(_claims(spec)),
            prepared="initContainers" in _pod(spec),
            service=service,
            published=(namespace, service) not in around.headless,
            of_root=_pod(spec).mapping("securityContext").keys().isdisjoint({"fsGroup", "runAsUser"}),
            one_by_one=pods > 1 and "podManagementPolicy" not in spec and kind == "StatefulSet",
        )
        bodies = [yaml_nodes.mapping(body) for container in _containers(node, set(), 0) for body in yaml_nodes.items(container)]
        linked = _links(node, set(), 0)
        workload = replace(workload, linked=workload.linked and linked)
        claims = frozenset(claim for space, claim in around.claims if space == namespace)
        services = around.named.get(namespace, ())
        brokers = tuple(
            replace(
                broker,
                replicas=pods,
                remarks=(
                    *broker.remarks,
                    *pod_services.service_remarks(broker, root, services, claims),
                    *memory.claim_remarks(broker.properties.get("log.retention.bytes"), _claimed(spec)),
                ),
            )
            for body in bodies
            for broker in pod_containers.described_container(body, workload)
        )
        around.used.update((namespace, used) for used in workload.used)
        of_chart = bitnami_pods(root, name, brokers) if kind == "StatefulSet" else None
        yield from brokers if of_chart is None else (of_chart,)


def _pod(spec: YamlMapping) -> YamlMapping:
    return spec.mapping("template", "spec") or spec


def _claims(spec: YamlMapping) -> Iterator[str]:
    """Yield the names of a pod's volumes that are claims."""
    templates = (item.mapping("metadata") for item in spec.mappings("volumeClaimTemplates"))
    volumes = map(yaml_nodes.mapping, _pod(spec).sequence("volumes"))
    for named in (*templates, *(volume for volume in volumes if "persistentVolumeClaim" in volume)):
        yield named.text("name") or ""


def _claimed(spec: YamlMapping) -> Property | None:
    """Return the size of the only volume that a StatefulSet claims."""
    sizes = [item.node("spec", "resources", "requests", "storage") for item in spec.mappings("volumeClaimTemplates")]
    if len(sizes) != 1 or sizes[0] is None:
        return None
    return Property("storage", yaml_nodes.text(sizes[0]) or "", yaml_nodes.line(sizes[0]))


def _config_map(root: YamlMapping, kind: str, name: str) -> Iterator[Described | ConfigText]:
    inside, namespace = f"{kind} {name}", root.text("metadata", "namespace") or ""
    data = {**root.mapping("data"), **root.mapping("stringData")}
    encoded = kind == "Secret"
    labels = _labels(root)
    release, cluster = _release(labels), labels.get("strimzi.io/cluster", "")
    for key, node in data.items():
        text = yaml_nodes.text(node) or ""
        if "=" not in text or "\n" not in text or (encoded and key not in root.mapping("stringData")):
            continue
        found = _properties(text, node)
        if is_brokers(found):
            names = setting_names.of_config_map(place := f"{inside}, {key}", release=release, cluster=cluster)
            yield ConfigText(namespace=namespace, name=name, broker=described(found, place, names))
    variables = [yaml_nodes.as_property(key, node) for key, node in data.items()]
    broker = environment.described_broker(variables, inside=inside, release=release)
    if broker is not None:
        yield broker


def _labels(root: YamlMapping) -> Mapping[str, str]:
    labels = root.mapping("metadata", "labels")
    return {key: (yaml_nodes.text(value) or "")[:_LONGEST_LABEL] for key, value in labels.items()}


def _release(labels: Mapping[str, str]) -> str:
    """Return the release of Helm that renders a manifest, "" where its labels name none."""
    if "Helm" not in {labels.get("app.kubernetes.io/managed-by"), labels.get("heritage")}:
        return ""
    return f"release {labels.get('app.kubernetes.io/instance') or labels.get('release', '')}".rstrip()


def _properties(text: str, node: yaml.Node) -> Mapping[str, Property]:
    """Return the properties of a scalar; where each line of it is a line of the file, with that line."""
    found = java.parse_properties(text.encode())
    first = yaml_nodes.line(node)
    literal = getattr(node, "style", None) == "|"
    if not literal:
        return {key: Property(key, setting.value, first) for key, setting in found.items()}
    return {
        key: Property(key, setting.value, first + setting.line, setting.earlier and first + setting.earlier)
        for key, setting in found.items()
    }


def _values_inside(root: YamlMapping) -> Iterator[Described]:
    """Yield the brokers of a chart's values inside a resource of Argo CD, Flux or k3s, with the lines of the file."""
    spec = root.mapping("spec")
    helm = [yaml_nodes.mapping(source).get("helm") for source in (spec.get("source"), *spec.sequence("sources"))]
    given = [yaml_nodes.mapping(node).get(key) for node in helm for key in ("valuesObject", "values")]
    for node in filter(None, (*given, spec.get("values"), spec.get("valuesContent"))):
        text = yaml_nodes.text(node)
        if text is not None:
            before = "\n" * (yaml_nodes.line(node) - (getattr(node, "style", None) != "|"))
            nested = LOADER(f"{before}{text}")
            try:
                bounded_yaml.refuse_events(text)
                inner = nested.get_single_node()
                bounded_yaml.refuse_aliases(inner, merges_once=True)
            finally:
                nested.dispose()
        else:
            inner = node
        if inner is not None:
            of_chart = chart_values.described_values(yaml_nodes.mapping(inner), yaml_nodes.line(inner))
            yield from app_template.described_controllers(yaml_nodes.mapping(inner)) if of_chart is None else of_chart


def _links(node: yaml.Node | None, seen: set[int], depth: int) -> bool:
    """Return whether Kubernetes gives the pods of a workload the addresses of Services as variables."""
    if node is None or id(node) in seen or depth > bounded_yaml.DEEPEST:
        return True
    seen.add(id(node))
    body = yaml_nodes.mapping(node)
    own = body.text("enableServiceLinks") != "false"
    return own and all(_links(value, seen, depth + 1) for value in body.values())


def _containers(node: yaml.Node | None, seen: set[int], depth: int) -> Iterator[yaml.Node]:
    """Yield the `containers` of all pod descriptions: pods, workloads, sets of pods."""
    if node is None or id(node) in seen or depth > bounded_yaml.DEEPEST:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _containers(item, seen, depth + 1)
    for key, value in yaml_nodes.mapping(node).items():
        if key == "containers" and isinstance(value, yaml.SequenceNode):
            yield value
        else:
            yield from _containers(value, seen, depth + 1)
