"""The page: complete without scripts, every string of a cluster as text, and no larger than a browser likes."""

import html as escaping
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

import small_cluster
from kafka_audit.checks import catalogue
from kafka_audit.model.report import Matrix
from kafka_audit.report.digest import condense
from kafka_audit.report.html import cluster, filters, pages, picture, timeline
from kafka_audit.report.html.cluster_filter import ClusterFilter
from kafka_audit.report.html.filters import Wanted
from kafka_audit.report.parties import matrix
from reported import part_of, report_of

AROUND = cluster.Around(up="../", here="../clusters/prod")
NOW = datetime(2026, 9, 14, 18, 4, tzinfo=UTC)
ONE = {"brokers": {0: "a:9092"}}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></script><svg/onload=alert(1)>",
    "{{ 7*7 }}{% raw %}",
    "\x1b[31mred\x07\x00\r\n",
    "exe.\u202egnp\u2066",
    "\u200b\ufeff\u00ad\u115f",
    "javascript:alert(1)",
    "x" * 65536,
]
VOID = {"meta", "link", "input", "br", "rect"}
ALLOWED = {
    "style",
    "script",
    "html",
    "head",
    "body",
    "title",
    "header",
    "main",
    "footer",
    "section",
    "article",
    "nav",
    "div",
    "p",
}
ALLOWED |= {
    "b",
    "small",
    "span",
    "a",
    "ul",
    "li",
    "h1",
    "h2",
    "h3",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "pre",
}
ALLOWED |= {"code", "details", "summary", "form", "label", "select", "option", "button", "time", "bdi", "svg"} | VOID


