"""Settings shared by every test: compiled kernels make the first call of a hypothesis test slow."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("extbfs", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("extbfs")
