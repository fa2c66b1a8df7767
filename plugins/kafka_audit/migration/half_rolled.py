"""What the gate says of a roll: which connections break on the way, or the order in which none does. Pure."""

from collections.abc import Iterator, Sequence

from kafka_audit.lint.rolled import LISTENER, EdgeFault, Roll
from kafka_audit.migration.items import GateItem, HeadedItem
from kafka_audit.model.text import brokers, listing

_SOURCE = "half-rolled states"
_MOST = 4  # reasons in a sentence


def roll_items(roll: Roll) -> Iterator[HeadedItem]:
    """Yield what a roll breaks, or the order that breaks nothing."""
    broken = [fault for fault in roll.final if not fault.unknown]
    if broken:
        yield _item("blockers", broken[0].code, f"With all new files, {_sentence(broken)}", "Correct the proposed files.")
    elif roll.nodes and roll.order is None:
        for node in roll.nodes:
            cut = [fault for fault in roll.alone[node] if not fault.unknown]
            if cut:
                message = f"No order keeps all brokers connected: while only broker {node} has its new file, {_sentence(cut)}"
                yield _item("blockers", cut[0].code, message, _way_out(cut), f"broker/{node}")
    elif len(roll.nodes) > 1:
        waits = [node for node in roll.nodes if any(not fault.unknown for fault in roll.alone[node])]
        order = listing(roll.order or (), 30)
        message = f"In the order {order}, all brokers stay connected while they restart one by one"
        if not waits:
            message = "All brokers stay connected while they restart one by one, in any order"
        yield _item("information", LISTENER, message, f"Restart {brokers(waits)} in this order." if waits else "")
    yield from _open_items(roll)


def _open_items(roll: Roll) -> Iterator[HeadedItem]:
    found = {fault.text: fault for faults in (*roll.alone.values(), roll.final) for fault in faults if fault.unknown}
    for text, fault in found.items():
        source, target = fault.edge
        message = f"Cannot determine whether broker {source} reaches broker {target} during the change: {text}"
        needs = "Needed: the present and the proposed server.properties of every broker (`properties`, `--proposed`)"
        yield _item("not_known", fault.code, message, needs, f"broker/{target}")


def _way_out(faults: Sequence[EdgeFault]) -> str:
    if any(fault.code == LISTENER for fault in faults):
        return (
            "Roll three times instead: add the new listener to `listeners`, `advertised.listeners` and the map of every broker "
            "under a new name and port; then switch `inter.broker.listener.name` on every broker; then remove the old listener."
        )
    return (
        "Roll three times instead: let every broker accept both logins (mechanisms, users, rights); then switch every broker to "
        "the new one; then remove the old one."
    )


def _sentence(faults: Sequence[EdgeFault]) -> str:
    texts = [f"broker {fault.edge[0]} does not reach broker {fault.edge[1]} ({fault.text})" for fault in faults]
    more = f", and {len(texts) - _MOST} more connections" if len(texts) > _MOST else ""
    return "; ".join(texts[:_MOST]) + more


def _item(heading: str, code: str, message: str, remedy: str, resource: str = "cluster") -> HeadedItem:
    item = GateItem(source=_SOURCE, code=code, resource=resource, message=message, remedy=remedy)
    return HeadedItem(heading, item)
