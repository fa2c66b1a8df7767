"""A realm of Kerberos: MIT's KDC on a host of the bed, principals, keytabs, and ticket caches of clients."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Self

from testbed.errors import BedError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable
    from pathlib import Path

    from testbed.hosts import Host

REALM, SERVICE = "BED.TEST", "kafka"
_PORT = 8888
_START_SECONDS = 150
_PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_CLIENT = """[libdefaults]
default_realm = {realm}
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
{realm} = {{
  kdc = {address}:{port}
}}
"""
_SERVER = """[kdcdefaults]
kdc_listen = {address}:{port}
kdc_tcp_listen = {address}:{port}
[realms]
{realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
  max_life = 1h
}}
"""


def missing() -> list[str]:
    """Return the programs of MIT Kerberos that are not installed."""
    path = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin{os.pathsep}/sbin"
    return [name for name in _PROGRAMS if shutil.which(name, path=path) is None]


class Kdc:
    """A KDC that runs on a host until it is closed; a context manager.

    Attributes:
        configuration: krb5.conf for clients and brokers.
        brokers: keytab with the keys of `services`.
    """

    def __init__(self, folder: Path, host: Host, services: Iterable[str]) -> None:
        """Make the realm and start the KDC.

        Args:
            folder: for its database and keytabs.
            host: where it listens.
            services: hosts with a principal kafka/HOST.

        Raises:
            BedError: programs are missing, or one failed.
        """
        if absent := missing():
            message = f"no {', '.join(absent)}: install krb5-kdc, krb5-admin-server and krb5-user"
            raise BedError(message)
        self._folder, self._host = folder.resolve(), host
        self._folder.mkdir(mode=0o700, parents=True)
        self.configuration, self.brokers = self._folder / "krb5.conf", self._folder / "brokers.keytab"
        parts = {"realm": REALM, "address": host.address, "port": _PORT, "folder": self._folder}
        self.configuration.write_text(_CLIENT.format(**parts))
        (self._folder / "kdc.conf").write_text(_SERVER.format(**parts))
        self._environment = {
            **os.environ,
            "PATH": f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin{os.pathsep}/sbin",
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_KDC_PROFILE": str(self._folder / "kdc.conf"),
        }
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", os.urandom(12).hex())
        for service in services:
            self._administer(f"addprinc -randkey {SERVICE}/{service}", f"ktadd -q -k {self.brokers} {SERVICE}/{service}")
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    def start(self) -> None:
        """Start the KDC, and wait until it answers.

        Raises:
            BedError: it does not.
        """
        with (self._folder / "kdc.log").open("a") as log:
            self._process = self._host.popen(["krb5kdc", "-n", "-r", REALM], env=self._environment, stdout=log, stderr=log)
        end = time.monotonic() + _START_SECONDS
        while self._host.run(["bash", "-c", f"exec 3<>/dev/tcp/{self._host.address}/{_PORT}"]).returncode:
            if time.monotonic() > end or self._process.poll() is not None:
                message = f"the KDC does not start: {(self._folder / 'kdc.log').read_text()[-500:]}"
                raise BedError(message)
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop the KDC; principals stay."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def add(self, principal: str, *, life: str = "1h") -> Path:
        """Add a principal whose tickets live so long, and return its keytab."""
        keytab = self._folder / f"{principal.replace('/', '-')}.keytab"
        self._administer(f"addprinc -randkey -maxlife {life} {principal}", f"ktadd -q -k {keytab} {principal}")
        return keytab

    def remove(self, principal: str) -> None:
        """Remove a principal."""
        self._administer(f"delprinc -force {principal}")

    def log_in(self, principal: str, keytab: Path) -> Path:
        """Return a ticket cache with a ticket of a principal (kinit)."""
        cache = self._folder / f"{principal.replace('/', '-')}.cache"
        self._run("kinit", "-k", "-t", str(keytab), "-c", str(cache), principal)
        return cache

    def _administer(self, *commands: str) -> None:
        for command in commands:
            self._run("kadmin.local", "-r", REALM, "-q", command)

    def _run(self, *command: str) -> None:
        completed = self._host.run(list(command), env=self._environment)
        if completed.returncode or "while " in completed.stderr:  # kadmin.local ends with 0 also if its command failed
            message = f"{command[0]} failed: {completed.stderr.strip()}"
            raise BedError(message)
