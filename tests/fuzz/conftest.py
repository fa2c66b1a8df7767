"""How many examples hypothesis tries: the same few in every ordinary run, many others where `make fuzz` asks for them."""

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ordinary", max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW
)
settings.register_profile("fuzz", max_examples=500, deadline=None, database=None, print_blob=True, suppress_health_check=_SLOW)
settings.load_profile("ordinary")
