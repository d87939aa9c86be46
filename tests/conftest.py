"""Settings shared by every test.

Importing extbfs lets the kernels of puzzles and store keep their machine code between processes;
where there is none yet, the first call of a hypothesis test is slow.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

import extbfs

settings.register_profile("extbfs", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(extbfs.__name__)
