"""The files of certificates of a cluster file, and the TLS contexts that are made of them: once for an audit.

`ca_file` pins: a server proves itself to the authorities in that file or receives nothing, whatever else this machine trusts. So
no library is given the path: kazoo, for one, adds a `ca` to the machine's own authorities. And a file is read once: while it is
being replaced it may be empty for a moment, and an audit must not begin to trust others halfway. A file that cannot be used is
refused. `sockets.context` is the only place that makes contexts; there an empty text does not mean this machine's authorities.
"""

import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from kafka_audit.clients.sockets import THIS_MACHINE, TlsContexts, context
from kafka_audit.model.cluster import Cluster, Tls, ZookeeperAccess
from kafka_audit.model.errors import UsageError

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----(?:[^-]|-(?!----))*-----END \1-----")
_CERTIFICATES = frozenset({"CERTIFICATE", "X509 CERTIFICATE"})
_CUT = re.compile(r"-----(BE|EN)|-----B?$")

UNVERIFIED = TlsContexts(None, None)
"""For listeners of which the cluster file says nothing: a certificate is read, and nothing is sent but ApiVersions."""


@dataclass(frozen=True, kw_only=True)
class TlsAccess:
    """How TLS is opened where one entry of the cluster file holds.

    Attributes:
        contexts: see `TlsContexts`.
        authorities: the certificates of `ca_file` as PEM text, None without one: then this machine's authorities count.
        file: the name of `ca_file`.
    """

    contexts: TlsContexts
    authorities: str | None
    file: str | None

    @property
    def context(self) -> ssl.SSLContext:
        """The context in which a server proves who it is, by its name as well."""
        return self.contexts.strict


class TlsFiles:
    """What the files of one cluster held when they were read."""

    def __init__(self, cluster: Cluster) -> None:
        """Read them all.

        Raises:
            UsageError: a file is missing, empty, damaged or cut short; the text names its key in the cluster file, and the file.
        """
        self._access: dict[Tls, TlsAccess] = {}
        for key, tls in _entries(cluster):
            if tls not in self._access:
                self._access[tls] = read_tls(tls, f"clusters.{cluster.name}.{key}")

    def access(self, tls: Tls | None) -> TlsAccess:
        """Return how TLS is opened for an entry of the cluster."""
        return self._access[tls or Tls()]

    def authorities(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the certificates of each `ca_file`, once."""
        found = dict.fromkeys((access.file, access.authorities) for access in self._access.values())
        yield from ((file, pem) for file, pem in found if file is not None and pem is not None)


def _entries(cluster: Cluster) -> Iterator[tuple[str, Tls]]:
    named = {f"listeners.{name}": security for name, security in cluster.listeners.items() if security is not None}
    for key, security in {"security": cluster.security, **named}.items():
        if security.protocol.endswith("SSL"):
            yield key, security.tls or Tls()
        if security.oidc is not None:
            yield f"{key}.oidc", Tls(ca_file=security.oidc.ca_file)
    if cluster.zookeeper is not None and cluster.zookeeper.tls is not None:
        yield "zookeeper.tls", cluster.zookeeper.tls


def read_tls(tls: Tls, key: str) -> TlsAccess:
    """Read the files of one entry; raises UsageError that names the key, the file and what is wrong with it."""
    pem = None if tls.ca_file is None else _certificates(tls.ca_file, f"{key}.ca_file")
    files = None if tls.cert_file is None else _own(tls.cert_file, tls.key_file, key)
    try:
        contexts = TlsContexts(THIS_MACHINE if pem is None else pem, files)
    except (OSError, ValueError):
        _refuse(f"{key}.ca_file", str(tls.ca_file), "is damaged: one of its certificates cannot be read")
    return TlsAccess(contexts=contexts, authorities=pem, file=None if tls.ca_file is None else Path(tls.ca_file).name)


def zookeeper_context(access: ZookeeperAccess, tls: TlsAccess | None) -> ssl.SSLContext | None:
    """Return the context for the servers of ZooKeeper, None without TLS; without `tls`, files are read now. Raises UsageError."""
    if access.tls is None:
        return None
    return (tls or read_tls(access.tls, "zookeeper.tls")).context


def _certificates(path: str, key: str) -> str:
    """Return the certificates of a file as PEM text, without what else is in it."""
    text = _text(path, key)
    blocks = [block[0] for block in _BLOCK.finditer(text) if block[1] in _CERTIFICATES]
    if _CUT.search(_BLOCK.sub("", text).rstrip()):
        _refuse(key, path, "is cut short or damaged: it has a part that does not end")
    if not blocks:
        _refuse(key, path, "contains no certificate in PEM format")
    return "\n".join([*blocks, ""])


def _own(cert_file: str, key_file: str | None, key: str) -> tuple[str, str]:
    """Return the files of a client's certificate and key as OpenSSL takes them."""
    _certificates(cert_file, f"{key}.cert_file")
    named, path = ("cert_file", cert_file) if key_file is None else ("key_file", key_file)
    private = {block[1] for block in _BLOCK.finditer(_text(path, f"{key}.{named}")) if block[1].endswith("PRIVATE KEY")}
    if not private:
        _refuse(f"{key}.{named}", path, "contains no private key in PEM format")
    files = str(Path(cert_file).expanduser()), str(Path(path).expanduser())
    try:
        context(None, files)
    except (OSError, ValueError):
        _refuse(f"{key}.{named}", path, f"holds no key without a password that belongs to the certificate in {cert_file}")
    return files


def _text(path: str, key: str) -> str:
    try:
        content = Path(path).expanduser().read_bytes()
    except OSError as error:
        _refuse(key, path, f"cannot be read: {error.strerror}")
    if not content.strip():
        _refuse(key, path, "is empty")
    return content.decode("ascii", "ignore")


def _refuse(key: str, path: str, fault: str) -> NoReturn:
    msg = f"{key}: {path} {fault}"
    raise UsageError(msg)
