"""One row laid again over what it laid before, of which somebody changed something: value by value, in place."""

from __future__ import annotations

from dataclasses import replace

from toolsync.document import MISSING, Document, parse_path
from toolsync.document.keypath import spell
from toolsync.overlay import edited
from toolsync.plan.giving import given_back
from toolsync.plan.laying import Laid, missing_parents, sha256, with_origin
from toolsync.plan.model import Place, Row
from toolsync.remembered import LayerMemory, Remembered


def laid_in_place(document: Document, row: Row, known: LayerMemory, place: Place) -> Laid:
    """The row laid over what was laid before, of which somebody changed something: value by value.

    What is wanted no more is given back; an origin stays while the value that it is the origin of is still ours.
    """
    back = given_back(document, row, known, place)
    assert back.document is not None  # noqa: S101  giving back never takes the file away
    result = back.document
    kept: dict[str, str] = {}
    earlier = {value.path: value for value in known.values}
    values: list[Remembered] = [*(back.layer.values if back.layer else ())]
    containers = [path for path in known.containers if result.get(parse_path(path)) is not MISSING]
    for edit in row.edits:
        remembered, secrets = with_origin(result, edit, row, place, earlier.get(spell(edit.path)))
        values.extend(remembered)
        kept.update(secrets)
        containers.extend(path for path in missing_parents(result, edit) if path not in containers)
        result = edited(result, [edit])
    if not row.edits:
        return Laid(result, back.layer, kept, back.left)
    layer = replace(known, values=tuple(values), containers=tuple(containers), holds_key=row.holds_key)
    if result.text != document.text:
        layer = replace(layer, sha256=sha256(result.text), inverse=None, applied_at=place.now)
    return Laid(result, layer, kept, back.left)
