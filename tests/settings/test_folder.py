"""A folder of cluster files: which files are read, in which order, and where each slip is."""

import pytest

from kafka_audit import settings
from kafka_audit.model.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes files and loads their folder."""

    def load(**files):
        place = tmp_path / "clusters.d"
        place.mkdir(exist_ok=True)
        for name, text in files.items():
            (place / f"{name}.yaml").write_text(text)
        return settings.load(place)

    return load


def one(name):
    return f"clusters: {{{name}: {{bootstrap: [h:1]}}}}"


def test_files_are_read_by_name_and_a_file_may_have_several_clusters(folder):
    found = folder(b="clusters: {z: {bootstrap: [h:1]}, y: {bootstrap: [h:1]}}", a=one("m"))
    assert list(found) == ["m", "z", "y"]


def test_hidden_files_other_files_and_folders_are_not_read(folder, tmp_path):
    place = tmp_path / "clusters.d"
    place.mkdir()
    (place / ".secret.yaml").write_text("no: cluster")
    (place / ".a.yaml.swp").write_bytes(b"\xff")
    (place / "a.yaml~").write_text("no: cluster")
    (place / "README.md").write_text("# clusters")
    (place / "a.yaml.bak").write_text(one("old"))
    (place / "archive").mkdir()
    (place / "archive" / "b.yaml").write_text(one("archived"))
    (place / "c.yml").write_text(one("short"))
    assert list(folder(a=one("prod"))) == ["prod", "short"]


def test_a_mounted_config_map_is_read_once(folder, tmp_path):
    """Kubernetes mounts `a.yaml -> ..data/a.yaml`, and `..data -> ..2026_01_31`."""
    place = tmp_path / "clusters.d"
    (place / "..2026_01_31").mkdir(parents=True)
    (place / "..2026_01_31" / "a.yaml").write_text(one("prod"))
    (place / "..data").symlink_to("..2026_01_31")
    (place / "a.yaml").symlink_to("..data/a.yaml")
    assert list(folder()) == ["prod"]


def test_the_clusters_of_all_files_inherit_the_defaults(folder):
    found = folder(a=one("a"), defaults="defaults: {labels: {env: prod}}", z=one("z"))
    assert [cluster.labels for cluster in found.values()] == [{"env": "prod"}, {"env": "prod"}]


def test_the_file_of_defaults_may_have_clusters(folder):
    assert folder(defaults=f"defaults: {{labels: {{env: prod}}}}\n{one('a')}")["a"].labels == {"env": "prod"}


# the files, what the line must say after the folder
WRONG = {
    "a cluster in two files": (
        {"a": f"\n{one('prod')}", "b": f"\n\n{one('prod')}"},
        "b.yaml:3: clusters.prod: is also in {folder}/a.yaml:2; remove one",
    ),
    "defaults in another file": (
        {"a": f"{one('prod')}\ndefaults: {{labels: {{env: prod}}}}"},
        "a.yaml:2: defaults: belongs in the file defaults.yaml: all clusters of the folder inherit it",
    ),
    "an unknown key": (
        {"a": one("x"), "b": "\nclusters: {b: {boostrap: [h:1]}}"},
        "b.yaml:2: clusters.b.boostrap: unknown key; did",
    ),
    "a bad value": ({"a": "clusters: {b: {bootstrap: [h]}}"}, "a.yaml:1: clusters.b.bootstrap.0: 'h' is not a host:port"),
    "an unknown default": (
        {"a": one("x"), "defaults": "\ndefaults: {limts: {}}"},
        "defaults.yaml:2: defaults.limts: unknown key; did you mean limits?",
    ),
    "an unknown default inside": (
        {"a": one("x"), "defaults": "\ndefaults: {limits: {read: 1}}"},
        "defaults.yaml:2: defaults.limits.read: unknown key; did you mean read_s?",
    ),
    "defaults without defaults": (
        {"a": one("x"), "defaults": "limits: {read_s: 1}"},
        "defaults.yaml:1: limits: unknown key; it bel",
    ),
    "a file without clusters": ({"a": one("x"), "b": "{}"}, "b.yaml:1: must start with `clusters:`"),
    "an empty file": ({"a": one("x"), "b": "# moved"}, "b.yaml: is empty; it must contain `clusters:`"),
    "a file that is no YAML": ({"a": one("x"), "b": "clusters: ["}, "b.yaml:1: not YAML:"),
    "no file": ({}, ": contains no *.yaml file; each file must contain `clusters:`"),
}


@pytest.mark.parametrize(("files", "message"), WRONG.values(), ids=WRONG)
def test_a_slip_names_file_and_line(folder, tmp_path, files, message):
    with pytest.raises(UsageError) as error:
        folder(**files)
    place = f"{tmp_path}/clusters.d"
    assert str(error.value).startswith(f"{place}{'/' if files else ''}{message.format(folder=place)}")
    assert "\n" not in str(error.value)


def test_two_files_of_defaults_are_a_slip(folder, tmp_path):
    (tmp_path / "clusters.d").mkdir()
    (tmp_path / "clusters.d" / "defaults.yml").write_text("defaults: {labels: {env: stage}}")
    with pytest.raises(UsageError, match=r"defaults\.yml:1: defaults: is also in .*/defaults\.yaml:1; keep one"):
        folder(a=one("a"), defaults="defaults: {labels: {env: prod}}")


def test_a_link_to_nowhere_is_named(folder, tmp_path):
    (tmp_path / "clusters.d").mkdir()
    (tmp_path / "clusters.d" / "a.yaml").symlink_to("gone.yaml")
    with pytest.raises(UsageError, match=r"clusters\.d/a\.yaml: file not found"):
        folder()


def test_too_many_files_are_refused_before_they_are_read(folder, tmp_path):
    (tmp_path / "clusters.d").mkdir()
    for number in range(1_001):
        (tmp_path / "clusters.d" / f"{number}.yaml").touch()
    with pytest.raises(UsageError, match=r"contains 1001 .* more than the limit of 1000"):
        folder()
