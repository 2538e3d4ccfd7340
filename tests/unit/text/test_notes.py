from __future__ import annotations

import pytest

from hyperspan.text import NOTE_TYPES, note_type


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00098-016139-DISCHARGE_SUMMARY.txt", "discharge"),
        ("21951-433002-ECHO_REPORT", "echo"),
        ("26563-387055-RADIOLOGY_REPORT.txt", "radiology"),
        ("18127-101230-ECG_REPORT", "ecg"),
        ("notes/ct_head_12", "radiology"),
        ("NCT02765035_exc", None),
        ("grade", None),
        ("", None),
    ],
)
def test_the_name_tells(name: str, expected: str | None) -> None:
    assert note_type("", name=name) == expected
    assert expected is None or expected in NOTE_TYPES


def test_attributes_count_before_the_name_and_the_name_before_the_text() -> None:
    text = "Discharge Diagnosis: none"
    assert note_type(text) == "discharge"
    assert note_type(text, name="echo_1") == "echo"
    assert note_type(text, name="echo_1", attributes={"CATEGORY": "ECG"}) == "ecg"
    assert note_type(text, attributes={"category": "Nursing", "author": "echo"}) == "discharge"
    assert note_type(text, attributes={"category": 7}) == "discharge"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PATIENT/TEST INFORMATION:\nIndication: Murmur.\nEchocardiographic results", "echo"),
        ("REASON FOR THIS EXAMINATION:\ncough\nIMPRESSION: No pneumonia.", "radiology"),
        ("TECHNIQUE: PA and lateral.\nIMPRESSION: clear", "radiology"),
        ("IMPRESSION: tired", None),
        ("Sinus rhythm. Left bundle branch block. T wave changes.", "ecg"),
        ("He felt his rhythm was off.", None),
        ("An echocardiogram was done.\nDischarge Medications: none", "discharge"),
    ],
)
def test_the_text_tells(text: str, expected: str | None) -> None:
    assert note_type(text) == expected
