"""Pages that say what the code says."""

import ast
import re
import shlex
import zipfile
from functools import cache

import pytest
import yaml

from airflow_environment import ROOT
from kafka_audit.checks import catalogue
from kafka_audit.cli import arguments
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import TABLES
from kafka_audit.report import docs
from kafka_audit.report.schema import schema_text
from kafka_audit.report.symptoms import symptom_pages
from kafka_audit.report.symptoms.search import search
from testbed.jars import kafka_jars

DOCS = ROOT / "docs"
SYMPTOMS = sorted((DOCS / "symptoms").glob("*.md"))
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "adr").glob("*.md")),
    *SYMPTOMS,
]


def test_the_page_of_tables_is_the_tables():
    """`make docs` writes it anew."""
    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == docs.tables_page()


def test_the_page_of_logs_is_the_signatures():
    assert (ROOT / "docs" / "logs.md").read_text(encoding="utf-8") == docs.logs_page()


def test_the_schema_is_that_of_the_structs():
    assert (ROOT / "docs" / "findings.schema.json").read_text(encoding="utf-8") == schema_text()


def test_every_table_and_column_stands_on_the_page():
    page = docs.tables_page()
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == [table.table() for table in TABLES]
    assert "| `brokers_digest` | string | -> ViewBroker |" in page


def test_make_docs_writes_a_page_for_each_check(tmp_path):
    assert docs.main([str(tmp_path)]) == 0
    assert {page.stem for page in (tmp_path / "checks").glob("KA*.md")} == set(catalogue())
    index = (tmp_path / "checks" / "index.md").read_text(encoding="utf-8")
    assert all(f"[{code}]({code}.md)" in index for code in catalogue())


def test_the_pages_of_checks_and_symptoms_are_what_the_code_says(tmp_path):
    """`make docs` writes them anew; links lead to them, so they are kept."""
    docs.write_docs(tmp_path)
    written, kept = (
        {str(page.relative_to(root)): page.read_text(encoding="utf-8") for page in pages}
        for root in (tmp_path, DOCS)
        for pages in [[*(root / "checks").iterdir(), *(root / "symptoms").iterdir(), root / "symptoms.md"]]
    )
    assert {name for name in written.keys() | kept if written.get(name) != kept.get(name)} == set(), "make docs"


def test_no_page_shows_a_template():
    pages = [*PAGES, *(DOCS / "checks").glob("*.md")]
    shown = {page.name: re.findall(r"\{%.*?%\}|\{[a-z_]+\|.*?\}", page.read_text(encoding="utf-8")) for page in pages}
    assert {name for name, found in shown.items() if found} <= {"new-check.md"}  # it explains them


def test_security_promises_what_a_test_holds():
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)
    assert len(named) > 30
    gone = [f"{file}::{name}" for file, name in named if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")]
    assert gone == []
    promises = page.partition("## Credentials")[2]
    rows = re.findall(r"^\| (?!promise|---)(.*) \|$", promises, re.MULTILINE)
    assert [row for row in rows if "`tests/" not in row] == [], "a promise without a test"


PACKAGE = ROOT / "plugins" / "kafka_audit"
PROSE = sorted(path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".yaml", ".sql", ".j2", ".json", ".js"})
LANGUAGE = DOCS / "language.md"


