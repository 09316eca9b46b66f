from __future__ import annotations

import dataclasses
from enum import Enum

import pytest

from core.domain.diagnosis import Disease
from core.domain.events import ForecastMode, Severity
from core.domain.quantities import Quantity
from core.domain.regimes import Regime
from core.settings.group import all_field_infos
from core.settings.tree import Settings
from desktop.dialogs.setting_texts import title
from desktop.ui.words import word
from tests.desktop.made_up_language import MadeUpLanguage

Shown = Disease | ForecastMode | Quantity | Regime | Severity
VALUES: list[Shown] = [*Disease, *ForecastMode, *Quantity, *Regime, *Severity]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}.{value.name}")
def test_each_value_has_a_separate_text(value: Shown) -> None:
    assert [other for other in type(value) if word(other) == word(value)] == [value]


def test_texts_match_the_names_of_core() -> None:
    assert all(word(value) == value.value for value in VALUES if isinstance(value.value, str))
    assert isinstance(Quantity.UPPER_WICK, Enum) and word(Quantity.UPPER_WICK) == "Upper wick"


def test_each_setting_and_each_group_has_a_title_that_can_be_translated(made_up_language: MadeUpLanguage) -> None:
    groups = dataclasses.fields(Settings)
    names = [name for group in groups for name in all_field_infos(type(getattr(Settings(), group.name)))]
    plain = [name for name in (*names, *(group.name for group in groups)) if not title(name).startswith("⟦")]
    assert not plain


def test_settings_of_one_name_have_one_title() -> None:
    groups = [all_field_infos(type(getattr(Settings(), group.name))) for group in dataclasses.fields(Settings)]
    titles = {(name, info.title) for group in groups for name, info in group.items()}
    assert len(titles) == len({name for name, _ in titles}), "a title is looked up by the name of its setting alone"
