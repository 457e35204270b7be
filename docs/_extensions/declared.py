# SPDX-License-Identifier: GPL-2.0-only
"""Pages that the package declares itself: parameters, commands, public names, measured costs.

A comment ``<!-- declared: NAME -->`` on a line of its own in a Markdown page is replaced by what the function NAME of
this module returns, as Markdown; on a forge it is not seen.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from itertools import groupby
from pathlib import Path

import typer
from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import astra_py
from astra_py.cli.app import COMMANDS, LazyGroup
from astra_py.config import Parameter, parameter_table

PACKAGES = (
    "platforms",
    "workloads",
    "collectives",
    "formats",
    "hardware",
    "config",
    "engines.network",
    "results",
    "plots",
    "analysis.compare",
    "batch",
)


def parameters() -> str:
    """A heading a table of a scenario, and a list of each of its keys."""
    written = []
    for table, keys in groupby(parameter_table(), key=lambda each: each.key.rpartition(".")[0]):
        written += [f"## `[{table}]`" if table else "## Without a table", "", *map(_parameter, keys)]
    return "\n".join(written)


def _parameter(parameter: Parameter) -> str:
    default = "required" if parameter.default is None else f"`{_as_written(parameter.default)}`"
    facts = {
        "type": parameter.type + (f", kept in {parameter.unit}" if parameter.unit else ""),
        "default": default + "".join(f"; under `{kind}`: `{v}`" for kind, v in parameter.by_transport.items()),
        "allowed": parameter.allowed,
        "only": parameter.only,
        "source": parameter.source,
        "presets": "; ".join(f"`{name}`: `{value}` ({source})" for name, (value, source) in parameter.presets.items()),
        "ns-3": ", ".join(f"`{name}`" for name in parameter.ns3),
    }
    rows = [f"- {name}: {text}" for name, text in facts.items() if text]
    return "\n".join([f"({parameter.key})=", f"### `{parameter.key}`", "", parameter.description, "", *rows, ""])


def _as_written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def commands() -> str:
    """A heading a command, and its help."""
    group = LazyGroup(name="astra-py")
    written = []
    for name in COMMANDS:
        command = group.get_command(None, name)
        context = typer.Context(command, info_name=f"astra-py {name}", max_content_width=78, terminal_width=78)
        written += [f"## `astra-py {name}`", "", "```text", command.get_help(context).strip(), "```", ""]
    return "\n".join(written)


def public_names() -> str:
    """The names of the package, then those of each of its packages that are not among them."""
    written = ["## `astra_py`", "", "```{eval-rst}", ".. py:module:: astra_py", ""]
    seen: set[int] = set()
    for name in astra_py.__all__:
        written += _public("astra_py", name, seen)
    written.append("```")
    for package in PACKAGES:
        path = f"astra_py.{package}"
        module = import_module(path)
        written += ["", f"## `{path}`", "", "```{eval-rst}", f".. automodule:: {path}", ""]
        for name in module.__all__:
            written += _public(path, name, seen)
        written.append("```")
    return "\n".join(written)


def _public(path: str, name: str, seen: set[int]) -> list[str]:
    """A directive for one public name, unless it has been seen; tables of a scenario have a page of their own."""
    thing = getattr(import_module(path), name)
    if id(thing) in seen or name.startswith("__") or (inspect.isclass(thing) and issubclass(thing, BaseModel)):
        return []
    seen.add(id(thing))
    if inspect.isclass(thing):
        return [f".. autoclass:: {path}.{name}", "   :members:", *_inherited(thing), ""]
    if inspect.isroutine(thing):
        return [f".. autofunction:: {path}.{name}", ""]
    text = _comment(path, name) or [f"Of type :class:`{type(thing).__name__}`."]
    return [f".. py:data:: {path}.{name}", "", *(f"   {line}" for line in text), ""]


def _inherited(kind: type) -> list[str]:
    """The option that also describes what a class has from others of the package; errors add nothing to their base."""
    others = [base for base in kind.__mro__[1:] if not base.__module__.startswith("astra_py.")]
    if issubclass(kind, Exception) or len(others) == len(kind.__mro__) - 1:
        return []
    return [f"   :inherited-members: {', '.join(base.__name__ for base in others)}"]


def _comment(package: str, name: str) -> list[str]:
    """What stands, after ``#:``, before the definition of a public constant in one of the modules of ``package``."""
    for each in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        if found := ModuleAnalyzer.for_module(each.name).find_attr_docs().get(("", name)):
            return found
    return []


def measurements() -> str:
    """The page that ``make benchmarks`` writes, once that has been run here; its headings go a level down."""
    page = Path(__file__).parents[2] / "benchmarks" / "RESULTS.md"
    options = ":heading-offset: 1\n:relative-images:\n:relative-docs: ..\n"
    return f"```{{include}} ../benchmarks/{page.name}\n{options}```" if page.is_file() else ""


PAGES = {each.__name__: each for each in (parameters, commands, public_names, measurements)}


def _fill_in(app: Sphinx, document: str, source: list[str]) -> None:
    source[0] = re.sub(r"^<!-- declared: (\w+) -->$", lambda found: PAGES[found[1]](), source[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Fill the comments in as pages are read."""
    app.connect("source-read", _fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
