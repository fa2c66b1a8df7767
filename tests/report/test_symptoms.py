"""The pages of what people type: complete, found by their words, and drawn from the symptom to the check."""

from pathlib import Path

import kafka.errors
import pytest
import yaml

from counted_work import counted_calls
from kafka_audit.checks import catalogue
from kafka_audit.model.errors import UsageError
from kafka_audit.report.plain_text import explain
from kafka_audit.report.plain_text.lines import fault_shown
from kafka_audit.report.symptoms import decision, spellings, symptom_pages
from kafka_audit.report.symptoms.markdown import index_markdown
from kafka_audit.report.symptoms.search import search
from kafka_audit.says.reading import read_pasted
from kafka_audit.says.signs import SIGNS, ZOOKEEPER_CLIENT
from report.threads import FEW, MARKDOWN, PAGE, THREADS, explained, grepped, markdown, searched

PAGES = symptom_pages()
FREE_WORDS = yaml.safe_load(Path(__file__).with_name("free_words.yaml").read_text(encoding="utf-8"))


def explanation(words, width=100):
    return explain.explained(catalogue(), words, width=width, color=False)


def shown_for(words):
    """Return the page that `explain` shows for words, if it shows one."""
    return search(words).pages[:1] if explanation(words).fits else ()


def page_of(words, width=100):
    return explanation(words, width).text


def test_every_line_of_a_log_that_an_audit_knows_has_a_page():
    assert set(SIGNS) == {name for page in PAGES.values() for name in page.log}


def test_what_a_line_of_a_log_shows_is_among_the_checks_of_its_page():
    for signature in SIGNS.values():
        shown = {signature.supports, *(code for _, code in (*signature.by_reason, *signature.by_detail))} - {None}
        if signature.part == ZOOKEEPER_CLIENT:  # what keeps a broker from ZooKeeper shows in its registration
            shown = {"KA113"}
        assert shown & {code for page in PAGES.values() if signature.id in page.log for code in page.codes}, signature.id


@pytest.mark.parametrize("slug", PAGES)
def test_a_page_says_what_it_means_whether_it_is_normal_and_which_check_finds_the_cause(slug):
    page = PAGES[slug]
    assert set(page.codes) <= set(catalogue())
    assert page.codes
    assert page.means.endswith(".")
    assert page.normal.endswith(".")
    assert page.first
    for heading in ("What it means", "Is it normal?", "From the symptom to the check", "First command", "Checks"):
        assert f"## {heading}" in MARKDOWN[slug]


@pytest.mark.parametrize("slug", PAGES)
def test_a_page_is_found_by_its_own_title_and_messages(slug):
    page = PAGES[slug]
    assert search(page.title).pages[0] == slug
    for message in (*page.kafka, *page.clients):
        assert slug in search(message).pages[:FEW], message


def test_an_error_of_the_protocol_has_its_number_and_a_name_that_a_client_uses():
    """kafka-python names each error by its number; Kafka's own names are compared with its classes."""
    of_client = {(error.errno, error.__name__) for error in vars(kafka.errors).values() if getattr(error, "errno", None)}
    listed = [(code, names, page) for page in PAGES.values() for code, names in page.errors.items()]
    assert len({code for code, _, _ in listed}) == len(listed) > 30
    for code, names, page in listed:
        assert {(code, spelling) for name in names for spelling in spellings(name)} & of_client, code
        for name in names:
            assert all(search(spelling).pages[0] == page.slug for spelling in spellings(name)), name


@pytest.mark.parametrize(
    "spelled",
    [
        ("NOT_COORDINATOR", "NotCoordinator", "NotCoordinatorException", "NotCoordinatorError"),
        ("KAFKA_STORAGE_ERROR", "KafkaStorageError", "KafkaStorageException"),
        ("NETWORK_EXCEPTION", "NetworkException", "NetworkExceptionError"),
        (
            "TOPIC_AUTHORIZATION_FAILED",
            "TopicAuthorizationFailed",
            "TopicAuthorizationException",
            "TopicAuthorizationFailedError",
        ),
    ],
)
def test_an_error_is_spelled_as_clients_do(spelled):
    assert spellings(spelled[0]) == spelled


def test_the_index_lists_every_page_once_below_its_section():
    text = index_markdown(PAGES.values())
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        f"## {section}" for section in dict.fromkeys(page.section for page in PAGES.values())
    ]
    assert all(text.count(f"(symptoms/{slug}.md)") == 1 for slug in PAGES)


def test_the_picture_leads_from_the_symptom_to_the_checks():
    tree = {"it is down": "KA113", "it runs": {"its disk failed": "KA501, KA503", "else": "restart it"}}
    names = {"KA113": "broker_gone", "KA501": "log_dir_offline", "KA503": "replicas_offline"}
    assert list(decision(tree, names)) == [
        "├─ it is down → KA113 broker_gone",
        "└─ it runs",
        "   ├─ its disk failed → KA501 log_dir_offline, KA503 replicas_offline",
        "   └─ else → restart it",
    ]


