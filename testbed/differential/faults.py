"""Faults of listeners as in real configurations, and some that only a generator makes."""

from collections.abc import Callable

from testbed.differential.pieces import CONTROLLER_NAMES, MECHANISMS, NAMES, PROTOCOLS, Draft
from testbed.differential.setting_faults import SETTINGS

LISTS = ("listeners", "advertised.listeners", "listener.security.protocol.map", "controller.quorum.voters")


def put_in(draft: Draft) -> None:
    """Put one fault in."""
    draft.dice.choices([fault for fault, _ in _FAULTS], weights=[weight for _, weight in _FAULTS])[0](draft)


def _port_twice(draft: Draft) -> None:
    host = draft.dice.choice(("10.0.0.5", "[::1]", "", "localhost", "10.0.0.6", "[1:2:3:4:5:6:7:8]", "[::ffff:10.0.0.5]"))
    name = draft.dice.choice(NAMES)
    draft.listeners.append((name, host, draft.dice.choice(draft.listeners)[2]))
    if draft.chance(0.6):
        first = draft.listeners[0]
        draft.listeners[0] = (first[0], draft.dice.choice(("10.0.0.5", "[::]", "10.0.0.256")), first[2])
    draft.properties["listeners"] = draft.entries(draft.listeners)


def _name_twice(draft: Draft) -> None:
    key = draft.dice.choice(LISTS[:2])
    name, host, _ = draft.dice.choice(draft.listeners)
    draft.properties[key] = draft.entries([*draft.listeners, (draft.cased(name), host, 9200)])


def _names_differ(draft: Draft) -> None:
    key = draft.dice.choice(LISTS[:2])
    listeners = [(draft.dice.choice(NAMES) if draft.chance(0.5) else name, host, port) for name, host, port in draft.listeners]
    draft.properties[key] = draft.entries(listeners)


def _address(draft: Draft) -> None:
    hosts = ("0.0.0.0", "0.0.0.0", "[::]", "my host", "ho$t", "10.0.0.5:1", "[::1", "user@host", "*")  # noqa: S104
    listeners = [(name, draft.dice.choice(hosts) if draft.chance(0.6) else host, port) for name, host, port in draft.listeners]
    draft.properties[draft.dice.choice(("advertised.listeners", "advertised.listeners", "listeners"))] = draft.entries(listeners)


def _damaged_list(draft: Draft) -> None:
    key = draft.dice.choice(LISTS)
    text = draft.properties.get(key, "PLAINTEXT://:9092")
    at = draft.dice.randrange(len(text) + 1)
    cut = draft.dice.choice(("", text[at : at + 1] + "x", ":", ",", " ", "/", "9", "99999999999", "@", "é", "-"))
    draft.properties[key] = text[:at] + cut + text[at + draft.dice.randrange(3) :]


def _emptied(draft: Draft) -> None:
    key = draft.dice.choice((*draft.properties, "listeners", "advertised.listeners", "controller.listener.names"))
    draft.properties[key] = draft.dice.choice(("", "", " ", ",", ",,"))


def _taken_away(draft: Draft) -> None:
    draft.properties.pop(draft.dice.choice(list(draft.properties)), None)
    if not draft.properties:
        draft.properties["unknown.key"] = ""


def _unmapped(draft: Draft) -> None:
    protocols = {name: protocol for name, protocol in draft.protocols.items() if draft.chance(0.6)} or {"X": "SSL"}
    if draft.chance(0.3):
        protocols[draft.dice.choice(list(protocols))] = draft.dice.choice(("TLS", "SASL", "", "plaintext", "SASL-SSL"))
    pairs = [f"{name}:{protocol}" for name, protocol in protocols.items()]
    if draft.chance(0.15):
        pairs.append(draft.dice.choice(("CLIENT", "CLIENT=SSL", "A:B:SSL", ":SSL", "", "INTERNAL: SSL ")))
    draft.properties["listener.security.protocol.map"] = draft.comma().join(pairs)


def _no_map(draft: Draft) -> None:
    draft.properties.pop("listener.security.protocol.map", None)


def _between_brokers(draft: Draft) -> None:
    properties = draft.properties
    key = draft.dice.choice(("inter.broker.listener.name", "security.inter.broker.protocol"))
    properties[key] = draft.dice.choice((*NAMES, "TLS", "", "nowhere", "plaintext"))
    if draft.chance(0.6):
        properties.pop(
            {"inter.broker.listener.name": "security.inter.broker.protocol"}.get(key, "inter.broker.listener.name"), None
        )


