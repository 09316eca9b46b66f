"""Python runs this at its start: the system is the one that FAKE_MACHINE describes."""

from __future__ import annotations

import json
import os
import platform

if "FAKE_MACHINE" in os.environ:
    _machine = json.loads(os.environ["FAKE_MACHINE"])
    platform.system = lambda: _machine["system"]
    platform.release = lambda: _machine["release"]
