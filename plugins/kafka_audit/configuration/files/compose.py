"""Services of compose files, and of jobs in CI: which brokers they describe. Pure.

A variable of the host has the value of the file `.env`, otherwise its default (`${TAG:-7.4.0}`): that is what runs.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import yaml

from kafka_audit.configuration.files import commands, environment, images, memory, yaml_nodes
from kafka_audit.configuration.files.described import Container, ContainerClient, Described, Mount
from kafka_audit.configuration.files.java import Property
from kafka_audit.model.addresses.advertised_listeners import KEY, entries
from kafka_audit.model.linted import Remark
from kafka_audit.model.text import listing

_Mapping = Mapping[str, yaml.Node]
_Beside = Callable[[str], str | None]
_REFERENCE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)([^${}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_PORTS = re.compile(r"(?:[0-9.]+:|\[[0-9a-f:]+\]:)?(\d{1,5})(?:-(\d{1,5}))?:(\d{1,5})(?:-\d{1,5})?(?:/tcp)?")
_ZOOKEEPER = "zookeeper.connect"
_TOPICS, _TOPIC = "create.topics", re.compile(r"([^\s:,]{1,249}):\d{1,6}:(\d{1,4})(?=[:,\s]|$)")
_ADDED = ("environment", "env_file", "ports", "volumes")
_CLUSTER_IDS = ("CLUSTER_ID", "KAFKA_KRAFT_CLUSTER_ID")
_ADDRESS = re.compile(
    r"(?<![\w.@/-])(?:(?:PLAINTEXT|SASL_PLAINTEXT|SSL|SASL_SSL)://)?([A-Za-z0-9][\w.-]{0,200}):(\d{2,5})(?![\w.])"
)
_BOOTSTRAPS = re.compile(r"bootstrap|kafka_?brokers?|broker_?list", re.IGNORECASE)
_ASKED = re.compile(r"--bootstrap-server[\s=\"']{1,5}([A-Za-z0-9][\w.-]{0,200}):(\d{2,5})")
_WAITS = re.compile(r"wait-for|dockerize|\bnc\b|/dev/tcp")
_NAMED_VOLUME = re.compile(r"[A-Za-z0-9][\w.-]*")
_MOST_PORTS, _MOST_CLIENTS = 100, 10
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


def described_services(node: yaml.Node, beside: _Beside, override: yaml.Node | None = None) -> Iterator[Described]:
    """Yield the brokers of the services of a compose file.

    Args:
        node: its `services`.
        beside: returns the text of another file by its path from this one.
        override: the services of the file that Compose adds to it.
    """
    services: dict[str, _Mapping] = {name: yaml_nodes.mapping(body) for name, body in yaml_nodes.mapping(node).items()}
    changed = yaml_nodes.mapping(override)
    for name, more in changed.items():
        at = min(
            (value.start_mark for value in services.get(name, {}).values()), key=lambda mark: mark.line, default=node.start_mark
        )
        services[name] = _both(services.get(name, {}), yaml_nodes.mapping(yaml_nodes.moved(more, at)))
    neighbours = frozenset(services) | {name for body in services.values() for name in _own_names(body)}
    host = _Host(variables=_env_file(beside(".env")), assumed=set())
    found: list[Described] = []
    clients: dict[str, list[ContainerClient]] = {}
    others: set[str] = set()  # names of services without a broker
    for service, body in services.items():
        whole = _extended(body, services)
        brokers = [*_service(whole, f"service {service}", host, beside)]
        others.update(() if brokers else {service, *_own_names(whole)})
        for client, named in () if brokers or "network_mode" in whole else _named_addresses(service, whole):
            clients.setdefault(named, []).append(client)
        for broker in brokers:
            if "network_mode" in whole or broker.container is None:
                found.append(replace(broker, container=None))
            else:
                own = frozenset({service, *_own_names(whole)})
                remarks = (*broker.remarks, *_published_somewhere(whole, broker, own))
                found.append(
                    replace(broker, neighbours=neighbours, container=replace(broker.container, own=own), remarks=remarks)
                )
    brokers_of_file = sum(broker.replicas for broker in found) if all(broker.replicas for broker in found) else 0
    for broker in found:
        around = broker.container
        named_it = (
            tuple(client for name in sorted(around.own) for client in clients.get(name, ())[:_MOST_CLIENTS]) if around else ()
        )
        asked = [*_asks_others(around, others)] if around else []
        if broker.inside.removeprefix("service ") in changed:
            line = min(setting.line for setting in broker.properties.values())
            asked.append(Remark(line=line, text="judged with the override file beside this one, which Compose adds"))
        remarks = (*broker.remarks, *asked, *_ports_of_host(broker, services, host), *_too_many_replicas(broker, brokers_of_file))
        yield replace(broker, container=replace(around, clients=named_it), remarks=remarks) if around else broker


def _published_somewhere(body: _Mapping, broker: Described, own: Collection[str]) -> Iterator[Remark]:
    """Yield that Docker chooses where a port is published which the broker advertises to clients outside."""
    listed = [(entry.host, str(entry.port)) for entry in entries({KEY: broker.value(KEY)})]
    listed += [(broker.value("advertised.host.name"), broker.value("advertised.port"))]
    outside = {port for host, port in listed if host and host not in own}
    for item in yaml_nodes.items(body.get("ports")):
        port = yaml_nodes.text(item)
        if port in outside:
            text = f"Docker publishes {port} at a port that it chooses, and {port} is advertised: publish `{port}:{port}`"
            yield Remark(line=yaml_nodes.line(item), text=text)


def _too_many_replicas(broker: Described, brokers: int) -> Iterator[Remark]:
    """Yield that wurstmeister's image is to create a topic with more replicas than the file has brokers."""
    servers = [address.strip().partition(":")[0] for address in broker.value(_ZOOKEEPER).partition("/")[0].split(",")]
    if brokers > 0 and broker.neighbours.issuperset(servers):
        for topic, replicas in _TOPIC.findall(broker.value(_TOPICS)):
            if brokers < int(replicas):
                text = f"topic {topic[:60]} is to have {replicas} replicas, and is not created: brokers of the file are {brokers}"
                yield Remark(line=broker.properties[_TOPICS].line, text=text)
                return


