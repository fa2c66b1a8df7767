"""Services of compose files, and of jobs in CI: which brokers they describe. Pure.

A variable of the host has the value of the file `.env`, otherwise its default (`${TAG:-7.4.0}`): that is what runs.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import yaml

from kafka_audit.configuration.files import (
    commands,
    compose_file,
    dockerfile,
    environment,
    images,
    memory,
    networks,
    reached,
    scattered,
    yaml_nodes,
)
from kafka_audit.configuration.files.described import Container, ContainerClient, Described, Mount
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark
from kafka_audit.model.text import listing

_Beside = Callable[[str], str | None]
_REFERENCE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)([^${}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_PORTS = re.compile(r"(?:[0-9.]+:|\[[0-9a-f:]+\]:)?(\d{1,5})(?:-(\d{1,5}))?:(\d{1,5})(?:-\d{1,5})?(?:/tcp)?")
_ADDED = ("environment", "env_file", "ports", "volumes")
_CLUSTER_IDS = ("CLUSTER_ID", "KAFKA_KRAFT_CLUSTER_ID")
_ADDRESS = re.compile(
    r"(?<![\w.@/-])(?:(?:PLAINTEXT|SASL_PLAINTEXT|SSL|SASL_SSL)://)?([A-Za-z0-9][\w.-]{0,200}):(\d{2,5})(?![\w.])"
)
_BOOTSTRAPS = re.compile(r"bootstrap|kafka_?brokers?|broker_?list|--brokers\b|kafka[._](?:server|url|host|addr)", re.IGNORECASE)
_WAITS = re.compile(r"wait-for|dockerize|\bnc\b|/dev/tcp")
_HEALTH = re.compile(r"--health-cmd[\s=]+(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_NAMED_VOLUME = re.compile(r"[A-Za-z0-9][\w.-]*")
_MOST_PORTS, _MOST_CLIENTS = 100, 10
_AROUND_KAFKA = re.compile(r"KAFKA|CONNECT|ZOO|ALLOW_|SCHEMA_|KSQL")
_BOOLEAN = "tag:yaml.org,2002:bool"
_BOTH = "both"  # the tag of a list whose items are those of a service and of the one that it extends
_BUILT = "build"  # no name of an image that is known


@dataclass(frozen=True, kw_only=True)
class _Host:
    """The variables of the host, as far as files name them; `assumed` collects those whose default holds."""

    variables: Mapping[str, str]
    assumed: set[str]

    def value(self, text: str) -> tuple[str, bool]:
        """Return a text with what its references become, and whether all of them are known."""
        known = True

        def become(match: re.Match[str]) -> str:
            nonlocal known
            name = match[1] or match[4]
            if name is None:
                return "$"
            if (given := self.variables.get(name)) is not None and (given or match[2] != ":-"):
                return given
            if match[2]:
                self.assumed.add(f"{name}={match[3]}")
                return match[3]
            known = False
            return match[0]

        return _REFERENCE.sub(become, text), known


def described_services(
    node: yaml.Node, beside: _Beside, override: yaml.Node | None = None, *, closed: bool = True
) -> Iterator[Described]:
    """Yield the brokers of the services of a compose file.

    Args:
        node: its `services`.
        beside: returns the text of another file by its path from this one.
        override: the services of the file that Compose adds to it.
        closed: whether no network of it is one of another file.
    """
    services: dict[str, YamlMapping] = {
        name: compose_file.corrected(yaml_nodes.mapping(body)) for name, body in yaml_nodes.mapping(node).items()
    }
    changed = yaml_nodes.mapping(override)
    for name, more in changed.items():
        at = min(
            (value.start_mark for value in services.get(name, {}).values()), key=lambda mark: mark.line, default=node.start_mark
        )
        services[name] = _both(services.get(name, YamlMapping()), yaml_nodes.mapping(yaml_nodes.moved(more, at)))
    neighbours = frozenset(services) | {name for body in services.values() for name in _own_names(body)}
    host = _Host(variables=_env_file(beside(".env")), assumed=set())
    found: list[tuple[Described, networks.Neighbour]] = []
    clients: dict[str, list[ContainerClient]] = {}
    around: list[networks.Neighbour] = []
    other_faults: list[Remark] = []  # of services without a broker
    others: set[str] = set()  # names of services without a broker
    shared: set[str] = set()  # and their volumes
    for service, body in services.items():
        whole = _extended(body, services, beside)
        brokers = [*_service(whole, f"service {service}", host, beside)]
        own = _neighbour(service, whole, host)
        around.append(own)
        other_faults += (
            () if brokers else (*_odd_items(whole.get("environment")), *images.unpublished(own.image, _line_of(whole)))
        )
        if whole.keys().isdisjoint({"build", "env_file", "extends", "command", "entrypoint"}):
            other_faults += images.missing_variables(own.image, own.variables, _line_of(whole))
        other_faults += images.removed(own.image, [_healthcheck(whole), *_commands(whole)], own.variables)
        others.update(() if brokers else own.names)
        shared.update(() if brokers else (mount.source for mount in own.mounts))
        addresses = [] if brokers or "network_mode" in whole else [*_named_addresses(service, whole)]
        for client, named in addresses:
            clients.setdefault(named, []).append(client)
        other_faults += compose_file.without_network(
            service, whole, services, [(named, c.line) for c, named in addresses if c.bootstraps]
        )
        for broker in brokers:
            if "network_mode" in whole or broker.container is None:
                found.append((replace(broker, container=None), own))
            else:
                found.append((replace(broker, neighbours=neighbours, container=replace(broker.container, own=own.names)), own))
    network = networks.Network(
        services=tuple(around),
        brokerless=frozenset(others),
        clients=clients,
        brokers=sum(broker.replicas for broker, _ in found) if all(broker.replicas for broker, _ in found) else 0,
        closed=closed,
    )
    other_faults += reached.too_many_replicas(network)
    for place, (broker, own) in enumerate(found):
        remarks = [*broker.remarks, *(other_faults[:_MOST_CLIENTS] if place == 0 else ())]
        if broker.inside.removeprefix("service ") in changed:
            line = min(setting.line for setting in broker.properties.values())
            remarks.append(Remark(line=line, text="judged with the override file beside this one, which Compose adds"))
        if (at := broker.container) is not None:
            named_it = tuple(client for name in sorted(at.own) for client in clients.get(name, ())[:_MOST_CLIENTS])
            broker = replace(broker, container=replace(at, clients=named_it, shared=frozenset(shared)))  # noqa: PLW2901 -- the same, with its clients
            remarks += networks.network_remarks(broker, own, network)
            remarks += reached.reach_remarks(broker, own, network)
        yield replace(broker, remarks=tuple(remarks))


def bare_services(roots: Sequence[yaml.Node]) -> Iterator[Described]:
    """Yield the brokers of documents that have services without `services`, or the keys of one service."""
    for root in roots:
        keys = yaml_nodes.mapping(root)
        node = keys.get("services", root)
        if _is_service(keys):
            name = keys.text("container_name") or "kafka"
            node = yaml_nodes.mapping_of([(yaml_nodes.scalar(name, root.start_mark), root)], root.start_mark)
        if any(map(_is_service, map(yaml_nodes.mapping, yaml_nodes.mapping(node).values()))):
            yield from described_services(node, lambda _path: None, closed=False)


def _is_service(body: YamlMapping) -> bool:
    return "environment" in body and body.keys().isdisjoint({"kind", "services"})


def _neighbour(service: str, body: YamlMapping, host: _Host) -> networks.Neighbour:
    """Return a service as the others of its file see it."""
    named = [(name, host.value(text or "")[0], line) for name, text, line in _assignments(body.get("environment"))]
    ports = [(yaml_nodes.text(port) or "", yaml_nodes.line(port)) for port in body.sequence("ports")]
    node = body.get("container_name")
    return networks.Neighbour(
        names=frozenset({service, *_own_names(body)}),
        image=host.value(body.text("image") or "")[0],
        variables={name: Property(name, text, line) for name, text, line in named},
        ports=_ports(body, host),
        published=tuple(Property("ports", text, line) for text, line in ports),
        mounts=tuple(_mounts(body)),
        mounted_alone=body.keys().isdisjoint({"configs", "secrets", "build", "volumes_from"}),
        container=None if node is None else yaml_nodes.as_property("container_name", node),
        awaits_well=frozenset(compose_file.names_of(body.get("depends_on"), healthy=True)),
        again=body.text("restart") not in {None, "no"} or "deploy" in body,
        awaits=frozenset(compose_file.names_of(body.get("depends_on"))),
        addresses=frozenset(_addresses(body)),
        exposed={yaml_nodes.text(port) or "": yaml_nodes.line(port) for port in body.sequence("expose")},
        commands=tuple(_commands(body)),
    )


def _addresses(body: YamlMapping) -> Iterator[str]:
    """Yield the addresses that the file gives to a service."""
    for network in body.mapping("networks").values():
        yield yaml_nodes.mapping(network).text("ipv4_address") or ""


def _named_addresses(service: str, body: YamlMapping) -> Iterator[tuple[ContainerClient, str]]:
    """Yield each address that a service's variables and command name, with its host."""
    named = [(name, text or "", line) for name, text, line in _assignments(body.get("environment"))]
    parts = [part for key in ("entrypoint", "command") if key in body for part in yaml_nodes.one_or_more(body[key])]
    words = [yaml_nodes.text(part) or "" for part in parts]
    options = ["", *(word if word.startswith("-") and "=" not in word else "" for word in words)]
    named += [(option, word, yaml_nodes.line(part)) for option, word, part in zip(options, words, parts, strict=False)]
    for name, text, line in named:
        for match in () if _WAITS.search(text) else _ADDRESS.finditer(text):
            bootstraps = _BOOTSTRAPS.search(name or text) is not None
            yield ContainerClient(name=service, port=int(match[2]), line=line, bootstraps=bootstraps), match[1]


