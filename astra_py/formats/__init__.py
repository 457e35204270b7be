# SPDX-License-Identifier: GPL-2.0-only
"""Files that people of this field have: recognised, read and written by format."""

from astra_py.formats import scenario_files  # noqa: F401  (what it makes of files is registered)
from astra_py.formats.astra_text import ASTRA_TEXT
from astra_py.formats.chakra import CHAKRA
from astra_py.formats.execution_trace import PYTORCH_ET
from astra_py.formats.head import Head
from astra_py.formats.registry import (
    Document,
    Format,
    Kind,
    Options,
    find_format,
    format_names,
    read,
    recognise,
    register_format,
)

__all__ = [
    "ASTRA_TEXT",
    "CHAKRA",
    "PYTORCH_ET",
    "Document",
    "Format",
    "Head",
    "Kind",
    "Options",
    "find_format",
    "format_names",
    "read",
    "recognise",
    "register_format",
]