def _ports_of_host(broker: Described, services: Mapping[str, _Mapping], host: _Host) -> Iterator[Remark]:
    """Yield that a broker asks ZooKeeper at a port of the host, which the container of ZooKeeper does not have."""
    for address in broker.value(_ZOOKEEPER).partition("/")[0].split(",")[:_MOST_CLIENTS]:
        name, _, port = address.strip().rpartition(":")
        body = services.get(name, {})
        published = {str(number): str(target) for number, (target, _) in _ports(body, host).items()}
        own = {*published.values(), *(text for _, text, _ in _assignments(body.get("environment")))}
        if published.get(port, port) != port and port not in own:
            text = f"{name}:{port} is a port of the host: containers reach {name} at {published[port]}"
            yield Remark(line=broker.properties[_ZOOKEEPER].line, text=text)


def _asks_others(around: Container, others: Collection[str]) -> Iterator[Remark]:
    """Yield that a health check asks a container which is no broker."""
    for match in _ASKED.finditer(around.healthcheck.value if around.healthcheck else ""):
        if around.healthcheck and match[1] in others and match[1] not in around.own:
            text = f"the health check asks {match[1][:60]}:{match[2]}, which is no broker: the container never gets healthy"
            yield Remark(line=around.healthcheck.line, text=text)


def _named_addresses(service: str, body: _Mapping) -> Iterator[tuple[ContainerClient, str]]:
    """Yield each address that a service's variables and command name, with its host."""
    named = [(name, text or "", line) for name, text, line in _assignments(body.get("environment"))]
    parts = [part for key in ("entrypoint", "command") if key in body for part in (yaml_nodes.items(body[key]) or [body[key]])]
    named += [("", yaml_nodes.text(part) or "", yaml_nodes.line(part)) for part in parts]
    for name, text, line in named:
        for match in () if _WAITS.search(text) else _ADDRESS.finditer(text):
            bootstraps = _BOOTSTRAPS.search(name or text) is not None
            yield ContainerClient(name=service, port=int(match[2]), line=line, bootstraps=bootstraps), match[1]


