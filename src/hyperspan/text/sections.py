"""Find the sections of a report by their headings, and map all spellings of a heading to one name.

A heading is a line that ends in a colon, a line in capitals after a blank line, a known title alone on its line, or a
known title (or one in capitals) followed by a colon and text: ``IMPRESSION: no change``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from hyperspan.errors import UsageError
from hyperspan.text.lines import LONGEST_HEADING, MOST_HEADING_WORDS, Line, heading_key, split_lines, title_of

_ENGLISH = {
    "addendum": "",
    "admission_date": "date of admission",
    "allergies": "allergy; allergies and adverse reactions; adverse reactions; drug allergies",
    "assessment": "assessment and plan; a p; a and p; assessment plan; impression and plan; clinical impression",
    "chief_complaint": "cc; complaint; presenting complaint; reason for admission; reason for visit",
    "clinical_information": "clinical history; clinical indication; history and indication; clinical data",
    "comparison": "comparisons; comparison study; comparison studies",
    "condition_at_discharge": "discharge condition; condition on discharge; condition upon discharge; condition",
    "conclusion": "conclusions; summary; summary and conclusions",
    "consultations": "consults; consultation; consulting services",
    "diagnosis": "diagnoses; final diagnosis; final diagnoses; principal diagnosis; primary diagnosis; "
    "secondary diagnosis; secondary diagnoses; admission diagnosis; admitting diagnosis",
    "discharge_date": "date of discharge",
    "discharge_diagnosis": "discharge diagnoses; diagnosis at discharge; diagnoses at discharge",
    "discharge_disposition": "disposition; dispo",
    "discharge_instructions": "instructions; patient instructions; instructions to patient",
    "discharge_medications": "medications on discharge; medications at discharge; discharge meds; meds on discharge",
    "exclusion_criteria": "exclusion; exclusions; exclusion criterion",
    "family_history": "fh; fhx; famhx; fam hx; family hx; family medical history",
    "findings": "finding; radiologic findings",
    "follow_up": "followup; follow up instructions; followup instructions; follow up appointments; "
    "follow up plans; recommended follow up",
    "history": "hx; interval history; history and physical",
    "history_of_present_illness": "hpi; hx of present illness; history present illness; present illness; "
    "history of the present illness; hist of present illness; h p i; hx present illness; "
    "history of present illness hpi",
    "hospital_course": "brief hospital course; course in hospital; course; summary of hospital course; "
    "hospital course by system; hospital course by systems; hospital course by problem; "
    "concise summary of hospital course",
    "impression": "impressions; imp; final impression",
    "inclusion_criteria": "inclusion; inclusion criterion",
    "indication": "indications; indication for study; indication for examination; reason for examination; "
    "reason for this examination; reason for exam; reason for study",
    "laboratory": "labs; laboratory data; lab data; laboratory results; lab results; laboratories; laboratory studies; "
    "laboratory values; laboratory findings; pertinent results; labs on admission; admission labs; discharge labs; "
    "labs on discharge",
    "medications": "meds; medication; current medications; current meds; medication list",
    "medications_on_admission": "admission medications; home medications; home meds; meds on admission; "
    "medications at home; outpatient medications; preadmission medications; medications prior to admission; "
    "admission meds",
    "past_medical_history": "pmh; pmhx; past medical hx; past med hx; past history; past hx; medical history; "
    "past medical history pmh; pmh psh; past medical and surgical history; past medical surgical history; "
    "prior medical history; previous medical history",
    "past_surgical_history": "psh; pshx; past surgical hx; surgical history; past surg hx; prior surgical history",
    "physical_examination": "pe; px; exam; physical; physical exam; physical examination on admission; "
    "physical exam on admission; examination; admission physical exam; admission exam; p e; on physical examination; "
    "physical examination at discharge; discharge exam; discharge physical exam; examination on admission",
    "plan": "plans; recommendation; recommendations; plan of care; treatment plan",
    "procedures": "procedure; operations; operation; major surgical or invasive procedure; procedures performed; "
    "operations and procedures; operative procedures",
    "review_of_systems": "ros; review of symptoms; system review; systems review",
    "social_history": "sh; shx; sochx; soc hx; social hx; habits; social and family history; personal history",
    "studies": "imaging; radiology; radiographic studies; diagnostic studies; imaging studies; tests",
    "technique": "techniques; procedure and technique; protocol",
    "vital_signs": "vitals; vs; vital signs on admission; vitals on admission; admission vitals",
}


def _table(names: Mapping[str, str]) -> Mapping[str, str]:
    table: dict[str, str] = {}
    for name, others in names.items():
        for key in (name.replace("_", " "), *filter(None, others.split("; "))):
            if table.setdefault(key, name) != name:
                raise AssertionError(f"{key!r} is given for both {table[key]!r} and {name!r}")
    return MappingProxyType(table)


HEADINGS: Mapping[str, Mapping[str, str]] = MappingProxyType({"en": _table(_ENGLISH)})
"""Known titles by language: a mapping from titles, normalised by `heading_key`, to section names."""

_INLINE = re.compile(rf"([^:\n\r]{{1,{LONGEST_HEADING}}}):(?=\s+\S)")
_NUMBERS_ONLY = re.compile(r"[\W\d_]*\Z")
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Section:
    """Where a section begins, its name, and its title in the text."""

    start: int
    name: str
    title: str


def known_headings(language: str = "en") -> Mapping[str, str]:
    """Return the known titles of a language; empty if there is no table for it.

    Examples
    --------
    >>> known_headings()["hpi"]
    'history_of_present_illness'
    """
    if not isinstance(language, str) or not language:
        raise UsageError(f"language is {language!r}; expected a code such as 'en'")
    return HEADINGS.get(language.lower().replace("_", "-").split("-")[0], MappingProxyType({}))


def section_name(title: str, language: str = "en") -> str:
    """Return the section name for a title in any spelling.

    Examples
    --------
    >>> section_name("Hx of Present Illness"), section_name("HPI:"), section_name("Transfusion notes")
    ('history_of_present_illness', 'history_of_present_illness', 'transfusion_notes')
    """
    key = heading_key(title)
    known = known_headings(language).get(key)
    return known or key.replace(" ", "_")[:_LONGEST_NAME].rstrip("_")


def find_sections(text: str, language: str = "en") -> list[Section]:
    """Return the sections of a text in order.

    Examples
    --------
    >>> text = '''PMHx:
    ... asthma
    ...
    ... IMPRESSION: no change'''
    >>> [(section.name, section.start) for section in find_sections(text)]
    [('past_medical_history', 0), ('impression', 14)]
    """
    return sections_of(text, split_lines(text, known_headings(language)), language)


def sections_of(text: str, lines: Sequence[Line], language: str = "en") -> list[Section]:
    """Return the sections of a text that is already split into lines."""
    known = known_headings(language)
    sections = []
    for line in lines:
        if line.kind == "heading":
            title = title_of(text[line.start : line.end])
        elif line.kind in ("prose", "row", "item"):
            title = _inline_title(text[line.start : min(line.end, line.start + 2 * LONGEST_HEADING)], known)
        else:
            continue
        if title and (name := section_name(title, language)):
            sections.append(Section(line.start, name, title))
    return sections


def section_at(sections: Sequence[Section], position: int) -> str | None:
    """Return the name of the section at a position, or None before the first section."""
    index = bisect_right(sections, position, key=lambda section: section.start)
    return sections[index - 1].name if index else None


def _inline_title(content: str, known: Mapping[str, str]) -> str:
    match = _INLINE.match(content) if ":" in content else None
    if match is None:
        return ""
    title = title_of(match[1])
    words = title.split()
    if not title or len(words) > MOST_HEADING_WORDS:
        return ""
    if heading_key(title) in known:
        return title
    # Capitals before a colon are a heading, unless what follows is a value: "WBC: 9.1".
    letters = sum(map(str.isalpha, title))
    in_capitals = letters >= 4 and title.upper() == title and title.lower() != title
    return title if in_capitals and not _NUMBERS_ONLY.match(content, match.end()) else ""
