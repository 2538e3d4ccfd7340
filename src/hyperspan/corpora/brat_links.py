"""Write relations, events, equivalences and notes as lines of brat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from hyperspan.corpora.brat_lines import WORD, Line, Statement
from hyperspan.corpora.links import Links

_ID = {"relations": "R", "events": "E"}
_LINE_BREAK = re.compile(r"[\t\r\n]+")


def lines_of_links(
    links: Links,
    ids: Mapping[str, str],
    free_id: Callable[[str, str], str],
    write_statement: Callable[[str, Statement], None],
) -> Iterator[str]:
    """Yield a line for every link, and write the attributes of relations and events.

    Parameters
    ----------
    links : Links
    ids : mapping of str to str
        The written id of each mention.
    free_id : callable
        Returns an id of a kind: the wanted one if it is unused.
    write_statement : callable
        Writes a statement about an id.
    """
    known = dict(ids)
    for kind in ("relations", "events"):
        known |= {link["id"]: free_id(_ID[kind], link["id"]) for link in getattr(links, kind)}
    for kind in ("relations", "events"):
        for link in getattr(links, kind):
            trigger = f":{known[link['trigger']]}" if kind == "events" else ""
            roles = [f"{_word(one['role'])}:{known[one['target']]}" for one in link["arguments"]]
            yield f"{known[link['id']]}\t{' '.join([_word(link['type']) + trigger, *roles])}"
            for name, value in link.get("attributes", {}).items():
                for single in value if isinstance(value, list | tuple) else (value,):
                    if WORD.fullmatch(name) and (single is True or WORD.fullmatch(str(single))):
                        write_statement(known[link["id"]], (name, single if single is True else str(single)))
    for link in links.equivalences:
        yield "\t".join(("*", " ".join([_word(link["type"]), *(known[target] for target in link["targets"])])))
    for link in links.notes:
        text = _LINE_BREAK.sub(" ", link["text"])
        yield f"{free_id('#', link['id'])}\t{_word(link['type'])} {known[link['target']]}\t{text}"


def ids_of(links: Links) -> Iterator[str]:
    """Yield the ids of relations, events and notes."""
    for link in (*links.relations, *links.events, *links.notes):
        yield link["id"]


def unknown_lines(lines: Iterable[Line]) -> str:
    """Name the first line that is neither a mention, a link, nor a statement about one."""
    for line in lines:
        if line.id and line.id[0] not in "TREAMN#*":
            return f"line {line.raw.rstrip()[:40]!r}"
    return ""


def _word(text: str) -> str:
    return re.sub(r"[\s:]+", "_", text) or "_"