def services_of_jobs(root: _Mapping) -> Iterator[Described]:
    """Yield the brokers of the services of jobs: GitHub's mappings, and lists as GitLab's, with their variables."""
    host = _Host(variables={}, assumed=set())
    jobs = yaml_nodes.mapping(root["jobs"]) if "jobs" in root else root
    for name, job in jobs.items():
        services = yaml_nodes.mapping(job).get("services")
        bodies = yaml_nodes.mapping(services).items() or (
            (yaml_nodes.text(yaml_nodes.mapping(item).get("alias")) or "", item) for item in yaml_nodes.items(services)
        )
        for service, node in bodies:
            body = yaml_nodes.mapping(node)
            variables = body.get("env") or body.get("variables")
            given = {"image": body.get("image") or body.get("name"), "environment": variables}
            given |= {key: body.get(key) for key in ("command", "entrypoint", "ports")}
            present = {key: node for key, node in given.items() if node is not None}
            yield from _service(present, f"job {name}, service {service}", host, lambda _path: None)


def _env_file(text: str | None) -> Mapping[str, str]:
    return {setting.key: setting.value for setting in environment.parse_env_file(text or "")}


def _extended(body: _Mapping, services: Mapping[str, _Mapping]) -> _Mapping:
    """Return a service with what it takes from another one of its file; `extends` stays where that is elsewhere."""
    node = body.get("extends")
    name = yaml_nodes.text(node) or yaml_nodes.text(yaml_nodes.mapping(node).get("service")) or ""
    base = services.get(name)
    if base is None or base is body or "file" in yaml_nodes.mapping(node) or "extends" in base:
        return body
    return _both(base, {key: value for key, value in body.items() if key != "extends"})


def _both(base: _Mapping, own: _Mapping) -> _Mapping:
    """Return a service with another one over it, as Compose does for `extends` and for a second file."""
    lists = {
        key: yaml.SequenceNode(
            "both",
            [
                part
                for node in (base[key], own[key])
                for part in ([node] if key == "environment" else yaml_nodes.items(node) or [node])
            ],
            own[key].start_mark,
        )
        for key in _ADDED
        if key in base and key in own
    }
    return {**base, **own, **lists}


def _own_names(body: _Mapping) -> Iterator[str]:
    """Yield the names by which the containers of a network know a compose service, besides its own."""
    for key in ("hostname", "container_name"):
        if (name := yaml_nodes.text(body.get(key))) is not None:
            yield name
    for network in yaml_nodes.mapping(body.get("networks")).values():
        yield from filter(None, map(yaml_nodes.text, yaml_nodes.items(yaml_nodes.mapping(network).get("aliases"))))
    for key in ("extra_hosts", "links", "external_links"):
        yield from (
            (yaml_nodes.text(item) or "").rpartition(":")[2 if key != "extra_hosts" else 0]
            for item in yaml_nodes.items(body.get(key))
        )


def _service(body: _Mapping, inside: str, host: _Host, beside: _Beside) -> Iterator[Described]:
    """Yield the broker of a service."""
    host.assumed.clear()
    variables, unknown, elsewhere = _of_env_files(body, beside)
    for name, text, line in _assignments(body.get("environment")):
        value, known = host.value(text or "")
        if text is None and name in host.variables:
            value, known = host.variables[name], True
        elif text is None or not known:
            unknown.append(name)
        variables.append(Property(name, value, line))
    image, _ = host.value(yaml_nodes.text(body.get("image")) or "")
    partial = not image and "build" not in body
    image = _BUILT if "build" in body or partial else image
    start = commands.start_of(_words(body), _first(body, ("entrypoint", "command")) or Property("command", "", 1))
    if start is None:
        return
    of_image = images.image_of(image, {setting.key: setting for setting in variables})
    elsewhere = elsewhere or _first(body, ("extends",)) or _mounted(body, of_image)
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
    heap = next((setting.value for setting in reversed(variables) if setting.key == memory.HEAP), of_image.heap)
    remarks = [*broker.remarks, *of_image.missing_tool(_healthcheck(body)), *memory.too_large_heap(heap, _limit(body, host))]
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
    )
    yield replace(broker, remarks=tuple(remarks), replicas=_replicas(body), partial=partial, container=container)


def _of_env_files(body: _Mapping, beside: _Beside) -> tuple[list[Property], list[str], Property | None]:
    """Return the variables of `env_file` with its line, those that are not known, and it if it cannot be read."""
    node = body.get("env_file")
    if node is None:
        return [], [], None
    variables: list[Property] = []
    unread = None
    for item in yaml_nodes.items(node) or [node]:
        path = yaml_nodes.text(item) or yaml_nodes.text(yaml_nodes.mapping(item).get("path")) or ""
        text, line = beside(path), yaml_nodes.line(item)
        if text is None:
            unread = Property("env_file", "", line)
        variables += [replace(setting, line=line) for setting in environment.parse_env_file(text or "")]
    return variables, [setting.key for setting in variables if "$" in setting.value], unread


