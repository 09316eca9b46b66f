"""A page as a browser reads it."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = {"meta"}


class Tree(HTMLParser):
    """Elements, attributes and text as a browser reads them; checks that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def require_self_contained(text: str) -> Tree:
    """No script, and nothing that a browser would fetch or follow."""
    tree = Tree(text)
    assert not {"script", "link", "img", "iframe", "object", "a", "form"} & set(tree.tags)
    assert not {"src", "href", "style"} & {name for name, _ in tree.attributes}
    assert "http" not in text.replace("http-equiv", "") and "@import" not in text and "url(" not in text
    return tree
