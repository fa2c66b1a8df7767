"""Who reaches a broker at what it advertises: containers of its file, the host, and others; and what they ask of it. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence

from kafka_audit.cluster.hosts import means_itself
from kafka_audit.configuration.files.described import Container, Described
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.networks import Neighbour, Network
from kafka_audit.model.addresses.advertised_listeners import (
    CONTROLLERS,
    INSTEAD,
    KEY,
    AdvertisedListener,
    entries,
    protocols_by_listener,
)
from kafka_audit.model.linted import Remark
from kafka_audit.model.text import listing

_MOST, _NAME = 10, "advertised.host.name"
_OF_HOST = "host.docker.internal"
_OF_DOCKER = re.compile(r"172\.(?:1[7-9]|2\d|3[01])\.\d{1,3}\.\d{1,3}")
_CREATED = re.compile(r"--create\b(?:(?!--create)[^\n;&|]){0,300}?--replication-factor[\s=]{1,5}(\d{1,3})\b")
_FACTOR = re.compile(r"(?:CONNECT|CONTROL_CENTER|KSQL|SCHEMA_REGISTRY)_\w{0,100}REPLICATION(?:_FACTOR)?")
_WORKER, _DEFAULT = "cp-kafka-connect", 3
_OF_WORKERS = tuple(f"CONNECT_{what}_STORAGE_REPLICATION_FACTOR" for what in ("CONFIG", "OFFSET", "STATUS"))


def reach_remarks(broker: Described, own: Neighbour, network: Network) -> Iterator[Remark]:
    """Yield who does not reach the broker, and what is asked of it that it does not have."""
    at = broker.properties.get(KEY) or broker.properties.get(_NAME) or broker.properties.get(INSTEAD)
    if at is None:
        return
    controllers = {name.strip() for name in broker.value(CONTROLLERS).split(",")}
    advertised = [entry for entry in entries({KEY: broker.value(KEY)}) if entry.listener not in controllers]
    named = [entry.host or "" for entry in advertised] or [host for host in [broker.value(_NAME)] if host]
    if named:
        yield from _of_one_place(named, broker, own, network, at)
        yield from _published(advertised, own)
        yield from _open_to_all(broker, advertised, own)
    elif not broker.unknown & {KEY, INSTEAD}:
        yield from _unnamed(broker, own, controllers, at)
    if broker.ended_by and network.keeps and not any(mount.keeps for mount in own.mounts):
        line = min((one.line for one in own.variables.values()), default=at.line)
        text = "the broker has no volume for its data, as other services have: a new container of it begins empty"
        yield Remark(line=line, text=text)
    yield from _elsewhere(broker, own, network)


def _of_one_place(named: Sequence[str], broker: Described, own: Neighbour, network: Network, at: Property) -> Iterator[Remark]:
    """Yield that a name means the broker in one place alone."""
    around = broker.container or Container()
    if all(map(means_itself, named)) and not any(client.bootstraps for client in around.clients):
        names = sorted(frozenset[str]().union(*(network.waiting.get(name, ()) for name in own.names)))
        if names:
            text = f"{named[0]} is each container itself: {listing(names, 3)} {'needs' if len(names) == 1 else 'need'}"
            yield Remark(line=at.line, text=f"{text} a listener that advertises {min(own.names)}, if they are clients")
    for host in sorted(set(named)):
        if host == _OF_HOST:
            text = f"{host} is a name of Docker Desktop: on Linux, containers have it by `extra_hosts`, and the host has not"
            yield Remark(line=at.line, text=text)
        elif _OF_DOCKER.fullmatch(host) and host not in own.addresses:
            text = f"{host} is an address that Docker gives out: it may be another one tomorrow, and only this host has it"
            yield Remark(line=at.line, text=f"{text}; advertise {min(own.names)} to containers")


def _published(advertised: Sequence[AdvertisedListener], own: Neighbour) -> Iterator[Remark]:
    """Yield that the host does not publish what is advertised to others, or to itself."""
    for port in [port for port in own.published if port.value.startswith("127.0.0.1:")]:
        for one in advertised:
            host, away = one.host or "", not means_itself(one.host or "") and one.host not in own.names
            if away and "." in host and port.value.split(":")[1] == str(one.port):
                text = f"port {one.port} is open to this host alone, and {host[:60]}:{one.port} is advertised to others"
                yield Remark(line=port.line, text=text)
    wanted = [one for one in advertised if means_itself(one.host or "") and str(one.port) in own.exposed]
    if wanted and not own.ports and not own.published:
        line = own.exposed[str(wanted[0].port)]
        yield Remark(line=line, text=f"`expose` publishes nothing: the host reaches port {wanted[0].port} by `ports`")


def _open_to_all(broker: Described, advertised: Sequence[AdvertisedListener], own: Neighbour) -> Iterator[Remark]:
    """Yield that a port which serves this host alone is open to all that reach the host, on one that runs for long."""
    protocols = protocols_by_listener(broker.value("listener.security.protocol.map"))
    bound = {one.port: one.listener for one in entries({KEY: broker.value(INSTEAD)})}
    local = {one.listener for one in advertised if means_itself(one.host or "")}
    for port in own.published if own.again else ():
        first, _, target = port.value.rpartition(":")
        listener = bound.get(int(target)) if target.isdecimal() and len(target) < len("100000") else None
        if first.isdecimal() and listener in local and protocols.get(listener, listener) == "PLAINTEXT":
            text = f"all that reach the host read and write by port {first[:5]}, without a login: `127.0.0.1:{port.value[:11]}`"
            yield Remark(line=port.line, text=f"{text} is for this host alone")


def _unnamed(broker: Described, own: Neighbour, controllers: Collection[str], at: Property) -> Iterator[Remark]:
    """Yield that clients are sent to the name of the container, because nothing is advertised."""
    bound = [entry for entry in entries({KEY: broker.value(INSTEAD)}) if entry.listener not in controllers]
    ports = [str(port) for port, (target, _) in own.ports.items() if any(one.port == target for one in bound)]
    if ports and all(not one.host or means_itself(one.host) for one in bound):
        text = f"nothing is advertised: who comes through port {ports[0]} is sent to the container's own host name"
        yield Remark(line=at.line, text=f"{text}, which containers alone resolve")


def _elsewhere(broker: Described, own: Neighbour, network: Network) -> Iterator[Remark]:
    """Yield that clients of the file look for the broker where none is."""
    advertised = {one.listener: one for one in entries({KEY: broker.value(KEY)})}
    bound = {one.port: one.listener for one in entries({KEY: broker.value(INSTEAD)})}
    for client in [one for one in network.clients.get(_OF_HOST, ()) if one.bootstraps][:_MOST]:
        target, _ = own.ports.get(client.port, (None, 0))
        sent = advertised.get(bound.get(target, ""))
        if sent is not None and means_itself(sent.host or ""):
            text = f"{client.name} reaches the broker at {_OF_HOST}:{client.port}, and is sent to {sent.host}, its own container"
            yield Remark(line=client.line, text=f"{text}: name {min(own.names)}")
    for host, client in [one for port in bound for one in network.lost.get(port or 0, ())][:_MOST]:
        yield Remark(line=client.line, text=f"{client.name} connects to {host[:60]}, and no service of the file has that name")


def too_many_replicas(network: Network) -> Iterator[Remark]:
    """Yield that others of the file want topics with more replicas than it has brokers."""
    brokers, names = network.brokers, network.names - network.brokerless
    for service in network.services if brokers else ():
        for command in service.commands:
            for match in _CREATED.finditer(command.value):
                if int(match[1]) > brokers:
                    text = f"a topic with {match[1]} replicas is not created: brokers of the file are {brokers}"
                    yield Remark(line=command.line, text=text)
        servers = next((one for key, one in service.variables.items() if "BOOTSTRAP" in key and names & _hosts(one.value)), None)
        for name, setting in service.variables.items() if servers is not None else ():
            if _FACTOR.fullmatch(name) and setting.value.isdecimal() and int(setting.value[:4]) > brokers:
                text = f"{name} is {setting.value[:4]}, and brokers of the file are {brokers}: its topics are not created"
                yield Remark(line=setting.line, text=text)
        missing = [name for name in _OF_WORKERS if name not in service.variables]
        if servers is not None and missing and brokers < _DEFAULT and _WORKER in service.image:
            text = f"Connect does not start: {missing[0]} is {_DEFAULT} unless it is set, and brokers of the file are {brokers}"
            yield Remark(line=servers.line, text=text)


def _hosts(servers: str) -> set[str]:
    return {address.rpartition("//")[2].partition(":")[0].strip() for address in servers.split(",")}
