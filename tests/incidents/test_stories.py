"""The templates of stories: what the engine makes of them, and that each one is used and names only facts that it gets."""

import re
import sys
from pathlib import Path

import pytest
import yaml

import small_cluster
from incidents.test_causes import CASES, text_of, told
from kafka_audit.checks import catalogue
from kafka_audit.checks.incident import Case, StoryFacts, everywhere
from kafka_audit.checks.listeners import client_vantages
from kafka_audit.incidents import declared_causes, stories
from kafka_audit.incidents.declared_causes import Cause, Explains, causes_in_order, together
from kafka_audit.incidents.stories import grouped_story
from kafka_audit.model import quoting
from template_names import names_in

OF_CHECKS = {
    f"{check.code} {name}": (check, check.story(name))
    for check in catalogue().values()
    for name in check.incident
    if check.story(name) is not None
}
TEMPLATES = {name: story for name, (_, story) in OF_CHECKS.items()}
PARTS = {"with", "headline", "impact", "why", "not_known", "changes", "steps"}
KINDS = {"see", "quick", "lasting", "do_not"}


def view_of(*, kraft=False):
    return small_cluster.view({"brokers": {1: "a:9092", 2: "b:9092"}} | (small_cluster.KRAFT if kraft else {}))


def written(template, *, kraft=False, broker_ids=(1, 2), **facts):
    """Return the story of a template for findings about these brokers."""
    roots = tuple(small_cluster.finding("KA113", f"broker/{broker}") for broker in broker_ids)
    case = Case(view=view_of(kraft=kraft), changes=(), findings=roots, roots=roots)
    return stories.declared_story(case, {"headline": "H"} | template, StoryFacts(facts=facts))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{brokers|capital} {brokers|form('is', 'are')} gone", "Brokers 1 and 2 are gone"),
        ("{brokers|most(1)} {brokers|form('stops', 'stop')}", "2 brokers stop"),
        ("{brokers|most(1)|capital} {brokers|form('of #', 'at #')}", "2 brokers at brokers 1 and 2"),
        ("{count|form('# topic', '# topics')} of {names|most(2)}", "1 topic of a, b and 1 more"),
        ("{nothing} here", "(nothing: unknown) here"),
    ],
)
def test_a_text_has_a_form_for_one_and_one_for_more(text, said):
    assert written({"impact": text}, count=1, names=("a", "b", "c")).impact == said


def test_a_condition_chooses_a_text_and_what_is_empty_is_left_out():
    text = ["{% if kraft %}K.\n{% else %}Z.{% endif %}", "{% if not high %}L.{% endif %}", "{% if low %}never{% endif %}"]
    assert written({"impact": text}, low=0).impact == "Z. L."
    assert written({"impact": text}, kraft=True, high=True).impact == "K."


def test_the_longest_headline_that_fits_is_taken():
    headline = "{long}\n{% for one in names %}{one} fits\n{% endfor %}"
    assert written({"headline": headline}, long="x" * 91, names=("a", "b")).headline == "a fits"


def test_a_fact_is_never_a_template():
    topic = "{{ 7*7 }}{% if brokers %}{brokers}"
    story = written({"with": {"at": "at {topic}"}, "impact": "It is {at}."}, topic=topic)
    assert story.impact == f"It is at {topic}."


def test_a_fact_that_a_cluster_wrote_is_cleaned_in_texts_and_one_word_of_a_command():
    steps = [{"see": "At {at}.", "run": ["# of {at}", {"each": "paths", "as": "path", "run": "df -h {path}"}]}]
    (step,) = written({"steps": steps}, at="a\n`b`", paths=("/x y;id",)).steps
    assert step.text == "At a\\u000a'b'."
    assert [*quoting.lines(step.commands)][-1] == "df -h '/x y;id'"


def test_a_step_without_its_condition_or_without_a_text_is_left_out():
    run = [{"when": "no", "run": "df"}, {"when": "not no", "run": "du"}]
    steps = [{"quick": "q", "when": "no"}, {"lasting": "{% if no %}l{% endif %}"}, {"do_not": "d", "when": "not no", "run": run}]
    warning, last = written({"steps": [*steps, "prove"]}).steps
    assert (warning.kind, [*quoting.lines(warning.commands)], last.kind) == ("do_not", ["du"], "prove")


