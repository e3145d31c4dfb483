"""`pytest --doctor-cases FILE`, for the tests of this project and for nobody else's.

Pytest takes what follows an option that it does not know yet for tests, and looks for `conftest.py` and settings beside
them. An option whose value is the path of a file has to be known before any `conftest.py` is found, and that takes an
entry point of an installed package (pytest's documentation, "Making your plugin installable by others").
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, where pytest is run in this project's folder."""
    if Path("tests", "corpus", "doctor.jsonl").is_file():
        parser.addoption("--doctor-cases", metavar="FILE", help="the same as --corpus doctor=FILE")
