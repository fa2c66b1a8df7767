import io
import tarfile
import zipfile

import pytest

from testbed import release


def source_archive(epoch, owner, names):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uid, member.uname, member.mode = 4, epoch, owner, str(owner), 0o664 - owner
            archive.addfile(member, io.BytesIO(b"same"))
    return packed.getvalue()


def test_builds_of_other_people_at_other_times_are_the_same_bytes():
    first, second = source_archive(1_700_000_000, 0, ["p/a", "p/b"]), source_archive(1_800_000_000, 1, ["p/b", "p/a"])
    assert first != second
    assert release.same_bytes(first, 7) == release.same_bytes(second, 7)
    with tarfile.open(fileobj=io.BytesIO(release.same_bytes(first, 7))) as archive:
        assert [(member.name, member.mtime, member.uname, member.mode) for member in archive] == [
            ("p/a", 7, "", 0o644),
            ("p/b", 7, "", 0o644),
        ]
        assert archive.extractfile("p/a").read() == b"same"


def test_other_content_is_other_bytes():
    assert release.same_bytes(source_archive(7, 0, ["p/a"]), 7) != release.same_bytes(source_archive(7, 0, ["p/b"]), 7)


def test_a_wheel_without_a_file_of_the_package_or_with_one_too_many_is_named(tmp_path):
    wheel = tmp_path / "kafka_audit-0.1.0.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("kafka_audit/a.sql", "kafka_audit/dags/b.py", "kafka_audit-0.1.0.dist-info/METADATA", "testbed/c.py"):
            archive.writestr(name, "")
    committed = ["plugins/kafka_audit/a.sql", "plugins/kafka_audit/d.yaml", "dags/b.py", "dags/.airflowignore"]
    assert release.lacking(wheel, committed) == ["kafka_audit/d.yaml", "testbed/c.py"]


@pytest.fixture
def steps(monkeypatch, tmp_path):
    monkeypatch.setattr(release, "OUT", tmp_path)

    def given(**runs):
        monkeypatch.setattr(release, "STEPS", tuple(release.Step(name, "a claim", run) for name, run in runs.items()))

    return given


def passes(_log):
    pass


def fails(_log):
    message = "two builds differ"
    raise release.StepError(message)


def lacks_make(_log):
    raise FileNotFoundError(2, "No such file", "make")


@pytest.mark.parametrize(
    ("runs", "asked", "expected"),
    [
        ({"a": passes, "b": passes}, [], ["a claim: passed", "a claim: passed"]),
        ({"a": fails, "b": passes}, [], ["FAILED after 0 s, two builds differ", "passed"]),
        ({"a": passes, "b": passes}, ["b"], ["NOT RUN", "passed"]),
        ({"a": lacks_make}, [], ["NOT RUN, make is missing"]),
    ],
)
def test_only_what_ran_and_passed_counts(steps, capsys, runs, asked, expected):
    steps(**runs)
    assert release.main(asked) == any("passed" not in line for line in expected)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))


@pytest.mark.parametrize(
    ("tool", "why"), [(("no-such-builder", "info"), "no-such-builder is missing"), (("false",), "`false` fails")]
)
def test_a_step_without_its_tool_is_left_to_another_machine_and_named(monkeypatch, tmp_path, capsys, tool, why):
    monkeypatch.setattr(release, "OUT", tmp_path)
    image = release.Step("image", "a claim", fails, tool=tool)
    monkeypatch.setattr(release, "STEPS", (release.Step("a", "a claim", passes), image))
    assert release.main([]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"image     a claim: NOT RUN, {why}",
        "To be run on another machine before the release: image",
    ]
    monkeypatch.setattr(release, "STEPS", (release.Step("a", "a claim", fails), image))
    assert release.main([]) == 1


def test_a_step_that_is_none_is_an_error_that_lists_them(steps, capsys):
    steps(archives=passes)
    with pytest.raises(SystemExit):
        release.main(["archive"])
    assert "there is no step archive: archives" in capsys.readouterr().err