@pytest.mark.parametrize("name", CASES)
def test_no_case_lacks_a_fact(name):
    assert [incident.headline for incident in told(name)[1] if ": unknown)" in text_of(incident)] == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_has_known_parts(name):
    story = TEMPLATES[name]
    assert story.keys() <= PARTS
    for step in story.get("steps", ()):
        if not isinstance(step, str):
            kind, *others = step
            assert kind in KINDS, step
            assert {*others} <= {"run", "cost", "when"}, step


def texts(node):
    """Yield the texts, commands and conditions of a part of a template."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for part in node:
            yield from texts(part)
    elif isinstance(node, dict):
        for key, part in node.items():
            yield from [f"{{{part}}}"] if key in {"each", "when"} else () if key in {"as", "most"} else texts(part)


def words_of(module):
    return set(re.findall(r"\w+", Path(module.__file__).read_text(encoding="utf-8")))


def unknown_facts(story, given):
    """Return what a template names that is no fact of each story, none of its own, and none that is given."""
    known = (
        given | {*story.get("with", ())} | set(re.findall(r"\bas: (\w+)", yaml.safe_dump(story))) | {"host", "port", "address"}
    )
    known |= stories._Texts(Case(view=view_of(), changes=(), findings=(), roots=()), "measured", {}, {}).facts.keys()
    named = {fact for text in texts(story) for fact in names_in(text)}
    return (named | {step for step in story.get("steps", ()) if isinstance(step, str)}) - {"prove"} - known


@pytest.mark.parametrize("name", OF_CHECKS)
def test_a_template_of_a_check_names_only_facts_that_the_check_or_its_function_gives(name):
    check, story = OF_CHECKS[name]
    own = sys.modules[check.function.__module__]
    facts = check.incident[name.split()[1]].get("facts", "")
    beside = sys.modules[declared_causes.function_of(check, facts).__module__] if facts else own
    of_others = {"words", "fault"} | words_of(client_vantages)
    assert unknown_facts(story, words_of(own) | words_of(beside) | of_others) == set()


def test_every_story_of_a_check_is_that_of_an_incident():
    for check in catalogue().values():
        texts_of_cases = Path(sys.modules[check.function.__module__].__file__).with_suffix(".yaml").read_text(encoding="utf-8")
        written_stories = yaml.load(texts_of_cases, yaml.CSafeLoader).get("story", {})
        beside = (declared_causes.function_of(check, keys["facts"]) for keys in check.incident.values() if "facts" in keys)
        chosen = {name for function in beside for name in words_of(sys.modules[function.__module__])}
        assert written_stories.keys() - check.incident.keys() <= chosen, check.code
        assert {name: check.story(name) for name in written_stories} == written_stories


def cause(codes, *, tier="brokers", before=(), explains=()):
    told_of = (Explains(codes=explains, where=everywhere),) if explains else ()
    return Cause(codes=codes, meaning="", cases=together, story=grouped_story, explains=told_of, tier=tier, before=before)


def test_what_explains_the_first_findings_of_another_comes_before_it_and_else_the_code_decides():
    late, symptom = cause(("KA101",), tier="clients"), cause(("KA301",))
    causes = (late, symptom, cause(("KA302",), explains=("KA301",)), cause(("KA303",), explains=("KA302",)))
    assert [one.codes for one in causes_in_order(causes)] == [("KA303",), ("KA302",), ("KA301",), ("KA101",)]


def test_of_two_that_explain_each_other_one_says_which_comes_first():
    one, other = cause(("KA301",), explains=("KA302",)), cause(("KA302",), explains=("KA301",))
    with pytest.raises(ValueError, match="say `before`"):
        causes_in_order((one, other))
    first = cause(("KA302",), explains=("KA301",), before=("KA301",))
    assert causes_in_order((one, first)) == (first, one)
