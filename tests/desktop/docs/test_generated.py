"""The docs list all commands, options, settings and actions."""

from __future__ import annotations

from dataclasses import fields

import click
import pytest

from core.indicators.registry import INDICATORS
from core.settings.group import all_field_infos
from core.settings.tree import Settings
from desktop.actions import ActionId
from tests.support.docs import DOCS, PARTS, SHARED, every_command, page_of, with_part


@pytest.mark.parametrize("name", PARTS)
def test_generated_pages_are_up_to_date(name: str, qapp: object) -> None:
    page = page_of(name).read_text(encoding="utf-8")
    assert with_part(page, name) == page, "out of date: run make docs"


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="marks"):
        with_part("# A page", "keys")


def test_every_command_and_every_option_is_in_the_docs() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    found = dict(every_command())
    assert len(found) >= 15
    shared = page.split(f"### {SHARED}")[1].split("\n### ")[0]
    for path, command in found.items():
        section = shared + page.split(f"### `{path}")[1].split("\n### ")[0]
        for option in command.params:
            if isinstance(option, click.Option):
                assert all(f"`{name}`" in section for name in option.opts), (path, option.opts)
                assert option.help, f"{path} {option.opts} has no help text"


def test_every_setting_is_in_the_docs_and_described() -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    for group in fields(Settings):
        for name, info in all_field_infos(type(getattr(Settings(), group.name))).items():
            assert f"| `{group.name}.{name}`" in page, "run make docs"
            assert info.description, f"{group.name}.{name}"


def test_every_action_is_in_the_docs_with_its_keys() -> None:
    page = (DOCS / "keys.md").read_text(encoding="utf-8")
    for info in (action_id.info for action_id in ActionId):
        row = next((line for line in page.splitlines() if line.endswith(f"| {info.tooltip} |")), "")
        assert info.text.replace("&", "") in row, "run make docs"
        assert not info.shortcut or "`" in row


def test_every_indicator_is_in_the_docs() -> None:
    page = (DOCS / "indicators.md").read_text(encoding="utf-8")
    for info in INDICATORS.values():
        assert f"| **{info.short}** |" in page or f"| **{info.title}** |" in page, (
            f"docs/indicators.md has no row of {info.title}"
        )
