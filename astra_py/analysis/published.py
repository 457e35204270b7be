# SPDX-License-Identifier: GPL-2.0-only
"""Published figures that ship with the package: small tables, each with its source in its first lines."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_figures", "source_of_figures"]

_COMMENT = "#"


def _text(name: str) -> str:
    return (files("astra_py.analysis") / "data" / name).read_text(encoding="utf-8")


def read_figures(name: str) -> pd.DataFrame:
    """Return the table ``data/<name>``; its columns end in their unit."""
    from io import StringIO

    import pandas as pd

    return pd.read_csv(StringIO(_text(name)), comment=_COMMENT)


def source_of_figures(name: str) -> str:
    """Where the figures of ``data/<name>`` were published, as its first lines say."""
    lines = [line for line in _text(name).splitlines() if line.startswith(_COMMENT)]
    return " ".join(line.removeprefix(_COMMENT).strip() for line in lines)
