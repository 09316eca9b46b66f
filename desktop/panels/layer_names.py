"""The names of the model's layers, shortened for people."""

from __future__ import annotations

import re

_WHOLE = {
    "embed": "Embedding",
    "position": "Positions",
    "final_norm": "Final norm",
    "head": "Head",
}
_INSIDE_A_BLOCK = {
    "attention_norm": "attention norm",
    "attention.project_in": "attention in",
    "attention.project_out": "attention out",
    "feed_forward_norm": "feed-forward norm",
    "feed_forward.0": "feed-forward in",
    "feed_forward.2": "feed-forward out",
}
_BLOCK = re.compile(r"\bblocks\.\d+(?:\.\w+)+")
_TIGHT = (("Block ", ""), ("attention", "attn"), ("feed-forward", "ff"))


def layer_title(name: str) -> str:
    """``blocks.0.attention.project_in`` as ``Block 1 attention in``. A name of another make keeps its own words."""
    pieces = name.split(".")
    if len(pieces) > 2 and pieces[0] == "blocks" and pieces[1].isdigit():
        inside = ".".join(pieces[2:])
        return f"Block {int(pieces[1]) + 1} {_INSIDE_A_BLOCK.get(inside, _plain(inside))}"
    plain = _plain(name)
    return _WHOLE.get(name, plain[:1].upper() + plain[1:])


def with_titles(sentence: str) -> str:
    """A sentence of the trainer's with the layers of blocks named as the panels name them."""
    return _BLOCK.sub(lambda match: layer_title(match.group()), sentence)


def tight(title: str) -> str:
    """A title for a narrow column: ``Block 1 attention in`` as ``1 attn in``."""
    for long, short in _TIGHT:
        title = title.replace(long, short)
    return title


def _plain(name: str) -> str:
    return name.replace(".", " ").replace("_", " ")
