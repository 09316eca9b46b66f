from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from core.training.hosting.crash_output import StderrTail

PREAMBLE = """
import sys
from pathlib import Path
from core.training.hosting.crash_output import StderrFile
stderr = StderrFile(Path(sys.argv[1]))
stderr.capture()
"""


def in_child(path: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PREAMBLE + code, str(path)], capture_output=True, text=True, check=False, timeout=60
    )


def test_descriptor_output_and_crash_stack_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "words"
    words = StderrTail(file)
    words.mark()
    done = in_child(
        file,
        "import os\nos.write(2, b'from the C library\\n'); os.write(1, b'no JSON\\n')\n"
        "def here(): os.abort()\nhere()\n",
    )
    assert (done.stdout, done.stderr) == ("", "") and done.returncode == -6
    tail = words.read()
    assert "from the C library" in tail and "no JSON" in tail and "Aborted" in tail and "in here" in tail


def test_only_output_since_the_mark_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "words"
    words = StderrTail(file)
    assert words.read() == ""
    in_child(file, "print('the first life', file=sys.stderr)")
    words.mark()
    assert words.read() == ""
    in_child(file, "print('the second life', file=sys.stderr)")
    assert words.read() == "the second life"


def test_stderr_exists_without_a_console(tmp_path: Path) -> None:
    file = tmp_path / "words"
    before, capture = PREAMBLE.rsplit("stderr.capture()", 1)[0], "stderr.capture()\nprint('a word', file=sys.stderr)\n"
    code = f"{before}\nimport os; os.close(2); sys.stderr = None\n{capture}"
    done = subprocess.run([sys.executable, "-c", code, str(file)], check=False, timeout=60)
    assert done.returncode == 0 and StderrTail(file).read() == "a word"


def test_the_file_stays_small(tmp_path: Path) -> None:
    file = tmp_path / "words"
    words = StderrTail(file)
    words.mark()
    in_child(file, "for turn in range(4500):\n    print('x' * 1000, file=sys.stderr)\n    stderr.limit_size()\n")
    assert 0 < file.stat().st_size < 1_100_000
    assert len(words.read()) < 20_000
    words.mark()
    assert file.stat().st_size <= 64_000


def test_an_unwritable_folder_loses_only_the_file(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    done = in_child(tmp_path / "logs" / "words", "stderr.limit_size()\nprint('still here', file=sys.stderr)")
    assert done.returncode == 0 and done.stderr.endswith("still here\n")
    assert StderrTail(tmp_path / "logs" / "words").read() == ""
