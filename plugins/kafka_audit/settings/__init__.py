"""The cluster file, `clusters.yaml`, or a folder of cluster files: read, checked key by key, typed.

Every error is one line with file, line, key and remedy.
"""

import os
import re
from collections.abc import Collection, Sequence

from kafka_audit.model.cluster import Cluster
from kafka_audit.settings.document import Item, read_yaml_document
from kafka_audit.settings.fields import CLUSTER_KEYS, ELSEWHERE, parse_cluster
from kafka_audit.settings.folder import cluster_files, is_defaults_file
from kafka_audit.settings.inheritance import refuse_too_many, with_defaults

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