def anchors(page):
    """Return the names that GitHub gives to the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
        there = (page.parent / target) if target else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


def refused_words():
    """Return the pattern of the words that docs/language.md refuses."""
    table = LANGUAGE.read_text(encoding="utf-8").partition("| refused | write |")[2].partition("\n\n")[0]
    words = [word for line in table.splitlines()[2:] for word in re.findall(r"`([^`]+)`", line.split("|")[1])]
    assert len(words) > 10
    pattern = "|".join(words).replace(" ", r"\s+(?:# )?")  # a comment goes on in the next line
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE)


def test_texts_have_no_refused_words():
    """Also across lines, and in comments and names."""
    refused = refused_words()
    pages = [page for page in (*PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *PROSE) if page != LANGUAGE]
    found = [
        f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for page in pages
        for text in [page.read_text(encoding="utf-8")]
        for match in refused.finditer(text)
    ]
    assert not found, "\n".join(found)


@cache
def code():
    """Return the text of the product, and of the tests that a page may tell people to run."""
    files = [file for folder in ("plugins", "dags") for file in (ROOT / folder).rglob("*.py")]
    files += [ROOT / "docker-compose.yaml", ROOT / "clusters.example.yaml"]
    files += [file for folder in (ROOT / "tests", ROOT / "tests" / "scenarios") for file in folder.glob("*.py")]
    return "".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_codes_and_settings_exist(page):
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"\bKA\d{3}\b", text)) - {"KA999"} <= set(catalogue())
    for name in re.findall(r"\b(?:KAFKA_AUDIT|AIRFLOW)_[A-Z_]+[A-Z]\b", text):
        assert name in code() or name.startswith("AIRFLOW_CONN_"), name


def refused(words):
    """Return why the console script does not take a command; empty where it does."""
    try:
        arguments.parse_arguments(words)
    except UsageError as error:
        return str(error)
    except SystemExit as end:
        return str(end.code or "")
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_is_one(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "performance.md":  # what benchmarks print begins with commands, and goes on with what was measured
        text = re.sub(r"^```text$.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^(kafka-audit .*)$", text, re.MULTILINE) + re.findall(r"`(kafka-audit [a-z][^`\n]*)`", text)
    for line in lines:
        words = shlex.split(re.split(r" {3,}|…|[>|]", line)[0], comments=True)[1:]
        why = refused(words)
        assert not why or ("arguments are required" in why and (len(words) == 1 or "…" in line)), f"{line}: {why}"


FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
TEMPLATES = [*FORMS, ROOT / ".github" / "pull_request_template.md"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_a_template_names_pages_targets_and_commands_that_exist(template):
    text = template.read_text(encoding="utf-8")
    for line in re.findall(r"(?:`|placeholder: )(kafka-audit [^`\n]+)", text):
        if line != "kafka-audit report":  # without the snapshot, which differs
            assert not refused(shlex.split(line)[1:]), line
    for page in re.findall(r"(?:docs/)?[\w-]+\.md\b", text):
        assert (ROOT / page).is_file(), page
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for words in re.findall(r"`make ([a-z ]+)", text):
        assert set(words.split()) <= targets, words


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_has_the_parts_that_forms_have(form):
    raw = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert raw.keys() == {"name", "description", "title", "labels", "body"}
    for part in raw["body"]:
        assert part["type"] in {"markdown", "textarea", "input", "dropdown", "checkboxes"}
        assert part["type"] == "markdown" or (part["id"] and part["attributes"]["label"])


def test_a_report_of_a_fault_demands_a_bundle():
    (fault,) = [yaml.safe_load(form.read_text(encoding="utf-8")) for form in FORMS if form.name == "fault.yml"]
    required = [part["id"] for part in fault["body"] if part.get("validations", {}).get("required")]
    assert required[0] == "bundle"
    assert "docs/bundles.md" in str(fault)


def test_a_link_to_a_check_is_called_as_the_check():
    for page in PAGES:
        for called, code in re.findall(r"\[(KA\d{3})\]\([\w/]*(KA\d{3})\.md\)", page.read_text(encoding="utf-8")):
            assert called == code, page.name


def test_every_page_is_in_the_index():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in DOCS.glob("*.md")} - {"README.md"} == set(re.findall(r"\]\(([\w-]+\.md)\)", index))


def test_the_index_has_the_order_of_the_site():
    tables = re.findall(r"^\| \[.*?\]\(([^)]+)\.md\) \|", (DOCS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    navigation = re.search(r"NAVIGATION = (\{.*?\n\})", (DOCS / "site/conf.py").read_text(encoding="utf-8"), re.DOTALL)[1]
    entries = [entry.rpartition("<")[2].rstrip(">") for group in ast.literal_eval(navigation).values() for entry in group]
    of_site = ["/README" if entry == "self" else entry for entry in entries if entry != "/docs/README"]
    assert [f"/docs/{page}" if page[0] != "." else page[2:] for page in tables] == of_site


ASKED = {
    # What people said of outages, and where the answer stands: a page of the symptoms, and words in it.
    "kafka: client has run out of available brokers to talk to": ("no-brokers", ["KA301", "KA105", "KA302"]),
    "Local: Broker transport failure": ("no-brokers", ["librdkafka", "KA301"]),
    "Local: All broker connections are down": ("no-brokers", ["librdkafka", "KA105"]),
    "LEADER_NOT_AVAILABLE, and kafka-topics --zookeeper shows a leader": (
        "leader-not-available",
        ["KA302", "KA401", "reads ZooKeeper"],
    ),
    "one broker of three is published, bootstrap works": ("one-broker-reachable", ["KA301", "KA313", "KA111"]),
    "the controller must be exposed": ("expose-controller", ["No.", "Every *broker*"]),
    "tools show another controller each time in KRaft": (
        "expose-controller",
        ["random live broker", "KA202"],
    ),
    "the new broker holds nothing": ("new-broker-idle", ["KA613"]),
    "leaders are not where they belong": ("leaders-move", ["KA607", "KA206", "KA203"]),
    "names of the chart resolve only inside": ("unknown-host", ["KA316", "lint", "KA301"]),
    "controller and broker in one process": ("unknown-host", ["KA215", "combined mode"]),
    "a disk died, and some producers fail for hours": (
        "clients-after-disk-failure",
        ["KA506", "sarama", "aiokafka", "librdkafka", "kafka-go"],
    ),
    "which producers are they": ("clients-after-disk-failure", ["clientSoftwareName", "KIP-511"]),
    "the network interface is full": ("slow-broker", ["KA604", "saturated"]),
    "the port is open, the view is empty, with one broker": (
        "cluster-authorization",
        ["KA401", "one broker"],
    ),
    "kafka-topics.sh hangs": ("node-assignment", ["KA401", "60 seconds"]),
    "transactions do not end at that broker": (
        "cluster-authorization",
        ["Transaction markers", "forwards"],
    ),
    "read_committed consumers stop": ("read-committed", ["KA614"]),
    "the producer stays with the wrong broker although every broker is right": (
        "not-leader",
        ["One client stays with the wrong broker", "Restart that client"],
    ),
    "controllers with SCRAM: the quorum no longer has a chance to gather": (
        "quorum-without-leader",
        ["never gathers again", "SCRAM", "KA713"],
    ),
    "controllers advertise what the others do not reach: no new leader can be established": (
        "quorum-without-leader",
        ["do not reach the advertised addresses of the others", "KA218", "KA219"],
    ),
    "cannot establish quorum to update endpoints, cannot update endpoints without quorum": (
        "quorum-without-leader",
        ["no leader can be elected to write the new ones", "old names resolve", "KA218"],
    ),
    "a controller is 1/1 Ready and does nothing after a DNS race": (
        "quorum-without-leader",
        ["1/1 Ready", "UnknownHostException", "Restart it"],
    ),
    "the broker refuses to start": ("start-refused", ["KA311", "lint"]),
}


@pytest.mark.parametrize("said", ASKED)
def test_what_people_say_of_an_outage_has_an_answer(said):
    page, words = ASKED[said]
    flat = " ".join((DOCS / "symptoms" / f"{page}.md").read_text(encoding="utf-8").split())
    assert [word for word in words if word not in flat] == []
    if said.startswith(("kafka:", "Local:")):
        assert said in flat


TYPED = {
    # What people search for, `…` for what differs, and what the page with it names.
    "Leader: none": ("KA601", "KA113"),
    "Leader: -1": ("KA601", "KA102"),
    "client/metadata found some partitions to be leaderless": ("KA601",),
    "Failed to update metadata after": ("KA105", "KA107"),
    "Node -1 disconnected": ("KA301", "KA319"),
    "Bootstrap broker … disconnected": ("KA301", "security.protocol"),
    "Unexpected Kafka request of type … during SASL handshake": ("KA301", "KA312"),
    "telnet works": ("KA301", "max.connections.per.ip"),
    "Unexpected error handling request … principal=User:ANONYMOUS": ("KA401", "VOTE"),
    "Error when handling request": ("KA401",),
    "ACL not working": ("KA408", "KA409", "User:ANONYMOUS"),
    "CLUSTER_AUTHORIZATION_FAILED in UpdateMetadata": ("KA401", "KA403"),
    "Unexpected error handling request … VOTE": ("KA220", "KA714"),
    "describeMetadataQuorum": ("KA201", "KA209", "KA218", "UnknownHostException"),
    "no new leader can be established": ("KA218", "KA219"),
    "cannot update endpoints without quorum": ("KA218", "KA219"),
    "Disconnecting from node … due to socket connection setup timeout": ("KA218",),
    "INVALID_VOTER_KEY": ("KA214", "KA219", "localhost"),
    "still don't know the high water mark": ("KA201", "KA209"),
    "VoterSet(voters={})": ("--standalone", "KA201"),
    "StaleBrokerEpochException": ("KA114", "KA212"),
    "Expected broker epoch … but got broker epoch": ("KA114",),
    "Unable to send heartbeat": ("KA210", "KA216"),
    "load balancer": ("KA320", "KA304"),
    "round robin": ("KA111", "KA319"),
    "java.lang.OutOfMemoryError": ("KA321",),
    "Too many open files": ("KA321",),
    "Map failed": ("KA321", "vm.max_map_count"),
    "marked as failed": ("KA618",),
    "as uncleanable": ("KA617", "KA616"),
    "__consumer_offsets grows": ("KA617",),
    "Docker": ("KA303", "two listeners"),
    "Connection to node -1 (localhost": ("bootstrap.servers",),
    "Node may not be available": ("KA301", "KA302"),
    "This server is not the leader for that topic-partition": ("KA101", "KA111"),
    "Timed out waiting for a node assignment": ("KA105", "KA401"),
}
COMMON = ("ANONYMOUS", "Docker", "disconnected", "heartbeat", "high water mark", "load balancer", "localhost", "SCRAM", "VOTE")
_FEW = 4


def plain(text):
    """Return what a search compares: no articles, no marks of Markdown, no targets of links, `…` for anything."""
    bare = re.sub(r"\]\([^)]*\)|^> ?|[`*\[\]]", "", text, flags=re.MULTILINE)
    return " ".join(word for word in bare.lower().split() if word not in {"a", "an", "the"})


def pages_with(typed):
    """Return the pages of symptoms in which typed words stand, in this order."""
    pattern = ".{0,60}".join(re.escape(part.strip()) for part in plain(typed).split("…"))
    return [page for page in SYMPTOMS if re.search(rf"(?<!\w){pattern}", plain(page.read_text(encoding="utf-8")))]


@pytest.mark.parametrize("typed", TYPED)
def test_what_people_type_is_found_with_its_cause(typed):
    found = pages_with(typed)
    assert len(found) in range(1, _FEW), [page.name for page in found]
    assert any(all(named in page.read_text(encoding="utf-8") for named in TYPED[typed]) for page in found), found
    best = search(typed.replace("…", "12")).pages[0]
    assert all(named in (DOCS / "symptoms" / f"{best}.md").read_text(encoding="utf-8") for named in TYPED[typed]), best


@pytest.mark.parametrize("word", COMMON)
def test_a_common_word_does_not_lead_everywhere(word):
    assert len(pages_with(word)) in range(1, _FEW + 2), [page.name for page in pages_with(word)]


@pytest.mark.bed
def test_what_kafka_is_quoted_with_is_what_it_says():
    """Every message of the symptoms that is called Kafka's, taken apart at its variables, stands in the classes of a release."""
    pages = symptom_pages().values()
    quoted = [*(line for page in pages for line in page.kafka), *(names[0] for page in pages for names in page.errors.values())]
    wanted = {part.strip(" :") for line in quoted for part in line.split("…") if len(part.strip(" :")) > 5}
    assert len(wanted) > 30
    found = set()
    for version in ("4.3.0", "3.9.1", "2.8.2"):
        for jar in kafka_jars(version).glob("*.jar"):
            if not jar.name.startswith(("kafka", "zookeeper-3")):
                continue
            with zipfile.ZipFile(jar) as classes:
                for name in classes.namelist():
                    content = classes.read(name) if name.endswith(".class") else b""
                    found |= {words for words in wanted - found if words.encode() in content}
    assert wanted - found == set()
