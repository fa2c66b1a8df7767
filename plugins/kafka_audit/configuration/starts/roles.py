"""What KRaft's roles ask for in releases 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions.addresses import VOTERS, voter_ids
from kafka_audit.configuration.definitions.values import trimmed
from kafka_audit.configuration.starts.config import NODE, config_error, require
from kafka_audit.configuration.starts.listening import ADVERTISED, CONTROL_PLANE, CONTROLLERS, INTER_BROKER, LISTENERS, MAP

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
    if config.items(VOTERS):
        return
    if not config.since(3, 9):
        message = f"If using {reason}, {VOTERS} must contain a parseable set of voters."
        raise config_error(message, VOTERS)
    if not config.items(BOOTSTRAP):
        message = (
            f"If using {reason}, either {BOOTSTRAP} must contain the set of bootstrap controllers or {VOTERS} "
            f"must contain a parseable set of controllers."
        )
        raise config_error(message, VOTERS)


def broker_is_no_voter(config: Config, node: int) -> None:
    """Judge the id of a broker that is no controller."""
    ids = voter_ids(config.items(VOTERS))
    role = "contains just the 'broker' role" if config.since(3, 1) else "does not contain the 'controller' role"
    message = f"If {ROLES} {role}, the node id {node} must not be included in the set of voters"
    require(node not in ids, f"{message} {VOTERS}={_shown(ids)}", NODE)


def controller_is_voter(config: Config, node: int) -> None:
    """Judge the id of a controller."""
    ids = voter_ids(config.items(VOTERS))
    message = f"If {ROLES} contains the 'controller' role, the node id {node} must be included in the set of voters"
    require(not ids or node in ids, f"{message} {VOTERS}={_shown(ids)}", NODE)


def no_controller_is_advertised(listening: Listening3) -> None:
    """Judge that a broker advertises no listener of controllers (before 3.9, which advertises them separately)."""
    message = (
        f"The {ADVERTISED} config must not contain KRaft controller listeners from {CONTROLLERS} when {ROLES} contains the "
        "broker role because Kafka clients that send requests via advertised listeners do not send requests to KRaft "
        "controllers -- they only send requests to KRaft brokers."
    )
    mixed = any(endpoint.listener in listening.controller_names for endpoint in listening.advertised)
    require(listening.config.since(3, 9) or not mixed, message, ADVERTISED)


def broker_only(listening: Listening3) -> None:
    """Judge a broker that is no controller."""
    config = listening.config
    broker_is_no_voter(config, config.number(NODE))
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
    config, key = listening.config, LISTENERS
    if not config.since(3, 9) and config.text_or_none(ADVERTISED) is not None:
        key = ADVERTISED
        message = f"The {ADVERTISED} config must be empty when {ROLES}=controller"
        require(not config.since(3, 3), message, ADVERTISED)
    message = f"The {key} config must only contain KRaft controller listeners from {CONTROLLERS} when {ROLES}=controller"
    if config.since(3, 9):
        require(len(listening.advertised_controllers) == len(listening.listeners), message, key)
    else:
        require(not listening.advertised, message, key)


def controller_rules(listening: Listening3) -> None:
    """Judge what every controller needs."""
    config = listening.config
    controller_is_voter(config, config.number(NODE))
    role = f"appearing in the '{LISTENERS}' configuration when running the KRaft controller role"
    some = f"{CONTROLLERS} must contain at least one value {role}"
    require(bool(listening.advertised_controllers if config.since(3, 9) else listening.controllers), some, CONTROLLERS)
    bound = {endpoint.listener for endpoint in listening.listeners}
    only = f"{CONTROLLERS} must only contain values {role}"
    require(all(name in bound for name in listening.controller_names), only, CONTROLLERS)


def no_control_plane(listening: Listening3) -> None:
    """Judge that KRaft has no listener of the controller's requests."""
    hint = "" if listening.config.since(3, 2) else f" KRaft uses {CONTROLLERS} instead."
    require(listening.control_plane is None, f"{CONTROL_PLANE} is not supported in KRaft mode.{hint}", CONTROL_PLANE)


def some_controller_listener(listening: Listening3, roles: Collection[str]) -> None:
    """Judge that a controller listens as 3.0 does; later releases do it by role."""
    message = f"{CONTROLLERS} cannot be empty if the server has the controller role"
    judged = "controller" in roles and not listening.config.since(3, 1)
    require(not judged or bool(listening.controllers), message, CONTROLLERS)


def some_listener(listening: Listening3, roles: Collection[str]) -> None:
    """Judge that a broker advertises something."""
    hint = f" Perhaps all listeners appear in {CONTROLLERS}?" if "broker" in roles else ""
    kind = "broker advertised" if listening.config.since(3, 9) else "advertised"
    some = bool(listening.advertised) or not listening.config.since(3, 1)
    require(some, f"There must be at least one {kind} listener.{hint}", LISTENERS)


def early_listeners(listening: Listening3) -> None:
    """Judge early.start.listeners (since 3.3)."""
    key = "early.start.listeners"
    if not listening.config.defines(key):
        return
    bound = {endpoint.listener for endpoint in listening.listeners}
    text = listening.config.text(key)
    names = [trimmed(part) for part in text.split(",")] if text else listening.config.items(key)
    for name in filter(None, names):
        if name not in bound:
            message = f"{key} contains listener {name}, but this is not contained in {LISTENERS} or {CONTROLLERS}"
            raise config_error(message, key)


def not_between_brokers(listening: Listening3) -> None:
    """Judge that a mere controller of release 4 names no controller listener as that between brokers."""
    if listening.config.text_or_none(INTER_BROKER) is not None:
        message = f"{CONTROLLERS} must not contain an explicitly set {INTER_BROKER} configuration value when {ROLES}=controller'"
        require(listening.inter_broker[0] not in listening.controller_names, message, INTER_BROKER)
