"""What is wrong today, by property: the subject, and why. A mend removes its line, because these tests are strict."""

HEADLINES: dict[str, str] = {}
EXCLUSIONS: dict[str, str] = {}
LESS_DATA: dict[str, str] = {}
OPEN_PROBES: dict[str, str] = {}
OTHER_NAMES: dict[str, str] = {}
OTHER_ORDER: dict[str, str] = {}
CAUSES: dict[str, str] = {}
