"""Connections between brokers: their listener, their principal there, and the authorization of the other side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.cluster.listeners.principals import Ends, Principal, by_certificate, by_login, file_of
from kafka_audit.cluster.registry import RegisteredAddress, RegistrySample
from kafka_audit.cluster.settings import AUTHORIZER, Setting, Settings
from kafka_audit.compare.listener_names import canonical_listener, same_listener
from kafka_audit.configuration.authorization import KAFKAS_OWN, NO_ACL, SUPER_USERS, allows_everyone, super_users
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries, protocols_by_listener
from kafka_audit.model.addresses.voters import SERVERS, VOTERS
from kafka_audit.model.tables import Acl, AclHolder, BrokerView, Certificate, PropertyLogin, SourceRead

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
TLS = frozenset({"SSL", "SASL_SSL"})
MECHANISM = "sasl.mechanism.inter.broker.protocol"
DEFAULT_MECHANISM = "GSSAPI"

_MAP = "listener.security.protocol.map"
_DEFAULT_BUILDER = "DefaultKafkaPrincipalBuilder"


@dataclass(frozen=True, kw_only=True)
class Listener:
    """The inter-broker listener of a broker. `protocol` is None if it is unknown."""

    name: str
    protocol: str | None
    source: str = "unknown"

    @property
    def encrypted(self) -> bool:
        """Return whether a TLS handshake comes first."""
        return self.protocol in TLS

    @property
    def logs_in(self) -> bool:
        """Return whether a SASL login comes before the first request."""
        return self.protocol in {"SASL_PLAINTEXT", "SASL_SSL"}


def _or_default(mechanism: Setting) -> Setting:
    return Setting(state="set", value=DEFAULT_MECHANISM, source=mechanism.source) if mechanism.state == "unset" else mechanism


class InterBroker:
    """Indexes over one snapshot; each is built when it is first asked for."""

    def __init__(self, registry: RegistrySample, settings: Settings, *, next_start: bool = False) -> None:
        """Keep the registry of the newest sample, and what brokers are set to; nothing is read yet.

        `next_start`: brokers as their files will start them, instead of as they run.
        """
        self._next_start = next_start
        self._read, self._read_at = (settings.get, settings.at) if next_start else (settings.running, settings.running_at)
        self._samples = registry.samples
        self._registry = registry
        self._mapped: dict[int, Mapping[str, str]] = {}
        self.settings = settings
        self.kraft = registry.samples.kraft

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """Every broker that is registered, answered or has a file that was read; none that has the controller role alone."""
        asked = {view.broker_id for view in self._samples.of(BrokerView)} if self.kraft else set()
        registered = frozenset() if self.kraft else frozenset(self._registry.brokers)
        known = (registered | asked | self.settings.brokers) - self.settings.controllers
        return tuple(sorted(broker for broker in known if broker >= 0))

    @cached_property
    def asked(self) -> bool:
        """Return whether a cluster was asked at all, or files alone were read."""
        return any(read.operation.split()[0] != "properties" for read in self._samples.of(SourceRead))

    @cached_property
    def controller(self) -> int | None:
        """The controller by ZooKeeper; None in KRaft, where brokers fetch from it and it sends nothing."""
        return self._registry.controller

    @cached_property
    def endpoints(self) -> Mapping[int, Mapping[str, RegisteredAddress]]:
        """Registered endpoints by broker and listener; none in KRaft, where lists do not show the listener."""
        found: dict[int, dict[str, RegisteredAddress]] = {}
        for row in self._registry.addresses:
            if row.listener:
                found.setdefault(row.broker_id, {})[row.listener] = row
        return found

    def offered(self, broker: int) -> frozenset[str] | None:
        """Return the listeners that a broker advertises, None where that is not known."""
        if broker in self.endpoints:
            return frozenset(self.endpoints[broker])
        reported = {key: self._read(broker, key).value for key in (KEY, INSTEAD, CONTROLLERS)}
        return frozenset(listener.listener for listener in entries(reported)) if reported[KEY] or reported[INSTEAD] else None

    def protocol(self, broker: int, name: str) -> str | None:
        """Return the security protocol of a broker's listener."""
        if name in self.endpoints.get(broker, {}):
            return self.endpoints[broker][name].protocol
        return self._protocols(broker).get(name) or (name if name in PROTOCOLS else None)

    def controllers(self, broker: int) -> tuple[str, ...]:
        """Return the addresses of the controllers that a KRaft broker's settings name."""
        values = (self._read(broker, key).value or "" for key in (VOTERS, SERVERS))
        addresses = (entry.strip().rpartition("@")[2] for value in values for entry in value.split(","))
        return tuple(dict.fromkeys(filter(None, addresses)))

    @cached_property
    def zookeeper(self) -> Mapping[int, str]:
        """What brokers are set to as `zookeeper.connect`, where that is known."""
        every = {broker: self._read(broker, "zookeeper.connect").value for broker in self.brokers}
        return {broker: connect for broker, connect in every.items() if connect}

    def controller_protocol(self, broker: int) -> str | None:
        """Return the security protocol of a KRaft broker to its controllers."""
        names = (self._read(broker, CONTROLLERS).value or "").split(",")
        return self._protocols(broker).get(canonical_listener(names[0]))

    def protocol_to_controllers(self, node: int) -> str | None:
        """Return the security protocol of a node to its controllers; None where its map lacks it, which Kafka refuses."""
        listener = self.settings.controllers_listener(node)
        found = self.protocol(node, listener)
        return found if found or (listener and self.settings.get(node, _MAP).state != "unset") else "PLAINTEXT"

    def _protocols(self, broker: int) -> Mapping[str, str]:
        if broker not in self._mapped:  # each of a broker's listeners asks, and the map has an entry for each
            self._mapped[broker] = protocols_by_listener(self._read(broker, _MAP).value or "")
        return self._mapped[broker]

    @cached_property
    def _listeners(self) -> Mapping[int, Listener]:
        started = (broker for broker in self.brokers if broker not in self._with_another_file)
        reported = {broker: listener for broker in started if (listener := self._set(broker))}
        usual = {listener.name for listener in reported.values()}
        for broker in self.brokers:
            offered = self.offered(broker) or frozenset()
            only = usual if len(usual) == 1 else offered
            if broker not in reported and len(only) == 1 and only <= offered:
                name = next(iter(only))
                source = "the listener of the other brokers" if usual else "the only registered listener"
                reported[broker] = Listener(name=name, protocol=self.protocol(broker, name), source=source)
        return reported

    def _set(self, broker: int) -> Listener | None:
        """Return the listener by settings; the protocol key says PLAINTEXT even beside a name, so the name comes first."""
        name = self._read(broker, "inter.broker.listener.name")
        protocol = self._read(broker, "security.inter.broker.protocol")
        if not name.value and not (name.known and protocol.known):
            return None
        used = name if name.value else protocol
        listener = canonical_listener(name.value) if name.value else protocol.value or "PLAINTEXT"
        return Listener(name=listener, protocol=self.protocol(broker, listener), source=used.source)

    @cached_property
    def _with_another_file(self) -> frozenset[int]:
        """Brokers that did not start with the file that was read: they registered no listener of the name that it gives."""
        both = self.endpoints.keys() & self.settings.files
        by_file = {} if self._next_start else {broker: self._set(broker) for broker in both}
        return frozenset(
            broker
            for broker, used in by_file.items()
            if used is not None and used.source != "DescribeConfigs" and used.name not in self.endpoints[broker]
        )

    def listener(self, broker: int) -> Listener | None:
        """Return the inter-broker listener of a broker: by its settings, or that of all others, or the only one."""
        return self._listeners.get(broker)

    def mechanism(self, broker: int) -> Setting:
        """Return the SASL mechanism with which a broker logs in to others."""
        return Setting(state="unread") if broker in self._with_another_file else _or_default(self._read(broker, MECHANISM))

    def principal(self, source: int, target: int) -> Principal:
        """Return the principal of `source` at `target`."""
        listener = self.listener(source)
        if listener is None or listener.protocol not in PROTOCOLS:
            return Principal(names=(), certain=False, why="its inter-broker listener is unknown", needs=file_of(source))
        builder = self._read_at(target, listener.name, "principal.builder.class")
        if builder.state == "hidden" or (builder.value and not builder.value.endswith(_DEFAULT_BUILDER)):
            why = f"broker {target} builds principals with {builder.value or 'an unknown class'}"
            return Principal(names=(), certain=False, why=why, needs=f"the authorizer log of broker {target}")
        if listener.protocol == "PLAINTEXT":
            return Principal(names=(ANONYMOUS,), certain=True, why=f"listener {listener.name} is PLAINTEXT")
        ends = Ends(source=source, target=target, listener=listener.name)
        return self._by_login(ends, listener) if listener.logs_in else self._by_certificate(ends)

    @cached_property
    def kinds(self) -> tuple[tuple[int, ...], ...]:
        """Brokers that appear alike wherever they appear: a thousand of them are seldom more than a few kinds."""
        shown: dict[int, set[tuple[str, int, str]]] = {}
        for row in self._samples.of(Certificate):
            shown.setdefault(row.broker_id, set()).add((row.listener, row.sample, row.subject))
        found: dict[object, list[int]] = {}
        for broker in self.brokers:
            listener = self.listener(broker)
            logins = frozenset(
                (canonical_listener(login.listener), login.mechanism, login.username) for login in self._clients.get(broker, ())
            )
            used = None if listener is None else (listener.name, listener.protocol)
            kind = (used, self.mechanism(broker).value, logins, frozenset(shown.get(broker, ())))
            found.setdefault(kind, []).append(broker)
        return tuple(map(tuple, found.values()))

    def shown_by(self, subject: str) -> tuple[int, ...]:
        """Return the brokers whose certificate on their inter-broker listener has a subject: as clients they show it, too."""
        return tuple(broker for broker in self.brokers if subject in self._subjects.get(broker, ()))

    @cached_property
    def _subjects(self) -> Mapping[int, set[str]]:
        found: dict[int, set[str]] = {}
        for row in self._samples.of(Certificate):
            used = self.listener(row.broker_id)
            if used is not None and used.name == row.listener:
                found.setdefault(row.broker_id, set()).add(row.subject)
        return found

    @cached_property
    def users(self) -> Mapping[str, tuple[int, ...]]:
        """Brokers by the name of their inter-broker listener."""
        found: dict[str, list[int]] = {}
        for broker in self.brokers:
            if (used := self.listener(broker)) is not None:
                found.setdefault(used.name, []).append(broker)
        return {name: tuple(brokers) for name, brokers in found.items()}

    @cached_property
    def logins(self) -> Mapping[str, Mapping[tuple[str, str, str], Sequence[int]]]:
        """By inter-broker listener: mechanism, user and password digest, and the brokers that log in with them there."""
        found: dict[str, dict[tuple[str, str, str], list[int]]] = {}
        for broker, logins in self._clients.items():
            used, mechanism = self.listener(broker), self.mechanism(broker).value
            for login in logins:
                if used is not None and same_listener(login.listener, used.name) and login.mechanism == mechanism:
                    broker_ids = found.setdefault(used.name, {}).setdefault(
                        (login.mechanism, login.username, login.password_digest), []
                    )
                    broker_ids.append(broker)
        return found

    @cached_property
    def plain(self) -> frozenset[str]:
        """Inter-broker listeners on which each user logs in with PLAIN, by a login that was read."""
        return frozenset(
            name
            for name, users in self.users.items()
            if all(self.mechanism(user).value == "PLAIN" for user in users)
            and {broker for broker_ids in self.logins.get(name, {}).values() for broker in broker_ids} >= set(users)
        )

    @cached_property
    def _clients(self) -> Mapping[int, list[PropertyLogin]]:
        found: dict[int, list[PropertyLogin]] = {}
        for login in self.settings.logins:
            if login.side == "client":
                found.setdefault(login.broker_id, []).append(login)
        return found

    def _by_login(self, ends: Ends, listener: Listener) -> Principal:
        mechanism = self.mechanism(ends.source).value
        own = [
            login.username
            for login in self._clients.get(ends.source, ())
            if same_listener(login.listener, listener.name) and mechanism in {None, login.mechanism}
        ]
        return by_login(ends, mechanism, own, self._read_at(ends.target, listener.name, KERBEROS_RULES))

    def _by_certificate(self, ends: Ends) -> Principal:
        shown = [row for row in self._samples.of(Certificate) if (row.broker_id, row.listener) == (ends.source, ends.listener)]
        last = max((row.sample for row in shown), default=0)
        asked, rules = (self._read_at(ends.target, ends.listener, key) for key in ("ssl.client.auth", SSL_RULES))
        return by_certificate(ends, asked, rules, (row.subject for row in shown if row.sample == last))

    def authorizer(self, broker: int) -> Setting:
        """Return a broker's authorizer class."""
        return self._read(broker, AUTHORIZER)

    @staticmethod
    def understood(authorizer: str) -> bool:
        """Return whether an authorizer class is one of Kafka's own, which decide by ACLs and super.users."""
        return authorizer in KAFKAS_OWN

    def decides_otherwise(self, broker: int) -> bool:
        """Return whether a broker's authorizer is known and none of Kafka's own: ACLs in ZooKeeper may be nothing to it."""
        setting = self.authorizer(broker)
        return setting.state == "set" and not self.understood(setting.value or "")

    def super_users(self, broker: int) -> frozenset[str] | None:
        """Return a broker's super users, None where they are set and hidden, or not read: that is never "none"."""
        setting = self._read(broker, SUPER_USERS)
        if not setting.known:
            return None
        users = super_users(setting.value or "")
        # No authorizer starts with a principal without type, so that the broker runs with other super users (KA413).
        return None if any(":" not in user for user in users) else users

    def allows_without_acl(self, broker: int) -> bool | None:
        """Return allow.everyone.if.no.acl.found of a broker, None where it is hidden or was not read."""
        setting = self._read(broker, NO_ACL)
        return allows_everyone(setting.value or "") if setting.known else None

    @cached_property
    def holders(self) -> Mapping[str, AclHolder]:
        """Who held which ACLs when asked last, by observer."""
        return {row.observer: row for row in sorted(self._samples.of(AclHolder), key=lambda row: row.sample)}

    @cached_property
    def _sets(self) -> Mapping[str, tuple[Acl, ...]]:
        found: dict[str, list[Acl]] = {}
        for row in self._samples.of(Acl):
            found.setdefault(row.acls_digest, []).append(row)
        return {digest: tuple(rows) for digest, rows in found.items()}

    def cluster_acls(self, broker: int) -> tuple[Acl, ...] | None:
        """Return those of a broker's ACLs that are about the cluster, None where they were not read."""
        holder = self._holder(broker)
        return None if holder is None else self._cluster_sets.get(holder.acls_digest, ())

    @cached_property
    def _cluster_sets(self) -> Mapping[str, tuple[Acl, ...]]:
        return {digest: tuple(acl for acl in acls if acl.resource_type == "Cluster") for digest, acls in self._sets.items()}

    def acls(self, broker: int) -> tuple[Acl, ...] | None:
        """Return the ACLs that a broker decides by: its own word, else ZooKeeper's, in KRaft any broker's. None: not read."""
        holder = self._holder(broker)
        return None if holder is None else self._sets.get(holder.acls_digest, ())

    def _holder(self, broker: int) -> AclHolder | None:
        spare = [*self.holders.values()] if self.kraft else []
        reported = [self.holders.get(f"broker:{broker}"), self.holders.get("zookeeper"), *spare]
        return next((holder for holder in reported if holder is not None), None)
