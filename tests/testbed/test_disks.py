"""Disks of their own for hosts; how brokers take their death is proved in `tests/scenarios/test_003_dead_disk.py`."""

from types import SimpleNamespace

import pytest

from testbed import Bed
from testbed.disks import Disk

pytestmark = [pytest.mark.bed, pytest.mark.scenario]


@pytest.fixture
def disk(tmp_path):
    with Bed(tmp_path / "bed") as bed:
        host = bed.hosts.add("h", "10.99.0.10")
        disk = Disk(
            cluster=SimpleNamespace(format_disk=lambda *_: None),
            broker=SimpleNamespace(id=0, host=host),
            path=tmp_path / "disk",
            megabytes=2,
        )
        disk.mount()
        yield disk


def write(disk, name, megabytes=1):
    block = ["dd", "if=/dev/zero", f"of={disk.path}/{name}", "bs=1M", f"count={megabytes}"]
    return disk.broker.host.run(block)


def test_it_is_full_when_it_is_full_and_nobody_else_sees_it(disk):
    assert write(disk, "orders-0").returncode == 0
    assert "No space left on device" in write(disk, "too-much", 3).stderr
    assert list(disk.path.iterdir()) == []
    disk.broker.host.demand(["mkdir", f"{disk.path}/pay-ments-12", f"{disk.path}/other"])
    assert disk.partitions == [("orders", 0), ("pay-ments", 12)]


def test_what_is_read_only_takes_nothing_new_while_files_that_are_open_go_on(disk):
    script = f'exec 3>"{disk.path}/open"; echo ready; read go; echo more >&3 && echo written'
    writer = disk.broker.host.popen(["sh", "-c", script], stdin=-1, stdout=-1)
    assert writer.stdout.readline() == "ready\n"
    disk.make_read_only()
    assert "Read-only file system" in write(disk, "new").stderr
    assert writer.communicate("go\n")[0] == "written\n"
    disk.unmount()
    disk.mount()
    assert write(disk, "new").returncode == 0
    assert disk.broker.host.run(["ls", str(disk.path)]).stdout == "new\n"
