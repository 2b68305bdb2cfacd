import re
from pathlib import Path

from policy_engine.topology.reading_errors import ReadingError

PAGE = Path(__file__).parents[2] / "docs" / "reading-errors.md"


def test_every_id_has_a_section_and_every_section_an_id():
    sections = re.findall(r"^## (QM\d{3}): (.+)$", PAGE.read_text(), re.MULTILINE)
    assert sections == [
        (error.value, error.name.lower().replace("_", " ").replace("yaml", "YAML")) for error in ReadingError
    ]
