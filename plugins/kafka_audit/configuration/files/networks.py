"""What the services of a compose file say against each other: addresses that no service has, health checks, names twice. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.configuration.files.described import ANY_OPTIONS, Container, ContainerClient, Described, Mount
from kafka_audit.configuration.files.java import Property
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, AdvertisedListener, entries
from kafka_audit.model.linted import Remark
from kafka_audit.model.text import listing

_ONE_NAME = re.compile(r"[A-Za-z][\w-]{0,100}")
_MOST, _CREATES = 10, "wurstmeister's"
_IMPATIENT = frozenset({_CREATES, "Bitnami's"})  # images that do not wait for ZooKeeper themselves
_ZOOKEEPER = "zookeeper.connect"
_ITSELF, _ANY = frozenset({"localhost", "127.0.0.1"}), frozenset({None, "", "0.0.0.0", "::"})  # noqa: S104 -- compared
_TOPICS, _TOPIC = "create.topics", re.compile(r"([^\s:,]{1,249}):\d{1,6}:(\d{1,4})(?=[:,\s]|$)")
_ONE_TOPIC = re.compile(r"[\w.-]{1,249}:\d{1,6}:\d{1,4}(?::[\w, -]{0,40})?")
_ASKED = re.compile(r"(?:--bootstrap-server[\s=\"']{1,5}|\bnc(?: -[a-z0-9]{1,5}){0,4} )([A-Za-z0-9][\w.-]{0,200})[: ](\d{2,5})")
_BY_HTTP = re.compile(r"\b(?:curl|wget)\b[^|&;]{0,100}?[\s/](?:localhost|127\.0\.0\.1):(\d{2,5})")
_JAAS, _STORES = (
    re.compile(r"(?:-Djava\.security\.auth\.login\.config=|-javaagent:)([^\s\"'$=:]{1,300})"),
    (".keystore.location", ".truststore.location"),
)
_TOOL = re.compile(r"kafka-[a-z-]{3,40}\b")
_NO_JMX = re.compile(r"unset\s|JMX_(?:PORT|OPTS)=")
_JMX_PORT = re.compile(r"jmxremote\.port=(\d{2,5})|-javaagent:[^\s=]{1,300}=(\d{2,5})")
_NO_AGENT = re.compile(r"unset\s|KAFKA_OPTS=")


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A service: its names, its image, its variables, its published ports, its volumes and the name of its container.

    `awaits` are the services that start before it, `awaits_well` those that are healthy by then, `again` whether it is restarted.
    `addresses` are those that the file gives it, `exposed` are its ports below `expose`.
    """

    names: frozenset[str]
    image: str
    variables: Mapping[str, Property]
    ports: Mapping[int, tuple[int, int]]
    published: tuple[Property, ...]  # ports as they are written
    mounts: tuple[Mount, ...]
    container: Property | None
    mounted_alone: bool  # whether it has no files but those of volumes
    awaits: frozenset[str]
    awaits_well: frozenset[str]
    again: bool
    addresses: frozenset[str]
    exposed: Mapping[str, int]
    commands: tuple[Property, ...]