def services_of_jobs(root: YamlMapping) -> Iterator[Described]:
    """Yield the brokers of the services of jobs: GitHub's mappings, and lists as GitLab's, with their variables."""
    host = _Host(variables={}, assumed=set())
    jobs = root.mapping("jobs") if "jobs" in root else root
    for name, node_of_job in jobs.items():
        job = yaml_nodes.mapping(node_of_job)
        bodies = job.mapping("services").items() or (
            (yaml_nodes.mapping(item).text("alias") or "", item) for item in job.sequence("services")
        )
        for service, node in bodies:
            body = yaml_nodes.mapping(node)
            variables = body.get("env") or body.get("variables")
            given = {"image": body.get("image") or body.get("name"), "environment": variables}
            given |= {key: body.get(key) for key in ("command", "entrypoint", "ports")}
            options = body.text("options") or ""
            if (check := _HEALTH.search(options)) is not None:
                given["healthcheck"] = _checked(check[1] or check[2] or check[3], body["options"])
            present = YamlMapping({key: node for key, node in given.items() if node is not None})
            own = _neighbour(service, present, host)
            for broker in _service(present, f"job {name}, service {service}", host, lambda _path: None):
                on_host = "runs-on" in job and "container" not in job
                steps = [step.text("run") or "" for step in job.mappings("steps")]
                more = networks.runner_remarks(broker, own, steps) if on_host else ()
                yield replace(broker, remarks=(*broker.remarks, *more))


