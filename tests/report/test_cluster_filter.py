"""The filter of the overview: which clusters it lists, and in which groups."""

import pytest

from kafka_audit.report.html.cluster_filter import BY_STATE, ClusterFilter, grouped, label_choices, label_names
from kafka_audit.report.state import INCIDENT, QUIET, UNJUDGED, CheckState


def entry(cluster, group=QUIET, sentence="Clear: no failure above LOW", **labels):
    state = CheckState(group=group, mark="ok", word="clear", note="", sentence=sentence)
    return {"cluster": cluster, "labels": labels, "state": state}


ENTRIES = [  # worst first, as the overview sorts them
    entry("orders", INCIDENT, "Broker 2 is cut off", team="search", env="prod"),
    entry("ledger", UNJUDGED, team="payments", env="prod"),
    entry("lab", UNJUDGED),
    entry("invoices", team="payments", env="stage"),
]


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("", ["orders", "ledger", "lab", "invoices"]),
        ("words=CUT+broker", ["orders"]),
        ("words=payments", ["ledger", "invoices"]),
        ("words=nothing", []),
        ("label=env=prod", ["orders", "ledger"]),
        ("label=env=prod&label=team=payments", ["ledger"]),
        ("label=env=prod&words=orders", ["orders"]),
        ("label=&label=env=prod", ["orders", "ledger"]),  # a form sends what is not chosen, too
        ("label=env=prd", []),
        ("label=env", ["orders", "ledger", "lab", "invoices"]),
        ("label=env=pro", []),
    ],
)
def test_it_lists_the_clusters_with_all_words_and_labels(query, listed):
    wanted = ClusterFilter.of(tuple(part.split("=", 1)) for part in query.replace("+", " ").split("&") if part)
    assert [one["cluster"] for one in ENTRIES if wanted.passes(one)] == listed


def test_its_address_leads_back_to_it():
    wanted = ClusterFilter.of([("words", " a b "), ("label", "env=prod"), ("by", "team"), ("page", "7")])
    assert wanted == ClusterFilter(words="a b", labels={"env": "prod"}, by="team")
    assert wanted.query() == "words=a+b&label=env%3Dprod&by=team"
    assert wanted.query({"run": "x&y"}, words="", labels={}) == "run=x%26y&by=team"
    assert ClusterFilter().query() == ""


def test_groups_by_state_and_by_label_begin_with_the_worst():
    titles = [(group.title, [one["cluster"] for one in group.entries], group.urgent) for group in grouped(ENTRIES, BY_STATE)]
    assert titles == [
        ("Incident", ["orders"], "1 with an incident"),
        ("Not judged", ["ledger", "lab"], "2 not judged"),
        ("No incident", ["invoices"], ""),
    ]
    titles = [(group.title, [one["cluster"] for one in group.entries], group.urgent) for group in grouped(ENTRIES, "team")]
    assert titles == [
        ("search", ["orders"], "1 with an incident"),
        ("payments", ["ledger", "invoices"], "1 not judged"),
        ("without team", ["lab"], "1 not judged"),
    ]
    assert grouped([], "team") == []


def test_the_form_offers_values_with_their_numbers():
    assert label_names(ENTRIES) == ["env", "team"]
    assert label_choices(ENTRIES, ClusterFilter()) == {
        "env": [("prod", 2), ("stage", 1)],
        "team": [("payments", 2), ("search", 1)],
    }


def test_the_form_shows_a_wanted_value_that_no_cluster_has():
    assert label_choices(ENTRIES, ClusterFilter(labels={"zone": "7"}))["zone"] == [("7", 0)]


def test_of_many_labels_the_form_offers_the_most_used_and_the_wanted_one():
    many = [entry(f"c{n}", **{f"only{n}": "x", "team": "a"}) for n in range(30)]
    offered = label_choices(many, ClusterFilter(labels={"only7": "x"}))
    assert len(offered) == 5
    assert {"team", "only7"} <= offered.keys()