@dataclass(frozen=True, kw_only=True)
class Network:
    """The services of a file; `clients` has by host who connects to it, `brokers` is 0 where their number is not known.

    `closed` says that no container of another file is there.
    """

    services: tuple[Neighbour, ...]
    brokerless: frozenset[str]
    clients: Mapping[str, Sequence[ContainerClient]]
    brokers: int
    closed: bool

    @cached_property
    def zookeepers(self) -> tuple[Neighbour, ...]:
        """The services with an image of ZooKeeper."""
        return tuple(service for service in self.services if "zookeeper" in service.image.rpartition("/")[2])

    @cached_property
    def keeps(self) -> bool:
        """Whether a volume of Docker is there for any service."""
        return any(mount.source for service in self.services for mount in service.mounts)

    @cached_property
    def waiting(self) -> Mapping[str, frozenset[str]]:
        """By name of a service those without a broker that start after it."""
        found: dict[str, set[str]] = {}
        for service in self.services:
            for name in service.awaits if service.names <= self.brokerless else ():
                found.setdefault(name, set()).add(min(service.names))
        return {name: frozenset(names) for name, names in found.items()}

    @cached_property
    def lost(self) -> Mapping[int, Sequence[tuple[str, ContainerClient]]]:
        """By port the hosts that no service is, with who connects there."""
        found: dict[int, list[tuple[str, ContainerClient]]] = {}
        for host, clients in self.clients.items():
            if self.closed and _ONE_NAME.fullmatch(host) and host not in _ITSELF and host not in self.names:
                for client in clients:
                    found.setdefault(client.port, []).extend([(host, client)] if client.bootstraps else ())
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that resolve."""
        return frozenset[str]().union(*(service.names for service in self.services))


_Listening = Mapping[int | None, AdvertisedListener]


def network_remarks(broker: Described, own: Neighbour, network: Network) -> Iterator[Remark]:
    """Yield what the services of its file have against a broker."""
    around = broker.container or Container()
    known = not broker.unknown & {INSTEAD, CONTROLLERS} and bool(broker.value(INSTEAD))
    listening = {one.port: one for one in entries({KEY: broker.value(INSTEAD)})} if known else {}
    controllers = {name.strip() for name in broker.value(CONTROLLERS).split(",")}
    if listening:
        yield from _lost_clients(around, own, network, listening, controllers)
        yield from _asked(around, listening, controllers)
    yield from _healthcheck(around, own, network)
    yield from _unheard(broker, own, network)
    yield from _not_mounted(broker, own)
    yield from _of_zookeeper(broker, own, network)
    yield from _too_many_replicas(broker, network)
    yield from _published_somewhere(broker, own)
    yield from _sent_inside(broker, own)
    if own.container is not None:
        first = next(one for one in network.services if one.container and one.container.value == own.container.value)
        if first is not own:
            text = f"another service has the container name {own.container.value[:60]}, too, and Docker starts one of them"
            yield Remark(line=own.container.line, text=text)


def _lost_clients(
    around: Container, own: Neighbour, network: Network, listening: _Listening, controllers: set[str]
) -> Iterator[Remark]:
    """Yield that services connect to the broker where it does not listen for them, or to themselves."""
    ports = listing([str(port) for port, one in listening.items() if one.listener not in controllers], 5)
    for client in [one for one in around.clients if one.bootstraps][:_MOST]:
        found = listening.get(client.port)
        if found is None or found.listener in controllers:
            what = "where no listener is" if found is None else "the listener of controllers"
            text = f"{client.name} connects to port {client.port} of {min(around.own)}, {what}: clients have {ports}"
            yield Remark(line=client.line, text=text)
    reached = {*listening, *own.ports}
    for client in [one for host in sorted(_ITSELF) for one in network.clients.get(host, ()) if one.bootstraps][:_MOST]:
        if client.port in reached:
            text = f"{client.name} connects to localhost:{client.port}, which is its own container: name {min(around.own)}"
            yield Remark(line=client.line, text=f"{text} and a listener that advertises it")


def _asked(around: Container, listening: _Listening, controllers: set[str]) -> Iterator[Remark]:
    """Yield that a health check asks the broker where it does not listen."""
    check = around.healthcheck or Property("healthcheck", "", 1)
    for match in [*_ASKED.finditer(check.value)][:1]:
        host, found = match[1], listening.get(int(match[2]))
        if host not in around.own | _ITSELF:
            continue
        why = ""
        if found is None:
            why = "where no listener is"
        elif found.listener in controllers and match[0].startswith("--"):
            why = "the listener of controllers"
        elif host in _ITSELF and found.host not in _ANY | _ITSELF:
            why = f"and {found.listener} listens on {(found.host or '')[:60]} alone"
        if why:
            yield Remark(
                line=check.line, text=f"the health check asks {host}:{match[2]}, {why}: the container never gets healthy"
            )
    for match in _BY_HTTP.finditer(check.value):
        if int(match[1]) in listening:
            yield Remark(line=check.line, text=f"the health check speaks HTTP to port {match[1]}, where Kafka listens")


def _healthcheck(around: Container, own: Neighbour, network: Network) -> Iterator[Remark]:
    """Yield that a health check asks another container, or starts a second program at the port of JMX."""
    check = around.healthcheck or Property("healthcheck", "", 1)
    for match in _ASKED.finditer(check.value):
        if match[1] in network.brokerless and match[1] not in around.own:
            text = f"the health check asks {match[1][:60]}:{match[2]}, which is no broker: the container never gets healthy"
            yield Remark(line=check.line, text=text)
    port, options = own.variables.get("JMX_PORT"), own.variables.get("KAFKA_JMX_OPTS")
    at = port or (options if options and _JMX_PORT.search(options.value) else None)
    agent = own.variables.get("KAFKA_OPTS")
    if at is None and agent is not None and _JMX_PORT.search(agent.value) and not _NO_AGENT.search(check.value):
        at = agent
    if at is not None and at.value and _TOOL.search(check.value) and not _NO_JMX.search(check.value):
        text = f"the health check's tool takes the port of {at.key}, too, which the broker has: unset {at.key} before it"
        yield Remark(line=check.line, text=text)


def _not_mounted(broker: Described, own: Neighbour) -> Iterator[Remark]:
    """Yield the files of logins and certificates that the container does not have: no image that is known brings them along."""
    options = own.variables.get("KAFKA_OPTS")
    named = [options] if options is not None and broker.jvm not in {None, ANY_OPTIONS} else []
    files = [(setting, match[1]) for setting in named for match in _JAAS.finditer(setting.value)]
    stores = [
        setting for key, setting in sorted(broker.properties.items()) if key.endswith(_STORES) and key not in broker.unknown
    ]
    files += [
        (setting, setting.value.strip()) for setting in stores if "ssl" in broker.value("listener.security.protocol.map").lower()
    ]
    for setting, path in files if broker.ended_by and own.mounted_alone else ():
        if path.startswith("/") and not any(mount.path and path.startswith(mount.path.rstrip("/")) for mount in own.mounts):
            yield Remark(line=setting.line, text=f"{path[:100]} is in no volume of the container, and its image does not have it")


def runner_remarks(broker: Described, own: Neighbour, steps: Sequence[str]) -> Iterator[Remark]:
    """Yield why the steps of a job that run on the host do not reach the broker of its service."""
    listed = [*entries({KEY: broker.value(KEY)})]
    yield from _published_somewhere(broker, own)
    if not own.published:
        line = min(setting.line for setting in broker.properties.values())
        yield Remark(line=line, text="no port is published: the steps of the job run on the host, and do not reach it")
    elif listed and all(entry.host in own.names for entry in listed) and not any("/etc/hosts" in step for step in steps):
        text = f"the steps of the job run on the host, where {min(own.names)[:60]} is no name: advertise localhost"
        yield Remark(line=broker.properties[KEY].line, text=text)


def _unheard(broker: Described, own: Neighbour, network: Network) -> Iterator[Remark]:
    """Yield that the broker gives other containers a name that no service has."""
    between = broker.value("inter.broker.listener.name")
    bound = {one.listener: one.port for one in entries({KEY: broker.value(INSTEAD)})}
    ports = {client.port for client in (broker.container or Container()).clients}
    for entry in entries({KEY: broker.value(KEY)}) if network.closed else ():
        host = entry.host or ""
        used = entry.listener == between or bound.get(entry.listener, entry.port) in ports
        if host in network.brokerless and host not in own.names:
            text = f"{entry.listener} sends clients to {host[:60]}, a service that is no broker"
            yield Remark(line=broker.properties[KEY].line, text=text)
        foreign = host and host not in network.names | _ITSELF | _ANY and not re.search(r"[.:$]|\bkafka-\d", host)
        if used and foreign and not any(name in host for name in own.names):
            text = f"{entry.listener} sends containers to {host[:60]}, and no service of the file has that name"
            yield Remark(line=broker.properties[KEY].line, text=text)


def _of_zookeeper(broker: Described, own: Neighbour, network: Network) -> Iterator[Remark]:
    """Yield that the broker asks for ZooKeeper where none is, or that ZooKeeper alone forgets the cluster."""
    setting = broker.properties.get(_ZOOKEEPER, Property(_ZOOKEEPER, "", 1))
    servers = broker.value(_ZOOKEEPER).partition("/")[0]
    there = network.zookeepers
    for address in servers.split(",")[:_MOST] if servers and "://" not in broker.value(_ZOOKEEPER) else ():
        name, _, port = address.strip().partition(":")
        port = port or "2181"
        service = next((one for one in network.services if name in one.names), None)
        if name in _ITSELF and broker.ended_by and there:
            yield Remark(line=setting.line, text=f"{name}:{port} is the broker's own container, where no ZooKeeper is")
        elif service is None and there and network.closed and "." not in name and name not in _ITSELF:
            yield Remark(line=setting.line, text=f"no service of the file has the name {name[:60]}")
        elif service is not None and service in there:
            if not own.again and not own.awaits_well & service.names and broker.ended_by in _IMPATIENT:
                text = f"the broker ends if {name[:60]} is slow, and nothing starts it again: `restart`, or a wait for its health"
                yield Remark(line=setting.line, text=text)
            text = _other_port(service, port)
            if text:
                yield Remark(line=setting.line, text=f"{name}:{port} is {text}")
            kept = next((mount for mount in own.mounts if mount.keeps), None)
            if kept is not None and not service.mounts:
                text = f"{name} has no volume: a new container of it has another id of the cluster, which the broker refuses"
                yield Remark(line=kept.line, text=text)


def _other_port(service: Neighbour, port: str) -> str:
    """Return what is wrong with a port of ZooKeeper, "" where nothing is known to be."""
    published = {str(number): str(target) for number, (target, _) in service.ports.items()}
    named = {setting.value for setting in service.variables.values()}
    client = service.variables.get("ZOOKEEPER_CLIENT_PORT")
    if published.get(port, port) != port and port not in {*published.values(), *named}:
        return f"a port of the host: containers reach {min(service.names)} at {published[port]}"
    if client is not None and client.value.isdecimal() and port.isdecimal() and client.value != port and port not in named:
        return f"no port of ZooKeeper, which has {client.value}"
    return ""


def _too_many_replicas(broker: Described, network: Network) -> Iterator[Remark]:
    """Yield that wurstmeister's image is to create a topic without numbers, or with more replicas than the file has brokers."""
    named = [part.strip() for part in re.split(r"[,\n]", broker.value(_TOPICS)) if part.strip()]
    odd = next((one for one in named if not _ONE_TOPIC.fullmatch(one)), None) if broker.ended_by == _CREATES else None
    if odd is not None:
        text = f"{odd[:60]} is not created: a topic is NAME:PARTITIONS:REPLICAS"
        yield Remark(line=broker.properties[_TOPICS].line, text=text)
        return
    servers = [address.strip().partition(":")[0] for address in broker.value(_ZOOKEEPER).partition("/")[0].split(",")]
    if network.brokers > 0 and broker.neighbours.issuperset(servers):
        for topic, replicas in _TOPIC.findall(broker.value(_TOPICS)):
            if network.brokers < int(replicas):
                text = f"topic {topic[:60]} is to have {replicas} replicas, and is not created: "
                yield Remark(line=broker.properties[_TOPICS].line, text=f"{text}brokers of the file are {network.brokers}")
                return


