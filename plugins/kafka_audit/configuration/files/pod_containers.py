"""Containers of pods: which brokers they describe. Pure.

Kubernetes replaces `$(NAME)` in a value, and nothing else: `${NAME}` stays as it is written.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import yaml

from kafka_audit.configuration.files import commands, environment, images, memory, templates, yaml_nodes
from kafka_audit.configuration.files.commands import StartKind
from kafka_audit.configuration.files.described import Container, Described, Mount
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.addresses.advertised_listeners import INSTEAD, KEY, entries
from kafka_audit.model.addresses.voters import SERVERS, VOTERS
from kafka_audit.model.linted import Remark

_EXPORT = re.compile(r"\bexport[ \t]+(KAFKA_[A-Z0-9_]{1,200})=([^\s;&|]*)")
_KUBERNETES = re.compile(r"(?<!\$)\$\(([A-Za-z_][A-Za-z0-9_]{0,100})\)")
_OF_SERVICES = re.compile(r"_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?![A-Z0-9])")
_NO_TEXTS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool"))
_SUM = re.compile(r"\$\(\([^()]*\)\)")
_REFERRED = re.compile(r"\$[{(]([A-Za-z_][A-Za-z0-9_]{0,200})[)}]")
_SHELLS = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OF_SHELLS = re.compile(
    r"\$\{[A-Za-z_][A-Za-z0-9_]{0,100}[#%][^{}]{0,100}\}|\$\([a-z]{1,50} [^()]{0,200}\)|`[^`]{1,200}`"
    r"|\$(?:HOSTNAME\b|\{HOSTNAME\})"
)
_PORT_OF_SERVICE = Property("KAFKA_PORT", "tcp://CLUSTER-IP:9092", 0)
_PATIENCE = {"initialDelaySeconds": "0", "periodSeconds": "10", "failureThreshold": "3"}
_START = 15  # seconds that a broker may well take until it answers
_ADVERTISED = re.compile(r"KAFKA_(?:CFG_)?ADVERTISED_LISTENERS")
_IDS = re.compile(r"KAFKA_(?:CFG_)?(?:NODE|BROKER)_ID|NODE_ID|BROKER_ID")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What the containers of a workload have in common.

    `maps` has variables by ConfigMap or Secret, `used` collects those that containers take variables from; `linked` says that
    Kubernetes gives them the address of a Service named kafka. `claims` are the volumes that keep their data, `prepared` says
    that containers run before the broker. `service` is the one that names its pods, before they are ready if it is `published`;
    `one_by_one` says that each pod waits for the one before.
    """

    inside: str
    first_pod: str
    release: str
    maps: Mapping[str, Sequence[Property]]
    linked: bool
    claims: frozenset[str] = frozenset()
    prepared: bool = False
    service: str = ""
    published: bool = True
    one_by_one: bool = False
    of_root: bool = False  # whether nothing gives new volumes to another user
    used: set[str] = field(default_factory=set)


def described_container(body: YamlMapping, workload: Workload) -> Iterator[Described]:
    """Yield the broker of a container."""
    image = body.text("image")
    at = next((Property(key, "", body.line(key)) for key in ("command", "args") if key in body), Property("", "", 1))
    start = commands.start_of("\n".join([*body.texts("command"), *body.texts("args")]), at)
    if start is None:
        return
    variables, unknown, elsewhere = _variables(body, workload)
    for setting in _exported(body):
        variables.append(setting)
        unknown.append(setting.key)
    named = {setting.key: setting for setting in variables}
    of_image = images.image_of(image, named)
    if workload.linked and of_image.links and _PORT_OF_SERVICE.key not in named and variables:
        variables.append(Property(_PORT_OF_SERVICE.key, _PORT_OF_SERVICE.value, min(setting.line for setting in variables)))
    own = [name for name, setting in named.items() if start.kind is StartKind.IMAGE and _is_literal(setting.value, named)]
    container = body.text("name")
    broker = environment.described_broker(
        variables,
        inside=f"{workload.inside}, container {container}" if container else workload.inside,
        image=image,
        unknown=unknown,
        literal=own,
        release=workload.release,
        elsewhere=elsewhere or _mounted(body, of_image, workload),
        start=start,
        line=body.line("image") if "image" in body else 0,
    )
    if broker is not None:
        around = Container(
            mounts=tuple(_mounts(body, workload)),
            file=start.file,
            probed=_probed(body),
            service=workload.service,
            published=workload.published,
            one_by_one=workload.one_by_one,
        )
        tools = tuple(remark for probe in _commands_of_probes(body) for remark in of_image.missing_tool(probe))
        heap = named.get(memory.HEAP, Property("", of_image.heap, 0))
        large = memory.heap_remarks(heap.value, memory.limit_of_pod(body), heap.line)
        shells = _not_replaced(named, of_image) if start.kind is StartKind.IMAGE else ()
        folders = [mount for mount in _mounts(body, workload) if mount.claim] if workload.of_root else []
        own_faults = (
            *of_image.claim_of_root(folders if "securityContext" not in body else ()),
            *_written_values(body),
            *_other_service(broker, workload),
            *_of_probes(body, broker),
        )
        remarks = (*broker.remarks, *tools, *large, *shells, *own_faults, *_advertised_pod(body, variables, workload))
        remarks += (*_of_namespace(variables, workload),)
        yield replace(broker, container=around, remarks=remarks)


