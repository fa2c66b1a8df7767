"""An L4 proxy in front of a cluster: nginx, which forwards bytes and rewrites nothing."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from testbed.hosts import Host, release_process
from testbed.names import await_listening, require

MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"  # Debian's libnginx-mod-stream


class Proxy:
    """nginx on a host, with a port for each target."""

    def __init__(self, host: Host, folder: Path, targets: Mapping[int, str]) -> None:
        """Start it.

        Args:
            host: where it runs.
            folder: for its configuration.
            targets: HOST:PORT by the port that stands for it.

        Raises:
            BedError: nginx is missing or does not start.
        """
        self.host = host
        self._folder = folder
        self._program = require("nginx", "nginx and libnginx-mod-stream")
        self._process: subprocess.Popen[str] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.start(targets)

    def address(self, port: int) -> str:
        """Return HOST:PORT of one of its ports."""
        return f"{self.host.address}:{port}"

    def start(self, targets: Mapping[int, str]) -> None:
        """Start it with these targets; if it runs it is ended first."""
        self.stop()
        servers = "\n".join(
            f"  server {{ listen {self.address(port)}; proxy_pass {target}; }}" for port, target in targets.items()
        )
        file = self._folder / "nginx.conf"
        file.write_text(
            f"load_module {MODULE};\ndaemon off;\nmaster_process off;\npid {self._folder}/nginx.pid;\nerror_log stderr;\n"
            f"events {{ worker_connections 512; }}\nstream {{\n  proxy_connect_timeout 2s;\n{servers}\n}}\n",
            encoding="utf-8",
        )
        self._process = self.host.popen(
            [self._program, "-e", "stderr", "-p", str(self._folder), "-c", str(file)],
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        for port in targets:
            await_listening(self.host, port, self._process)

    def stop(self) -> None:
        """Kill it, as a crash would."""
        if self._process is not None:
            self._process.kill()
            release_process(self._process)
            self._process = None
