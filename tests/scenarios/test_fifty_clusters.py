"""One run over fifty clusters, two of them real: 48 right reports, and the dead one and the one that drips say so."""

import re

import pytest

from scenarios.fifty_clusters import DEAD, DRIPS, FAULTY, HEADLINE, HEALTHY, FiftyClusters

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.airflow, pytest.mark.scenario]

ROW = re.compile(r'<th scope="row"[^>]*>(?:<a [^>]*>)?<bdi>([^<]*)')


def test_fifty_clusters_in_one_run(tmp_path):
    with FiftyClusters(tmp_path) as fifty:
        assert len(fifty.names) == 50
        state, _, tasks = fifty.run()  # ends within its deadline
        assert state == "failed"  # some gates fail
        assert len([task for task in tasks if task[0] == "compare"]) == 1  # one submission
        reports = fifty.reports()
        assert fifty.wrong(reports) == {}
        assert len(fifty.expected) == 48

        gates = {name: task for (task_id, name), task in tasks.items() if task_id == "gate"}
        assert sorted(gates) == sorted(fifty.names)
        assert {name for name, task in gates.items() if task["state"] != "success"} == {DEAD, DRIPS, FAULTY}
        for name, place in fifty.places.items():
            assert place in fifty.gate_log(gates[name]), name
        assert HEADLINE in fifty.gate_log(gates[FAULTY])

        overview, _ = fifty.page("")
        rows = ROW.findall(overview)
        assert sorted(rows) == sorted(fifty.names)
        assert rows.index(FAULTY) < rows.index(HEALTHY)  # worst first
        assert HEADLINE in overview
        real, _ = fifty.page("?label=kind%3Dreal")
        assert ROW.findall(real) == [FAULTY, HEALTHY]