def _not_replaced(named: Mapping[str, Property], image: images.Image) -> Iterator[Remark]:
    """Yield that a setting has words which a shell alone replaces."""
    for name, setting in named.items():
        if image.label and environment.key_of(name, image) and (match := _OF_SHELLS.search(setting.value)):
            text = (
                f"{name[:100]} has {match[0][:60]}, which Kubernetes leaves as it is: a shell has to export it, as in `command`"
            )
            yield Remark(line=setting.line, text=text)


def _written_values(body: YamlMapping) -> Iterator[Remark]:
    """Yield the variables that Kubernetes refuses, and references to no earlier variable, which it leaves."""
    before: set[str] = set()
    exported = {setting.key for setting in _exported(body)}
    for entry in body.mappings("env"):
        name, value = entry.text("name") or "", entry.get("value")
        if value is not None and value.tag in _NO_TEXTS:
            text = f"Kubernetes refuses {name[:100]}: a value is text, and {(yaml_nodes.text(value) or '')[:20]} needs quotes"
            yield Remark(line=yaml_nodes.line(value), text=text)
        if value is None or "envFrom" in body or name in exported:
            before.add(name)
            continue
        for missing in _KUBERNETES.findall(yaml_nodes.text(value) or ""):
            if f"$({missing})" != templates.PLACEHOLDER and missing not in before and not _OF_SERVICES.search(missing):
                text = f"Kubernetes leaves $({missing[:60]}) as it is: no variable before it has that name"
                yield Remark(line=yaml_nodes.line(value), text=text)
        before.add(name)


def _other_service(broker: Described, workload: Workload) -> Iterator[Remark]:
    """Yield that an address has a pod below another Service than that which names the pods of the StatefulSet."""
    pod = workload.first_pod.removesuffix("-0")
    pattern = re.compile(rf"(?<![\w.-]){re.escape(pod)}-\d+\.([a-z0-9-]{{1,63}})\.[a-z0-9-]{{1,63}}\.svc(?![\w-])")
    for key in (KEY, VOTERS, SERVERS) if workload.service else ():
        for name in sorted(set(pattern.findall(broker.value(key))) - {workload.service})[:1]:
            text = f"no pod has a name below {name}: `serviceName` is {workload.service[:60]}"
            yield Remark(line=broker.properties[key].line, text=text)


def _of_probes(body: YamlMapping, broker: Described) -> Iterator[Remark]:
    """Yield that a probe asks a port on which nothing of the container listens."""
    declared = {port.text("containerPort") for port in body.mappings("ports")}
    listening = declared | {str(one.port) for one in entries({KEY: broker.value(INSTEAD)})}
    for key in ("startupProbe", "readinessProbe", "livenessProbe") if broker.value(INSTEAD) else ():
        node = body.node(key, "tcpSocket", "port")
        port = yaml_nodes.text(node) or ""
        if node is not None and port.isdecimal() and port not in listening:
            yield Remark(line=yaml_nodes.line(node), text=f"{key} asks port {port[:5]}, where no listener is: it never succeeds")
    probe = body.mapping("livenessProbe")
    texts = [probe.text(key) or default for key, default in _PATIENCE.items()]
    if probe and "startupProbe" not in body and all(text.isdecimal() and len(text) < len("10000") for text in texts):
        delay, period, failures = map(int, texts)
        if delay + period * failures < _START:
            text = f"livenessProbe kills the broker {delay + period * failures} s after its start, which may take longer"
            yield Remark(line=body.line("livenessProbe"), text=text)


def _advertised_pod(body: YamlMapping, variables: Sequence[Property], workload: Workload) -> Iterator[Remark]:
    """Yield that the pods of a StatefulSet advertise their addresses, which change, though each has a name."""
    entries = map(yaml_nodes.mapping, body.sequence("env"))
    own = {entry.text("name") for entry in entries if _field(entry) == "status.podIP"}
    for setting in variables if workload.service else ():
        named = own & set(_REFERRED.findall(setting.value))
        if named and _ADVERTISED.fullmatch(setting.key):
            text = (
                "advertises the address of the pod, which changes with each pod: clients that know no other one lose the broker"
            )
            yield Remark(line=setting.line, text=f"{text}; advertise POD.{workload.service[:60]}")