def _sent_inside(broker: Described, own: Neighbour) -> Iterator[Remark]:
    """Yield that a published port sends who comes from outside to a name of the network, where another port does not."""
    bound = {one.port: one.listener for one in entries({KEY: broker.value(INSTEAD)})}
    advertised = {one.listener: one for one in entries({KEY: broker.value(KEY)})}
    leads = {port: (advertised.get(bound.get(target, "")), line) for port, (target, line) in own.ports.items()}
    outside = [str(port) for port, (one, _) in leads.items() if one and one.host and one.host not in own.names]
    name = broker.value("advertised.host.name")
    if name in own.names and own.published and broker.ended_by == _CREATES:
        text = f"who comes from outside is sent to {name[:60]}, which containers alone resolve: the host needs another name"
        yield Remark(line=own.published[0].line, text=text)
    have = f"have {listing(outside, 3)}" if outside else "need a listener that advertises localhost, or the host's name"
    for port, (one, line) in leads.items():
        if one and one.host in own.names:
            text = f"who comes from outside through port {port} is sent to {one.host[:60]}:{one.port}, which containers alone"
            yield Remark(line=line, text=f"{text} resolve: clients outside {have}")


def _published_somewhere(broker: Described, own: Neighbour) -> Iterator[Remark]:
    """Yield that Docker chooses where a port is published which the broker advertises to clients outside."""
    listed = [(entry.host, str(entry.port)) for entry in entries({KEY: broker.value(KEY)})]
    listed += [(broker.value("advertised.host.name"), broker.value("advertised.port"))]
    outside = {port for host, port in listed if host and host not in own.names}
    for port in own.published:
        if port.value in outside:
            text = f"Docker publishes {port.value} at a port that it chooses, and {port.value} is advertised: "
            yield Remark(line=port.line, text=f"{text}publish `{port.value}:{port.value}`")
