from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from kafka_audit.bounds.kept_brokers import Vouchers, keep_brokers

IDS = st.lists(st.integers(0, 40), max_size=30)
PARTIES = st.dictionaries(st.sampled_from(["broker:0", "broker:1", "broker:2", "topics"]), IDS, max_size=4)
VOUCHERS = st.builds(Vouchers, named=IDS, registered=IDS, long_known=IDS, claimed=PARTIES)


def everything(vouchers: Vouchers) -> set[int]:
    return {*vouchers.named, *vouchers.registered, *vouchers.long_known}.union(*vouchers.claimed.values())


@given(st.integers(0, 50), VOUCHERS)
def test_it_is_bounded_and_counts_what_it_leaves_out(most: int, vouchers: Vouchers) -> None:
    kept = keep_brokers(most, vouchers)
    assert len(kept.ids) == len(set(kept.ids)) == min(most, len(everything(vouchers)))
    assert {*kept.ids} <= everything(vouchers)
    assert len(kept.ids) + kept.cut == len(everything(vouchers))
    assert len(kept.first_cut) == min(10, kept.cut)
    assert not {*kept.first_cut} & {*kept.ids}


@given(VOUCHERS)
def test_nothing_is_left_out_below_the_limit(vouchers: Vouchers) -> None:
    kept = keep_brokers(len(everything(vouchers)), vouchers)
    assert {*kept.ids} == everything(vouchers)
    assert kept.cut == 0


@given(st.integers(0, 50), VOUCHERS)
def test_a_better_voucher_comes_before_any_claim(most: int, vouchers: Vouchers) -> None:
    kept = {*keep_brokers(most, vouchers).ids}
    vouched = {*vouchers.named, *vouchers.registered, *vouchers.long_known}
    assert {*vouchers.named} <= kept or kept <= {*vouchers.named}
    assert vouched <= kept or kept <= vouched


@given(st.integers(0, 50), VOUCHERS, PARTIES)
def test_claims_change_nothing_about_what_has_a_better_voucher(
    most: int, vouchers: Vouchers, claimed: Mapping[str, list[int]]
) -> None:
    vouched = {*vouchers.named, *vouchers.registered, *vouchers.long_known}
    others = Vouchers(named=vouchers.named, registered=vouchers.registered, long_known=vouchers.long_known, claimed=claimed)
    assert {*keep_brokers(most, vouchers).ids} & vouched == {*keep_brokers(most, others).ids} & vouched


@given(st.integers(1, 50), PARTIES, st.lists(st.integers(100, 10_000), max_size=200))
def test_one_party_takes_no_more_than_its_share(most: int, claimed: dict[str, list[int]], flood: list[int]) -> None:
    before = keep_brokers(most, Vouchers(claimed=claimed))
    after = keep_brokers(most, Vouchers(claimed={"a hostile one": flood, **claimed}))
    several = {broker for broker in before.ids if sum(broker in ids for ids in claimed.values()) > 1}
    assert several <= {*after.ids}, "what several parties claim stays"
    share = -(-(most - len(several)) // (len(claimed) + 1))
    for party, ids in claimed.items():
        alone = {broker for broker in set(ids) - several if sum(broker in other for other in claimed.values()) == 1}
        assert len(alone & {*after.ids}) >= min(len(alone), share - 1), party


@given(st.integers(1, 50), VOUCHERS)
def test_neither_the_registry_nor_memory_takes_more_than_half_from_the_other(most: int, vouchers: Vouchers) -> None:
    registered, known = {*vouchers.registered}, {*vouchers.long_known}
    ids = keep_brokers(most, vouchers).ids
    kept = {*ids} - {*vouchers.named} - (registered & known)
    left = most - len({*ids} - kept)
    for brokers in (registered, known):
        alone = brokers - {*vouchers.named} - (registered & known)
        assert len(alone & kept) >= min(len(alone), left // 2)


@given(st.integers(0, 50), VOUCHERS)
def test_the_order_within_a_claim_does_not_count(most: int, vouchers: Vouchers) -> None:
    turned = Vouchers(
        named=vouchers.named,
        registered=vouchers.registered,
        long_known=vouchers.long_known,
        claimed={party: [*reversed(ids)] for party, ids in vouchers.claimed.items()},
    )
    assert keep_brokers(most, vouchers) == keep_brokers(most, turned)


def test_low_ids_of_one_party_do_not_displace_a_broker_that_is_registered() -> None:
    flood = Vouchers(registered=[5000], claimed={"broker:1": range(30)})
    assert 5000 in keep_brokers(20, flood).ids


def test_low_ids_of_one_party_do_not_displace_what_the_others_list() -> None:
    honest = [1000, 2000, 5000]
    kept = keep_brokers(5, Vouchers(claimed={"broker:1": range(30), "broker:1000": honest, "broker:5000": honest}))
    assert {*kept.ids} == {1000, 2000, 5000, 0, 1}


def test_a_flood_of_registrations_does_not_displace_what_was_long_known() -> None:
    kept = keep_brokers(6, Vouchers(registered=[*range(100, 200), 1, 2], long_known=[1, 2, 3]))
    assert {1, 2, 3} <= {*kept.ids}, "3 is dead, and that must be seen"


def test_the_row_says_how_many_and_which_first() -> None:
    kept = keep_brokers(2, Vouchers(registered=[7, 8], claimed={"topics": range(100, 500)}))
    assert kept.message == "400 of 402 broker ids are left out: " + ", ".join(map(str, range(100, 110))) + ", …"
    assert keep_brokers(1, Vouchers(registered=[1, 2])).message == "1 of 2 broker ids are left out: 2"
