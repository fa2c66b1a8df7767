"""Hosts that a password may be sent to besides the addresses of a cluster file: the patterns of `trusted_hosts`. Pure."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList
import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from kafka_audit.compare.addresses import ip_address_of, is_host, is_name, normal_host
from kafka_audit.model import quoting
from kafka_audit.model.commands import SettingLine

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


_WILD = re.compile(r"[a-z0-9_*-]{1,63}(?:\.[a-z0-9_*-]{1,63}){0,40}")
_PARTS = re.compile(r"(?:\[([0-9a-f:./]+)\]|([^\s:\[\]]+))(?::(\d{1,5}))?")
_LAST_PORT = 65535
_SHORTEST_PREFIX = {4: 8, 6: 7}  # 10.0.0.0/8 and fc00::/7 are the largest networks that one company has
_OWN_DOMAIN = 2  # labels below which any party can register a name: kafka.corp has one owner, com has many
_PRIVATE = frozenset({"corp", "home", "intranet", "lan", "localdomain", "private", "test"})
"""Domains of one label without public registration (RFC 6762, appendix G)."""


@dataclass(frozen=True, kw_only=True)
class HostPattern:
    """One pattern; exactly one of `name` (lower case, may hold `*`) and `network` is set, `port` where it names one."""

    name: str | None = None
    network: IPv4Network | IPv6Network | None = None
    port: int | None = None

    @property
    def names_one_host(self) -> bool:
        """Whether it is a name or an IP address as it is, and no pattern or network."""
        is_address = self.network is not None and self.network.num_addresses == 1
        return is_address or (self.name is not None and "*" not in self.name)

    def matches(self, host: str, port: int) -> bool:
        """Return whether an address belongs to the pattern. The host is taken as text: no name is resolved."""
        if not host.isascii() or (self.port is not None and self.port != port):
            return False  # small letters of other alphabets may be ours: that of the Kelvin sign is k
        host = normal_host(host)
        if self.network is not None:
            address = ip_address_of(host)
            return address is not None and address.version == self.network.version and address in self.network
        name = self.name or ""
        if "*" not in name:
            return host == name
        # What is no plain name (192.0.2.1, 0xc0000201, fe80::1%x.kafka.corp) may be dialled elsewhere than its end says.
        return is_name(host) and _fits(name.split("."), host.split("."))


def parse_trusted_hosts(text: str) -> HostPattern:
    """Return the pattern that a text is.

    A name (`b1.kafka.corp`), a name with `*`, an IP address or a network (`10.20.0.0/16`), each with a port behind it where it is
    for that port alone; IPv6 with a port is in brackets. A leading `*.` matches any names below a domain, any other `*`
    a part of a name between two dots.

    Raises:
        ValueError: it is none of these, or it would trust hosts of any party; the text names the correct form.
    """
    text = text.strip().lower()
    port = None
    if text.count(":") > 1 and not text.startswith("["):
        host = text
    else:
        parts = _PARTS.fullmatch(text)
        if parts is None:
            raise ValueError(_NO_PATTERN)
        host = parts[1] or parts[2]
        port = None if parts[3] is None else int(parts[3])
        if port is not None and not 0 < port <= _LAST_PORT:
            msg = f"names port {port}; a port must be from 1 to {_LAST_PORT}"
            raise ValueError(msg)
    if "/" in host:
        return HostPattern(network=_network(host), port=port)
    if "*" in host:
        _demand_owned(host)
        return HostPattern(name=host, port=port)
    host = normal_host(host)
    if not is_host(host):
        raise ValueError(_NO_PATTERN)
    return HostPattern(name=host, port=port)


def trusted_hosts_line(hosts: Iterable[str]) -> str:
    """Return the line of a cluster file that trusts these hosts; what is no plain host is left out.

    Hosts are named, never their domain: an attacker that makes the cluster list a host also chooses its domain.
    """
    return quoting.setting_line(trusted_hosts_setting(hosts))


def trusted_hosts_setting(hosts: Iterable[str]) -> SettingLine:
    """Return the same line as a value."""
    return SettingLine(
        key="trusted_hosts", value=tuple(dict.fromkeys(normal_host(host) for host in hosts if is_host(host))), file="yaml"
    )


_NO_PATTERN = (
    "is not a host; write a name (b1.kafka.corp), names below a domain (*.kafka.corp), an IP address or a network (10.20.0.0/16)"
)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        found = ip_network(text)
    except ValueError as error:
        try:
            wanted = ip_network(text, strict=False)
        except ValueError:
            msg = f"is not a network such as 10.20.0.0/16 ({error})"
        else:
            msg = f"is not a network: it has bits after its prefix; write {wanted}"
        raise ValueError(msg) from None
    shortest = _SHORTEST_PREFIX[found.version]
    if found.prefixlen < shortest:
        msg = f"sends the password to foreign networks; use a prefix of at least /{shortest}"
        raise ValueError(msg)
    return found


def _demand_owned(name: str) -> None:
    """Raise ValueError if any party can own a host that a name with `*` matches."""
    labels = name.split(".")
    if _WILD.fullmatch(name) is None:
        raise ValueError(_NO_PATTERN)
    if all(set(label) <= {*"0123456789*"} for label in labels) and name.strip("*."):
        msg = "is not a name; write IPv4 addresses as a network, such as 10.20.0.0/16"
        raise ValueError(msg)
    fixed = labels[max(at for at, label in enumerate(labels) if "*" in label) + 1 :]
    short_name = len(labels) == 1 and name.strip("*-_")  # a name without a dot is of this machine's own networks
    if is_of_all_namespaces(fixed):
        domain = ".".join(fixed if fixed[0] in {"svc", "pod"} else ("svc", *fixed))
        msg = f"sends the password to pods of every namespace; name the namespace, such as *.kafka.{domain}"
        raise ValueError(msg)
    if len(fixed) >= _OWN_DOMAIN and is_shared(fixed):
        msg = f"sends the password to hosts of other customers below {'.'.join(fixed)}; list your hosts, each without *"
        raise ValueError(msg)
    if short_name or len(fixed) >= _OWN_DOMAIN or (fixed and fixed[-1] in _PRIVATE):
        return
    msg = "sends the password to foreign hosts; end it with your own domain, such as *.kafka.corp"
    raise ValueError(msg)


def _fits(pattern: Sequence[str], labels: Sequence[str]) -> bool:
    if pattern[0] == "*" and len(pattern) > 1:
        if len(labels) < len(pattern):
            return False
        pattern, labels = pattern[1:], labels[len(labels) - len(pattern) + 1 :]
    return len(pattern) == len(labels) and all(map(_label_fits, pattern, labels))


def _label_fits(pattern: str, label: str) -> bool:
    """Match one label; each part between two `*` is searched once, so that the time is linear."""
    first, *others = pattern.split("*")
    if not others:
        return pattern == label
    if not label.startswith(first) or not label[len(first) :].endswith(others[-1]):
        return False
    at, end = len(first), len(label) - len(others[-1])
    for part in others[:-1]:
        at = label.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return at <= end
