"""Settings of brokers: by server.properties, otherwise by DescribeConfigs. A hidden value is set and unknown.

A node with the controller role alone is no broker: its file and its answer are kept apart, and no check of brokers finds them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.cluster.samples import Samples
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, first_controllers_listener
from kafka_audit.model.addresses.voters import VOTERS
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, ControllerConfig, PropertyLogin

AUTHORIZER, ROLES = "authorizer.class.name", "process.roles"

# Kafka does not know these keys itself, so DescribeConfigs shows them as null where they are set and leaves them out where not.
_NULL_IS_SET = frozenset({"super.users", "allow.everyone.if.no.acl.found"})


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One key of one broker. `value` is None unless `state` is "set"; `source` names the source."""

    state: str  # set, unset (the default holds), hidden, unread
    value: str | None = None
    source: str = "unknown"

    @property
    def known(self) -> bool:
        """Return whether the value, or that there is none, is known."""
        return self.state in {"set", "unset"}


_NOT_IN_FILE = Setting(state="unset", source="server.properties")
_NOT_TOLD = Setting(state="unset", source="DescribeConfigs")
_UNREAD = Setting(state="unread")


def _is_hidden(config: BrokerConfig | ControllerConfig | None) -> bool:
    return config is not None and config.value is None and (config.sensitive or config.key in _NULL_IS_SET)


def _of_listener(read: Callable[[int, str], Setting], broker: int, listener: str, key: str) -> Setting:
    own_setting = read(broker, f"listener.name.{listener.lower()}.{key}")
    return read(broker, key) if own_setting.state in {"unset", "unread"} else own_setting


