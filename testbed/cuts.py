"""One-way cuts between hosts, and paths that lose large packets."""

import ipaddress

from testbed.errors import BedError
from testbed.hosts import Host

LARGE_BYTES = 1414  # a packet of 1400 bytes with its Ethernet header
_DROP, _GO_ON = 2, 0xFFFFFFFF  # TC_ACT_SHOT, TC_ACT_UNSPEC (the next filter decides)
SERVICE_PORTS_BELOW = 32768  # Linux gives clients ports from here on (net.ipv4.ip_local_port_range)


class Cuts:
    """Cuts as a firewall makes them that drops packets without an answer.

    A filter at the bridge drops what `source` sends to services of `target`, that is TCP to ports below the range for
    clients. What `target` opens to `source`, and the answers on such connections, pass. Connections that `source` holds
    open at that time are closed on both ends (``ss -K``; on a kernel without CONFIG_INET_DIAG_DESTROY they time out).
    """

    def __init__(self, worker: Host) -> None:
        """Take the host that owns the bridge."""
        self._worker = worker
        self._filters: dict[tuple[str, str], tuple[str, int]] = {}
        self._next = 1

    def cut(self, source: Host, target: Host) -> None:
        """Cut the way from `source` to the services of `target`.

        Raises:
            BedError: `target` is the worker host, or the kernel lacks CONFIG_NET_CLS_BPF.
        """
        if (source.name, target.name) in self._filters:
            return
        self._filter(source, target, _drop_to_services(source.address))
        services = f":{SERVICE_PORTS_BELOW}"
        source.run(["ss", "-K", "dst", target.address, "and", "dport", "lt", services])
        target.run(["ss", "-K", "dst", source.address, "and", "sport", "lt", services])

    def narrow(self, source: Host, target: Host) -> None:
        """Drop large packets from `source` to `target` without an ICMP error, as behind a tunnel whose ICMP is filtered.

        Raises:
            BedError: as for `cut`.
        """
        self._filter(source, target, _drop_large(source.address))

    def _filter(self, source: Host, target: Host, program: str) -> None:
        if not target.port:
            message = "the worker host has no services to cut off"
            raise BedError(message)
        self._worker.demand(["tc", "qdisc", "replace", "dev", target.port, "clsact"])
        number, self._next = self._next, self._next + 1
        where = f"dev {target.port} egress prio {number} protocol ip bpf da bytecode".split()
        self._worker.demand(["tc", "filter", "add", *where, program])
        self._filters[source.name, target.name] = (target.port, number)

    def heal(self, source: Host, target: Host) -> None:
        """Undo what was done to a path; do nothing to one that is whole."""
        port, number = self._filters.pop((source.name, target.name), ("", 0))
        if port:
            self._worker.demand(["tc", "filter", "del", "dev", port, "egress", "prio", str(number)])


def _drop_to_services(source: str) -> str:
    """Return classic BPF for tc's direct-action mode.

    Classic BPF needs neither iptables nor tc's flower and gact modules, which small kernels lack. Offsets count from the
    Ethernet header.
    """
    return _bytecode(
        (0x20, 0, 0, 26),  # load the source address
        (0x15, 0, 6, int(ipaddress.IPv4Address(source))),
        (0x30, 0, 0, 23),  # load the protocol
        (0x15, 0, 4, 6),  # TCP
        (0xB1, 0, 0, 14),  # skip the IP header
        (0x48, 0, 0, 16),  # load the destination port
        (0x35, 1, 0, SERVICE_PORTS_BELOW),
        (0x06, 0, 0, _DROP),
        (0x06, 0, 0, _GO_ON),
    )


def _drop_large(source: str) -> str:
    """Return the same for packets of a source that are larger than a path with a smaller MTU carries."""
    return _bytecode(
        (0x20, 0, 0, 26),  # load the source address
        (0x15, 0, 3, int(ipaddress.IPv4Address(source))),
        (0x80, 0, 0, 0),  # load the length
        (0x35, 0, 1, LARGE_BYTES),
        (0x06, 0, 0, _DROP),
        (0x06, 0, 0, _GO_ON),
    )


def _bytecode(*program: tuple[int, int, int, int]) -> str:
    return ",".join([str(len(program)), *(f"{code} {yes} {no} {value}" for code, yes, no, value in program)])
