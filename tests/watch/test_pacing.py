"""How often suspicions request an audit."""

from itertools import pairwise

from kafka_audit.watch.pacing import MOST_DISTANCE_S, Pacing, next_pacing

LEAST = 300.0


def requests(moments, pacing=None):
    """Return at which seconds an audit is requested; `moments` are (second, whether something is newly suspected)."""
    pacing, found = pacing or Pacing(), []
    for second, new in moments:
        pacing, due = next_pacing(pacing, 1_000_000_000 + second * 1000, LEAST, new=new, any_left=True)
        found += [second] if due else []
    return found


def test_the_first_suspicion_requests_an_audit_at_once():
    assert requests([(0, False), (20, True), (40, False)]) == [20]


def test_what_lasts_requests_no_second_audit():
    assert requests([(0, True), *((second, False) for second in range(20, 20_000, 20))]) == [0]


def test_a_flapping_cluster_requests_ever_fewer_audits_and_at_most_one_an_hour():
    found = requests([(second, second % 60 == 0) for second in range(0, 36_000, 20)])
    gaps = [later - earlier for earlier, later in pairwise(found)]
    assert gaps[:5] == [300, 600, 1200, 2400, 3600]
    assert set(gaps[5:]) == {MOST_DISTANCE_S}


def test_what_is_suspected_too_soon_waits_and_is_not_lost():
    assert requests([(0, True), (60, True), *((second, False) for second in range(80, 400, 20))]) == [0, 300]


def test_what_healed_while_it_waited_requests_nothing():
    pacing, _ = next_pacing(Pacing(), 1_000_000, LEAST, new=True, any_left=True)
    pacing, due = next_pacing(pacing, 1_060_000, LEAST, new=True, any_left=True)
    assert (pacing.waiting, due) == (True, False)
    pacing, _ = next_pacing(pacing, 1_080_000, LEAST, new=False, any_left=False)
    assert next_pacing(pacing, 2_000_000, LEAST, new=False, any_left=True) == (pacing, False)


def test_after_a_quiet_time_the_distance_is_the_least_again():
    busy = Pacing(requested_ms=1_000_000_000, distance_s=2400.0)
    assert next_pacing(busy, 1_000_000_000 + 4_900_000, LEAST, new=True, any_left=True)[0].distance_s == LEAST
    assert next_pacing(busy, 1_000_000_000 + 2_500_000, LEAST, new=True, any_left=True)[0].distance_s == 3600.0


def test_a_clock_that_was_set_back_blocks_nothing():
    ahead = Pacing(requested_ms=9_000_000_000, distance_s=3600.0)
    assert next_pacing(ahead, 1_000_000_000, LEAST, new=True, any_left=True)[1]