def _checked(command: str, options: yaml.Node) -> yaml.Node:
    """Return the health check that options of Docker set, as that of a compose file."""
    mark = options.start_mark
    return yaml_nodes.mapping_of([(yaml_nodes.scalar("test", mark), yaml_nodes.scalar(command, mark))], mark)


def _env_file(text: str | None) -> Mapping[str, str]:
    return {setting.key: setting.value for setting in environment.parse_env_file(text or "")}


def _extended(body: YamlMapping, services: Mapping[str, YamlMapping], beside: _Beside) -> YamlMapping:
    """Return a service with what it takes from another one; `extends` stays where that cannot be read."""
    node = body.get("extends")
    path = yaml_nodes.mapping(node).text("file")
    if node is not None and path is not None and (text := beside(path)) is not None:
        roots = [yaml_nodes.mapping(root) for root in yaml_nodes.composed(text)]
        there = roots[0].mapping("services") if roots else {}
        services = {name: yaml_nodes.mapping(yaml_nodes.moved(one, node.start_mark)) for name, one in there.items()}
    name = yaml_nodes.text(node) or yaml_nodes.mapping(node).text("service") or ""
    base = services.get(name)
    if base is None or base is body or "extends" in base:
        return body
    return _both(base, YamlMapping({key: value for key, value in body.items() if key != "extends"}))