def _mechanism(draft: Draft) -> None:
    properties, dice = draft.properties, draft.dice
    sasl = [name for name, protocol in draft.protocols.items() if protocol.startswith("SASL")]
    if sasl and draft.chance(0.7):
        properties.pop("security.inter.broker.protocol", None)
        properties["inter.broker.listener.name"] = dice.choice(sasl)
    listener = properties.get("inter.broker.listener.name", draft.inter_broker)
    prefix = dice.choice(("", f"listener.name.{listener.lower()}.", f"listener.name.{listener}."))
    properties[f"{prefix}sasl.enabled.mechanisms"] = ",".join(dice.sample(MECHANISMS, dice.randrange(3)))
    if draft.chance(0.5):
        properties["sasl.mechanism.inter.broker.protocol"] = dice.choice((*MECHANISMS, "plain", "NTLM", ""))
    if draft.chance(0.3):
        key = dice.choice(("ssl.client.auth", "plain.connections.max.reauth.ms", "num.network.threads", "ssl.provider"))
        properties[f"listener.name.{listener.lower()}.{key}"] = dice.choice(("required", "maybe", "10", "-5"))


def _control_plane(draft: Draft) -> None:
    draft.properties["control.plane.listener.name"] = draft.dice.choice((*draft.protocols, *NAMES, "nowhere"))


def _controllers(draft: Draft) -> None:
    names = [*draft.protocols, *CONTROLLER_NAMES]
    chosen = draft.dice.sample(names, draft.dice.choice((1, 1, 2)))
    draft.properties["controller.listener.names"] = draft.comma().join(draft.cased(name) for name in chosen)


def _voters(draft: Draft) -> None:
    node = draft.properties.get("node.id", "1")
    entries = (
        f"{node}@c:9093",
        "1@c:9093",
        "7@c:9093",
        "2@0.0.0.0:9093",
        "x@c:9093",
        "1@c",
        "1@c:x",
        "c:9093",
        "1@[::1]:9093",
        "1@c:70000",
    )
    more = ("1@c:9093@", "1@ c:9093", "@c:9093", "1@c:99999999999", "-1@c:1", "1@CONTROLLER://c:1")
    chosen = draft.dice.sample((*entries, *entries[:4], *more), draft.dice.choice((0, 1, 1, 2, 5)))
    key = draft.dice.choice(("controller.quorum.voters", "controller.quorum.voters", "controller.quorum.bootstrap.servers"))
    draft.properties[key] = draft.comma().join(chosen)


def _early(draft: Draft) -> None:
    chosen = draft.dice.sample([*draft.protocols, "NOWHERE", "plaintext"], draft.dice.choice((1, 2)))
    draft.properties["early.start.listeners"] = draft.comma().join(chosen)


def _name_twice_in_map(draft: Draft) -> None:
    name = draft.dice.choice(list(draft.protocols))
    protocol_map = draft.properties.get("listener.security.protocol.map", f"{name}:{draft.protocols[name]}")
    draft.properties["listener.security.protocol.map"] = f"{protocol_map},{name.lower()}:{draft.dice.choice(PROTOCOLS)}"


def _families(draft: Draft) -> None:
    odd = (
        "[::]",
        "[::1]",
        "[1::]",
        "[1::2::3]",
        "[:1:2]",
        "[1:2:3:4:5:6:7:8:9]",
        "[::1%eth0]",
        "[::1%]",
        "[fe80::12345]",
        "[1:2:3]",
    )
    listeners = [
        (name, draft.dice.choice((*odd, "10.0.0.5", "010.0.0.5", "::ffff:1.2.3.4", "1.2.3")), 9092) for name in NAMES[:2]
    ]
    if draft.chance(0.2):
        listeners.append((NAMES[2], draft.dice.choice(("", "h", "10.0.0.6", "[::2]")), 9092))
    draft.properties["listeners"] = draft.entries(listeners)
    draft.properties.pop("listener.security.protocol.map", None)


_FAULTS: tuple[tuple[Callable[[Draft], None], int], ...] = (
    *SETTINGS,
    (_port_twice, 4),
    (_name_twice, 2),
    (_names_differ, 4),
    (_address, 4),
    (_damaged_list, 4),
    (_emptied, 2),
    (_taken_away, 3),
    (_unmapped, 4),
    (_no_map, 2),
    (_between_brokers, 5),
    (_mechanism, 5),
    (_control_plane, 2),
    (_controllers, 4),
    (_voters, 3),
    (_early, 1),
    (_name_twice_in_map, 1),
    (_families, 2),
)
