"""The names of the model's layers, shortened for people."""

from __future__ import annotations

import re

from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_WHOLE = {
    "embed": QT_TRANSLATE_NOOP("Layers", "Embedding"),
    "position": QT_TRANSLATE_NOOP("Layers", "Positions"),
    "final_norm": QT_TRANSLATE_NOOP("Layers", "Final norm"),
    "head": QT_TRANSLATE_NOOP("Layers", "Head"),
}
_INSIDE_A_BLOCK = {
    "attention_norm": QT_TRANSLATE_NOOP("Layers", "attention norm"),
    "attention.project_in": QT_TRANSLATE_NOOP("Layers", "attention in"),
    "attention.project_out": QT_TRANSLATE_NOOP("Layers", "attention out"),
    "feed_forward_norm": QT_TRANSLATE_NOOP("Layers", "feed-forward norm"),
    "widen": QT_TRANSLATE_NOOP("Layers", "feed-forward in"),
    "narrow": QT_TRANSLATE_NOOP("Layers", "feed-forward out"),
}
_BLOCK = re.compile(r"\bblocks\.\d+(?:\.\w+)+")
_TIGHT = (
    (QT_TRANSLATE_NOOP("Layers", "attention"), QT_TRANSLATE_NOOP("Layers", "attn")),
    (QT_TRANSLATE_NOOP("Layers", "feed-forward"), QT_TRANSLATE_NOOP("Layers", "ff")),
)


def layer_title(name: str) -> str:
    """``blocks.0.attention.project_in`` as ``Block 1 attention in``. Other names keep their own words."""
    pieces = name.split(".")
    if len(pieces) > 2 and pieces[0] == "blocks" and pieces[1].isdigit():
        inside = ".".join(pieces[2:])
        part = translate("Layers", _INSIDE_A_BLOCK[inside]) if inside in _INSIDE_A_BLOCK else _plain(inside)
        return translate("Layers", "Block {0} {1}").format(int(pieces[1]) + 1, part)
    plain = _plain(name)
    return translate("Layers", _WHOLE[name]) if name in _WHOLE else plain[:1].upper() + plain[1:]


def with_titles(sentence: str) -> str:
    """A sentence of the trainer's with the layers of blocks named as the panels name them."""
    return _BLOCK.sub(lambda match: layer_title(match.group()), sentence)


def tight(title: str) -> str:
    """A title for a narrow column: ``Block 1 attention in`` as ``1 attn in``."""
    block = translate("Layers", "Block {0} {1}").format("", "").strip()
    title = title.removeprefix(block).lstrip()
    for long, short in _TIGHT:
        title = title.replace(translate("Layers", long), translate("Layers", short))
    return title


def _plain(name: str) -> str:
    return name.replace(".", " ").replace("_", " ")
