"""Write ``annotation.conf``, which brat needs to show the mentions of a folder."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from hyperspan.corpora.brat_lines import NOTED
from hyperspan.mentions import Unit

NAME = "annotation.conf"

_OVERLAPS = "<OVERLAP> Arg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>"


class Configuration:
    """Collect the types and attributes of mentions.

    Examples
    --------
    >>> from hyperspan.mentions import Document, Mention
    >>> configuration = Configuration()
    >>> configuration.add(Document("a", "no fever", [Mention("Finding", [(3, 8)], attributes={"Negated": True})]))
    >>> print(configuration.text())
    [entities]
    Finding
    <BLANKLINE>
    [relations]
    <OVERLAP> Arg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>
    <BLANKLINE>
    [events]
    <BLANKLINE>
    [attributes]
    Negated Arg:<ENTITY>
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._types: set[str] = set()
        self._values: dict[str, set[str]] = defaultdict(set)

    def add(self, unit: Unit) -> None:
        """Add the mentions of a document."""
        for mention in unit.mentions:
            self._types.add(mention.type)
            for name, value in mention.attributes.items():
                if name in NOTED:
                    continue
                self._values[name].update([] if isinstance(value, bool) else [str(value)])

    def text(self) -> str:
        """Return the text of the file, which allows all mentions to overlap."""
        attributes = [
            f"{name} Arg:<ENTITY>{f', Value:{chr(124).join(sorted(values))}' if values else ''}"
            for name, values in sorted(self._values.items())
            if name.isidentifier() and not any(set(value) & set(", |\n") for value in values)
        ]
        blocks = {"entities": sorted(self._types), "relations": [_OVERLAPS], "events": [], "attributes": attributes}
        return "\n".join("".join(f"{line}\n" for line in (f"[{name}]", *lines)) for name, lines in blocks.items())

    def write(self, folder: Path) -> None:
        """Write the file into a folder."""
        (folder / NAME).write_bytes(self.text().encode("utf-8", "replace"))
