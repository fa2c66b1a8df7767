"""Names, TCP and TLS, the first layers of a probe of an endpoint.

`clients/probe_script.py` goes to vantages by stdin with this module's text in front of it. So, as there: standard
library only, nothing of the package, syntax of Python 3.6, annotations in quotes, and no credential.
"""

import base64
import errno
import ipaddress
import re
import socket
import ssl
import threading
import time
from typing import Callable  # noqa: UP035 -- Python 3.6

# Names of `model.read_failure.ReadFailure`: they travel, and the receiver has the words.
OF_ERRNO = {
    errno.ECONNREFUSED: "REFUSED",
    errno.EHOSTUNREACH: "NO_ROUTE",
    errno.ENETUNREACH: "NETWORK_UNREACHABLE",
    errno.ETIMEDOUT: "TIMEOUT",
    errno.ECONNRESET: "RESET",
    errno.EPIPE: "CLOSED",
}
# What OpenSSL says, in small letters, from the most special to the most general.
OF_OPENSSL = (
    ("certificate has expired", "CERTIFICATE_EXPIRED"),
    ("not yet valid", "CERTIFICATE_NOT_YET_VALID"),
    ("hostname mismatch", "CERTIFICATE_NAME"),
    ("ip address mismatch", "CERTIFICATE_NAME"),
    ("doesn't match", "CERTIFICATE_NAME"),
    ("self signed", "CERTIFICATE_UNTRUSTED"),
    ("self-signed", "CERTIFICATE_UNTRUSTED"),
    ("unable to get", "CERTIFICATE_UNTRUSTED"),
    ("unable to verify the first", "CERTIFICATE_UNTRUSTED"),
    ("certificate verify failed", "CERTIFICATE_NOT_ACCEPTED"),
    ("certificate required", "CLIENT_CERTIFICATE_WANTED"),
    ("bad certificate", "CLIENT_CERTIFICATE_WANTED"),
    ("unknown ca", "CLIENT_CERTIFICATE_REFUSED"),
    ("certificate unknown", "CLIENT_CERTIFICATE_REFUSED"),
    ("certificate expired", "CLIENT_CERTIFICATE_REFUSED"),
    ("alert protocol version", "TLS_VERSION"),
    ("unsupported protocol", "TLS_VERSION"),
    ("wrong version number", "NOT_TLS"),
    ("record layer failure", "NOT_TLS"),
    ("packet length too long", "NOT_TLS"),
    ("unknown protocol", "NOT_TLS"),
    ("eof occurred", "CLOSED"),
    ("unexpected eof", "CLOSED"),
    ("timed out", "TIMEOUT"),
)
TIMEOUT, CLOSED, RESET = "TIMEOUT", "CLOSED", "RESET"
MISTRUST = (
    "CERTIFICATE_EXPIRED", "CERTIFICATE_NOT_YET_VALID", "CERTIFICATE_NAME", "CERTIFICATE_UNTRUSTED", "CERTIFICATE_NOT_ACCEPTED",
)  # fmt: skip


NUMBER = re.compile(r"^([0-9.]+|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$")
HOSTS, RESOLV_CONF = "/etc/hosts", "/etc/resolv.conf"
MOST_READ = 1 << 20
MOST_SERVERS = 3  # more than glibc asks


MEANT = "an address that clients reach, or this one in bootstrap or reach of the cluster file"
# Where a listed address would lead to something that is no broker: to the machine itself, to all of a network, or to the service
# that hands out a cloud machine's credentials.
NEVER = tuple(
    (ipaddress.ip_network(network), kind)
    for network, kind in (
        ("169.254.0.0/16", "link-local address"),
        ("fe80::/10", "link-local address"),
        ("224.0.0.0/4", "multicast address"),
        ("ff00::/8", "multicast address"),
        ("0.0.0.0/8", "unspecified address"),
        ("::/128", "unspecified address"),
        ("255.255.255.255/32", "broadcast address"),
        ("100.100.100.200/32", "cloud metadata address"),
        ("168.63.129.16/32", "cloud metadata address"),
        ("192.0.0.192/32", "cloud metadata address"),
        ("fd00:ec2::/32", "cloud metadata address"),  # of Amazon: metadata, credentials of pods, time and names
        ("fd20:ce::254/128", "cloud metadata address"),  # of Google
        ("fd00:c1::a9fe:a9fe/128", "cloud metadata address"),  # of Oracle
        ("fd00:42::42/128", "cloud metadata address"),  # of Scaleway
    )
)
# Where IPv6 addresses hold an IPv4 one, and at which bit of the 128 it ends: mapped, compatible, translated, NAT64, 6to4, Teredo.
HOLDING = tuple(
    (ipaddress.ip_network(network), shift)
    for network, shift in (
        ("::ffff:0:0/96", 0), ("::/96", 0), ("::ffff:0:0:0/96", 0), ("64:ff9b::/96", 0), ("2002::/16", 80),
        ("2001::/32", 64),
    )
)  # fmt: skip
TEREDO = ipaddress.ip_network("2001::/32")
LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")  # of RFC 8215, in which an operator takes any prefix length of RFC 6052
ISATAP = (0x00005EFE, 0x02005EFE)
IPV4 = 0xFFFFFFFF


