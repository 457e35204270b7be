# SPDX-License-Identifier: GPL-2.0-only
"""Small pieces of HTML for notebooks: escaped, without scripts, and in the notebook's own colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["facts_html", "table_html"]

#: Looks that notebooks need not have of their own; colours are theirs, light or dark.
_TABLE, _CELL = "border-collapse:collapse;margin:.3em 0", "padding:.15em .7em;vertical-align:top"
_NUMBER = re.compile(r"[+-]?[\d,]+(\.\d+)?([eE][+-]?\d+)?( \([+-]?[\d.,]+ %\))?$")


def facts_html(title: str, facts: Mapping[str, object]) -> str:
    """A title and a table of names and values.

    Parameters
    ----------
    title : above.
    facts : values by name, written as text.
    """
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL};text-align:left;white-space:nowrap">{escape(name)}</th>'
        f'<td style="{_CELL};text-align:left">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    table = f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'
    return f"<div><strong>{escape(title)}</strong>{table}</div>"


def table_html(header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """A table of a few rows, and a line below it.

    Parameters
    ----------
    header : names of the columns.
    rows : the fields, written as text.
    note : what is not shown.
    """
    listed = [[str(cell) for cell in row] for row in rows]
    # a column of numbers, in which blanks may be, is aligned at its right
    is_right = [
        any(row[place] for row in listed) and all(not row[place] or _NUMBER.match(row[place]) for row in listed)
        for place in range(len(header))
    ]
    styles = [f"{_CELL};text-align:{'right' if right else 'left'}" for right in is_right]
    heads = "".join(
        f'<th scope="col" style="{style}">{escape(name)}</th>' for name, style in zip(header, styles, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{style}">{escape(cell)}</td>' for cell, style in zip(row, styles, strict=True))
        + "</tr>"
        for row in listed
    )
    below = f"<p>{escape(note)}</p>" if note else ""
    table = f'<table style="{_TABLE}"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div style="overflow-x:auto">{table}{below}</div>'
