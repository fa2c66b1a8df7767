"""A server that speaks the S3 protocol on loopback (moto), and refuses requests that its one user did not sign."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from testbed.errors import BedError

START_SECONDS = 600.0
BUCKET = "audits"
_REGION = "us-east-1"
_OPEN_REQUESTS = 4  # by which the user and the bucket are made; all later ones must be signed


class S3Server:
    """Runs as long as the `with` block.

    Attributes:
        url: of the server.
        key: the id of the user's key.
        secret: the user's secret.
    """

    def __init__(self, folder: Path) -> None:
        """Choose a port; `folder` is for the log."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._log = folder / "s3.log"
        self._command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._port)]
        self._process: subprocess.Popen[bytes] | None = None
        self.key = self.secret = ""

    def __enter__(self) -> Self:
        """Start it with a bucket and a user; raises `BedError` where it does not start."""
        with self._log.open("wb") as log:
            environment = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(_OPEN_REQUESTS)}
            self._process = subprocess.Popen(self._command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            self._wait()
            self._prepare()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        """End it; its objects are gone."""
        self.close()

    def close(self) -> None:
        """End it; may be called again."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def environment(self) -> dict[str, str]:
        """Return Amazon's variables for a client without Airflow."""
        login = {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret}
        return {**login, "AWS_ENDPOINT_URL_S3": self.url, "AWS_DEFAULT_REGION": _REGION}

    def connection(self) -> dict[str, Any]:
        """Return an Airflow connection."""
        extra = {"endpoint_url": self.url, "region_name": _REGION}
        return {"conn_type": "aws", "login": self.key, "password": self.secret, "extra": extra}

    def objects(self) -> dict[str, int]:
        """Return the size of each object by name."""
        pages = self.client("s3").get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return {found["Key"]: found["Size"] for page in pages for found in page.get("Contents", ())}

    def uploads(self) -> list[str]:
        """Return the names of uploads in parts that did not end."""
        return [found["Key"] for found in self.client("s3").list_multipart_uploads(Bucket=BUCKET).get("Uploads", ())]

    def client(self, service: str) -> Any:  # noqa: ANN401 -- boto3 makes its classes when it runs
        """Return a client that signs as the user."""
        import boto3  # noqa: PLC0415 -- the bed runs without it, but for this server

        login = {"aws_access_key_id": self.key or "nobody", "aws_secret_access_key": self.secret or "nothing"}
        return boto3.client(service, endpoint_url=self.url, region_name=_REGION, **login)

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                return
            time.sleep(0.1)
        message = f"moto did not start in {START_SECONDS:.0f} s: {self._log.read_text(errors='replace')[-500:]}"
        raise BedError(message)

    def _prepare(self) -> None:
        users = self.client("iam")
        users.create_user(UserName="auditor")
        rights = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        users.put_user_policy(UserName="auditor", PolicyName="store", PolicyDocument=json.dumps(rights))
        key = users.create_access_key(UserName="auditor")["AccessKey"]
        self.client("s3").create_bucket(Bucket=BUCKET)
        self.key, self.secret = key["AccessKeyId"], key["SecretAccessKey"]
