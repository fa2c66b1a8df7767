"""A ratchet: suppressions only get fewer."""

import suppressions


def test_there_are_no_more_suppressions_than_before():
    more = {kind: number for kind, number in suppressions.of_repository().items() if number > suppressions.allowed()[kind]}
    assert more == {}, "mend what the rule or the type checker found, instead of switching it off"


def test_the_numbers_are_those_of_the_kinds():
    assert suppressions.allowed().keys() == suppressions.KINDS.keys()


def test_only_comments_and_names_count():
    lines = [
        "x = 1  # noqa: E501",
        "y = 2  # type: ignore[misc] # noqa",
        'z = "# noqa, # type: ignore, xfail"',
        "@pytest.mark.xfail",
    ]
    assert suppressions.counted("\n".join([*lines, "def f(): ...", ""])) == {"noqa": 2, "type: ignore": 1, "xfail": 1}
