"""The command line itself: usage errors, unexpected exceptions, and the log's folder."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from desktop.commands import cli, options
from tests.support import commands
from tests.support.docs import every_command


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("headless", "--speed", "fast"), "--speed"),
        (("headless", "--no-such-option"), "--no-such-option"),
        (("no-such-command",), "no-such-command"),
        (("--trainer", "elsewhere"), "elsewhere"),
        (("doctor", "--device", "gpu"), "a GPU by number"),
    ],
)
def test_a_wrong_option_prints_one_json_object(arguments: tuple[str, ...], words: str) -> None:
    done = commands.invoke(*arguments, "--json")
    assert done.returncode == 2
    assert words in json.loads(done.stdout)["error"]


def test_no_number_of_any_option_may_be_nan() -> None:
    numbers = [
        (path, option)
        for path, command in every_command()
        for option in command.params
        if isinstance(option.type, click.FloatRange | click.types.FloatParamType)
    ]
    assert len(numbers) >= 3
    for path, option in numbers:
        with pytest.raises(click.BadParameter, match="not a number"):
            option.type.convert("nan", option, click.Context(click.Command(path)))


def test_without_json_a_wrong_option_leaves_stdout_empty() -> None:
    done = commands.invoke("headless", "--speed", "fast")
    assert done.returncode == 2 and done.stdout == ""
    assert "--speed" in done.stderr and "Usage" in done.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_an_unexpected_exception_is_a_message_with_its_traceback_in_the_log(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    @click.command()
    @options.common_options
    @options.with_context
    def broken(context: options.Context) -> None:
        raise KeyError("a name that no one gave")

    monkeypatch.setitem(cli.ghostcandle.commands, "broken", broken)
    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda self, ctx, name: self.commands.get(name))
    done = commands.invoke("broken", "--data-dir", str(data_dir), *(["--json"] if as_json else []))
    sentence = json.loads(done.stdout)["error"] if as_json else done.stderr
    assert done.returncode == 1
    assert "a name that no one gave" in sentence and "ghostcandle.log" in sentence
    assert "Traceback" not in done.stdout + done.stderr
    assert "Traceback" in (data_dir / "logs" / "ghostcandle.log").read_text()
    of_another = commands.invoke(*done.args, RANK="1", WORLD_SIZE="2")
    assert (of_another.returncode, of_another.stdout) == (1, "")
    assert of_another.stderr == ("" if as_json else sentence), "one object for all processes"


def test_data_dir_comes_from_the_option_then_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GHOSTCANDLE_DATA_DIR", str(tmp_path / "named"))
    assert options.data_folder(None).root == tmp_path / "named"
    assert options.data_folder(tmp_path / "chosen").root == tmp_path / "chosen"
    monkeypatch.delenv("GHOSTCANDLE_DATA_DIR")
    assert options.data_folder(None).root.name == "ghostcandle"
