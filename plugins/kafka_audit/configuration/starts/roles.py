"""What KRaft's roles ask for in releases 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions.addresses import VOTERS, voter_ids
from kafka_audit.configuration.starts.config import NODE, config_error, require
from kafka_audit.configuration.starts.listening import CONTROL_PLANE, CONTROLLERS, INTER_BROKER, LISTENERS, MAP

if TYPE_CHECKING:
    from collections.abc import Collection

    from kafka_audit.configuration.starts.config import Config
    from kafka_audit.configuration.starts.listening import Listening3

ROLES = "process.roles"
BOOTSTRAP = "controller.quorum.bootstrap.servers"
_PLAIN_SET = 4  # Scala shows a larger one as a HashSet


def _shown(ids: Collection[int]) -> str:
    # In the order of the HashMap of Java's that Kafka puts them into.
    size = 1
    while size < len(ids) or size * 3 < len(ids) * 4:
        size *= 2
    reported = sorted(ids, key=lambda broker: (broker ^ (broker & 0xFFFFFFFF) >> 16) & (size - 1))
    return f"{'Hash' if len(ids) > _PLAIN_SET else ''}Set({', '.join(map(str, reported))})"


def quorum_is_named(config: Config, reason: str) -> None:
    """Judge whether controllers can be found."""
    if not config.items(VOTERS) and not config.items(BOOTSTRAP):
        message = (
            f"If using {reason}, either {BOOTSTRAP} must contain the set of bootstrap controllers or {VOTERS} "
            f"must contain a parseable set of controllers."
        )
        raise config_error(message, VOTERS)


def broker_only(listening: Listening3) -> None:
    """Judge a broker that is no controller."""
    config = listening.config
    node, ids = config.number(NODE), voter_ids(config.items(VOTERS))
    message = f"If {ROLES} contains just the 'broker' role, the node id {node} must not be included in the set of voters"
    require(node not in ids, f"{message} {VOTERS}={_shown(ids)}", NODE)
    alone = "when running KRaft with just the broker role"
    require(bool(listening.controller_names), f"{CONTROLLERS} must contain at least one value {alone}", CONTROLLERS)
    message = f"{CONTROLLERS} must not contain a value appearing in the '{LISTENERS}' configuration {alone}"
    require(not listening.controllers, message, CONTROLLERS)
    for name in listening.controller_names:
        if name.upper() not in listening.protocols:
            message = (
                f"Controller listener with name {name.upper()} defined in {CONTROLLERS} not found in {MAP}  "
                f"(an explicit security mapping for each controller listener is required if {MAP} is non-empty, "
                "or if there are security protocols other than PLAINTEXT in use)"
            )
            raise config_error(message, CONTROLLERS)


def controller_only(listening: Listening3) -> None:
    """Judge that a mere controller listens for controllers alone."""
    message = f"The {LISTENERS} config must only contain KRaft controller listeners from {CONTROLLERS} when {ROLES}=controller"
    require(len(listening.advertised_controllers) == len(listening.listeners), message, LISTENERS)


def controller_rules(listening: Listening3) -> None:
    """Judge what every controller needs."""
    config = listening.config
    node, ids = config.number(NODE), voter_ids(config.items(VOTERS))
    message = f"If {ROLES} contains the 'controller' role, the node id {node} must be included in the set of voters"
    require(not ids or node in ids, f"{message} {VOTERS}={_shown(ids)}", NODE)
    role = f"appearing in the '{LISTENERS}' configuration when running the KRaft controller role"
    some = f"{CONTROLLERS} must contain at least one value {role}"
    require(bool(listening.advertised_controllers), some, CONTROLLERS)
    bound = {endpoint.listener for endpoint in listening.listeners}
    only = f"{CONTROLLERS} must only contain values {role}"
    require(all(name in bound for name in listening.controller_names), only, CONTROLLERS)


def no_control_plane(listening: Listening3) -> None:
    """Judge that KRaft has no listener of the controller's requests."""
    require(listening.control_plane is None, f"{CONTROL_PLANE} is not supported in KRaft mode.", CONTROL_PLANE)


def some_listener(listening: Listening3, roles: Collection[str]) -> None:
    """Judge that a broker advertises something."""
    hint = f" Perhaps all listeners appear in {CONTROLLERS}?" if "broker" in roles else ""
    require(bool(listening.advertised), f"There must be at least one broker advertised listener.{hint}", LISTENERS)


def early_listeners(listening: Listening3, reported: Collection[str] | None) -> None:
    """Judge early.start.listeners."""
    bound = {endpoint.listener for endpoint in listening.listeners}
    key = "early.start.listeners"
    for name in filter(None, reported or ()):
        if name not in bound:
            message = f"{key} contains listener {name}, but this is not contained in {LISTENERS} or {CONTROLLERS}"
            raise config_error(message, key)


def not_between_brokers(listening: Listening3) -> None:
    """Judge that a mere controller of release 4 names no controller listener as that between brokers."""
    if listening.config.text_or_none(INTER_BROKER) is not None:
        message = f"{CONTROLLERS} must not contain an explicitly set {INTER_BROKER} configuration value when {ROLES}=controller'"
        require(listening.inter_broker[0] not in listening.controller_names, message, INTER_BROKER)
