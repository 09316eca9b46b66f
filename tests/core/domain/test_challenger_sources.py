"""How further models are named."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.challenger_sources import ChallengerSource, as_command, names_of, source_of


@pytest.mark.parametrize(
    ("wanted", "source"),
    [
        ("gru", ChallengerSource("gru")),
        ("my-model_2", ChallengerSource("my-model_2")),
        ("folder/own.py:Own", ChallengerSource("Own", file="folder/own.py")),
        ("/a b/c.d/own.py:_Own2", ChallengerSource("_Own2", file="/a b/c.d/own.py")),
        (r"C:\models\own.py:Own", ChallengerSource("Own", file=r"C:\models\own.py")),
        ("process:python har.py", ChallengerSource("har", command=("python", "har.py"))),
        (
            "process:python -u 'my model.py' --fast",
            ChallengerSource("my_model", command=("python", "-u", "my model.py", "--fast")),
        ),
        ("process:./forecast", ChallengerSource("forecast", command=("./forecast",))),
        (
            "base=process:python bolt.py amazon/base",
            ChallengerSource("base", command=("python", "bolt.py", "amazon/base")),
        ),
    ],
)
def test_a_model_is_a_name_a_class_in_a_file_or_a_command(wanted: str, source: ChallengerSource) -> None:
    assert source_of(wanted) == source


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("own.py", "'own.py' is no model: give the name of one, a file and its class"),
        ("", "'' is no model"),
        ("two words", "'two words' is no model"),
        ("own.py:2", "'own.py:2' is no model"),
        ("own.txt:Own", "'own.txt:Own' is no model"),
        ("x" * 41, "is no model"),
        ("process:", "a command must follow process:, as in process:python my_model.py"),
        ("process:python 'har.py", r"the command 'python 'har.py' cannot be split into words \(no closing quotation\)"),
        ("process:python 3.py", "the command of '3.py' needs a name: give it as NAME=process:COMMAND"),
    ],
)
def test_what_is_no_model_is_said(wanted: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        source_of(wanted)


WORDS = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs", "Cc"]), min_size=1)


@given(st.lists(WORDS, min_size=1))
@pytest.mark.parametrize("system", ["posix", "nt"])
def test_a_command_keeps_its_words(system: str, words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.domain.challenger_sources.os", SimpleNamespace(name=system))
        assert source_of(f"own=process:{as_command(words)}").command == tuple(words)


def test_on_windows_a_backslash_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.domain.challenger_sources.os", SimpleNamespace(name="nt"))
    found = source_of(r'process:C:\python\python.exe "C:\my models\own.py" --fast')
    assert found.command == (r"C:\python\python.exe", r"C:\my models\own.py", "--fast")


def test_names_differ() -> None:
    assert names_of(("process:python bolt.py small", "base=process:python bolt.py base")) == ("bolt", "base")
    for twice in (("process:python bolt.py small", "process:python bolt.py base"), ("a/own.py:bolt", "b/own.py:bolt")):
        with pytest.raises(ValueError, match="two models are called bolt"):
            names_of(twice)
