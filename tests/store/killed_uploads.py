"""Publish snapshots from processes, each of which is killed at its n-th change of a bucket: `killed_uploads.py ROOT each|parts`.

Prints the name of what each process wrote and the code with which it ended, until one ended by itself.
"""

import json
import os
import signal
import sys

import s3fs

from kafka_audit.store import Store
from store.test_object_store import snapshot

LARGE = 101 << 20  # three parts


CHANGES = {"put_object", "delete_object", "upload_part"}


def kill_at(number):
    """Let this process be killed when it sends the n-th request that changes something."""
    call, sent = s3fs.S3FileSystem._call_s3, [0]

    async def counted(self, method, *arguments, **options):
        sent[0] += method in CHANGES
        if sent[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return await call(self, method, *arguments, **options)

    s3fs.S3FileSystem._call_s3 = counted


def in_child(number, work):
    """Return how a process ended."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            kill_at(number)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(root, step):
    """Return what was written, and how each process ended."""
    if step == "parts":
        return [("parts", in_child(2, lambda: Store(root)._files.write("large", bytes(LARGE))))]
    ended = []
    for number in range(1, 60):
        snapshot_id = f"20260201T00{number:02}00Z-prod-{number:04x}"
        code = in_child(number, lambda name=snapshot_id: Store(root).write(snapshot(name, topics=len(ended) + 4)))
        ended.append((snapshot_id, code))
        if code == 0:
            break
    return ended


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))  # noqa: T201 -- what the test reads
