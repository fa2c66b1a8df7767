"""Domains below which other parties receive names, so that no pattern may match all of them. Pure.

The public suffix list has those that sell or give away names, private ones (workers.dev) included; it comes with its package, and
nothing is downloaded. Beside it are domains of clouds in which one customer has more than one label, and of clusters and private
networks, which no public list has.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_LABELS_OF_ONE_OWNER = MappingProxyType(
    {
        # Of clouds, besides the public suffix list.
        "amazonaws.com": 4, "amazonaws.com.cn": 4,  # *.CLUSTER.ID.c2.kafka.REGION of MSK is one cluster's
        "cloud.goog": 2,  # *.CLUSTER.REGION.managedkafka.PROJECT of Google
        "cloudapp.azure.com": 2, "azurecontainer.io": 2, "oraclecloud.com": 2, "oraclevcn.com": 2, "confluent.cloud": 3,
        "bc.googleusercontent.com": 1, "appspot.com": 1, "nip.io": 4, "sslip.io": 4, "traefik.me": 1, "lvh.me": 1,
        # Of private networks: each machine in one has a name there.
        "compute.internal": 2, "ec2.internal": 1, "internal.cloudapp.net": 2, "google.internal": 1, "service.consul": 1,
        "node.consul": 1,
    }
)  # fmt: skip
"""By how many labels below are needed for names of one owner alone."""

_KINDS = frozenset({"svc", "pod"})
"""The label of Kubernetes between the namespace and the domain of the cluster, which is cluster.local or any other one."""

_CLUSTER_DOMAIN = ("cluster", "local")


def is_shared(labels: Sequence[str]) -> bool:
    """Return whether strangers receive names below these labels, or below a part of what is below them."""
    domain = ".".join(labels)
    if is_of_all_namespaces(labels):
        return True
    for shared, own in _LABELS_OF_ONE_OWNER.items():
        if f".{shared}".endswith(f".{domain}"):
            return True
        if domain.endswith(f".{shared}") and len(labels) - shared.count(".") - 1 < own:
            return True
    suffixes, texts = _public_suffixes()
    return bool(suffixes.is_public(domain)) or any(text.endswith(f".{domain}") for text in texts)


def is_of_all_namespaces(labels: Sequence[str]) -> bool:
    """Return whether these labels are the end of names in every namespace of a Kubernetes cluster."""
    return tuple(labels) == _CLUSTER_DOMAIN or (len(labels) > 1 and labels[0] in _KINDS)


@cache
def _public_suffixes() -> "tuple[PublicSuffixList, tuple[str, ...]]":
    """Return the list, and its rules as text: of what is below a domain, the package says nothing."""
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 -- its list takes 30 ms, and only patterns with * need it

    text = files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text("utf-8")
    rules = (line.strip() for line in text.splitlines())
    return PublicSuffixList(accept_unknown=False), tuple(rule for rule in rules if rule and not rule.startswith(("//", "!")))
