"""An SVG file of matplotlib's as an element of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any


def cleaned(raw: bytes, name: str, title: str) -> str:
    """An SVG file as an element of a page.

    No namespace and no metadata; styles are attributes, which a strict policy allows; ids are the figure's own, for
    several stand on one page.

    Args:
        raw: the file.
        name: begins its ids.
        title: what is said to who does not see it.
    """
    from xml.etree import ElementTree as ET

    root = ET.fromstring(raw)  # noqa: S314  matplotlib's, of numbers and our own words
    for parent in list(root.iter()):
        for child in [child for child in parent if _bare(child.tag) in ("metadata", "style")]:
            parent.remove(child)
    for element in root.iter():
        element.tag = _bare(element.tag)
        element.attrib = _plain(element.attrib, name)
        element.text = element.text if element.tag == "text" else None
        element.tail = None
    _drop_unused_ids(root)
    root.attrib = {"viewBox": root.get("viewBox", ""), "role": "img", "aria-label": title}
    return ET.tostring(root, encoding="unicode")


_DECLARATION = re.compile(r"\s*([a-z-]+)\s*:\s*([^;]+?)\s*(?:;|$)")
_LINK = "{http://www.w3.org/1999/xlink}href"
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
_OWN = re.compile(r"url\(#([^)]+)\)")


def _bare(tag: str) -> str:
    return tag.rpartition("}")[2]


def _plain(given: Mapping[str, str], name: str) -> dict[str, str]:
    """Its attributes as they should be."""
    styles = dict(_DECLARATION.findall(given.get("style", "")))
    styles.pop("font-family", None)  # the page's
    told = {**given, **styles}
    if _LINK in told:
        told["href"] = f"#{name}-{told[_LINK].removeprefix('#')}"
    if "id" in told:
        told["id"] = f"{name}-{told['id']}"
    told = {key: _OWN.sub(rf"url(#{name}-\1)", _short(value)) for key, value in told.items()}
    return {key: value for key, value in told.items() if key not in ("style", "version", _LINK)}


def _short(value: str) -> str:
    """Numbers to a hundredth of a point: what matplotlib says beyond is half of the file."""
    return " ".join(_LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value).split())


def _drop_unused_ids(root: Any) -> None:
    used = {value for element in root.iter() for value in _references(element.attrib)}
    for element in root.iter():
        if element.get("id", "") not in used:
            element.attrib.pop("id", None)


def _references(attributes: Mapping[str, str]) -> Iterator[str]:
    for key, value in attributes.items():
        if key == "href":
            yield value.removeprefix("#")
        yield from _OWN.findall(value)
