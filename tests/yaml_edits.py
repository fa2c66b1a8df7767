"""One value of a YAML file replaced, with all that stands around it as it was."""

from typing import Any

import yaml

WIDEST = 128


class _Dumper(yaml.SafeDumper):
    def choose_scalar_style(self):
        style = super().choose_scalar_style()
        return '"' if style == "'" else style

    def ignore_aliases(self, _):
        return True


def replaced(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return the text with another value at the end of a path of keys; the last key may be missing.

    Raises:
        LookupError: another part of the file shares the value by an anchor, so a person has to decide.
    """
    *above, key = path
    holder = _at(yaml.compose(text, yaml.SafeLoader), above)
    found = next((pair for pair in holder.value if pair[0].value == key), None)
    if found is None:
        edited = _with_new(text, holder, key, value)
    else:
        start, end = found[0].start_mark.index, found[1].end_mark.index
        if found[1].start_mark.index < start:
            msg = f"{'.'.join(path)} is an alias"
            raise LookupError(msg)
        end -= len(text[start:end]) - len(text[start:end].rstrip())
        edited = text[:start] + _written(key, value, found[0].start_mark.column, flow=holder.flow_style) + text[end:]
    try:
        after = yaml.safe_load(edited)
    except yaml.YAMLError as error:
        msg = f"{'.'.join(path)} has an anchor for another part of the file"
        raise LookupError(msg) from error
    before = yaml.safe_load(yaml.dump(yaml.safe_load(text), Dumper=_Dumper))  # no two parts are one object
    below = before
    for part in above:
        below = below[part]
    below[key] = value
    if before != after:
        msg = f"{'.'.join(path)} is shared with another part of the file"
        raise LookupError(msg)
    return edited


def _at(node: yaml.Node, path: list[str]) -> yaml.MappingNode:
    for part in path:
        node = next(value for key, value in node.value if key.value == part)
    return node


def _with_new(text: str, holder: yaml.MappingNode, key: str, value: Any) -> str:
    if holder.flow_style:
        end = holder.end_mark.index - 1
        return f"{text[:end]}{', ' if holder.value else ''}{_written(key, value, 0, flow=True)}{text[end:]}"
    last = holder.value[-1][1]
    end = max(last.end_mark.index, holder.value[-1][0].end_mark.index)
    end -= len(text[:end]) - len(text[:end].rstrip())
    column = holder.value[0][0].start_mark.column
    return f"{text[:end]}\n{' ' * column}{_written(key, value, column, flow=False)}{text[end:]}"


def _written(key: str, value: Any, column: int, *, flow: bool) -> str:
    line = f"{key}: {_flow(value)}"
    if flow or not isinstance(value, list) or not value or (column + len(line) <= WIDEST and len(value) == 1):
        return line
    if all(isinstance(one, str) for one in value):
        return line if column + len(line) <= WIDEST else _block(key, value, column)
    return _block(key, value, column)


def _block(key: str, value: list[Any], column: int) -> str:
    indent = " " * (column + 2)
    lines = []
    for one in value:
        line = f"{indent}- {_flow(one)}"
        if isinstance(one, dict) and (len(line) > WIDEST or "headline" in one):
            parts = [_written(name, part, column + 4, flow=False) for name, part in one.items()]
            line = f"{indent}- " + f"\n{indent}  ".join(parts)
        lines.append(line)
    return "\n".join([f"{key}:", *lines])


def _flow(value: Any) -> str:
    text = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("\n...\n").strip()
