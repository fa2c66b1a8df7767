"""Names on the hosts of a bed: hosts file and resolver of a host's own, and a nameserver (dnsmasq) for the given names."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from testbed.errors import BedError
from testbed.hosts import Host, release_process

START_SECONDS = 100.0
LOOK_SECONDS = 0.05


def require(program: str, package: str) -> str:
    """Return the path of a program that Debian keeps in /usr/sbin.

    Raises:
        BedError: it is not installed; names the package.
    """
    found = shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin{os.pathsep}/sbin")
    if found is None:
        message = f"the test bed needs {program}: install {package}"
        raise BedError(message)
    return found


def own_names(host: Host, folder: Path, *, hosts: Mapping[str, str] | None = None, nameservers: Sequence[str] = ()) -> None:
    """Give a host a hosts file and a resolver of its own; a second call replaces them.

    Args:
        host: where they hold; no other host sees them.
        folder: where the two files lie.
        hosts: addresses by name, separated by spaces, besides this machine's own hosts file.
        nameservers: addresses that it asks for everything else; empty: none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = [Path("/etc/hosts").read_text(encoding="utf-8")]
    lines += [f"{address} {name}" for name, addresses in (hosts or {}).items() for address in addresses.split()]
    servers = [f"nameserver {address}" for address in nameservers]
    for name, text in (("hosts", lines), ("resolv.conf", ["options timeout:1 attempts:1", *servers])):
        file = folder / f"{host.name}.{name}"
        mounted = file.exists()
        file.write_text("\n".join([*text, ""]), encoding="utf-8")
        if not mounted:
            host.demand(["mount", "--bind", str(file), f"/etc/{name}"], cwd="/")


def await_listening(host: Host, port: int, process: subprocess.Popen[str]) -> None:
    """Wait until something on a host listens on a TCP port.

    Raises:
        BedError: the process ended, or still nothing does.
    """
    deadline = time.monotonic() + START_SECONDS
    while not host.run(["ss", "-Hltn", "sport", "=", f":{port}"], cwd="/").stdout.strip():
        if process.poll() is not None or time.monotonic() > deadline:
            output = process.stderr.read().strip() if process.poll() is not None and process.stderr else "nothing"
            message = f"nothing listens on port {port} of {host.name}; the server said: {output}"
            raise BedError(message)
        time.sleep(LOOK_SECONDS)


class Nameserver:
    """A nameserver on a host, for exactly these names: it knows no other name."""

    def __init__(self, host: Host, names: Mapping[str, str]) -> None:
        """Start it on port 53 of the host's address.

        Args:
            host: where it runs.
            names: address by name.

        Raises:
            BedError: dnsmasq is missing or does not start.
        """
        self.host = host
        known = [f"--host-record={name},{address}" for name, address in names.items()]
        settings = ["--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--pid-file=", "--user=root"]
        here = [f"--listen-address={host.address}", "--bind-interfaces", "--address=/#/", *known]
        self._process = host.popen(
            [require("dnsmasq", "dnsmasq-base"), *settings, *here],
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        await_listening(host, 53, self._process)

    def stop(self) -> None:
        """End it; queries then get no answer."""
        self._process.kill()
        release_process(self._process)