@pytest.mark.parametrize(
    "thread",
    [thread for threads in THREADS.values() for thread in threads],
    ids=lambda thread: thread["thread"].removeprefix("https://github.com/"),
)
def test_the_words_of_a_thread_lead_to_its_page_in_one_step(thread):
    assert thread["check"] in PAGES[thread["page"]].codes
    assert thread.get("grep", "") in thread["words"]
    found = (*searched(thread), "none")[0]
    assert found == thread.get("missed", thread["page"])
    assert thread.get("missed") != thread["page"], "it is found: no longer missed"
    assert explained(thread) in {None, found}


def test_explain_shows_a_page_of_another_message_for_few_threads():
    shown = [(explained(thread), thread["page"]) for threads in THREADS.values() for thread in threads]
    assert len(shown) == 116
    assert sum(found == page for found, page in shown) >= 90
    threads = [thread for threads in THREADS.values() for thread in threads if explained(thread) is None]
    named = [thread for thread in threads if any(map(fault_shown, read_pasted(thread["words"])))]
    assert len(named) >= 4  # the fault that the line itself shows is the answer; no page follows
    assert sum(found not in {page, None} for found, page in shown) <= 3


def test_nineteen_of_twenty_chosen_threads_are_found_in_one_step_and_by_a_grep():
    chosen = THREADS["chosen"]
    assert len(chosen) == 20
    assert sum(searched(thread)[0] == thread["page"] for thread in chosen) >= 19
    assert sum(map(grepped, chosen)) >= 19


def test_no_thread_is_in_two_lists_and_their_page_says_what_is_measured():
    """`python -m report.threads` writes it."""
    named = [thread["thread"] for threads in THREADS.values() for thread in threads]
    assert len(named) == len(set(named))
    assert PAGE.read_text(encoding="utf-8") == markdown()


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("Leader: none", "kafka-topics.sh shows Leader: none"),
        ("leader-none", "kafka-topics.sh shows Leader: none"),
        ("NoBrokersAvailable", "client has run out of available brokers"),
        ("LEADER_NOT_AVAILABLE", "LEADER_NOT_AVAILABLE, but kafka-topics shows a leader"),
        ("leader_not_available", "KA102 leader_not_available"),
        ("ka102", "KA102 leader_not_available"),
    ],
)
def test_explain_takes_an_error_message_beside_codes_and_names(typed, title):
    assert page_of(typed).startswith(title)


def test_explain_prints_the_picture_whole_and_names_similar_pages():
    text = page_of("Leader: none", width=60)
    assert "      └─ no broker shows one\n         ├─ a broker of the ISR is down → KA113 broker_gone" in text
    assert "](" not in text
    assert "```" not in text
    assert "Views that disagree. " in page_of("LEADER_NOT_AVAILABLE")
    assert not [slug for slug in symptom_pages() if "**" in page_of(slug)]
    assert "Similar\n  kafka-audit explain quorum-without-leader" in text


@pytest.mark.parametrize("words", ["kafka not working", "records twice"])
def test_a_page_that_shares_a_word_with_several_is_named_and_not_shown(words):
    head, _, _, *nearest = page_of(words).splitlines()
    assert not explanation(words).fits
    assert head == "No page fits. Type more of the message, or `kafka-audit explain` for the list of checks."
    assert [line.split()[2] for line in nearest] == [*search(words).pages[:4]]


def test_a_subject_that_no_page_is_about_is_named_with_the_nearest_pages():
    head, *_ = page_of("kafka streams join").splitlines()
    assert not explanation("kafka streams join").fits
    assert head.startswith("No page fits. This is about stream processing with Kafka Streams")


@pytest.mark.parametrize("kind", FREE_WORDS)
def test_free_words_lead_to_a_page_that_answers_or_to_none(kind):
    """`missed` is what is shown in its place: a mend removes its line."""
    found = {words: (*shown_for(words), "none")[0] for words in FREE_WORDS[kind]}
    wrong = {
        words: found[words]
        for words, case in FREE_WORDS[kind].items()
        if not {found[words], *(PAGES[found[words]].codes if found[words] in PAGES else ())} & {*case["answers"].split()}
    }
    assert wrong == {words: case["missed"] for words, case in FREE_WORDS[kind].items() if "missed" in case}


@pytest.mark.parametrize("slug", PAGES)
def test_a_page_is_shown_for_its_own_title(slug):
    assert page_of(PAGES[slug].title, width=200).startswith(PAGES[slug].title)


@pytest.mark.parametrize("words", ["zzz", "broker", "stale_leaders", "", " ", "KA999"])
def test_words_of_no_message_are_refused(words):
    with pytest.raises(UsageError, match="is not a check"):
        page_of(words)


def test_words_that_no_page_has_get_no_page():
    found = explanation("how do I bake bread")
    assert not found.fits
    assert found.text == "No page fits. Type more of the message, or `kafka-audit explain` for the list of checks."


def test_hostile_words_are_read_in_part_and_written_as_escapes():
    with pytest.raises(UsageError) as refused:
        page_of("q-\u202e".replace("\u202e", "") * 100_000)
    assert len(str(refused.value)) < 2_000
    assert str(refused.value).isprintable()
    found = explanation("\x1b[2Jqqq \u202e" * 100_000)
    assert not found.fits
    assert len(found.text) < 2_000
    assert found.text.replace("\n", "").isprintable()
    long = "Leader: none " + "aA-1 " * 1_000_000
    assert page_of(long).startswith("kafka-topics.sh")
    assert counted_calls(page_of, long) == counted_calls(page_of, long[: len(long) // 100])
