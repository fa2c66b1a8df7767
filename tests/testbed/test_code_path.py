"""The way of a finding through the code: what is executed, and what is a switch."""

from pathlib import Path

from testbed import code_path

MODULE = """
def broker(view):
    def inner(row):
        return row if row else None

    return [inner(row) for row in view if row and row.up and not row.muted]


@cached
def other(view):
    try:
        while view or other:
            pass
    except ValueError:
        pass
"""


def test_switches_are_conditions_wherever_they_are_and_each_belongs_to_one_function():
    assert code_path.switches(MODULE) == {("broker", 2): 3, ("inner", 3): 1, ("other", 9): 3}


def test_functions_that_are_executed_count_and_no_others():
    def one():
        return Path("a").name

    package = Path(__file__).parent
    codes = code_path.executed(one, package)
    assert {code.co_name for code in codes} == {"one"}
    assert code_path.counted(codes, package) == {"test_code_path.py": (1, 0)}
