# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py sensitivity``: each figure of a scenario halved and doubled."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from astra_py.cli.common import print_json
from astra_py.errors import ConfigError
from astra_py.results.text import figure, grid
from astra_py.units import parse_size

if TYPE_CHECKING:
    from astra_py.analysis.sensitivity import Change, Effect

__all__ = ["sensitivity"]


def sensitivity(
    scenario: Annotated[Path, typer.Argument(help="Scenario file.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[key.path=value]...", help="Changes, such as platform.link_rate=200Gbps.", show_default=False
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="The engine; the scenario's without it.", show_default=False)
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option("--key", help="Vary this key, * for anything; again for more.", show_default=False),
    ] = None,
    collective: Annotated[
        str | None, typer.Option(help="KIND:SIZE of a collective to time in place of the workload.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a figure.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Run a scenario with each rate, delay, buffer, payload, share and factor halved and doubled, one at a time."""
    from astra_py.analysis.sensitivity import sensitivity as vary
    from astra_py.analysis.sensitivity import to_pandas

    changes = list(overrides or []) + ([f"engine={engine}"] if engine is not None else [])

    def told(effect: Effect) -> None:
        if not is_quiet:
            print(f"{effect.key}: {_cell(effect.halved)} halved, {_cell(effect.doubled)} doubled", file=sys.stderr)

    effects = vary(scenario, *changes, keys=keys or (), collective=_collective(collective), told=told)
    if as_json:
        frame = to_pandas(effects)
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        print_json([{str(key): value for key, value in row.items()} for row in rows])
    else:
        print("\n".join(_report(effects, without_packets=_engine(scenario, changes) != "packet")))


def _engine(scenario: Path, changes: list[str]) -> str:
    from astra_py.config import load_scenario

    return load_scenario(scenario, changes).engine


def _collective(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    kind, colon, size = text.partition(":")
    if not colon:
        raise ConfigError(f"--collective {text!r}; allowed: KIND:SIZE, such as all_reduce:16MiB")
    return kind, parse_size(size)


def _cell(change: Change) -> str:
    if change.change is None:
        return "refused"
    return "0" if change.change == 0 else f"{100 * change.change:+.2f} %"


def _report(effects: list[Effect], *, without_packets: bool) -> list[str]:
    """What moves the run's time, then what does nothing, then what could not be tried."""
    if not effects:
        return ["no figure of this scenario is a number other than 0"]
    moving = [effect for effect in effects if not effect.has_no_effect and not effect.is_refused]
    rows = [[e.key, str(e.value), _cell(e.halved), _cell(e.doubled)] for e in moving]
    lines = [f"the run takes {figure(effects[0].time_ps / 1e6)} us; what its figures do to that:", ""]
    lines += grid(["figure", "value", "halved", "doubled"], rows)
    if still := [f"{e.key} = {e.value}" for e in effects if e.has_no_effect]:
        lines += ["", "nothing changes, not by a picosecond, with half or double:", *(f"  {text}" for text in still)]
        if without_packets and any(text.startswith(("switch.", "transport.")) for text in still):
            lines.append("  (an engine without packets has no buffers and no congestion control for them to act in)")
    refused = [(effect, each) for effect in effects for each in (effect.halved, effect.doubled) if each.refused]
    if refused:
        lines += ["", "not allowed:"]
        lines += [f"  {effect.key} = {each.value}: {each.refused}" for effect, each in refused]
    return lines
