"""A sound configuration for a role and release, put together at random."""

import random
from dataclasses import dataclass, field

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
NAMES = (*PROTOCOLS, "INTERNAL", "EXTERNAL", "CLIENT", "REPLICATION", "B-1", "L.2")
HOSTS = ("", "", "0.0.0.0", "localhost", "10.0.0.5", "kafka-1.example", "[::1]", "[::]", "my_host")  # noqa: S104
ADDRESSES = ("localhost", "10.0.0.5", "kafka-1.example", "[fe80::1%eth0]", "", "127.0.0.1", "203.0.113.7")
MECHANISMS = ("GSSAPI", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
CONTROLLER_NAMES = ("CONTROLLER", "CTRL", "PLAINTEXT", "SASL_SSL")


@dataclass
class Draft:
    """A configuration in the making. `listeners` are (name, host, port), `map` the protocol of each name."""

    dice: random.Random
    version: str
    role: str
    properties: dict[str, str] = field(default_factory=dict)
    listeners: list[tuple[str, str, int]] = field(default_factory=list)
    protocols: dict[str, str] = field(default_factory=dict)
    controllers: list[str] = field(default_factory=list)
    inter_broker: str = "PLAINTEXT"

    def chance(self, share: float) -> bool:
        """Throw the dice."""
        return self.dice.random() < share

    @property
    def kraft(self) -> bool:
        """Whether there is no ZooKeeper."""
        return self.role not in {"zookeeper", "migrating"}

    def write(self) -> None:
        """Put all parts together."""
        self._identity()
        self._names()
        self._listeners()
        self._advertised()
        self._between_brokers()
        self._quorum()
        self._others()

    def _identity(self) -> None:
        properties, number = self.properties, str(self.dice.randrange(5))
        if self.kraft:
            properties["process.roles"] = {"combined": self.dice.choice(("broker,controller", "controller, broker"))}.get(
                self.role, self.role
            )
            properties["node.id"] = number
            if self.chance(0.1) and self.version >= "3":
                properties["broker.id"] = number
        else:
            properties["zookeeper.connect"] = "zk:2181"
            if self.chance(0.8) or self.role == "migrating":
                properties["broker.id"] = number
        if self.role == "migrating":
            properties["zookeeper.metadata.migration.enable"] = "true"

    def _names(self) -> None:
        dice = self.dice
        only_controller = self.role == "controller"
        names = [] if only_controller else dice.sample(NAMES, dice.choice((1, 1, 2, 2, 3)))
        if self.kraft or self.role == "migrating":
            free = [name for name in CONTROLLER_NAMES if name not in names]
            self.controllers = dice.sample(free, dice.choice((1, 1, 1, 2)) if len(free) > 1 else 1)
        bound = names + (self.controllers if self.role in {"controller", "combined"} else [])
        ports = dice.sample(range(9091, 9100), len(bound))
        self.listeners = [(name, dice.choice(HOSTS), port) for name, port in zip(bound, ports, strict=True)]
        for name in bound + self.controllers:
            usual = name if name in PROTOCOLS else dice.choice(("PLAINTEXT", "PLAINTEXT", *PROTOCOLS))
            self.protocols[name] = usual
        self.inter_broker = dice.choice(names) if names else "PLAINTEXT"

    def _listeners(self) -> None:
        if self.listeners[0][0] == "PLAINTEXT" and len(self.listeners) == 1 and self.chance(0.2):
            self.listeners = [("PLAINTEXT", "", 9092)]
        else:
            self.properties["listeners"] = self.entries(self.listeners)
        own = [name for name in self.protocols if name not in PROTOCOLS]
        if own or self.chance(0.4):
            protocol_map = dict(self.protocols) | ({name: name for name in PROTOCOLS} if self.chance(0.4) else {})
            pairs = [f"{self.cased(name)}:{self.cased(protocol)}" for name, protocol in protocol_map.items()]
            self.dice.shuffle(pairs)
            self.properties["listener.security.protocol.map"] = self.comma().join(pairs)

    def comma(self) -> str:
        """Return a comma as people write it."""
        return self.dice.choice((",", ",", ",", ", ", " , "))

    def cased(self, name: str) -> str:
        """Return a name, sometimes in other letters."""
        return name.lower() if self.chance(0.05) else name

    def entries(self, listeners: list[tuple[str, str, int]]) -> str:
        """Return listeners as a property has them."""
        return self.comma().join(f"{self.cased(name)}://{host}:{port}" for name, host, port in listeners)

    def _advertised(self) -> None:
        brokers = [listener for listener in self.listeners if listener[0] not in self.controllers]
        everywhere = any(host == "0.0.0.0" for _, host, _ in brokers)  # noqa: S104 -- compared, not bound
        if not brokers or not (everywhere or self.chance(0.5)):
            return
        voters = [(name, self.dice.choice(ADDRESSES), port) for name, _, port in brokers]
        if self.chance(0.2):
            voters = [listener for listener in voters if listener[0] == self.inter_broker or self.chance(0.5)]
        if self.chance(0.1):
            voters = [(name, host, 443) for name, host, _ in voters]
        if self.chance(0.15) and self.role == "combined" and self.version >= "3":
            voters += [(name, "10.0.0.5", port) for name, _, port in self.listeners if name in self.controllers]
        self.properties["advertised.listeners"] = self.entries(voters)

    def _between_brokers(self) -> None:
        properties, dice = self.properties, self.dice
        if self.role == "controller":
            return
        protocol = self.protocols[self.inter_broker]
        if self.inter_broker != "PLAINTEXT" or self.chance(0.1):
            by_name = self.inter_broker not in PROTOCOLS or self.chance(0.5)
            key = "inter.broker.listener.name" if by_name else "security.inter.broker.protocol"
            properties[key] = self.cased(self.inter_broker) if by_name else self.inter_broker
        if not protocol.startswith("SASL"):
            return
        mechanism = dice.choice(MECHANISMS)
        enabled = list(dict.fromkeys((mechanism, *dice.sample(MECHANISMS, dice.randrange(3)))))
        dice.shuffle(enabled)
        if mechanism != "GSSAPI" or self.chance(0.3):
            properties["sasl.mechanism.inter.broker.protocol"] = mechanism
            own = f"listener.name.{self.inter_broker.lower()}." if self.chance(0.3) else ""
            properties[f"{own}sasl.enabled.mechanisms"] = self.comma().join(enabled)

    def _quorum(self) -> None:
        properties, dice = self.properties, self.dice
        if not self.controllers:
            return
        properties["controller.listener.names"] = ",".join(self.controllers)
        own = int(properties.get("node.id", properties.get("broker.id", "0")))
        ids = [7, 8, 9][: dice.choice((1, 3))]
        if self.role in {"controller", "combined"}:
            ids[0] = own
        if self.chance(0.75) or self.version < "3.9":
            properties["controller.quorum.voters"] = self.comma().join(
                f"{number}@controller-{number}.example:9093" for number in ids
            )
        if "controller.quorum.voters" not in properties or self.chance(0.1):
            properties["controller.quorum.bootstrap.servers"] = "controller-1.example:9093,10.0.0.9:9093"
        if self.role == "migrating" and self.chance(0.6):
            properties["inter.broker.protocol.version"] = dice.choice((self.version[:3], "3.4-IV0", "3.7"))

    def _others(self) -> None:
        properties = self.properties
        if self.chance(0.3):
            properties["log.dirs"] = self.dice.choice(("/data", "/data1,/data2", "/data1, /data2"))
        if self.chance(0.15):
            properties["unknown.key"] = "x"
        if self.chance(0.15):
            properties["auto.create.topics.enable"] = self.dice.choice(("true", "FALSE", " false "))
        if self.chance(0.1):
            properties["listener.name.external.ssl.client.auth"] = self.dice.choice(("required", "sometimes"))
        if self.chance(0.1):
            properties["principal.builder.class"] = self.dice.choice(
                (
                    "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
                    " org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder ",
                )
            )