def _of_namespace(variables: Sequence[Property], workload: Workload) -> Iterator[Remark]:
    """Yield that the advertised name resolves in its namespace alone."""
    short = re.compile(rf"://[^,/]{{0,200}}\.{re.escape(workload.service)}:\d")
    for setting in variables if workload.service else ():
        if _ADVERTISED.fullmatch(setting.key) and short.search(setting.value):
            text = f"names below {workload.service[:60]} resolve in its namespace alone: clients elsewhere need .NAMESPACE.svc"
            yield Remark(line=setting.line, text=text)


def _field(entry: YamlMapping) -> str | None:
    reference = entry.mapping("valueFrom", "fieldRef")
    return reference.text("fieldPath")


def _variables(body: YamlMapping, workload: Workload) -> tuple[list[Property], list[str], Property | None]:
    """Return the variables of a container, those of ConfigMaps first, the names of unknown ones, and what is elsewhere."""
    variables: list[Property] = []
    elsewhere = None
    for source in body.mappings("envFrom"):
        prefix = source.text("prefix") or ""
        name = _name_of(source.get("configMapRef") or source.get("secretRef"))
        if name in workload.maps:
            workload.used.add(name)
            variables += [Property(prefix + one.key, one.value, one.line) for one in workload.maps[name]]
        else:
            elsewhere = Property("envFrom", "", body.line("envFrom"))
    unknown = [setting.key for setting in variables if not setting.value]
    for item in body.sequence("env"):
        entry = yaml_nodes.mapping(item)
        key, value = entry.text("name"), entry.get("value")
        if key is None:
            continue
        setting = Property(key, yaml_nodes.text(value) or "", yaml_nodes.line(value or item))
        if value is None:
            setting = _referred(setting, entry.mapping("valueFrom"), workload)
            unknown += [] if setting.value else [key]
        variables.append(setting)
    return variables, unknown, elsewhere


def _referred(setting: Property, source: YamlMapping, workload: Workload) -> Property:
    """Return a variable with the value that another document has, "" where that is not known; of an id, also the pod's name."""
    path = source.text("fieldRef", "fieldPath")
    if path == "metadata.name" and _IDS.fullmatch(setting.key):
        return Property(setting.key, workload.first_pod, setting.line)
    reference = source.mapping("configMapKeyRef")
    name, key = _name_of(source.get("configMapKeyRef")), reference.text("key")
    found = next((one for one in workload.maps.get(name, ()) if one.key == key), None)
    if found is None:
        return setting
    workload.used.add(name)
    return Property(setting.key, found.value, found.line)


def _name_of(node: yaml.Node | None) -> str:
    return yaml_nodes.mapping(node).text("name") or ""


def _is_literal(value: str, named: Mapping[str, Property]) -> bool:
    """Return whether a value has `${NAME}` of a variable of the container, which no shell and no tool is meant to replace."""
    names = _SHELLS.findall(value)
    return bool(names) and all(name in named for name in names) and "$(" not in value


def _words(body: YamlMapping) -> Iterator[yaml.Node]:
    for key in ("command", "args"):
        yield from body.sequence(key)


def _probed(body: YamlMapping) -> frozenset[int]:
    """Return the ports that decide whether a container is ready, 0 for a command; none where nothing known decides."""
    probes = [body.mapping(key) for key in ("startupProbe", "readinessProbe")]
    ports = [probe.text("tcpSocket", "port") or "" for probe in probes]
    found = {int(port) for port in ports if port.isdecimal() and len(port) < len("100000")}
    return frozenset(found | ({0} if any("exec" in probe for probe in probes) else set()))


def _commands_of_probes(body: YamlMapping) -> Iterator[Property]:
    for key in ("startupProbe", "readinessProbe", "livenessProbe"):
        node = body.node(key, "exec", "command")
        if node is not None:
            yield Property(key, " ".join(body.texts(key, "exec", "command")), yaml_nodes.line(node))


def _mounts(body: YamlMapping, workload: Workload) -> Iterator[Mount]:
    for item in body.sequence("volumeMounts"):
        mount = yaml_nodes.mapping(item)
        kept = (mount.text("name") or "") in workload.claims
        root = kept and not workload.prepared and mount.keys().isdisjoint({"subPath", "subPathExpr"})
        yield Mount(path=mount.text("mountPath") or "", line=yaml_nodes.line(item), keeps=kept, claim=root)


def _mounted(body: YamlMapping, image: images.Image, workload: Workload) -> Property | None:
    found = (mount for mount in _mounts(body, workload) if re.search(image.mounts, mount.path))
    return next((Property("volumeMounts", "", mount.line) for mount in found), None)


def _exported(body: YamlMapping) -> Iterator[Property]:
    """Yield the variables that a container's command exports before the broker starts; the shell decides their values."""
    for part in _words(body):
        text = yaml_nodes.text(part) or ""
        begin = yaml_nodes.line(part) + (getattr(part, "style", None) == "|")
        for number, row in enumerate(text.split("\n")):
            for match in _EXPORT.finditer(_SUM.sub("${sum}", row)):
                yield Property(match[1], match[2].strip("\"'"), begin + number)
