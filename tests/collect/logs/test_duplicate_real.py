"""A second process with the id of a broker, on real brokers of 3.9.1 and 4.3.0: what it writes is known again."""

import time

import pytest

from kafka_audit.collect.logs.lines import scan
from testbed import Bed
from testbed.faults import start_second_process

pytestmark = [pytest.mark.bed, pytest.mark.scenario]


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
def test_the_lines_of_a_second_process_are_known_again(tmp_path, version):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft(version, brokers=2, controllers=1)
        second = start_second_process(cluster, broker=1, host=0)
        try:
            found = []
            while not found:
                time.sleep(1)
                text = "".join(path.read_text() for path in second.log_dir.glob("*.log"))
                found = [match for match in scan(text, 1).matches if match.sign.id == "duplicate_registration"]
        finally:
            second.signal_stop(hard=True)
            second.await_end()
        assert {(line.sign.supports, line.about) for line in found} == {("KA114", 1)}
