"""Whether a process that left its id somewhere still lives."""

import os
import subprocess

from kafka_audit.model import processes


def test_a_process_lives_until_it_is_dead_and_a_zombie_is():
    with subprocess.Popen(["sleep", "60"]) as process:
        assert processes.lives(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet collected
        assert not processes.lives(process.pid)
    assert not processes.lives(process.pid)
    assert not processes.lives(10**30)


def test_that_of_another_user_lives(monkeypatch):
    def kill(*_):
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert processes.lives(os.getppid())
