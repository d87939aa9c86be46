"""The journal: RUN/log.jsonl, one JSON object a line for every event; never needed to resume."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from store import names


class Journal:
    """Appends events; an event that cannot be written is dropped: the log is for people."""

    def __init__(self, run: str) -> None:
        self._path = os.path.join(run, names.LOG)

    def write(self, event: str, **fields: Any) -> None:
        """Append an event with the wall-clock time in seconds."""
        line = json.dumps({"time": round(time.time(), 3), "event": event, **fields})
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError:
            pass
