"""XML files as trees that know their lines, and of which it is noted what was read, so that nothing is dropped silently.

Entities and documents elsewhere are refused by defusedxml: a file can neither unfold into more than it is nor read others.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any
from xml.sax.handler import ContentHandler

from mbvi.errors import ModelError
from mbvi.model.expressions import as_number, nearest, show, wrong

MAX_DEPTH = 100
LARGEST = 1e50  # as in model files


class Node:
    """An element of an XML file.

    Parameters
    ----------
    source : str
        What messages call the file.
    tag : str
    attributes : mapping of str to str
    line : int
        Where it begins, counted from 1.
    """

    def __init__(self, source: str, tag: str, attributes: dict[str, str], line: int) -> None:
        self.source, self.tag, self.attributes, self.line = source, tag, attributes, line
        self.children: list[Node] = []
        self.parent: Node | None = None
        self.text = ""
        self._read: set[str] = set()
        self._is_read = False

    def __repr__(self) -> str:
        """The element as a text such as <link name='arm'>."""
        name = self.attributes.get("name")
        return f"<{self.tag}{'' if name is None else f' name={show(name)}'}>"

    @property
    def place(self) -> str:
        """The part of the outermost element that it belongs to, as link 'arm'; empty if that has no name."""
        node = self
        while node.parent is not None and node.parent.parent is not None:
            node = node.parent
        name = node.attributes.get("name")
        return "" if name is None or node.parent is None else f"{node.tag} {name!r}"

    def wrong(self, expected: str, found: str, remedy: str = "") -> ModelError:
        """The error that something is wrong here."""
        return ModelError(f"{self.source}:{self.line}: {self!r}: {wrong(expected, found, remedy)}")

    # ------------------------------------------------------------------------------------------- children

    def all(self, tag: str) -> list[Node]:
        """The children of a tag, which are then read."""
        found = [child for child in self.children if child.tag == tag]
        for child in found:
            child._is_read = True
        return found

    def first(self, tag: str) -> Node | None:
        """The first child of a tag; further ones count as not read."""
        for child in self.children:
            if child.tag == tag:
                child._is_read = True
                return child
        return None

    def the(self, tag: str) -> Node:
        """The first child of a tag, of which there must be one."""
        found = self.first(tag)
        if found is None:
            raise self.wrong(f"an element <{tag}> in it", "none")
        return found

    def walk(self) -> Iterator[Node]:
        """The element and all below it."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def read_all(self) -> None:
        """Count it and all below it as read."""
        for node in self.walk():
            node._is_read = True
            node._read.update(node.attributes)

    def unread(self) -> Iterator[tuple[Node, str]]:
        """What was not read of it: elements, with an empty text, and the names of attributes of those read."""
        for name in self.attributes:
            if name not in self._read:
                yield self, name
        for child in self.children:
            if child._is_read:
                yield from child.unread()
            else:
                yield child, ""

    # ----------------------------------------------------------------------------------------- attributes

    def get(self, name: str) -> str | None:
        """An attribute, without blanks around it; None if it is not there."""
        self._read.add(name)
        value = self.attributes.get(name)
        return None if value is None else value.strip()

    def needed(self, name: str) -> str:
        """An attribute that must be there."""
        value = self.get(name)
        if not value:
            remedy = nearest(name, self.attributes) if self.attributes and value is None else ""
            raise self.wrong(f"an attribute {name}", "none" if value is None else "an empty one", remedy)
        return value

    def numbers(self, name: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """The numbers of an attribute; without a default it must be there."""
        text = self.get(name) if default is not None else self.needed(name)
        return (default or ()) if text is None else self._parsed(text, f"as {name}", count)

    def _parsed(self, text: str, where: str, count: int) -> tuple[float, ...]:
        """The numbers of a text."""
        values = [as_number(word) for word in text.split()]
        if len(values) != count or None in values:
            expected = f"{'a number' if count == 1 else f'{count} numbers'} {where}"
            raise self.wrong(expected, show(text), "write decimal points, and blanks between numbers")
        found = tuple(float(value) for value in values if value is not None)
        if max(map(abs, found)) > LARGEST:
            raise self.wrong(f"numbers of size at most {LARGEST:g} {where}", show(text))
        return found

    def number(self, name: str, default: float | None = None) -> float:
        """The number of an attribute; without a default it must be there."""
        return self.numbers(name, 1, None if default is None else (default,))[0]

    # ----------------------------------------------------------------------------------- text of children

    def word(self, tag: str) -> str | None:
        """The text of the first child of a tag, without blanks around it; None if there is no such child."""
        child = self.first(tag)
        return None if child is None else child.text.strip()

    def needed_word(self, tag: str) -> str:
        """The text of a child that must be there."""
        value = self.the(tag).text.strip()
        if not value:
            raise self.the(tag).wrong("a text in it", "none")
        return value

    def own_values(self, count: int) -> tuple[float, ...]:
        """The numbers in the text of the element itself."""
        return self._parsed(self.text.strip(), "in it", count)

    def values(self, tag: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """The numbers in the text of the first child of a tag; without a default it must be there."""
        child = self.first(tag) if default is not None else self.the(tag)
        return (default or ()) if child is None else child.own_values(count)

    def value(self, tag: str, default: float | None = None) -> float:
        """The number in the text of a child; without a default it must be there."""
        return self.values(tag, 1, None if default is None else (default,))[0]

    def is_set(self, tag: str) -> bool:
        """Whether the text of a child says true."""
        return (self.word(tag) or "").lower() in ("1", "true")


class _Tree(ContentHandler):
    """Builds a tree of nodes from the events of a parser."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.root: Node | None = None
        self.open: list[Node] = []

    def startElement(self, name: str, attrs: Any) -> None:
        """Open an element."""
        node = Node(self.source, name, dict(attrs), self._locator.getLineNumber())  # type: ignore[attr-defined]
        if len(self.open) >= MAX_DEPTH:
            raise node.wrong(f"at most {MAX_DEPTH} elements in each other", "more")
        if self.open:
            self.open[-1].children.append(node)
            node.parent = self.open[-1]
        else:
            self.root = node
        self.open.append(node)

    def endElement(self, name: str) -> None:
        """Close it."""
        self.open.pop()

    def characters(self, content: str) -> None:
        """Keep its text."""
        self.open[-1].text += content


def parse_xml(content: bytes, source: str) -> Node:
    """The outermost element of an XML file.

    Raises
    ------
    ModelError
        If it is no XML, declares entities or refers to other documents.
    """
    from xml.sax import SAXParseException

    import defusedxml.sax
    from defusedxml.common import DefusedXmlException

    tree = _Tree(source)
    try:
        defusedxml.sax.parse(io.BytesIO(content), tree)
    except ModelError:
        raise
    except SAXParseException as error:
        found = str(error.getMessage()).replace("no element found", "the end of the file before that of its elements")
        raise ModelError(f"{source}:{error.getLineNumber() or 1}: {wrong('XML', found)}") from None
    except DefusedXmlException:
        remedy = "write what they stand for in their place"
        raise ModelError(f"{source}: {wrong('XML without entities', 'declarations of some', remedy)}") from None
    except (LookupError, ValueError) as error:
        found = str(error).partition(";")[0]
        raise ModelError(f"{source}: {wrong('XML in an encoding that is known', found, 'save it as UTF-8')}") from None
    assert tree.root is not None
    return tree.root
