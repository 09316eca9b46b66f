"""Words that the code, the window and the docs do not use, because an English reader stumbles over them.

`python -m tests.support.banned_words [FOLDER ...]` lists each line that has one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BANNED = {
    "told": "reported, notified; a signal is named after what changed",
    "anew": "again",
    "as at first": "default, reset",
    "go(es|ing)? on": "continue",
    "went on": "continued",
    "gone on": "continued",
    "come(s)? up": "start, appear",
    "stands?": "is, runs, lies",
    "of (its|their|his|her|your|our|my|one's) own": "own, separate, or nothing",
    "let(s|ting)? go": "release",
    "has the keys|have the keys|the keys are|keys go": "keyboard focus",
    "by hand": "manual",
    "what was": "the noun",
    "how it does": "status",
    "heard": "received",
    "spared": "without",
    "twin(?!_age)": "reference model; the settings key and JSON field twin_age stays",
    "mishaps?": "incident",
    "door": "lock, entry",
    "whoever": "anyone who, the caller",
    "so that nobody|nobody (knows|sees|asks|looks|reads|minds)": "no user, nothing",
}
"""Pattern: what to write instead. They match whole words of prose and whole parts of identifiers."""
_ENDINGS = (".py", ".md", ".toml", ".yml", "Makefile")
_EXEMPT = ("CHANGELOG.md", "tests/support/banned_words.py")
_STORED = re.compile(r"twin_(?:loss|age|and_drifts)|\"(?:twin|twins|twin\.|twins/\*)\"")
"""Names in stored data and settings, which stay."""
_PATTERN = re.compile("|".join(rf"(?<![A-Za-z])(?:{word})(?![a-z])" for word in BANNED), re.IGNORECASE)
_ROUGHLY = re.compile("|".join(BANNED))
"""Also within longer words: without what comes before, it is searched many times as fast."""


def lines_with(folders: Iterable[str] = (), root: Path = ROOT) -> Iterator[tuple[str, int, str]]:
    """File, line number and line of each place; of these folders, or of the whole checkout."""
    listed = subprocess.run(["git", "ls-files", *folders], capture_output=True, text=True, check=True, cwd=root).stdout
    for name in listed.splitlines():
        if name.endswith(_ENDINGS) and name not in _EXEMPT and (root / name).is_file():
            text = (root / name).read_text(encoding="utf-8")
            if not _ROUGHLY.search(text.lower()):
                continue
            lines = text.splitlines()
            plain = [_STORED.sub("", line) for line in lines]
            yield from ((name, at + 1, lines[at]) for at, line in enumerate(plain) if _PATTERN.search(line))


if __name__ == "__main__":
    for name, number, line in lines_with(sys.argv[1:]):
        print(f"{name}:{number}: {line.strip()}")