class Shown(HTMLParser):
    """What a browser makes of a page: its elements, attributes, links and text; a wrong nesting fails."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.links, self.text, self.ids = [], set(), [], [], []
        self._open = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        told = dict(attrs)
        self.links += [told[key] for key in ("href", "src", "action") if key in told]
        self.ids += [told["id"]] if "id" in told else []
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if not self._open or self._open[-1] not in {"script", "style"}:
            self.text.append(data)

    def says(self):
        return " ".join(" ".join(self.text).split())


def whole(document, **address):
    return Shown(cluster.cluster_page(report_of(document), AROUND, wanted=Wanted.of(address)))


def test_the_answer_is_the_headline_and_everything_of_an_incident_is_there(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    shown = whole(document)
    (incident,) = document["incidents"]
    says = shown.says()
    assert shown.tags.count("h1") == 1
    for text in (incident["headline"], incident["impact"].split("`")[0].strip(), incident["confidence_why"]):
        assert text in says
    for evidence in (*incident["evidence_for"], *incident["evidence_against"]):
        assert " ".join(evidence["text"].split()) in says
        assert evidence["observer"] in says
    for step in incident["remediation"]:
        assert all(" ".join(command.split()) in says for command in step["commands"])
    assert len(shown.ids) == len(set(shown.ids))


@pytest.mark.parametrize("name", ["one_broker_measured", "all_brokers", "suspected", "many_brokers", "muted_cause"])
def test_a_page_is_well_formed_and_asks_nobody_for_anything(audited, name):
    document, _ = audited("cut_off", name)
    for shown in (whole(document), Shown(cluster.standalone(report_of(document)))):
        assert set(shown.tags) <= ALLOWED
        assert not {name for name in shown.attributes if name.startswith("on") or name == "style"}
        assert not [link for link in shown.links if "//" in link or link.startswith(("/", "data:", "javascript:"))]


def test_a_file_carries_its_own_policy_and_loads_nothing(audited):
    page = cluster.standalone(report_of(audited("cut_off", "one_broker_measured")[0]))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert [link for link in Shown(page).links if not link.startswith("#")] == []


def hostile_document(told, string):
    findings = [
        small_cluster.finding("KA601", f"topic/{string}/partition/0", severity="CRITICAL"),
        small_cluster.finding("KA105", "broker/0", lifecycle="ongoing"),
    ]
    spec = {
        "brokers": {0: f"{string}:9092", 1: "b:9092"},
        "views": {0: "empty"},
        "reads": [{"observer": "broker:0", "operation": string, "target": string, "error": string, "needs": string}],
        "probes": [{"to": 1, "from": 0, "layer": "tcp", "error": string}],
    }
    document, _ = told(findings, spec)
    for incident in document["incidents"]:
        incident["headline"] = incident["impact"] = incident["confidence_why"] = string
        incident["not_known"] = [string]
        incident["remediation"] = [{"kind": "see", "text": string, "commands": [string], "cost": string}]
        incident["evidence_for"] = [{"observer": string, "text": string}]
    document["changes"] = [{"kind": "endpoint", "resource": string, "before": string, "after": None}]
    document["cluster"] = string
    document["resolved_incidents"] = [{"headline": string, "cause": "KA105", "severity": "HIGH", "findings": []}]
    return document


@pytest.mark.parametrize("string", HOSTILE, ids=range(len(HOSTILE)))
def test_a_string_of_a_cluster_is_text_wherever_it_stands(told, string):
    document = hostile_document(told, string)
    digest = condense(report_of(document))
    compared = timeline.compare_reports(report_of(document), report_of(document), [digest])
    rendered = [
        cluster.cluster_page(report_of(document), AROUND, wanted=Wanted(words=string[:100])),
        cluster.standalone(report_of(document)),
        pages.overview_page([pages.Glance(cluster="prod", link="clusters/prod", digests=[digest])], now=NOW, up="./"),
        pages.history_page(
            string,
            [digest],
            up="../",
            here="../x",
            compared=compared,
            ends=(digest, digest),
            problems=[string],
        ),
        pages.notice_page(string, string, up="./"),
    ]
    for page in rendered:
        shown = Shown(page)
        assert set(shown.tags) <= ALLOWED
        assert shown.tags.count("script") <= 1
        assert not {name for name in shown.attributes if name.startswith("on")}
        assert not re.search("[\x00-\x08\x0b-\x1f\u200b\u202e\u2066\ufeff\u00ad\u115f]", page)
        assert "x" * 5000 not in page


def test_a_hostile_name_is_told_in_full_not_dropped(told):
    shown = whole(hostile_document(told, "<b>\u202ename</b>"))
    assert "topic/<b>\\u202ename</b>/partition/0" in shown.says()


def test_five_thousand_findings_are_paged_and_the_file_stays_small(told):
    findings = [small_cluster.finding("KA601", f"topic/t-{n}/partition/0", severity="HIGH") for n in range(5000)]
    document, _ = told(findings, ONE)
    page = cluster.cluster_page(report_of(document), AROUND, wanted=Wanted(page=3, rows="each"))
    assert "201 to 300 of 5000 findings" in Shown(page).says()
    assert len(page) < 250_000
    file = cluster.standalone(report_of(document))
    assert len(file.encode()) < 1_000_000
    assert "1 to 1 of 1 row with 5000 findings" in Shown(file).says()
    assert "and 4980 more, in findings.json" in Shown(file).says()


def test_five_thousand_unlike_findings_are_counted_by_the_file(told):
    findings = [small_cluster.finding("KA601", f"topic/t/partition/{n}", evidence={"error": _in_letters(n)}) for n in range(5000)]
    document, _ = told(findings, ONE)
    file = cluster.standalone(report_of(document))
    assert len(file.encode()) < 1_000_000
    assert f"{5000 - cluster.IN_FILE} KA601" in Shown(file).says()


def _in_letters(number):
    return str(number).translate(str.maketrans("0123456789", "abcdefghij"))


ON_BROKERS = "Broker {0} advertises b{0}.example.com:9092, which does not resolve"


def test_equal_findings_of_several_brokers_are_one_row_that_opens(told):
    equal = [
        small_cluster.finding("KA305", f"broker/{n}/listener/EXTERNAL", severity="MEDIUM", message=ON_BROKERS.format(n))
        for n in (1, 2, 3, 7)
    ]
    document, _ = told(equal, ONE)
    (row,) = filters.findings_page(report_of(document), Wanted()).rows
    assert (row.where, len(row.findings)) == ("Brokers 1-3, 7", 4)
    shown = Shown(cluster.cluster_page(report_of(document), AROUND, wanted=Wanted())).says()
    assert all(ON_BROKERS.format(n) in shown for n in (1, 2, 3, 7))
    assert len(filters.findings_page(report_of(document), Wanted(rows="each")).rows) == 4


@pytest.mark.parametrize(
    "other",
    [
        {"severity": "LOW"},
        {"lifecycle": "ongoing"},
        {"muted": True},
        {"status": "UNKNOWN"},
        {"evidence": {"error": "another host answers"}},
    ],
)
def test_findings_that_differ_in_more_than_their_place_are_rows_of_their_own(told, other):
    common = {"severity": "MEDIUM", "evidence": {"host": "b.example.com", "error": "unknown host"}}
    one = small_cluster.finding(
        "KA305", "broker/1/listener/EXTERNAL", **common | {"evidence": {"host": "a.example.com", "error": "unknown host"}}
    )
    two = small_cluster.finding("KA305", "broker/2/listener/EXTERNAL", **(common | other))
    equal = small_cluster.finding("KA305", "broker/3/listener/EXTERNAL", **common)
    document, _ = told([one, two, equal], ONE)
    assert sorted(len(row.findings) for row in filters.findings_page(report_of(document), Wanted()).rows) == [1, 2]


def test_partitions_of_several_topics_are_counted_by_topic(told):
    findings = [
        small_cluster.finding("KA601", f"topic/{topic}/partition/{n}", message=f"{topic}-{n} has 1 of 3 replicas in its ISR")
        for topic in ("a", "b", "c", "d")
        for n in range(2)
    ]
    document, _ = told(findings, ONE)
    assert [row.where for row in filters.findings_page(report_of(document), Wanted()).rows] == ["4 topics: a, b, c and 1 more"]


FILTERED = [
    small_cluster.finding("KA105", "broker/0", severity="CRITICAL"),
    small_cluster.finding("KA302", "broker/2/listener/PLAINTEXT", lifecycle="ongoing"),
    small_cluster.finding("KA607", "cluster", severity="LOW", muted=True),
    small_cluster.finding("KA401", "broker/2", status="UNKNOWN"),
    small_cluster.finding("KA208", "cluster", status="NOT_APPLICABLE"),
]


@pytest.mark.parametrize(
    ("address", "codes"),
    [
        ({}, ["KA105", "KA302", "KA607", "KA401"]),
        ({"status": "all"}, ["KA105", "KA302", "KA607", "KA401", "KA208"]),
        ({"status": "UNKNOWN"}, ["KA401"]),
        ({"code": "KA302"}, ["KA302"]),
        ({"severity": "LOW"}, ["KA607"]),
        ({"broker": "2"}, ["KA302", "KA401"]),
        ({"lifecycle": "ongoing"}, ["KA302"]),
        ({"muted": "yes"}, ["KA607"]),
        ({"muted": "no", "status": "FAIL"}, ["KA105", "KA302"]),
        ({"words": "listener plaintext"}, ["KA302"]),
        ({"severity": "TERRIBLE", "page": "-1"}, ["KA105", "KA302", "KA607", "KA401"]),
    ],
)
def test_the_address_filters(told, address, codes):
    document, _ = told(FILTERED, {**ONE, "brokers": {0: "a:9092", 2: "c:9092"}})
    page = filters.findings_page(report_of(document), Wanted.of(address))
    assert sorted(row.findings[0].code for row in page.rows) == sorted(codes)


def test_a_page_beyond_the_last_is_the_last(told):
    document, _ = told(FILTERED, ONE)
    assert filters.findings_page(report_of(document), Wanted(page=99), per_page=2).number == 2


def test_sixty_brokers_fold_to_what_differs():
    ids = list(range(60))
    drawn = {
        "brokers": ids,
        "controller": 0,
        "endpoints": {},
        "observers": [
            {
                "name": f"broker {n}",
                "broker": n,
                "note": "",
                "view": "." * 60,
                "reach": "." * 40 + ("T" if 20 <= n < 40 else ".") * 20,
            }
            for n in ids
        ],
        "why": [
            {
                "letter": "T",
                "observers": [f"broker {n}" for n in range(20, 40)],
                "brokers": list(range(40, 60)),
                "text": "tcp: timeout",
            }
        ],
    }
    folded = picture.build_picture(part_of(Matrix, drawn))
    assert (len(folded.rows), len(folded.columns)) == (2, 2)
    (failing,) = [cell for _, cells in folded.rows for cell in cells if cell.letter == "T"]
    assert failing.says == "timeout"
    assert [(letter, number) for _, letter, _, number, _ in folded.legend] == [("T", 400), (".", 3200)]
    whole_picture = picture.build_picture(part_of(Matrix, drawn), fold=False)
    assert (len(whole_picture.rows), len(whole_picture.columns)) == (60, 60)
    assert whole_picture.dense
    assert folded.words == tuple(matrix.in_words(part_of(Matrix, drawn)))
    assert {letter for letter, _ in folded.words} == {"T"}


def test_a_cell_that_hides_what_is_not_known_says_so():
    observers = [{"name": "broker 0", "broker": 0, "note": "", "reach": "?", "view": "V"}]
    drawn = {"brokers": [0], "controller": None, "endpoints": {}, "observers": observers, "why": []}
    ((_, (cell,)),) = picture.build_picture(part_of(Matrix, drawn)).rows
    assert (cell.letter, cell.hides) == ("V", True)
    ((_, (cell,)),) = picture.build_picture(part_of(Matrix, drawn), mode="reach").rows
    assert (cell.letter, cell.hides) == ("?", False)


def test_nothing_asked_is_no_picture():
    assert (
        picture.build_picture(part_of(Matrix, {"brokers": [], "controller": None, "endpoints": {}, "observers": [], "why": []}))
        is None
    )


def test_the_views_are_shown_where_they_differ_and_marked(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    page = cluster.cluster_page(report_of(document), AROUND, wanted=Wanted())
    assert 'class="id differs"' in page
    assert "Views, side by side" in whole(document).says()
    document["views"]["columns"] = document["views"]["columns"][:1]
    assert "Views, side by side" not in whole(document).says()
    del document["views"]  # a report of an earlier version
    assert "Views, side by side" not in whole(document).says()


def test_what_all_views_say_is_one_line_and_no_row_also_where_a_view_is_not_shown(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    columns = [{"observers": [f"broker {n}"], "values": [f"0-{n}", "abc"]} for n in range(9)]
    document["views"] = {"rows": ["brokers", "cluster id"], "columns": columns}
    says = whole(document).says()
    assert "The same in all views: cluster id abc ." in says
    assert "broker 7 brokers 0-0" in says, "eight columns fit"
    columns[8]["values"][1] = "another"
    assert "The same in all views" not in whole(document).says()


def test_the_legend_has_the_reasons_of_its_letters(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    says = whole(document).says()
    assert "tcp 2 ( no route to host ) V view 3 ( lists no broker ) . agrees 10" in says


def test_silence_is_not_health(told):
    ten = {"brokers": {n: f"b{n}:9092" for n in range(10)}, "views": {n: {"answers": False} for n in range(1, 10)}}
    document, _ = told([], {**small_cluster.KRAFT, **ten})
    assert condense(report_of(document)).state.group == "Not judged"
    assert condense(report_of(document), 0.05).state.word == "clear"
    assert "Not judged: only 8 of 62 reads were answered" in whole(document).says()


def glance(name, document, snapshots=("20260914T180000Z-prod-0001",), **changed):
    digests = [condense(report_of({**document, "snapshot_id": one, **changed})) for one in snapshots]
    return pages.Glance(cluster=name, link=f"clusters/{name}", digests=digests)


def test_the_overview_counts_what_is_broken_and_what_is_not_known(audited, told):
    broken, _ = audited("cut_off", "one_broker_measured")
    clear, _ = told([], ONE)
    glances = [glance("quiet", clear), glance("payments", broken), pages.Glance(cluster="new", link="", digests=[])]
    says = Shown(pages.overview_page(glances, now=NOW, up="./")).says()
    assert "1 of 3 clusters has an incident; 1 not judged" in says
    assert says.index("payments") < says.index("never audited") < says.index("quiet")


def test_fifty_clusters_have_a_filter_and_groups_and_three_do_not(audited, told):
    broken, _ = audited("cut_off", "one_broker_measured")
    clear, _ = told([], ONE)
    teams = ("payments", "search")
    glances = [
        replace(glance(f"c{number:02}", broken if number == 7 else clear), labels={"team": teams[number % 2]})
        for number in range(50)
    ]
    page = Shown(pages.overview_page(glances, now=NOW, up="./", wanted=ClusterFilter(by="team")))
    says = page.says()
    assert "1 of 50 clusters has an incident" in says
    assert "search 25 clusters: 1 with an incident" in says
    assert "payments 25 clusters" in says
    assert says.index("c07") < says.index("c00")
    assert len([link for link in page.links if link.startswith("clusters/")]) == 50
    filtered = Shown(pages.overview_page(glances, now=NOW, up="./", wanted=ClusterFilter(words="c07"), kept={"run": "x"}))
    assert "1 of 50 clusters has an incident" in filtered.says()
    assert "1 of 50 clusters." in filtered.says()
    assert [link for link in filtered.links if link.startswith("clusters/")] == ["clusters/c07"]
    assert "?run=x" in filtered.links
    nothing = Shown(pages.overview_page(glances, now=NOW, up="./", wanted=ClusterFilter(words="zzz"))).says()
    assert "No cluster matches the filter." in nothing
    few = Shown(pages.overview_page([replace(one, labels={}) for one in glances[:3]], now=NOW, up="./"))
    assert "form" not in few.tags


def test_a_report_that_should_have_been_followed_by_others_is_stale(told):
    clear, _ = told([], ONE)
    times = [f"2026-09-14T{hour:02}:00:00Z" for hour in (6, 5, 4, 3, 2)]
    digests = [condense(report_of({**clear, "finished_at": at})) for at in times]
    one = pages.Glance(cluster="prod", link="clusters/prod", digests=digests)
    assert "stale" in pages.overview_page([one], now=NOW, up="./")
    assert "stale" not in pages.overview_page([one], now=datetime(2026, 9, 14, 8, 0, tzinfo=UTC), up="./")


def three(told):
    """Healthy, broken, and blind; the changes of each against the one before."""
    fails = small_cluster.finding("KA105", "broker/0")
    unknown = small_cluster.finding("KA105", "broker/0", status="UNKNOWN", lifecycle="incomparable")
    documents = [told(found, ONE)[0] for found in ([], [fails], [unknown])]
    for number, document in enumerate(documents):
        document["snapshot_id"] = f"20260914T18000{number}Z-prod-000{number}"
        document["previous_snapshot_id"] = documents[number - 1]["snapshot_id"] if number else None
    documents[1]["changes"] = [{"kind": "config", "resource": "broker/0/x", "before": "1", "after": "2"}]
    documents[2]["changes"] = [{"kind": "config", "resource": "broker/0/x", "before": "2", "after": "1"}]
    return documents


def test_what_could_not_be_judged_is_not_resolved(told):
    healthy, broken, blind = three(told)
    digests = [condense(report_of(one)) for one in (healthy, broken, blind)]
    assert timeline.compare_reports(report_of(healthy), report_of(broken), digests[1:2]).counts["new"] == 1
    assert timeline.compare_reports(report_of(broken), report_of(blind), digests[2:]).counts == {
        "new": 0,
        "ongoing": 0,
        "resolved": 0,
        "incomparable": 1,
    }
    assert timeline.compare_reports(report_of(broken), report_of(healthy), []).counts["resolved"] == 1
    (row,) = timeline.timeline_rows(digests)
    assert row.numbers == (None, 1, -1)


def test_each_row_of_the_timeline_is_named_by_its_check_wherever_the_findings_are(told):
    lower = {"severity": "MEDIUM", "name": "inter_broker_plaintext"}
    lacking = small_cluster.finding("KA105", "broker/0", name="broker_missing_from_view")
    plain = [small_cluster.finding("KA411", place, **lower) for place in ("broker/0", "broker/1", "cluster")]
    digests = [condense(report_of(told(findings, ONE)[0])) for findings in (plain[:1], plain, [lacking, plain[2]])]
    rows = timeline.timeline_rows(digests)
    assert [(row.code, row.incident, row.name, row.numbers) for row in rows] == [
        ("KA105", True, "broker missing from view", (None, None, 1)),
        ("KA411", False, "inter broker plaintext", (1, 3, 1)),
    ]


def test_a_view_that_one_report_lacks_is_a_difference_of_the_other(told):
    healthy, broken, _ = three(told)
    broken["views"] = {"rows": ["brokers"], "columns": [{"observers": ["broker 0"], "values": ["0"]}]}
    healthy["views"] = {"rows": ["brokers"], "columns": [{"observers": ["zookeeper"], "values": ["0-2"]}]}
    facts = timeline.compare_reports(report_of(healthy), report_of(broken), [condense(report_of(broken))]).facts
    assert {fact for fact in facts if fact[0].endswith("view")} == {
        ("ZooKeeper, view", "brokers 0-2", "not read"),
        ("broker 0, view", "not read", "brokers 0"),
    }


def test_the_card_says_since_when_audits_find_the_incident(told):
    _, broken, _ = three(told)
    (incident,) = broken["incidents"]
    lasting = {**broken, "incidents": [{**incident, "first_seen": "2026-09-14T04:00:00Z", "audits": 3}]}
    shown = [Shown(cluster.cluster_page(report_of(one), AROUND, wanted=Wanted.of({}))).says() for one in (broken, lasting)]
    assert "first seen in this audit" in shown[0]
    assert "since 14 Sep 2026 04:00 UTC (3 audits)" in shown[1]


def test_changes_between_any_two_add_up(told):
    healthy, broken, blind = three(told)
    digests = [condense(report_of(one)) for one in (healthy, broken, blind)]
    assert ("config: broker/0/x", "1", "2") in timeline.compare_reports(report_of(healthy), report_of(broken), digests[1:2]).facts
    both = timeline.compare_reports(report_of(healthy), report_of(blind), digests[1:])
    assert not [fact for fact in both.facts if fact[0].startswith("config")]
    assert both.notes == ()
    assert timeline.compare_reports(report_of(healthy), report_of(blind), digests[2:]).notes != ()


def test_the_catalogue_has_a_page_for_every_check():
    checks = catalogue()
    listing = Shown(pages.catalogue_page(checks, [], up="./"))
    for code, check in checks.items():
        assert f"./checks/{code}" in listing.links
        page = Shown(pages.check_page(check, up="../"))
        assert check.code in page.says()
        assert set(page.tags) <= ALLOWED


def test_old_reports_without_groups_and_storms_with_them(audited):
    document, _ = audited("cut_off", "many_brokers")
    assert whole(document)
    for incident in document["incidents"]:
        incident.pop("groups", None)
    assert "Explained findings" not in whole(json.loads(json.dumps(document))).says()


def test_escaped_text_reads_as_it_is(told):
    page = cluster.cluster_page(report_of(hostile_document(told, "a & b < c")), AROUND, wanted=Wanted())
    assert escaping.escape("a & b < c") in page


def test_an_audit_that_came_to_no_report_is_no_good_news(told):
    clear, _ = told([], ONE)
    failed = pages.Failed(task="collect", run="x", at=datetime(2026, 9, 14, 18, 2, tzinfo=UTC))
    one = pages.Glance(
        cluster="prod", link="clusters/prod", digests=[condense(report_of(clear))], failed=failed, run_link="/dags/x"
    )
    says = Shown(pages.overview_page([one], now=NOW, up="./")).says()
    assert "1 cluster not judged" in says
    assert "the run of 14 Sep 18:02 UTC has no report, because its task collect failed. Last report: Clear" in says
    earlier = pages.Failed(task="collect", run="x", at=datetime(2026, 9, 14, 17, 0, tzinfo=UTC))
    healed = pages.Glance(cluster="prod", link="clusters/prod", digests=[condense(report_of(clear))], failed=earlier)
    assert "has no report" not in pages.overview_page([healed], now=NOW, up="./")


def test_clusters_that_were_never_audited_are_no_good_news_and_say_what_to_do():
    never = [pages.Glance(cluster=name, link="", digests=[]) for name in ("prod", "stage")]
    page = pages.overview_page(never, now=NOW, up="./", problems=["The cluster file has a fault."])
    says = Shown(page).says()
    assert "No audit yet of 2 clusters" in says
    assert "No incident" not in says
    assert "Trigger the DAG kafka_audit , or run kafka-audit run CLUSTER with" in says
    assert "Add the cluster to the cluster file" not in says, "they are there"
    assert "Legend of the trend" not in page
    assert says.index("The cluster file has a fault.") < says.index("Trigger the DAG") < says.index("never audited")


def test_what_was_not_judged_does_not_count_as_free_of_incidents(told):
    clear, _ = told([], ONE)
    glances = [
        pages.Glance(cluster="prod", link="x", digests=[condense(report_of(clear))]),
        pages.Glance(cluster="stage", link="", digests=[]),
    ]
    says = Shown(pages.overview_page(glances, now=NOW, up="./")).says()
    assert "No incident in 1 of 2 clusters; 1 not judged" in says
    assert "Trigger the DAG" not in says


def test_a_filter_that_is_set_stays_open_on_a_phone(told):
    document, _ = told([small_cluster.finding("KA411", "broker/0")], ONE)
    as_is, filtered = (
        cluster.cluster_page(report_of(document), AROUND, wanted=Wanted.of(query)) for query in ({}, {"code": "KA411"})
    )
    assert '<details class="filters" open data-narrow>' in as_is
    assert '<details class="filters" open>' in filtered


def test_an_incident_stays_one_when_nobody_looks_any_more(audited):
    broken, _ = audited("cut_off", "one_broker_measured")
    digests = [condense(report_of({**broken, "finished_at": f"2026-09-14T{hour:02}:00:00Z"})) for hour in (6, 5, 4, 3, 2)]
    says = Shown(
        pages.overview_page([pages.Glance(cluster="prod", link="clusters/prod", digests=digests)], now=NOW, up="./")
    ).says()
    assert "1 of 1 cluster has an incident" in says
    assert "12 audits missed" in says
