"""Strimzi's `Kafka` and `KafkaNodePool`: what its operator writes into the server.properties of each node. Pure.

Source: `KafkaBrokerConfigurationBuilder`, `KafkaListenersReconciler`, `NodeIdAssignor` and `KafkaClusterSpec` of Strimzi 0.45
(the last with ZooKeeper) and 1.2. What Kubernetes or another version of the operator decides is a placeholder, or a key that is
not known, and a remark names it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice

import yaml

from kafka_audit.configuration.files import memory, setting_names, strimzi_config, strimzi_listeners, yaml_nodes
from kafka_audit.configuration.files.described import Described, is_placeholder
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.strimzi_listeners import StrimziListener, StrimziNode
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark
from kafka_audit.model.text import listing

_OF_POOLS = frozenset({"replicas", "storage"})
_GROUP = "kafka.strimzi.io/"
_KINDS = ("Kafka", "KafkaNodePool")
_READ = ("v1beta1", "v1beta2", "v1")
_CLUSTER, _MODE, _NEXT_IDS = "strimzi.io/cluster", "strimzi.io/kraft", "strimzi.io/next-node-ids"
_SECURITY = "strimzi.io/internal-cluster-security"
_NUMBER = re.compile(r"[0-9]{1,9}")
_RELEASE = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,2}")
_MOST_NODES, _MOST_ENTRIES, _LONGEST_NAME = 1_000, 100, 253
_UNKNOWN_ID = "${node}"
_TLS_KEYS = tuple(
    f"ssl.{store}.{key}"
    for store, keys in (
        ("keystore", ("location", "password", "type", "certificate.chain", "key")),
        ("truststore", ("location", "password", "type", "certificates")),
    )
    for key in keys
)
_NOT_JUDGED = ("tieredStorage", "quotas")
_COMPONENTS = ("kafka", "entity-topic-operator", "entity-user-operator", "kafka-exporter", "cruise-control")
_AUTHORIZERS = {True: "org.apache.kafka.metadata.authorizer.StandardAuthorizer", False: "kafka.security.authorizer.AclAuthorizer"}


@dataclass(frozen=True, kw_only=True)
class StrimziResource:
    """A `Kafka` or a `KafkaNodePool`."""

    kind: str
    root: YamlMapping = field(repr=False)
    line: int

    @property
    def metadata(self) -> YamlMapping:
        """The resource's metadata."""
        return self.root.mapping("metadata")

    @property
    def spec(self) -> YamlMapping:
        """The resource's spec."""
        return self.root.mapping("spec")

    @property
    def name(self) -> str:
        """The resource's name, at most as long as Kubernetes allows."""
        return (self.metadata.text("name") or "")[:_LONGEST_NAME]

    @property
    def namespace(self) -> str | None:
        """The namespace, None where the file names none."""
        name = self.metadata.text("namespace")
        return name[:_LONGEST_NAME] if name else None

    def labelled(self, where: str, key: str) -> str | None:
        """Return one of the `labels` or `annotations`."""
        return self.metadata.text(where, key)


def strimzi_resource(root: YamlMapping, line: int) -> StrimziResource | None:
    """Return the resource of a document, None where it is another; raises PropertiesError for versions that are not read."""
    kind, version = root.text("kind"), root.text("apiVersion") or ""
    if kind not in _KINDS or not version.startswith(_GROUP):
        return None
    if version.removeprefix(_GROUP) not in _READ:
        raise PropertiesError(line, f"not judged: {kind} of {version[:60]}; lint reads {listing(_READ)}")
    return StrimziResource(kind=kind, root=root, line=line)


def described_nodes(resources: Sequence[StrimziResource]) -> Iterator[Described]:
    """Yield the nodes of all clusters of a file; raises PropertiesError for what cannot be judged, with its line."""
    clusters = [resource for resource in resources if resource.kind == "Kafka"]
    pools = [resource for resource in resources if resource.kind == "KafkaNodePool"]
    if pools and not clusters:
        text = "not judged: KafkaNodePool without its Kafka resource; lint reads them from one folder"
        raise PropertiesError(pools[0].line, text)
    by_cluster: defaultdict[str | None, list[StrimziResource]] = defaultdict(list)
    for pool in pools:
        by_cluster[pool.labelled("labels", _CLUSTER)].append(pool)
    left = _MOST_NODES
    for resource in clusters:
        if not resource.name:
            raise PropertiesError(resource.line, "not judged: Kafka without a name")
        if left <= 0:
            raise PropertiesError(resource.line, f"describes more than {_MOST_NODES} nodes")
        places = (resource.namespace, None)
        own = [pool for pool in by_cluster[resource.name] if resource.namespace is None or pool.namespace in places]
        nodes = _StrimziCluster(resource, own, left).described()
        left -= len(nodes)
        yield from nodes


