# SPDX-License-Identifier: GPL-2.0-only
"""References to Python names that are documented under another name, or not here.

``astra_py.results.Result`` and ``astra_py.Result`` are one class with one place in the pages, to which both lead. A
name of another library, or one of the package's that is not public, stays plain text if there is such a thing; else
Sphinx warns, and the build fails.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import astra_py


@cache
def _names_in_sources() -> frozenset[str]:
    """What the package's modules define or import, also where only type checkers do."""
    return frozenset(name for path in Path(astra_py.__file__).parent.rglob("*.py") for name in _names_in(path))


def _names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _exists(target: str) -> bool:
    """Whether there is something of this name or path."""
    parts = target.split(".")
    parts[0] = {"np": "numpy", "nx": "networkx", "pd": "pandas"}.get(parts[0], parts[0])
    if hasattr(builtins, parts[0]) or parts[-1] in _names_in_sources():
        return True
    for length in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def _resolve(app: Sphinx, env: Any, node: Any, text: Any) -> nodes.Node | None:
    """Link to the one public thing of the name's last part, or leave the text of what else exists."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip(".~")
    domain = env.domains.python_domain
    homes = sorted({entry.docname: name for name, entry in domain.objects.items() if _is_same(name, target)}.items())
    if len(homes) == 1:
        ((document, name),) = homes
        reference = nodes.reference("", "", text, internal=True)
        reference["refuri"] = f"{app.builder.get_relative_uri(node['refdoc'], document)}#{name}"
        return reference
    return text if _exists(target) else None


def _is_same(name: str, target: str) -> bool:
    """Whether a documented name and the target of a reference end alike, as far as the shorter one's class and name."""
    own, wanted = name.split("."), target.split(".")
    if own[0] != "astra_py" or (len(wanted) > 1 and wanted[0] != "astra_py" and not wanted[0][:1].isupper()):
        return False
    length = 2 if len(wanted) > 1 and wanted[-2][:1].isupper() else 1
    return own[-length:] == wanted[-length:]


def setup(app: Sphinx) -> dict[str, bool]:
    """Ask here before a missing reference is a warning."""
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
