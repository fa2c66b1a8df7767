"""What is wrong today, by property: the subject, and why. A mend removes its line, because these tests are strict."""

HEADLINES: dict[str, str] = {
    "KA001-wrong_password": "the brokers that accept the login are in no finding",
    "KA202-a_controller_follows_an_old_leader": "the controller that reports the earlier leader is in no evidence",
    "reach-one_broker_refuses_the_right_password": "the brokers that accept the login are in no finding",
}
EXCLUSIONS: dict[str, str] = {}
LESS_DATA: dict[str, str] = {}
OPEN_PROBES: dict[str, str] = {}
OTHER_NAMES: dict[str, str] = {}
OTHER_ORDER: dict[str, str] = {}
CAUSES: dict[str, str] = {}
