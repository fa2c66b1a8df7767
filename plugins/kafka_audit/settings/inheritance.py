"""What a cluster inherits from `defaults`: mappings are merged, lists and other values replaced, null removes. Pure."""

from dataclasses import replace

from kafka_audit.bounds.bounded_yaml import MOST_NODES
from kafka_audit.settings.document import Item


def refuse_too_many(defaults: Item, clusters: int) -> None:
    """Raise UsageError if the defaults of all clusters together are more than any that people write."""
    if clusters * _values(defaults) > MOST_NODES:
        defaults.refuse(f"expands to more than {MOST_NODES} values in {clusters} clusters")


def with_defaults(own: Item, defaults: Item, cluster: str) -> Item:
    """Return an entry of `clusters` with what it inherits.

    Args:
        own: the entry; its keys win. A null removes the default of that key, and stays what it is where there is none.
        defaults: its values keep their own place, for errors.
        cluster: the name of the entry.
    """
    if not isinstance(own.value, dict) or not isinstance(defaults.value, dict):
        return own
    merged = {}
    for key, item in own.value.items():
        default = defaults.value.get(key)
        if default is None:
            merged[key] = item
        elif item.value is not None:
            merged[key] = with_defaults(item, default, cluster)
    for key, item in defaults.value.items():
        if key not in own.value:
            merged[key] = _inherited(item, cluster)
    return replace(own, value=merged)


def _inherited(item: Item, cluster: str) -> Item:
    value = item.value
    if isinstance(value, dict):
        value = {key: _inherited(child, cluster) for key, child in value.items()}
    elif isinstance(value, list):
        value = [_inherited(child, cluster) for child in value]
    return replace(item, value=value, heir=cluster)


def _values(item: Item) -> int:
    children = item.value.values() if isinstance(item.value, dict) else item.value if isinstance(item.value, list) else ()
    return 1 + sum(map(_values, children))