class Settings:
    """The settings of all brokers of a snapshot; `get` knows controllers, too."""

    def __init__(self, samples: Samples) -> None:
        """Keep the snapshot; rows are indexed when first asked for."""
        self._samples = samples

    @cached_property
    def _every_file(self) -> Mapping[int, Mapping[str, BrokerProperty]]:
        found: dict[int, dict[str, BrokerProperty]] = defaultdict(dict)
        for row in self._samples.of(BrokerProperty):
            found[row.broker_id][row.key] = row
        return found

    @cached_property
    def controllers(self) -> frozenset[int]:
        """Nodes that have the controller role alone, by their files, or by what they answer at an address of the cluster file."""
        roles = {node: configs[ROLES].value or "" for node, configs in self.answers_of_controllers.items() if ROLES in configs}
        roles |= {node: properties[ROLES].value or "" for node, properties in self._every_file.items() if ROLES in properties}
        return frozenset(node for node, text in roles.items() if {role.strip() for role in text.split(",")} == {"controller"})

    @cached_property
    def answers_of_controllers(self) -> Mapping[int, Mapping[str, ControllerConfig]]:
        """Keys that each controller of the cluster file reports by DescribeConfigs (Kafka 3.7)."""
        found: dict[int, dict[str, ControllerConfig]] = defaultdict(dict)
        for row in self._samples.of(ControllerConfig):
            found[row.node_id][row.key] = row
        return found

    def reported(self, node: int) -> Mapping[str, BrokerConfig] | Mapping[str, ControllerConfig]:
        """Return what a node answers; a broker that is a controller too answers the same at both listeners."""
        return self.answers.get(node) or self.answers_of_controllers.get(node, {})

    def party(self, node: int) -> str:
        """Return what a node is called: `broker 2`, or `controller 200`, which is no broker."""
        return f"{'controller' if node in self.controllers else 'broker'} {node}"

    def resource(self, node: int) -> str:
        """Return the same as the resource of a finding: `broker/2`."""
        return self.party(node).replace(" ", "/")

    def peers(self, brokers: Iterable[int], node: int) -> tuple[int, ...]:
        """Return the nodes of the kind of a node: the controllers that are no brokers, else all of these brokers."""
        return tuple(sorted(self.controllers)) if node in self.controllers else tuple(brokers)

    @cached_property
    def combined(self) -> frozenset[int]:
        """Brokers that are controllers too, by their files or their own answers."""
        return frozenset(node for node in self.brokers if "controller" in (self.get(node, ROLES).value or ""))

    @cached_property
    def with_controller_role(self) -> frozenset[int]:
        """Nodes that are controllers, brokers too among them."""
        return self.controllers | self.combined

    def controllers_listener(self, node: int) -> str:
        """Return the listener on which a node connects to controllers, "" where its settings name none."""
        return first_controllers_listener(self.get(node, CONTROLLERS).value)

    @cached_property
    def files(self) -> Mapping[int, Mapping[str, BrokerProperty]]:
        """Keys of each broker's server.properties; a broker without an entry has no file that was read."""
        return {node: lines for node, lines in self._every_file.items() if node not in self.controllers}

    @property
    def every_file(self) -> Mapping[int, Mapping[str, BrokerProperty]]:
        """The same of brokers and controllers."""
        return self._every_file

    @cached_property
    def answers(self) -> Mapping[int, Mapping[str, BrokerConfig]]:
        """Keys that each broker reports by DescribeConfigs."""
        found: dict[int, dict[str, BrokerConfig]] = defaultdict(dict)
        for row in self._samples.of(BrokerConfig):
            found[row.broker_id][row.key] = row
        return found

    @cached_property
    def brokers(self) -> frozenset[int]:
        """Brokers of which any setting is known."""
        return frozenset(self.files) | frozenset(self.answers)

    @cached_property
    def of_controllers(self) -> Mapping[int, Mapping[str, str | None]]:
        """What each node, brokers and controllers, is set to for its connections to controllers."""
        nodes = self.brokers | self.controllers
        return {node: {key: self.get(node, key).value for key in (CONTROLLERS, VOTERS)} for node in nodes}

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every key of any broker or file."""
        return frozenset(key for reported in (*self.files.values(), *self.answers.values()) for key in reported)

    def number(self, broker: int, key: str, default: int) -> int:
        """Return a setting that is a number, the default where it is not set, or none that is known."""
        number = integer(self.get(broker, key).value or "", 64)
        return default if number is None else number

    def get(self, broker: int, key: str) -> Setting:
        """Return one setting: the file's word, else the broker's own."""
        line = self._every_file.get(broker, {}).get(key)
        if line is not None:
            state = "hidden" if line.value is None else "set" if line.value else "unset"
            return Setting(state=state, value=line.value or None, source="server.properties")
        answered = self._answered(broker, key)
        if answered is not None:
            return answered
        if broker in self._every_file:
            return _NOT_IN_FILE
        if _is_hidden(self.reported(broker).get(key)):
            return Setting(state="hidden", source="DescribeConfigs")
        return _NOT_TOLD if self.reported(broker) else _UNREAD

    def is_emptied(self, node: int, key: str) -> bool:
        """Return whether a key is set to nothing, which is not the same as not set where Kafka's default is null."""
        line = self._every_file.get(node, {}).get(key) or self.reported(node).get(key)
        return line is not None and line.value == ""

    def running(self, broker: int, key: str) -> Setting:
        """Return one setting with which the broker runs: its answer; the file only for what that hides, or without an answer.

        The file may be newer than the broker's start, so what both report differently holds for the next start.
        """
        answered, reported = self._answered(broker, key), self.reported(broker)
        if answered is not None:
            return answered
        return self.get(broker, key) if not reported or _is_hidden(reported.get(key)) else _NOT_TOLD

    def _answered(self, broker: int, key: str) -> Setting | None:
        config = self.reported(broker).get(key)
        return Setting(state="set", value=config.value, source="DescribeConfigs") if config is not None and config.value else None

    def at(self, broker: int, listener: str, key: str) -> Setting:
        """Return a setting as it holds for one listener: `listener.name.<listener>.<key>` before `<key>`."""
        return _of_listener(self.get, broker, listener, key)

    def running_at(self, broker: int, listener: str, key: str) -> Setting:
        """Return the same of the running broker."""
        return _of_listener(self.running, broker, listener, key)

    def first_set(self, broker: int, *keys: str) -> str:
        """Return the first of some keys that a broker has set, the first of all where it has none: the line to look at."""
        return next((key for key in keys if self.get(broker, key).state in {"set", "hidden"}), keys[0])

    @cached_property
    def logins(self) -> tuple[PropertyLogin, ...]:
        """Logins in the JAAS texts of brokers' files."""
        return tuple(login for login in self._samples.of(PropertyLogin) if login.broker_id not in self.controllers)

    @cached_property
    def logins_of(self) -> Mapping[int, Sequence[PropertyLogin]]:
        """The same by broker."""
        found: defaultdict[int, list[PropertyLogin]] = defaultdict(list)
        for row in self.logins:
            found[row.broker_id].append(row)
        return found
