"""How often suspicions request an audit."""

from itertools import pairwise

from kafka_audit.watch.pacing import MOST_AUDITED, MOST_DISTANCE_S, Pacing, next_pacing

LEAST = 300.0


def requests(moments, pacing=None):
    """Return at which seconds an audit is requested.

    `moments` are (second, parties that are newly suspected); all of them stay suspected.
    """
    pacing, found, suspected = pacing or Pacing(), [], set()
    for second, new in moments:
        suspected |= {*new}
        pacing, due = next_pacing(pacing, 1_000_000_000 + second * 1000, LEAST, new=new, suspected=suspected)
        found += [second] if due else []
    return found


def rest(first, last):
    return [(second, "") for second in range(first, last, 20)]


def test_the_first_suspicion_requests_an_audit_at_once():
    assert requests([(0, ""), (20, "2"), (40, "")]) == [20]


def test_what_lasts_requests_no_second_audit():
    assert requests([(0, "2"), *rest(20, 20_000)]) == [0]


def test_a_flapping_cluster_requests_ever_fewer_audits_and_at_most_one_an_hour():
    found = requests([(second, "" if second % 60 else "2") for second in range(0, 36_000, 20)])
    gaps = [later - earlier for earlier, later in pairwise(found)]
    assert gaps[:5] == [300, 600, 1200, 2400, 3600]
    assert set(gaps[5:]) == {MOST_DISTANCE_S}


def test_brokers_that_flap_in_turn_are_a_flapping_cluster():
    found = requests([(second, "" if second % 60 else "012"[second // 60 % 3]) for second in range(0, 36_000, 20)])
    gaps = [later - earlier for earlier, later in pairwise(found)]
    assert min(gaps) == LEAST
    assert set(gaps[6:]) == {MOST_DISTANCE_S}


def test_what_is_suspected_too_soon_waits_and_is_not_lost():
    assert requests([(0, "2"), (60, "1"), *rest(80, 400)]) == [0, 300]


def test_a_fault_of_another_party_waits_for_the_least_distance_alone():
    earlier = [(0, "2"), (20, "2"), *rest(40, 600)]
    assert requests([*earlier, (600, "2"), *rest(620, 2000)]) == [0, 300, 900]
    assert requests([*earlier, (600, "1"), *rest(620, 2000)]) == [0, 300, 600]


def test_a_fault_of_another_party_does_not_double_the_distance():
    pacing = Pacing(requested_ms=1_000_000_000, distance_s=600.0, audited={"2": 1_000_000_000})
    after, due = next_pacing(pacing, 1_000_400_000, LEAST, new=["1"], suspected=["1", "2"])
    assert (due, after.distance_s, after.audited) == (True, 600.0, {"1": 1_000_400_000, "2": 1_000_400_000})
    after, due = next_pacing(pacing, 1_000_700_000, LEAST, new=["2"], suspected=["2"])
    assert (due, after.distance_s, after.audited) == (True, 1200.0, {"2": 1_000_700_000})


def test_a_broker_that_was_audited_long_ago_is_another_fault_while_a_second_one_still_flaps():
    pacing = Pacing(requested_ms=1_090_000_000, distance_s=3600.0, audited={"2": 1_090_000_000, "1": 1_000_000_000})
    assert next_pacing(pacing, 1_090_400_000, LEAST, new=["1"], suspected=["1"])[1]
    assert not next_pacing(pacing, 1_090_400_000, LEAST, new=["2"], suspected=["2"])[1]


def test_parties_without_end_are_a_flapping_cluster():
    full = Pacing(
        requested_ms=1_000_000_000, distance_s=600.0, audited=dict.fromkeys(map(str, range(MOST_AUDITED)), 1_000_000_000)
    )
    assert not next_pacing(full, 1_000_400_000, LEAST, new=["new"], suspected=["new"])[1]
    many = [f"broker {number}" for number in range(2 * MOST_AUDITED)]
    assert len(next_pacing(Pacing(), 1_000_000_000, LEAST, new=many, suspected=many)[0].audited) == MOST_AUDITED


def test_what_healed_while_it_waited_requests_nothing():
    pacing, _ = next_pacing(Pacing(), 1_000_000, LEAST, new=["2"], suspected=["2"])
    pacing, due = next_pacing(pacing, 1_060_000, LEAST, new=["1"], suspected=["1", "2"])
    assert (pacing.waiting, due) == (("1",), False)
    pacing, _ = next_pacing(pacing, 1_080_000, LEAST, new=[], suspected=["2"])
    assert next_pacing(pacing, 2_000_000, LEAST, new=[], suspected=["2"]) == (pacing, False)


def test_after_a_quiet_time_the_distance_is_the_least_again():
    busy = Pacing(requested_ms=1_000_000_000, distance_s=2400.0, audited={"1": 1_000_000_000, "2": 1_000_000_000})
    quiet, _ = next_pacing(busy, 1_000_000_000 + 4_900_000, LEAST, new=["2"], suspected=["2"])
    assert (quiet.distance_s, list(quiet.audited)) == (LEAST, ["2"])
    assert next_pacing(busy, 1_000_000_000 + 2_500_000, LEAST, new=["2"], suspected=["2"])[0].distance_s == 3600.0


def test_a_clock_that_was_set_back_blocks_nothing():
    ahead = Pacing(requested_ms=9_000_000_000, distance_s=3600.0)
    assert next_pacing(ahead, 1_000_000_000, LEAST, new=["2"], suspected=["2"])[1]
