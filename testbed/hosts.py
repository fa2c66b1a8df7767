"""Hosts made of Linux network namespaces, with a bridge between them and no way out.

The worker host owns the bridge and is where an audit runs; every other host hangs on it by a veth pair. A holder
process per host keeps its namespaces (network and mounts) alive, so nothing is registered on the machine and
``ip netns`` is not needed. Root makes them directly; an ordinary user inside a user namespace, where they look like root's.
"""

import contextlib
import ipaddress
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

from testbed.errors import BedError

BRIDGE = "bed0"
BEHIND_FORWARDS = "10.98.0.0/16"  # only the worker host reaches these addresses
NETWORK = ipaddress.ip_network("10.99.0.0/16")
END_SECONDS = 150
HERE = Path(__file__).parent


def require_binaries() -> None:
    """Check that the tools that make hosts are installed.

    Raises:
        BedError: names those that are missing and the packages that bring them.
    """
    # Debian keeps ip and tc in /usr/sbin, which an ordinary user's PATH may lack.
    path = os.environ.get("PATH", os.defpath)
    if "/usr/sbin" not in path.split(os.pathsep):
        os.environ["PATH"] = f"{path}{os.pathsep}/usr/sbin{os.pathsep}/sbin"
    missing = [name for name in ("ip", "tc", "ss", "unshare", "nsenter") if shutil.which(name) is None]
    if missing:
        message = f"the test bed needs {', '.join(missing)}: install iproute2 and util-linux (Linux only)"
        raise BedError(message)


@dataclass(kw_only=True, eq=False)
class Host:
    """A host of the bed.

    Attributes:
        name: for messages and log folders.
        address: its IPv4 address on the bridge.
        port: the bridge's end of its cable (an interface of the worker host); empty for the worker host.
        holder: the process that keeps the namespaces.
        enter: command prefix that runs the rest on this host, from outside the bed.
    """

    name: str
    address: str
    port: str
    holder: Popen[str]
    enter: tuple[str, ...]

    def command(self, command: Sequence[str], cwd: str | os.PathLike[str] | None = None) -> list[str]:
        """Return `command` wrapped so that it runs here; every step execs, the process id stays the same."""
        # Entering a mount namespace moves the working directory to its root, hence the cd.
        folder = os.fspath(cwd if cwd is not None else Path.cwd())
        return [*self.enter, "sh", "-c", 'cd "$0" && exec "$@"', folder, *command]

    def run(self, command: Sequence[str], *, cwd: str | Path | None = None, **options: Any) -> CompletedProcess[str]:  # noqa: ANN401 - subprocess's
        """Run a command here to its end; options as for `subprocess.run`, by default text, and captured."""
        options.setdefault("text", True)
        if "stdout" not in options and "stderr" not in options:
            options.setdefault("capture_output", True)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        check = options.pop("check", False)
        return subprocess.run(self.command(command, cwd), check=check, **options)

    def popen(self, command: Sequence[str], *, cwd: str | Path | None = None, **options: Any) -> Popen[str]:  # noqa: ANN401 - subprocess's
        """Start a command here; its `pid` is the command's own, so signals reach it. It ends with the bed at the latest."""
        options.setdefault("text", True)
        options.setdefault("stdin", subprocess.DEVNULL)
        return Popen(self.command(command, cwd), **options)

    def demand(self, command: Sequence[str], **options: Any) -> str:  # noqa: ANN401 - as run
        """Run a command that must succeed and return its output.

        Raises:
            BedError: it failed; carries what it said.
        """
        completed = self.run(command, **options)
        if completed.returncode:
            message = f"{command[0]} failed on {self.name}: {(completed.stderr or completed.stdout or '').strip()}"
            raise BedError(message)
        return completed.stdout

    @property
    def namespace(self) -> str:
        """The network namespace's identity, as /proc shows it."""
        return str(Path(f"/proc/{self.holder.pid}/ns/net").readlink())


