"""Texts on the grounds that they really have, in both themes and with both pairs of colours."""

from __future__ import annotations

from tests.desktop.accessibility.survey import Survey


def test_all_texts_have_a_contrast_of_at_least_four_and_a_half(found: Survey) -> None:
    assert "\n".join(found.inks) == ""
