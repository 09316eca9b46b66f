from __future__ import annotations

import pytest

from desktop.panels.gradients.layer_names import layer_title, tight, with_titles
from tests.desktop import scenario


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("embed", "Embedding"),
        ("blocks.0.attention.project_in", "Block 1 attention in"),
        ("blocks.11.narrow", "Block 12 feed-forward out"),
        ("blocks.1.extra_gate", "Block 2 extra gate"),
        ("encoder.3.weight_norm", "Encoder 3 weight norm"),
        ("x", "X"),
    ],
)
def test_names_are_shortened_for_people(name: str, title: str) -> None:
    assert layer_title(name) == title


def test_a_sentence_names_layers_as_the_bars_do() -> None:
    sentence = "No gradient in blocks.0.narrow, blocks.12.attention_norm and head, and in blocks.1.widen."
    assert with_titles(sentence) == (
        "No gradient in Block 1 feed-forward out, Block 13 attention norm and head, and in Block 2 feed-forward in."
    )


def test_titles_stay_apart_also_where_they_are_tight() -> None:
    titles = {layer_title(name) for name in scenario.LAYERS}
    assert len(titles) == len({tight(title) for title in titles}) == len(scenario.LAYERS)
    assert max(len(tight(title)) for title in titles) <= 11