def _both(base: YamlMapping, own: YamlMapping) -> YamlMapping:
    """Return a service with another one over it, as Compose does for `extends` and for a second file."""
    lists = {
        key: yaml.SequenceNode(
            _BOTH,
            [
                part
                for node in (base[key], own[key])
                for part in ([node] if key == "environment" else yaml_nodes.one_or_more(node))
            ],
            own[key].start_mark,
        )
        for key in _ADDED
        if key in base and key in own
    }
    return YamlMapping(base | own | lists)


def _own_names(body: YamlMapping) -> Iterator[str]:
    """Yield the names by which the containers of a network know a compose service, besides its own."""
    for key in ("hostname", "container_name"):
        if (name := body.text(key)) is not None:
            yield name
    for network in body.mapping("networks").values():
        yield from filter(None, map(yaml_nodes.text, yaml_nodes.mapping(network).sequence("aliases")))
    for key in ("extra_hosts", "links", "external_links"):
        yield from (
            (yaml_nodes.text(item) or "").rpartition(":")[2 if key != "extra_hosts" else 0] for item in body.sequence(key)
        )


def _service(body: YamlMapping, inside: str, host: _Host, beside: _Beside) -> Iterator[Described]:
    """Yield the broker of a service."""
    host.assumed.clear()
    made = _built(body, host, beside)
    variables, unknown, elsewhere = _of_env_files(body, beside)
    variables[:0] = [replace(setting, line=body.line("build")) for setting in made.variables]
    for name, text, line in _assignments(body.get("environment")):
        value, known = host.value(text or "")
        if text is None and name in host.variables:
            value, known = host.variables[name], True
        elif text is None or not known:
            unknown.append(name)
        variables.append(Property(name, value, line))
    odd = [*_odd_items(body.get("environment"))]
    image, _ = host.value(body.text("image") or "")
    partial = not image and "build" not in body
    image = made.image or _BUILT if "build" in body or partial else image
    at = _first(body, ("entrypoint", "command", "build")) or Property("command", "", 1)
    start = commands.start_of(_words(body) or made.words, at)
    if start is None:
        return
    of_image = images.image_of(image, {setting.key: setting for setting in variables})
    elsewhere = (
        elsewhere
        or _first(body, ("extends", scattered.REST))
        or _mounted(body, of_image)
        or (_first(body, ("build",)) if made.changed else None)
    )
    literal = [setting.key for setting in variables if setting.key not in unknown]
    broker = environment.described_broker(
        variables,
        inside=inside,
        image=image,
        unknown=unknown,
        literal=literal,
        elsewhere=elsewhere,
        start=start,
        line=_line_of(body),
    )
    if broker is None:
        return
    heap = next((setting for setting in reversed(variables) if setting.key == memory.HEAP), Property("", of_image.heap, 0))
    remarks = [
        *broker.remarks,
        *odd,
        *of_image.missing_tool(_healthcheck(body)),
        *memory.heap_remarks(heap.value, _limit(body, host), heap.line),
        *_unwritable(body),
        *of_image.folder_of_host(mount for mount in _mounts(body) if "user" not in body),
    ]
    if host.assumed:
        remarks.append(Remark(line=_line(body), text=f"judged with the defaults {listing(sorted(host.assumed), 5)}"))
    ids = (setting for setting in reversed(variables) if setting.key in _CLUSTER_IDS and setting.key not in unknown)
    container = Container(
        ports=_ports(body, host),
        cluster_id=next(ids, None),
        mounts=tuple(_mounts(body)),
        new_host="hostname" not in body,
        file=start.file,
        healthcheck=_healthcheck(body),
        user=body.text("user") or "",
    )
    yield replace(broker, remarks=tuple(remarks), replicas=_replicas(body), partial=partial, container=container)


