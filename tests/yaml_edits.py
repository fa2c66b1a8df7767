"""One value of a YAML file replaced, with all that stands around it as it was."""

from collections.abc import Iterator
from typing import Any

import yaml

WIDEST = 128


class _Dumper(yaml.SafeDumper):
    def choose_scalar_style(self):
        style = super().choose_scalar_style()
        return '"' if style == "'" else style

    def ignore_aliases(self, _):
        return True


Place = tuple[str | int, ...]
"""Keys of mappings and numbers of list entries, from the top of a file; the last one is a key."""


def differing(place: Place, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Iterator[tuple[Place, Any]]:
    """Yield what differs between two lists of mappings: single values where both have as many with the same keys, else all."""
    if [*map(dict.keys, before)] == [*map(dict.keys, now)]:
        for number, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from (((*place, number, key), new[key]) for key in new if new[key] != old[key])
    elif before != now:
        yield place, now


def replaced(text: str, path: Place, value: Any) -> str:
    """Return the text with another value at the end of a path; the last key may be missing.

    Raises:
        LookupError: another part of the file shares the value by an anchor, so a person has to decide.
    """
    *above, key = path
    where = ".".join(map(str, path))
    holder = _at(yaml.compose(text, yaml.SafeLoader), above)
    found = next((pair for pair in holder.value if pair[0].value == key), None)
    if found is None:
        edited = _with_new(text, holder, key, value)
    else:
        start, end = found[0].start_mark.index, _end(found[1])
        if found[1].start_mark.index < start:
            msg = f"{where} is an alias"
            raise LookupError(msg)
        end -= len(text[start:end]) - len(text[start:end].rstrip())
        edited = text[:start] + _written(key, value, found[0].start_mark.column, flow=holder.flow_style) + text[end:]
    try:
        after = yaml.safe_load(edited)
    except yaml.YAMLError as error:
        msg = f"{where} has an anchor for another part of the file"
        raise LookupError(msg) from error
    before = yaml.safe_load(yaml.dump(yaml.safe_load(text), Dumper=_Dumper))  # no two parts are one object
    below = before
    for part in above:
        below = below[part]
    below[key] = value
    if before != after:
        msg = f"{where} is shared with another part of the file"
        raise LookupError(msg)
    return edited


def _at(node: yaml.Node, path: list[str | int]) -> yaml.MappingNode:
    for part in path:
        node = node.value[part] if isinstance(part, int) else next(value for key, value in node.value if key.value == part)
    return node


def _end(node: yaml.Node) -> int:
    """Return where a value ends; what stands between it and the next key, such as comments, is not of it."""
    last = node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:
        child = last.value[-1] if isinstance(last, yaml.SequenceNode) else last.value[-1][1]
        if child.start_mark.index < last.start_mark.index:  # an alias
            return node.end_mark.index
        last = child
    return last.end_mark.index


def _with_new(text: str, holder: yaml.MappingNode, key: str, value: Any) -> str:
    if holder.flow_style:
        end = holder.end_mark.index - 1
        return f"{text[:end]}{', ' if holder.value else ''}{_written(key, value, 0, flow=True)}{text[end:]}"
    end = max(_end(holder.value[-1][1]), holder.value[-1][0].end_mark.index)
    end -= len(text[:end]) - len(text[:end].rstrip())
    column = holder.value[0][0].start_mark.column
    return f"{text[:end]}\n{' ' * column}{_written(key, value, column, flow=False)}{text[end:]}"


def _written(key: str, value: Any, column: int, *, flow: bool) -> str:
    line = f"{key}: {_flow(value)}"
    if flow or not isinstance(value, list) or not value or (column + len(line) <= WIDEST and len(value) == 1):
        return line
    if all(isinstance(item, str) for item in value):
        return line if column + len(line) <= WIDEST else _block(key, value, column)
    return _block(key, value, column)


def _block(key: str, value: list[Any], column: int) -> str:
    indent = " " * (column + 2)
    lines = []
    for item in value:
        line = f"{indent}- {_flow(item)}"
        if isinstance(item, dict) and (len(line) > WIDEST or "headline" in item):
            parts = [_written(name, part, column + 4, flow=False) for name, part in item.items()]
            line = f"{indent}- " + f"\n{indent}  ".join(parts)
        lines.append(line)
    return "\n".join([f"{key}:", *lines])


def _flow(value: Any) -> str:
    text = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("\n...\n").strip()
