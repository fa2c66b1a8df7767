"""The cluster file, `clusters.yaml`, or a folder of cluster files: read, checked key by key, typed.

Every error is one line with file, line, key and remedy.
"""

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from kafka_audit.bounds.bounded_yaml import MOST_NODES
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.settings.document import Item, read_yaml_document
from kafka_audit.settings.fields import CLUSTER_KEYS, ELSEWHERE, parse_cluster


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


_SUFFIXES = (".yaml", ".yml")
_MOST_FILES = 1_000
_DEFAULTS = "defaults"


def cluster_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the path itself, or the YAML files of a folder by name; hidden files, other files and subfolders are not read.

    A ConfigMap that is mounted as a folder keeps its files in hidden folders, and links to them.

    Raises:
        UsageError: the folder cannot be read, has no such file, or too many.
    """
    named = os.fspath(path)
    folder = Path(named).expanduser()
    if not folder.is_dir():  # a pipe, too: `--config <(decrypt clusters.yaml)`
        return [named]
    try:
        names = sorted(entry.name for entry in folder.iterdir() if _is_read(entry))
    except OSError as error:
        msg = f"{named}: cannot be read: {error.strerror}"
        raise UsageError(msg) from error
    if not names:
        msg = f"{named}: contains no *.yaml file; each file must contain `clusters:`, see clusters.example.yaml"
        raise UsageError(msg)
    if len(names) > _MOST_FILES:
        msg = f"{named}: contains {len(names)} *.yaml files, more than the limit of {_MOST_FILES}"
        raise UsageError(msg)
    return [str(Path(named) / name) for name in names]


def is_defaults_file(file: str) -> bool:
    """Return whether a file of a folder is the one whose defaults all clusters of the folder inherit."""
    return Path(file).stem == _DEFAULTS


def _is_read(entry: Path) -> bool:
    return entry.suffix in _SUFFIXES and not entry.name.startswith(".") and not entry.is_dir()


# A cluster's name becomes a folder of the store and a part of snapshot ids.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_NAME_RULE = "a cluster's name takes letters, digits, `.`, `_` and `-`, at most 80, and starts with a letter or digit"


def load(path: str | os.PathLike[str], *, codes: Collection[str] | None = None) -> dict[str, Cluster]:
    """Read a cluster file, or a folder of them.

    Args:
        path: a YAML file, or a folder whose `*.yaml` files are read by name.
        codes: codes of the checks of this version, to log a mute of another well-formed code; None: codes are not checked.

    Returns:
        The clusters by name, in the order of the files.

    Raises:
        UsageError: a file is missing or no YAML, or something in it is unknown, wrong, or not supported by this version.
    """
    files = cluster_files(path)
    is_folder = files != [os.fspath(path)]
    defaults: Item | None = None
    entries: dict[str, Item] = {}
    for file in files:
        document = read_yaml_document(file)
        root = document.fields(("clusters", "defaults"), ELSEWHERE)
        if "defaults" in root:
            defaults = _defaults(root["defaults"], defaults, is_folder=is_folder)
        if "clusters" in root:
            _add_entries(root["clusters"], entries)
        elif not (is_folder and "defaults" in root):
            document.refuse("must start with `clusters:`, see clusters.example.yaml")
    if defaults is not None:
        refuse_too_many(defaults, len(entries))
        entries = {name: with_defaults(item, defaults, name) for name, item in entries.items()}
    return {name: parse_cluster(item, name, codes) for name, item in entries.items()}


def cluster_at(name: str, *, bootstrap: Sequence[str] = (), zookeeper: str | None = None) -> Cluster:
    """Return a cluster that nothing but addresses describe, as a cluster file with these keys would; raises `UsageError`.

    Args:
        name: what to call it.
        bootstrap: `host:port` of brokers.
        zookeeper: as `zookeeper` in the cluster file.
    """
    if not _NAME.fullmatch(name):
        Item(value=name, file="--name", line=0).refuse(_NAME_RULE)
    addresses = [Item(value=address, file="--bootstrap", line=0) for address in bootstrap]
    entry = {"bootstrap": Item(value=addresses, file="--bootstrap", line=0)} if addresses else {}
    entry |= {"zookeeper": Item(value=zookeeper, file="--zookeeper", line=0)} if zookeeper else {}
    return parse_cluster(Item(value=entry, file="--bootstrap", line=0), name, None)


def _defaults(item: Item, before: Item | None, *, is_folder: bool) -> Item:
    """Return the defaults, with unknown keys refused even if no cluster inherits them."""
    if is_folder and not is_defaults_file(item.file):
        item.refuse("belongs in the file defaults.yaml: all clusters of the folder inherit it")
    if before is not None:
        item.refuse(f"is also in {before.place}; keep one")
    item.fields(CLUSTER_KEYS, ELSEWHERE)
    return item


def _add_entries(clusters: Item, entries: dict[str, Item]) -> None:
    for name, item in clusters.names("a mapping of cluster names").items():
        if not _NAME.fullmatch(name):
            item.refuse(_NAME_RULE)
        if name in entries:
            item.refuse(f"is also in {entries[name].place}; remove one")
        entries[name] = item