def _built(body: YamlMapping, host: _Host, beside: _Beside) -> dockerfile.Built:
    """Return what the Dockerfile of a service makes, nothing where it has none or it cannot be read."""
    node = body.get("build")
    build = yaml_nodes.mapping(node)
    folder, _ = host.value(yaml_nodes.text(node) or build.text("context") or ".")
    text = beside(f"{folder.rstrip('/')}/{build.text('dockerfile') or 'Dockerfile'}") if node is not None else None
    given = {name: host.value(value or "")[0] for name, value, _ in _assignments(build.get("args"))}
    return dockerfile.built(text, given) if text is not None else dockerfile.Built()


def _of_env_files(body: YamlMapping, beside: _Beside) -> tuple[list[Property], list[str], Property | None]:
    """Return the variables of `env_file` with its line, those that are not known, and it if it cannot be read."""
    node = body.get("env_file")
    if node is None:
        return [], [], None
    variables: list[Property] = []
    unread = None
    for item in yaml_nodes.one_or_more(node):
        path = yaml_nodes.text(item) or yaml_nodes.mapping(item).text("path") or ""
        text, line = beside(path), yaml_nodes.line(item)
        if text is None:
            unread = Property("env_file", "", line)
        variables += [replace(setting, line=line) for setting in environment.parse_env_file(text or "")]
    return variables, [setting.key for setting in variables if "$" in setting.value], unread


def _odd_items(node: yaml.Node | None) -> Iterator[Remark]:
    """Yield the items of the list of variables that set nothing, and those that Compose refuses."""
    for name, value in yaml_nodes.mapping(node).items():
        if value.tag == _BOOLEAN and _AROUND_KAFKA.match(name):
            text = f"{name[:100]} needs quotes: docker-compose before release 2 refuses {yaml_nodes.text(value)} without them"
            yield Remark(line=yaml_nodes.line(value), text=text)
    for item in yaml_nodes.items(node):
        name, equals, _ = (yaml_nodes.text(item) or "").partition("=")
        if isinstance(node, yaml.Node) and node.tag == _BOTH:
            yield from _odd_items(item)
        elif isinstance(item, yaml.MappingNode):
            text = "Compose refuses the file: an item of the list is a mapping, and has to be `NAME=value`"
            yield Remark(line=yaml_nodes.line(item), text=text)
        elif not equals and ":" in name:
            text = f"{name.partition(':')[0][:100]} is not set: the list takes `NAME=value`, and this is the name of a variable"
            yield Remark(line=yaml_nodes.line(item), text=text)


def _words(body: YamlMapping) -> str:
    """Return entrypoint and command, with a dollar for each two."""
    nodes = [body[key] for key in ("entrypoint", "command") if key in body]
    parts = [yaml_nodes.text(item) or "" for node in nodes for item in yaml_nodes.one_or_more(node)]
    return "\n".join(parts).replace("$$", "$")


def _commands(body: YamlMapping) -> Iterator[Property]:
    """Yield entrypoint and command, each as a line of a shell."""
    for key in ("entrypoint", "command"):
        for part in yaml_nodes.one_or_more(body[key]) if key in body else ():
            for number, line in enumerate((yaml_nodes.text(part) or "").split("\n")):
                literal = getattr(part, "style", None) == "|"
                yield Property(key, line, yaml_nodes.line(part) + (number + 1 if literal else 0))


def _line(body: YamlMapping) -> int:
    return min((yaml_nodes.line(node) for node in body.values()), default=1)


def _line_of(body: YamlMapping) -> int:
    """Return the line of a service's image, or of its first key."""
    return body.line("image") if "image" in body else _line(body)


def _replicas(body: YamlMapping) -> int:
    deploy = body.text("deploy", "replicas")
    text = deploy or body.text("scale") or "1"
    return int(text) if text.isdecimal() and len(text) < len("10000") else 0


