"""The cluster file, `clusters.yaml`: read, checked key by key, typed.

Every error is one line with file, line, key and remedy.
"""

import os
import re
from collections.abc import Collection

from kafka_audit.model.cluster import Cluster
from kafka_audit.settings.document import read_yaml_document
from kafka_audit.settings.fields import ELSEWHERE, parse_cluster

# A cluster's name becomes a folder of the store and a part of snapshot ids.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def load(path: str | os.PathLike[str], *, codes: Collection[str] | None = None) -> dict[str, Cluster]:
    """Read a cluster file.

    Args:
        path: the YAML file.
        codes: codes of the checks of this version, to log a mute of another well-formed code; None: codes are not checked.

    Returns:
        The clusters by name, in the file's order.

    Raises:
        UsageError: the file is missing or no YAML, or something in it is unknown, wrong, or not supported by this version.
    """
    document = read_yaml_document(path)
    root = document.fields(("clusters",), ELSEWHERE)
    if "clusters" not in root:
        document.refuse("must start with `clusters:`, see clusters.example.yaml")
    clusters = {}
    for name, item in root["clusters"].names("a mapping of cluster names").items():
        if not _NAME.fullmatch(name):
            item.refuse("a cluster's name takes letters, digits, `.`, `_` and `-`, at most 80, and starts with a letter or digit")
        clusters[name] = parse_cluster(item, name, codes)
    return clusters