class Hosts:
    """The worker host, its bridge and the hosts on it."""

    def __init__(self) -> None:
        """Make the worker host and the bridge.

        Raises:
            BedError: tools are missing or the kernel refuses namespaces.
        """
        require_binaries()
        self._ports = 0
        self._others: list[Host] = []
        self.worker = _make_worker(str(NETWORK[1]))
        try:
            self._configure(
                self.worker,
                "link set lo up",
                f"link add {BRIDGE} type bridge",
                f"addr add {self.worker.address}/{NETWORK.prefixlen} dev {BRIDGE}",
                f"link set {BRIDGE} up",
            )
        except BaseException:  # no namespace is left behind; raised on
            self.close()
            raise

    def add(self, name: str, address: str) -> Host:
        """Make a host and plug it into the bridge.

        Args:
            name: for messages.
            address: a free IPv4 address within `NETWORK`.
        """
        self._ports += 1
        port = f"port{self._ports}"
        holder = Popen(
            self.worker.command(["unshare", "--net", "--mount", "--", "sh", "-c", "echo ready; exec cat"], "/"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        await_ready(holder)
        enter = (*self.worker.enter[: self.worker.enter.index("-t")], "-t", str(holder.pid), *_entered(self.worker))
        host = Host(name=name, address=address, port=port, holder=holder, enter=enter)
        self._others.append(host)
        self._tell_reaper(host)
        self._configure(
            self.worker, f"link add {port} type veth peer name eth0 netns {holder.pid}", f"link set {port} master {BRIDGE} up"
        )
        self._configure(
            host,
            "link set lo up",
            f"addr add {address}/{NETWORK.prefixlen} dev eth0",
            "link set eth0 up",
            f"route add unreachable {BEHIND_FORWARDS}",
        )
        return host

    def close(self) -> None:
        """End every process on every host and give the namespaces back; may be called again."""
        for host in (self.worker, *self._others):
            if host.holder.stdin is not None and not host.holder.stdin.closed:
                with contextlib.suppress(BrokenPipeError):
                    host.holder.stdin.close()
        for host in (self.worker, *self._others):
            release_process(host.holder)

    def _tell_reaper(self, host: Host) -> None:
        pipe = self.worker.holder.stdin
        if pipe is None:
            message = "the bed is closed"
            raise BedError(message)
        pipe.write(f"{host.namespace}\n")
        pipe.flush()

    @staticmethod
    def _configure(host: Host, *lines: str) -> None:
        host.demand(["ip", "-batch", "-"], input="\n".join(lines) + "\n", cwd="/")


def _entered(worker: Host) -> tuple[str, ...]:
    return worker.enter[worker.enter.index("-t") + 2 :]


def _make_worker(address: str) -> Host:
    """Make the worker host's namespaces: as root if allowed, else in a user namespace."""
    as_root = (("unshare", "--net", "--mount"), ("nsenter",), ("-n", "-m"))
    as_user = (
        ("unshare", "--user", "--map-root-user", "--net", "--mount"),
        ("nsenter", "--preserve-credentials"),
        ("-U", "-n", "-m"),
    )
    refusals = []
    own = str(Path("/proc/self/ns/net").readlink())
    for make, enter, which in (as_root, as_user) if os.geteuid() == 0 else (as_user,):
        holder = Popen(
            [*make, "--", sys.executable, "-I", str(HERE / "reaper.py"), own],
            text=True,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            await_ready(holder)
        except BedError as error:
            refusals.append(str(error))
            continue
        return Host(name="worker", address=address, port="", holder=holder, enter=(*enter, "-t", str(holder.pid), *which, "--"))
    message = (
        f"network namespaces are refused here ({'; '.join(refusals)}): run as root with CAP_SYS_ADMIN, "
        "or allow user namespaces (user.max_user_namespaces > 0, kernel.apparmor_restrict_unprivileged_userns = 0)"
    )
    raise BedError(message)


def release_process(process: Popen[str]) -> None:
    """Collect the exit code of a process that was ended, and close its pipes."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def await_ready(process: Popen[str]) -> None:
    """Wait for the word ready.

    Raises:
        BedError: the process ended instead; carries its complaint.
    """
    if process.stdout is None or process.stderr is None:
        message = "a process without pipes cannot say that it is ready"
        raise BedError(message)
    if process.stdout.readline().strip() != "ready":
        raise BedError(process.stderr.read().strip() or "ended without a word")
