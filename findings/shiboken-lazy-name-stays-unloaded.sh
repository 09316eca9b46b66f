#!/usr/bin/env bash
# Expected: Python 3.15 loads a name that a module imports with `lazy` where it is read as an attribute of the module
# (PEP 810).
# Is: once shiboken6 6.12.0 is imported, the attribute is the unloaded `lazy_import` object; `from module import name`
# still loads the name for the one who asks. The standard library is hit too: concurrent.futures imports its executors so,
# and asyncio.to_thread and run_in_executor raise TypeError.
# Version: shiboken6 6.12.0, the first release of PySide6 for 3.15, Python 3.15.2, Linux. Source: the types of the names.
# Output seen: with shiboken6: lazy_import type, to_thread raises TypeError("'lazy_import' object is not callable");
# without shiboken6: type type, to_thread gives 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.15 -m venv "$folder/env"
"$folder/env/bin/pip" install -q shiboken6==6.12.0
for first in shiboken6 asyncio; do
    "$folder/env/bin/python" - "$first" <<'PYTHON'
import asyncio
import concurrent.futures
import importlib
import sys

importlib.import_module(sys.argv[1])
has_shiboken = "shiboken6" in sys.modules
read = type(concurrent.futures.ThreadPoolExecutor).__name__
from concurrent.futures import ThreadPoolExecutor

imported = type(ThreadPoolExecutor).__name__
try:
    answer = f"gives {asyncio.run(asyncio.to_thread(int, 1))}"
except TypeError as error:
    answer = f"raises {error!r}"
print("with" if has_shiboken else "without", f"shiboken6: {read} {imported}, to_thread {answer}")
assert (read, imported) == ("lazy_import" if has_shiboken else "type", "type")
assert answer.startswith("raises" if has_shiboken else "gives")
PYTHON
done