class Failure(Exception):  # noqa: N818 -- a layer that does not work is a result, no error
    """A layer that does not work."""

    def __init__(
        self, error: "str | None", outcome: str = "failed", needs: "str | None" = None, detail: "str | None" = None
    ) -> None:
        """Keep the parts of the row to be; `error` is the name of a failure, perhaps with its text behind a space."""
        Exception.__init__(self, error)
        self.step = (outcome, error, detail, needs)


def tls_failure(text: str) -> str:
    """Return the name of the failure that OpenSSL's text of a handshake means."""
    reason = text.lower()
    return next((name for part, name in OF_OPENSSL if part in reason), "TLS_REFUSED")


def failure_of(error: Exception) -> str:
    """Return the name of the failure of an error of the operating system or of TLS, with the text of one that has no name."""
    if isinstance(error, socket.timeout):
        return "TIMEOUT"
    if isinstance(error, (ssl.SSLError, ssl.CertificateError)):
        return tls_failure(str(error))
    number, text = getattr(error, "errno", None), getattr(error, "strerror", None)
    return OF_ERRNO.get(number or 0) or "CONNECTION_FAILED " + (text or type(error).__name__).lower()


def lines_of(path: str) -> "list[list[str]]":
    """Return the words of each line of a file of the resolver's, comments left out; nothing where it cannot be read."""
    try:
        with open(path, errors="replace") as file:  # noqa: PTH123 -- Python 3.6 of a vantage
            return [line.partition("#")[0].lower().split() for line in file.read(MOST_READ).splitlines()]
    except OSError:
        return []


def resolver(host: str) -> "str | None":
    """Return what resolves a name on this machine: its hosts file, or the configured nameservers; None for an address."""
    if re.match(r"^[0-9.]+$", host) or ":" in host:
        return None
    if any(host.lower().rstrip(".") in line[1:] for line in lines_of(HOSTS)):
        return "by hosts file"
    servers = [line[1] for line in lines_of(RESOLV_CONF) if len(line) > 1 and line[0] == "nameserver"]
    servers = [server for server in servers if re.match(r"^[0-9a-f.:%]+$", server)]
    return "by nameserver " + ",".join(servers[:MOST_SERVERS]) if servers else "by no nameserver"


def resolve(host: str, port: int, seconds: float) -> "list[tuple[int, tuple[str, int]]]":
    """Return (family, address) pairs of a name; a resolver that hangs remains on a separate thread."""
    if NUMBER.match(host):  # no resolver is used, so nothing hangs
        try:
            infos = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)
            return [(info[0], info[4]) for info in infos]  # type: ignore[misc] # as below
        except (OSError, UnicodeError):
            pass
    found: list[list[tuple[int, tuple[str, int]]]] = []
    failed: list[str] = []

    def look_up() -> None:
        try:
            found.append([(info[0], info[4]) for info in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)])  # type: ignore[misc] # IPv6 addresses have four parts
        except socket.gaierror as error:
            absent = error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
            failed.append("NAME_UNKNOWN" if absent else "NAME_LOOKUP_FAILED " + (error.strerror or "name lookup failed").lower())
        except (OSError, UnicodeError):
            failed.append("NAME_UNKNOWN")

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if found:
        return found[0]
    raise Failure(failed[0] if failed else TIMEOUT, detail=resolver(host))