def _words(body: _Mapping) -> str:
    """Return entrypoint and command, with a dollar for each two."""
    nodes = [body[key] for key in ("entrypoint", "command") if key in body]
    parts = [yaml_nodes.text(item) or "" for node in nodes for item in (yaml_nodes.items(node) or [node])]
    return "\n".join(parts).replace("$$", "$")


def _line(body: _Mapping) -> int:
    return min(yaml_nodes.line(node) for node in body.values())


def _line_of(body: _Mapping) -> int:
    """Return the line of a service's image, or of its first key."""
    return yaml_nodes.line(body["image"]) if "image" in body else _line(body)


def _replicas(body: _Mapping) -> int:
    deploy = yaml_nodes.text(yaml_nodes.mapping(body.get("deploy")).get("replicas"))
    text = deploy or yaml_nodes.text(body.get("scale")) or "1"
    return int(text) if text.isdecimal() and len(text) < len("10000") else 0


def _ports(body: _Mapping, host: _Host) -> Mapping[int, tuple[int, int]]:
    """Return the published ports; none if one of them is not known."""
    found: dict[int, tuple[int, int]] = {}
    for item in yaml_nodes.items(body.get("ports")):
        long = yaml_nodes.mapping(item)
        text = yaml_nodes.text(item) or ":".join(yaml_nodes.text(long.get(key)) or "" for key in ("published", "target"))
        value, known = host.value(text)
        match = _PORTS.fullmatch(value)
        if not known or match is None:
            return {}
        first, last, target = int(match[1]), int(match[2] or match[1]), int(match[3])
        for number in range(min(last - first + 1, _MOST_PORTS)):
            found[first + number] = (target + number, yaml_nodes.line(item))
    return found


def _limit(body: _Mapping, host: _Host) -> Property | None:
    limits = yaml_nodes.mapping(yaml_nodes.mapping(yaml_nodes.mapping(body.get("deploy")).get("resources")).get("limits"))
    node = limits.get("memory", body.get("mem_limit"))
    return None if node is None else Property("memory", host.value(yaml_nodes.text(node) or "")[0], yaml_nodes.line(node))


def _healthcheck(body: _Mapping) -> Property:
    node = yaml_nodes.mapping(body.get("healthcheck")).get("test")
    words = "" if node is None else " ".join(yaml_nodes.text(part) or "" for part in yaml_nodes.items(node) or [node])
    return Property("healthcheck", words, 1 if node is None else yaml_nodes.line(node))


def _mounts(body: _Mapping) -> Iterator[Mount]:
    """Yield the volumes of a service; a named one is there to keep data, a folder of the host where it is one of Kafka's data."""
    for item in yaml_nodes.items(body.get("volumes")):
        long, parts = yaml_nodes.mapping(item), (yaml_nodes.text(item) or "").split(":")
        source = yaml_nodes.text(long.get("source")) or (parts[0] if parts[1:] else "")
        path = yaml_nodes.text(long.get("target")) or parts[1 if parts[1:] else 0]
        if path:
            kept = _NAMED_VOLUME.fullmatch(source) is not None or images.is_for_data(path)
            yield Mount(path=path, line=yaml_nodes.line(item), keeps=kept and yaml_nodes.text(long.get("type")) != "tmpfs")
    tmpfs = body.get("tmpfs")
    for item in () if tmpfs is None else yaml_nodes.items(tmpfs) or [tmpfs]:
        yield Mount(path=(yaml_nodes.text(item) or "").split(":")[0], line=yaml_nodes.line(item))


def _mounted(body: _Mapping, image: images.Image) -> Property | None:
    """Return `volumes` if one of them may be a file to which the image adds the variables."""
    found = (mount for mount in _mounts(body) if re.search(image.mounts, mount.path))
    return next((Property("volumes", "", mount.line) for mount in found), None)


def _first(body: _Mapping, keys: Sequence[str]) -> Property | None:
    """Return the first of some keys that is set, with its line."""
    return next((Property(key, "", yaml_nodes.line(body[key])) for key in keys if key in body), None)


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
