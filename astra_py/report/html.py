# SPDX-License-Identifier: GPL-2.0-only
"""Small pieces of HTML for notebooks: escaped, without scripts, and in the notebook's own colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["facts_html", "table_html"]


def facts_html(title: str, facts: Mapping[str, object]) -> str:
    """A title and a table of names and values.

    Parameters
    ----------
    title : above.
    facts : values by name, written as text.
    """
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f"<div><strong>{escape(title)}</strong><table><tbody>{rows}</tbody></table></div>"


def table_html(header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """A table of a few rows, and a line below it.

    Parameters
    ----------
    header : names of the columns.
    rows : the fields, written as text.
    note : what is not shown.
    """
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