def _ports(body: YamlMapping, host: _Host) -> Mapping[int, tuple[int, int]]:
    """Return the published ports; none if one of them is not known."""
    found: dict[int, tuple[int, int]] = {}
    for item in body.sequence("ports"):
        long = yaml_nodes.mapping(item)
        text = yaml_nodes.text(item) or ":".join(long.text(key) or "" for key in ("published", "target"))
        value, known = host.value(text)
        match = _PORTS.fullmatch(value)
        if not known or match is None:
            return {}
        first, last, target = int(match[1]), int(match[2] or match[1]), int(match[3])
        for number in range(min(last - first + 1, _MOST_PORTS)):
            found[first + number] = (target + number, yaml_nodes.line(item))
    return found


def _limit(body: YamlMapping, host: _Host) -> Property | None:
    limits = body.mapping("deploy", "resources", "limits")
    node = limits.get("memory", body.get("mem_limit"))
    return None if node is None else Property("memory", host.value(yaml_nodes.text(node) or "")[0], yaml_nodes.line(node))


def _healthcheck(body: YamlMapping) -> Property:
    node = body.node("healthcheck", "test")
    words = "" if node is None else " ".join(yaml_nodes.text(part) or "" for part in yaml_nodes.one_or_more(node))
    return Property("healthcheck", words, 1 if node is None else yaml_nodes.line(node))


def _mounts(body: YamlMapping) -> Iterator[Mount]:
    """Yield the volumes of a service; a named one is there to keep data, a folder of the host where it is one of Kafka's data."""
    for item in body.sequence("volumes"):
        long, parts = yaml_nodes.mapping(item), (yaml_nodes.text(item) or "").split(":")
        source = long.text("source") or (parts[0] if parts[1:] else "")
        path = long.text("target") or parts[1 if parts[1:] else 0]
        if path:
            kept = _NAMED_VOLUME.fullmatch(source) is not None or images.is_for_data(path)
            kept = kept and long.text("type") != "tmpfs"
            named = source if _NAMED_VOLUME.fullmatch(source) else ""
            yield Mount(path=path, line=yaml_nodes.line(item), keeps=kept, source=named)
    tmpfs = body.get("tmpfs")
    for item in () if tmpfs is None else yaml_nodes.one_or_more(tmpfs):
        yield Mount(path=(yaml_nodes.text(item) or "").split(":")[0], line=yaml_nodes.line(item))


def _unwritable(body: YamlMapping) -> Iterator[Remark]:
    """Yield that a volume for data is there to be read alone."""
    for item in body.sequence("volumes"):
        parts = (yaml_nodes.text(item) or "").split(":")
        if parts[2:] and "ro" in parts[-1].split(",") and images.is_for_data(parts[-2]):
            yield Remark(
                line=yaml_nodes.line(item), text="the broker cannot write its data to a volume that is read-only (`:ro`)"
            )


def _mounted(body: YamlMapping, image: images.Image) -> Property | None:
    """Return `volumes` if one of them may be a file to which the image adds the variables."""
    found = (mount for mount in _mounts(body) if re.search(image.mounts, mount.path))
    return next((Property("volumes", "", mount.line) for mount in found), None)


def _first(body: YamlMapping, keys: Sequence[str]) -> Property | None:
    """Return the first of some keys that is set, with its line."""
    return next((Property(key, "", body.line(key)) for key in keys if key in body), None)


def _assignments(node: yaml.Node | None) -> Iterator[tuple[str, str | None, int]]:
    """Yield name, value and line of compose's `environment`, a mapping or a list; no value: the host's variable."""
    for item in yaml_nodes.items(node):
        if isinstance(item, yaml.ScalarNode):
            name, equals, value = (yaml_nodes.text(item) or "").partition("=")
            yield name, value if equals else None, yaml_nodes.line(item)
        else:  # of a service, and of the one that it extends
            yield from _assignments(item)
    for name, value_node in yaml_nodes.mapping(node).items():
        yield name, yaml_nodes.text(value_node), yaml_nodes.line(value_node)