class _StrimziCluster:
    """One `Kafka` with its node pools."""

    def __init__(self, resource: StrimziResource, pools: Sequence[StrimziResource], most_nodes: int) -> None:
        self.resource = resource
        self.most_nodes = most_nodes
        self.remarks: list[Remark] = []
        self.refused: list[Property] = []
        self.whole = True  # whether the file has all nodes
        self.kafka = resource.spec.mapping("kafka")
        self.namespace = resource.namespace or "default"
        self.version = self._version()
        self.kraft = self._kraft()
        self.listeners = self._listeners()
        self.nodes = self._nodes(sorted(pools, key=lambda pool: pool.name))
        controllers = sorted((node.number, node.host) for node in self.nodes if node.controller and node.number is not None)
        self.voters = ",".join(f"{number}@{host}:9090" for number, host in controllers) or "0@${controller}:9090"

    def described(self) -> list[Described]:
        """Return a broker for each node; the remarks are the first one's."""
        self._remark_of_old()
        if not self.nodes or not self.listeners:
            lacking = "a node" if self.listeners else "a listener"
            raise PropertiesError(self.resource.line, f"not judged: Kafka {self.resource.name[:60]} without {lacking}")
        shared, shared_unknown = self._shared()
        config = strimzi_config.broker_config(self.kafka.get("config"), [listener.identifier for listener in self.listeners])
        self.remarks += config.remarks
        self._remark_unread()
        found: list[Described] = []
        for node in self.nodes:
            own, unknown = self._own(node)
            properties = {**own, **shared, **config.properties}
            hidden = {key for key, setting in properties.items() if is_placeholder(setting.value)}
            found.append(
                Described(
                    properties=properties,
                    unknown=frozenset(hidden | unknown | shared_unknown | config.unknown),
                    inside=f"Kafka {self.resource.name}, {node.place}",
                    version=self.version,
                    cluster=f"{self.resource.namespace or ''}/{self.resource.name}",
                    remarks=() if found else tuple(self.remarks),
                    names=setting_names.of_strimzi(f"the Kafka resource {self.resource.name}"),
                    replicas=int(self.whole),
                    ends=tuple(self.refused),
                    ended_by="Strimzi's",
                )
            )
        return found

    def _remark_of_old(self) -> None:
        """Note what a resource has of releases before its own."""
        for key in sorted(_OF_POOLS & self.kafka.keys()) if self.kraft else ():
            self._remark(yaml_nodes.line(self.kafka[key]), f"spec.kafka.{key} has no effect: the node pools have theirs")
        if self.resource.root.text("apiVersion") == f"{_GROUP}v1" and not self._at_least(4, 0):
            text = f"Strimzi's releases with {_GROUP}v1 have Kafka 4.0 and later, and refuse {self.version}"
            self._remark(yaml_nodes.line(self.kafka["version"]), text)

    def _remark(self, line: int, text: str) -> None:
        self.remarks.append(Remark(line=line, text=text))

    def _refuse(self, line: int, text: str) -> None:
        self.refused.append(Property("spec.kafka.listeners", text, line))

    def _version(self) -> str | None:
        version = self.kafka.text("version")
        if version is not None and not _RELEASE.fullmatch(version):
            self._remark(yaml_nodes.line(self.kafka["version"]), "not judged: spec.kafka.version is not a version")
            return None
        return version

    def _at_least(self, major: int, minor: int) -> bool:
        """Return whether the Kafka version is a release or later; the newest where the resource names none."""
        return self.version is None or tuple(map(int, self.version.split(".")[:2])) >= (major, minor)

    def _kraft(self) -> bool:
        mode = self.resource.labelled("annotations", _MODE)
        if mode in {"migration", "rollback"}:
            text = f"not judged: {_MODE} is {mode}, and the operator decides the step; lint the ConfigMaps that it writes"
            raise PropertiesError(self.resource.line, text)
        if mode not in {None, "enabled", "disabled"}:
            self._remark(self.resource.line, f"{_MODE} is {mode[:40]}, which is no step of a migration: migration, rollback")
        if self.resource.root.text("apiVersion") == f"{_GROUP}v1" or mode == "enabled":
            return True
        if "zookeeper" not in self.resource.spec:
            self._remark_of_no_mode()
            return True
        if self.version is None:
            text = "spec.kafka.version is not set: judged with ZooKeeper, like Strimzi before 0.46"
            self._remark(yaml_nodes.line(self.resource.spec["zookeeper"]), text)
            return False
        return self._at_least(4, 0)

    def _remark_of_no_mode(self) -> None:
        """Note that a cluster has neither ZooKeeper nor the annotation that releases before 0.46 need."""
        if self.version is not None and not self._at_least(3, 9):
            text = f"Strimzi's releases with Kafka {self.version} judge it as one with ZooKeeper, without {_MODE}: enabled"
            self.refused.append(Property("metadata.annotations", text, self.resource.line))
        elif self.version is None or not self._at_least(4, 0):
            self._remark(self.resource.line, f"Strimzi before 0.46 needs the annotation {_MODE}: enabled")

    def _listeners(self) -> tuple[StrimziListener, ...]:
        items = strimzi_listeners.listeners_of(self.kafka)
        if len(items) > _MOST_ENTRIES:
            raise PropertiesError(yaml_nodes.line(items[0]), f"has more than {_MOST_ENTRIES} listeners")
        found = tuple(strimzi_listeners.read_listener(item, self._remark, self._refuse) for item in items)
        for line, text in strimzi_listeners.repeated(found):
            self._refuse(line, text)
        return found

    def _nodes(self, pools: Sequence[StrimziResource]) -> tuple[StrimziNode, ...]:
        if not pools and not self.kraft:
            replicas = self._replicas(self.kafka, self.resource.line)
            self.whole = bool(replicas)
            return tuple(self._node(number, "kafka", None) for number in range(replicas or 0)) or (self._some_node(),)
        if self.kraft and self.version and "zookeeper" in self.resource.spec and self._at_least(4, 0):
            text = f"spec.zookeeper has no effect: Kafka {self.version} has no ZooKeeper, and needs node pools with controllers"
            self._remark(yaml_nodes.line(self.resource.spec["zookeeper"]), text)
        if not pools:
            text = f"not judged: the node pools of {self.resource.name[:60]} are not in this file, with node IDs and roles"
            self._remark(self.resource.line, text)
            self.whole = False
            return (self._some_node(),)
        counted = [(pool, self._replicas(pool.spec, pool.line)) for pool in pools]
        if sum(replicas or 0 for _, replicas in counted) > self.most_nodes:
            raise PropertiesError(self.resource.line, f"describes more than {_MOST_NODES} nodes")
        used = {number for pool in pools for number in _ids_of(pool)}
        found = []
        for pool, replicas in counted:
            if replicas is None:
                self.whole = False
                self._remark(pool.line, f"not judged: node pool {pool.name[:60]} without a number of replicas")
                continue
            if self._has_roles(pool):
                found += [self._node(number, pool.name, pool) for number in _assigned(pool, replicas, used)]
        if found and not all(_ids_of(pool) for pool in pools):
            self._remark(self.resource.line, "the node IDs are those of a new cluster; the node pools have no status.nodeIds")
        if self.kraft and self.whole and not any(node.controller for node in found):
            self._remark(self.resource.line, "not judged: controllers; no node pool with the role controller is in this file")
        return tuple(found) if found or self.whole else (self._some_node(),)

    def _has_roles(self, pool: StrimziResource) -> bool:
        """Return whether a pool has a role; notes what the operator refuses."""
        roles = pool.spec.texts("roles")
        refuses = f"Strimzi refuses node pool {pool.name[:60]}"
        if self.kraft and not roles:
            self._remark(pool.line, f"{refuses}: it has no role")
        elif not self.kraft and any(role != "broker" for role in roles):
            text = f"{refuses}: with ZooKeeper, and without {_MODE}: enabled, it may only be a broker"
            self.refused.append(Property("spec.roles", text, pool.line))
        return not self.kraft or bool(roles)

    def _replicas(self, spec: YamlMapping, line: int) -> int | None:
        text = spec.text("replicas") or ""
        replicas = int(text) if _NUMBER.fullmatch(text) else None
        if replicas is not None and replicas > self.most_nodes:
            raise PropertiesError(line, f"describes more than {_MOST_NODES} nodes")
        return replicas

    def _some_node(self) -> StrimziNode:
        """Return a broker of which the file shows neither number nor pool."""
        pod = f"{self.resource.name}-{_UNKNOWN_ID}"
        return StrimziNode(
            number=None, pod=pod, owner=self.resource.name, host=self._host(pod), place="node unknown", line=self.resource.line
        )

    def _node(self, number: int, pool_name: str, pool: StrimziResource | None) -> StrimziNode:
        owner = f"{self.resource.name}-{pool_name}"
        spec = pool.spec if pool is not None else self.kafka
        both = YamlMapping(self.kafka | spec)  # what a pool has holds for it
        heap = both.text("jvmOptions", "-Xmx") or ""
        large = memory.heap_remarks(f"-Xmx{heap}", memory.limit_of_pod(both))
        self.remarks += [remark for remark in large if remark not in self.remarks]
        roles = {*spec.texts("roles")} if self.kraft else {"broker"}
        return StrimziNode(
            number=number,
            pod=f"{owner}-{number}",
            owner=owner,
            host=self._host(f"{owner}-{number}"),
            place=f"pool {pool_name}, node {number}" if pool is not None else f"node {number}",
            line=pool.line if pool is not None else self.resource.line,
            broker="broker" in roles,
            controller="controller" in roles,
            storage=spec.get("storage"),
        )

    def _host(self, pod: str) -> str:
        return f"{pod}.{self.resource.name}-kafka-brokers.{self.namespace}.svc"

    def _own(self, node: StrimziNode) -> tuple[dict[str, Property], frozenset[str]]:
        """Return the settings of a node alone, and the keys that are not known."""
        own = {**self._role_settings(node), **self._log_dirs(node)}
        at = strimzi_listeners.NodeListeners(
            cluster_line=self.resource.line,
            namespace=self.namespace,
            control_plane=node.controller or not self.kraft,
            control_plane_advertised=not self.kraft or self._at_least(3, 9),
        )
        own |= strimzi_listeners.listener_settings(node, self.listeners, at)
        unknown = {f"listener.name.{name}.{key}" for name in self._tls_names(node) for key in _TLS_KEYS}
        unknown |= {key for listener in self.listeners if node.broker for key in listener.unknown}
        if node.number is None:
            unknown |= {"node.id", "broker.id", "process.roles", "controller.quorum.voters"}
        if "log.dirs" not in own:
            unknown.add("log.dirs")
        if "rack" in self.kafka and node.broker:
            unknown.add("broker.rack")
        return own, frozenset(unknown)

    def _tls_names(self, node: StrimziNode) -> Iterator[str]:
        yield strimzi_listeners.CONTROL_PLANE.lower()
        if node.broker:
            yield strimzi_listeners.REPLICATION.lower()
            yield from (listener.identifier for listener in self.listeners if listener.tls)

    def _role_settings(self, node: StrimziNode) -> dict[str, Property]:
        number = _UNKNOWN_ID if node.number is None else str(node.number)
        if not self.kraft:
            values = {
                "broker.id": number,
                "zookeeper.connect": f"{self.resource.name}-zookeeper-client:2181",
                "control.plane.listener.name": strimzi_listeners.CONTROL_PLANE,
            }
        else:
            roles = [role for role, has in (("broker", node.broker), ("controller", node.controller)) if has]
            values = {
                "node.id": number,
                "process.roles": ",".join(roles),
                "controller.listener.names": strimzi_listeners.CONTROL_PLANE,
                "controller.quorum.voters": self.voters,
            }
        return {key: Property(key, value, node.line) for key, value in values.items()}

    def _log_dirs(self, node: StrimziNode) -> dict[str, Property]:
        storage = yaml_nodes.mapping(node.storage)
        if node.number is None or node.storage is None or not storage:
            return {}
        if storage.text("type") != "jbod":
            folders = ["data"]
        else:
            volumes = storage.sequence("volumes")
            if len(volumes) > _MOST_ENTRIES:
                raise PropertiesError(yaml_nodes.line(volumes[0]), f"has more than {_MOST_ENTRIES} volumes")
            folders = [f"data-{yaml_nodes.mapping(volume).text('id') or _UNKNOWN_ID}"[:40] for volume in volumes]
        value = ",".join(f"/var/lib/kafka/{folder}/kafka-log{node.number}" for folder in folders)
        return {"log.dirs": Property("log.dirs", value, yaml_nodes.line(node.storage))}

    def _shared(self) -> tuple[dict[str, Property], frozenset[str]]:
        """Return the settings that all nodes have, and the keys that are not known."""
        line = self.resource.line
        found = {
            "config.providers": Property("config.providers", "strimzienv", line),
            "sasl.enabled.mechanisms": Property("sasl.enabled.mechanisms", "", line),
            "ssl.endpoint.identification.algorithm": Property("ssl.endpoint.identification.algorithm", "HTTPS", line),
        }
        unknown: set[str] = set()
        if self.resource.labelled("annotations", _SECURITY) is not None:
            self._remark(line, f"not judged: {_SECURITY}, which changes the security of the operator's own listeners")
            unknown |= {"listener.security.protocol.map", "super.users"}
        if "authorization" in self.kafka:
            found |= self._authorization(self.kafka["authorization"], unknown)
        return found, frozenset(unknown)

    def _authorization(self, node: yaml.Node, unknown: set[str]) -> dict[str, Property]:
        settings, line = yaml_nodes.mapping(node), yaml_nodes.line(node)
        kind = settings.text("type")
        name = _AUTHORIZERS[self.kraft] if kind == "simple" else None
        if kind == "custom":
            name = settings.text("authorizerClass")
        if name is None:
            unknown |= {"authorizer.class.name", "super.users"}
            self._remark(line, f"not judged: authorization of type {(kind or 'unknown')[:40]}")
        users = [f"User:CN={self.resource.name}-{component},O=io.strimzi" for component in _COMPONENTS]
        users += ["User:CN=cluster-operator,O=io.strimzi"]
        users += [f"User:{user}" for user in settings.texts("superUsers")]
        values = {"authorizer.class.name": name or "${authorizer}", "super.users": ";".join(users)}
        lines = {"super.users": yaml_nodes.line(settings.get("superUsers") or node)}
        return {key: Property(key, value, lines.get(key, line)) for key, value in values.items()}

    def _remark_unread(self) -> None:
        for key in _NOT_JUDGED:
            if key in self.kafka:
                self._remark(yaml_nodes.line(self.kafka[key]), f"not judged: spec.kafka.{key}")
        if self.resource.namespace is None:
            self._remark(self.resource.line, "no namespace in the file: addresses are those in the namespace `default`")


def _ids_of(pool: StrimziResource) -> tuple[int, ...]:
    """Return the node IDs that a pool has already."""
    status = pool.root.mapping("status")
    texts = islice(status.texts("nodeIds"), _MOST_NODES)
    return tuple(sorted({int(text) for text in texts if _NUMBER.fullmatch(text)}))


def _assigned(pool: StrimziResource, replicas: int, used: set[int]) -> list[int]:
    """Return the node IDs of a pool: those that it has, and the next ones; of too many the highest go. Adds them to `used`."""
    own = list(_ids_of(pool))[:replicas]
    wished = _ranges(pool.labelled("annotations", _NEXT_IDS) or "")
    free = (number for number in chain(wished, count()) if number not in used)
    while len(own) < replicas:
        number = next(free)
        used.add(number)
        own.append(number)
    return own


def _ranges(text: str) -> Iterable[int]:
    """Yield the numbers of `[0-2, 10, 20-18]`."""
    for part in text.strip("[] ").split(","):
        first, _, last = part.strip().partition("-")
        if _NUMBER.fullmatch(first) and (not last or _NUMBER.fullmatch(last)):
            begin, end = int(first), int(last or first)
            yield from range(begin, end + 1) if begin <= end else range(begin, end - 1, -1)
