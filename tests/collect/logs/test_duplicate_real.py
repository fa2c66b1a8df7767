"""A second process with the id of a broker, on real brokers of 3.9.1 and 4.3.0: what it writes is known again."""

import shutil
import time

import pytest

from kafka_audit.collect.logs.lines import scan
from testbed import Bed
from testbed.servers import Server

pytestmark = [pytest.mark.bed, pytest.mark.scenario]


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
def test_the_lines_of_a_second_process_are_known_again(tmp_path, version):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft(version, brokers=2, controllers=1)
        first, host = cluster.brokers[1].server, cluster.brokers[0].host
        folder = tmp_path / "second"
        data = folder / "data"
        data.mkdir(parents=True)
        shutil.copy(f"{first.properties['log.dirs']}/meta.properties", data)
        if (checkpoint := data.parent / "bootstrap.checkpoint").is_file():
            shutil.copy(checkpoint, data)
        moved = {
            key: first.properties[key].replace(first.host.address, host.address).replace(":9092", ":9192")
            for key in ("listeners", "advertised.listeners")
            if key in first.properties
        }
        properties = first.properties | moved | {"log.dirs": str(data)}
        second = Server(name="second", host=host, folder=folder, jars=first.jars, main_class="kafka.Kafka", properties=properties)
        second.launch()
        try:
            deadline, found = time.monotonic() + 60, []
            while not found and time.monotonic() < deadline:
                time.sleep(1)
                text = "".join(path.read_text() for path in second.log_dir.glob("*.log"))
                found = [one for one in scan(text, 1).matches if one.signature.id == "duplicate_registration"]
        finally:
            second.signal_stop(hard=True)
            second.await_end()
        assert {(one.supports, one.about) for one in found} == {("KA114", 1)}