def never_dialled(address: str) -> "str | None":
    """Return what kind of address it is that is never dialled, None for any other; an address as getaddrinfo gives it."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "no address"
    forms = [found]
    if found.version == 6 and int(found) > 1:  # noqa: PLR2004 -- IPv6
        forms += [ipaddress.ip_address(number) for number in held_addresses(found)]
    return next((kind for form in forms for network, kind in NEVER if form in network), None)


def held_addresses(address: ipaddress.IPv6Address) -> "list[int]":
    """Return the IPv4 addresses that an IPv6 address holds, to which a translator or a tunnel would lead."""
    number = int(address)
    held = [(number >> shift) & IPV4 for network, shift in HOLDING if address in network]
    if address in TEREDO:
        held.append(~number & IPV4)
    if (number >> 32) & IPV4 in ISATAP:
        held.append(number & IPV4)
    if address in LOCAL_NAT64:  # behind prefixes of 48, 56, 64 and 96 bits; bits 64 to 71 are no part, zeros are behind it
        high, low = (number >> 64) & 0xFFFF, number & ((1 << 56) - 1)
        forms = ((40, high << 16 | low >> 40), (32, (high & 0xFF) << 24 | low >> 32), (24, low >> 24), (0, low & IPV4))
        held += [found for zeros, found in forms if found >> 24 and not low & ((1 << zeros) - 1)]
    return held


def allowed(addresses: "list[tuple[int, tuple[str, int]]]", named: bool) -> "list[tuple[int, tuple[str, int]]]":  # noqa: FBT001 -- goes to vantages
    """Return the addresses that may be dialled; all of them where the cluster file names the one that was given.

    Raises Failure where none is left. The checked addresses are dialled: nothing is resolved again.
    """
    kinds = [None if named else never_dialled(address[1][0]) for address in addresses]
    left = [address for address, kind in zip(addresses, kinds) if kind is None]  # noqa: B905 -- Python 3.6
    if not left:
        raise Failure("NOT_DIALLED not dialled: " + str(kinds[0] if kinds else "no address"), "unknown", MEANT)
    return left


def connect(
    addresses: "list[tuple[int, tuple[str, int]]]", end: float, opened: "Callable[[socket.socket], None] | None" = None
) -> socket.socket:
    """Return a connection to the first address that takes one; raises Failure with the last one's error.

    An address that does not answer leaves the others their part of the time.
    opened: gets each socket before it is used, and raises OSError if no more sockets are allowed.
    """
    last = TIMEOUT
    for number, (family, address) in enumerate(addresses):
        left = end - time.monotonic()
        if left <= 0:
            raise Failure(TIMEOUT)
        sock = None
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)  # a kernel may have no IPv6
            sock.settimeout(left / (len(addresses) - number))
            if opened is not None:
                opened(sock)
            sock.connect(address)
        except OSError as error:
            if sock is not None:
                sock.close()
            last = failure_of(error)
        else:
            return sock
    raise Failure(last)


THIS_MACHINE = "the authorities of this machine"


def context(trust: "str | None", files: "tuple[str, str] | None" = None) -> ssl.SSLContext:
    """Return a client's side of TLS. No other function makes one.

    trust: PEM text of authorities, the only ones that count; `THIS_MACHINE`; None to accept any certificate. files: certificate
    and key of a client. Raises OSError and ValueError where texts or files are not that, an empty text included.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if trust is None:
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    elif trust == THIS_MACHINE:
        made.load_default_certs()
    else:
        made.load_verify_locations(cadata=trust)
    if files:
        made.load_cert_chain(files[0], files[1], "")  # without a password OpenSSL would ask for it on the terminal
    return made


class TlsContexts:
    """The contexts for one listener, made once for any number of connections, so that files are read once.

    strict: a server proves itself, by its name as well. any_name: its issuer and dates count alone. unverified: for reading a
    certificate. verifies: whether the first two do. identified: whether a client certificate is shown.
    """

    def __init__(self, trust: "str | None", files: "tuple[str, str] | None") -> None:
        """Make them; arguments and errors are those of `context`."""
        self.verifies, self.identified = trust is not None, files is not None
        self.unverified = self.strict = self.any_name = context(None, files)
        if trust is not None:
            self.strict, self.any_name = context(trust, files), context(trust, files)
            self.any_name.check_hostname = False


def secure(
    sock: socket.socket,
    addresses: "list[tuple[int, tuple[str, int]]]",
    tls: "tuple[str, TlsContexts]",
    end: float,
    opened: "Callable[[socket.socket], None] | None" = None,
) -> "tuple[ssl.SSLSocket, str | None, tuple[str, str | None, str]]":
    """Return a connection inside TLS, why it is not to be trusted, and (outcome, error, certificate) of the verification.

    Where verification fails, another handshake without it still gets the certificate. outcome is about the issuer and
    the dates alone, "unknown" where nothing was verified; tls is the name to be shown, and the contexts.
    Raises Failure where there is no handshake.
    """
    name, contexts = tls
    error = None
    for made in [contexts.strict, contexts.any_name, contexts.unverified] if contexts.verifies else [contexts.unverified]:
        if made is contexts.any_name and contexts.verifies and error != "CERTIFICATE_NAME":
            continue
        try:
            sock.settimeout(max(0.001, end - time.monotonic()))
            secured = made.wrap_socket(sock, server_hostname=name)
        except (OSError, ValueError) as problem:
            sock.close()
            reason = failure_of(problem)
            if reason not in MISTRUST:
                raise Failure(error or reason)  # noqa: B904 -- the name is all that travels
            error = error or reason
            sock = connect(addresses, end, opened)
            continue
        shown = base64.b64encode(secured.getpeercert(binary_form=True) or b"").decode()
        outcome = "failed" if made is contexts.unverified else "ok"
        return secured, error, (outcome if contexts.verifies else "unknown", error, shown)
    raise Failure(error)
