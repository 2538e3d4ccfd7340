"""Templates: which columns, at which offsets, form a feature.

A template file is TOML. Its tables are the groups, each line of a table is a template::

    [neighbours]
    previous = "word[-1]"
    next = "word[1]"

    [pairs]
    with_previous = "word[-1] word[0]"

``column[offset]`` is the value of a column some words ahead (or back); several of them together form one feature.
`hyperspan.features.columns` defines the columns.

The structure ``segments`` also looks at whole parts and gaps. Such templates have a place instead of an offset:
``lower[span]`` is all words of the part or gap, ``[first]`` and ``[last]`` are its outermost words, ``[left]`` and
``[right]`` the words beside it. ``category[whole]`` is the category of the lexicon entry that matches it word for word;
``category[joined]`` that of the longest entry whose words are on both sides of it. Other structures ignore such
templates.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

from hyperspan.diagnostics import quoted
from hyperspan.errors import FeatureError
from hyperspan.features.columns import FARTHEST, Column, column_named, did_you_mean

NAMED = ("default", "published", "segments")
"""The template files of this package; the last has only templates for whole parts and gaps."""

PLACES = ("span", "first", "last", "left", "right", "whole", "joined")
"""Where a template for whole parts and gaps can look."""

ENTRY_PLACES = PLACES[-2:]
"""Places that look up lexicon entries; only categories have them."""

LARGEST_FILE = 1024 * 1024
"""The maximum number of bytes in a template file."""

MOST_PARTS = 8
"""The maximum number of columns that one template can combine."""

_PART = re.compile(r"(?P<column>[^\s\[\]]+)(?:\[(?P<offset>[^\[\]]*)\])?")
_OFFSET = re.compile(r"[+-]?[0-9]")


@dataclass(frozen=True, slots=True)
class Part:
    """A column at an offset in words, or at a place of a part or gap."""

    column: Column
    offset: int = 0
    place: str = ""

    def __str__(self) -> str:
        if self.place:
            return f"{self.column.name}[{self.place}]"
        return self.column.name if self.column.source.is_per_sentence else f"{self.column.name}[{self.offset}]"


@dataclass(frozen=True, slots=True)
class Template:
    """A named combination of parts, in a group that can be disabled as a whole."""

    group: str
    name: str
    parts: tuple[Part, ...]

    @property
    def pattern(self) -> str:
        """The parts as they are written, each in its full form."""
        return " ".join(map(str, self.parts))

    @property
    def is_single(self) -> bool:
        """Whether it looks at one column with at most one value per word, and so gives at most one feature."""
        return len(self.parts) == 1 and not self.parts[0].column.has_several and not self.is_of_spans

    @property
    def is_of_spans(self) -> bool:
        """Whether it looks at whole parts and gaps."""
        return bool(self.parts[0].place)

    @property
    def asks_for_entries(self) -> bool:
        """Whether it looks at entries of a lexicon that are whole parts or gaps, or lie around them."""
        return any(part.place in ENTRY_PLACES for part in self.parts)

    @property
    def group_key(self) -> str:
        """What the template looks at: features with the same group key mostly occur together.

        Examples
        --------
        >>> templates = TemplateSet.parse('[a]\\nb = "word[1]"\\nc = "prefix3[1]"\\nd = "shape[0] shape[1]"')
        >>> [template.group_key for template in templates]
        ['[1]', '[1]', 'shape']
        """
        if all(part.column.source.is_per_sentence for part in self.parts):
            return "sentence"
        offsets = sorted({part.offset for part in self.parts})
        if len(offsets) == 1:
            return f"[{offsets[0]}]"
        return " ".join(sorted({part.column.name for part in self.parts}))

    def __str__(self) -> str:
        return f"{self.group}.{self.name}"


@dataclass(frozen=True)
class TemplateSet:
    """Templates in the order of their file.

    Examples
    --------
    >>> templates = TemplateSet.parse('[pairs]\\nwith_previous = "word[-1] word"', "mine.toml")
    >>> [template.pattern for template in templates]
    ['word[-1] word[0]']
    >>> TemplateSet.load("published").groups
    ('neighbours', 'pairs', 'ngrams', 'pos', 'orthography', 'lemma', 'note', 'section', 'clusters', 'lexicon')
    """

    templates: tuple[Template, ...]
    source: str = "<templates>"

    def __len__(self) -> int:
        return len(self.templates)

    def __iter__(self) -> Iterator[Template]:
        return iter(self.templates)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups, in order of appearance."""
        return tuple(dict.fromkeys(template.group for template in self.templates))

    @classmethod
    def load(cls, file: str | Path) -> TemplateSet:
        """Read a template file: ``"default"``, ``"published"``, ``"segments"``, or a path.

        Raises
        ------
        FeatureError
            If the file cannot be read or is not a valid template file.
        """
        if file in NAMED:
            text = resources.files("hyperspan.features").joinpath(f"{file}.toml").read_text(encoding="utf-8")
            return cls.parse(text, str(file))
        return cls.parse(_read(Path(file)), str(file))

    @classmethod
    def parse(cls, text: str, source: str = "<templates>") -> TemplateSet:
        """Read the text of a template file; ``source`` names it in messages."""
        try:
            groups = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # huge numbers raise other errors
            raise FeatureError(f"{source}: the file is not TOML: {error or 'nested too deeply'}") from None
        rows = []
        for group, lines in groups.items():
            if not isinstance(lines, dict):
                raise FeatureError(
                    f"{source}: {group!r} is outside any group; "
                    f"expected it below the name of a group in brackets: [{'words' if lines else group}]"
                )
            rows += [(group, name, pattern) for name, pattern in lines.items()]
        return cls.of(rows, source)

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], source: str = "<templates>") -> TemplateSet:
        """Make templates from rows ``(group, name, pattern)``.

        Raises
        ------
        FeatureError
            If there are no rows, a name or pattern occurs twice, or a pattern cannot be parsed.
        """
        templates: list[Template] = []
        by_name: dict[str, Template] = {}
        by_parts: dict[frozenset[Part], Template] = {}
        for group, name, pattern in rows:
            where = f"{source}: template {quoted(name)} in group {quoted(group)}"
            template = Template(group, name, _parts(pattern, where))
            if (other := by_name.setdefault(name, template)) is not template:
                raise FeatureError(
                    f"{where}: the name is taken by a template in group {other.group!r}; expected names to differ"
                )
            if (other := by_parts.setdefault(frozenset(template.parts), template)) is not template:
                raise FeatureError(
                    f"{where}: {template.pattern!r} is the same as template {other.name!r} in group {other.group!r}; "
                    "remove one of them"
                )
            templates.append(template)
        if not templates:
            raise FeatureError(
                f"{source}: there are no templates; expected a group such as [words] with lines such as "
                'current = "word[0]" below it'
            )
        return cls(tuple(templates), source)

    def without(self, *groups: str) -> TemplateSet:
        """Return the templates of all other groups, for ablation.

        Raises
        ------
        FeatureError
            If there is no such group, or nothing is left.

        Examples
        --------
        >>> TemplateSet.load("published").without("pos", "clusters").groups
        ('neighbours', 'pairs', 'ngrams', 'orthography', 'lemma', 'note', 'section', 'lexicon')
        """
        self._check_groups(groups)
        return self._keep(template for template in self.templates if template.group not in groups)

    def only(self, *groups: str) -> TemplateSet:
        """Return the templates of some groups."""
        self._check_groups(groups)
        return self._keep(template for template in self.templates if template.group in groups)

    def of_spans(self) -> TemplateSet:
        """Return the templates for whole parts and gaps, or those of ``segments.toml`` if this set has none."""
        own = tuple(template for template in self.templates if template.is_of_spans)
        return TemplateSet(own, self.source) if own else TemplateSet.load("segments")

    def with_spans(self) -> TemplateSet:
        """Return these templates together with those of `of_spans`, whose groups can then be disabled."""
        return TemplateSet.of(dict.fromkeys((*self.rows(), *self.of_spans().rows())), source=self.source)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return ``(group, name, pattern)`` of every template; `of` is the inverse."""
        return [(template.group, template.name, template.pattern) for template in self.templates]

    def _check_groups(self, groups: Sequence[str]) -> None:
        for group in groups:
            if group not in self.groups:
                raise FeatureError(
                    f"{self.source}: there is no group {quoted(group)}{did_you_mean(group, self.groups)} "
                    f"Expected one of {', '.join(self.groups)}"
                )

    def _keep(self, templates: Iterable[Template]) -> TemplateSet:
        kept = tuple(templates)
        if not kept:
            raise FeatureError(f"{self.source}: no template is left; keep at least one group")
        return TemplateSet(kept, self.source)


def _read(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise FeatureError(f"{path}: the file has {size:,} bytes; a template file may have {LARGEST_FILE:,}")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise FeatureError(
            f"{path}: there is no such template file{did_you_mean(str(path), NAMED)} "
            f"Expected a path or one of {', '.join(NAMED)}"
        ) from None
    except OSError as error:
        raise FeatureError(f"{path}: the template file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FeatureError(f"{path}: byte {error.start} is not UTF-8; expected a TOML file in UTF-8") from None


def _parts(pattern: object, where: str) -> tuple[Part, ...]:
    if not isinstance(pattern, str) or not pattern.strip():
        raise FeatureError(f'{where} is {quoted(pattern)}; expected columns with offsets, such as "word[-1] word[0]"')
    parts = tuple(_part(text, where) for text in pattern.split())
    if len(parts) > MOST_PARTS:
        raise FeatureError(f"{where} combines {len(parts)} columns; expected at most {MOST_PARTS}")
    for position, part in enumerate(parts):
        if part in parts[:position]:
            raise FeatureError(f"{where} has {str(part)!r} twice; once is enough")
    if len({bool(part.place) for part in parts}) > 1:
        raise FeatureError(f"{where} combines words at offsets with places of a part or gap; expected one or the other")
    return parts


def _part(text: str, where: str) -> Part:
    found = _PART.fullmatch(text)
    if found is None:
        raise FeatureError(f"{where}: cannot read {quoted(text)}; expected column[offset], such as word[-1]")
    try:
        column = column_named(found["column"])
    except FeatureError as error:
        raise FeatureError(f"{where}: {error}") from None
    offset = found["offset"]
    if offset is None:
        return Part(column)
    if offset in ENTRY_PLACES and column.source.kind != "lexicon":
        raise FeatureError(
            f"{where}: {quoted(text)} asks for an entry of a lexicon, but {column.name!r} does not come from one; "
            f"write category[{offset}]"
        )
    if offset in PLACES and not column.source.is_per_sentence:
        return Part(column, place=offset)
    if not _OFFSET.fullmatch(offset):
        raise FeatureError(
            f"{where}: the offset in {quoted(text)} is {quoted(offset)}; "
            f"expected a whole number from -{FARTHEST} to {FARTHEST}, such as {column.name}[-1], "
            f"or one of {', '.join(PLACES)}"
        )
    if column.source.is_per_sentence:
        raise FeatureError(
            f"{where}: {column.name!r} holds for the whole sentence and takes no offset; write {column.name!r}"
        )
    return Part(column, int(offset))
