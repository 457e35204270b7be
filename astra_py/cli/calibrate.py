# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py calibrate``: figures of a scenario fitted to an nccl-tests log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from astra_py.cli.common import print_json
from astra_py.cli.sizes import parse_sizes
from astra_py.errors import ConfigError
from astra_py.results.text import figure, grid
from astra_py.units import format_size

if TYPE_CHECKING:
    from astra_py.analysis.calibrate import Calibration

__all__ = ["calibrate"]


def calibrate(
    log: Annotated[Path, typer.Argument(help="Output of an nccl-tests program.", show_default=False)],
    scenario: Annotated[Path, typer.Argument(help="Scenario file.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[key.path=value]...", help="Changes, such as platform.link_rate=200Gbps.", show_default=False
        ),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--collective", help="The collective, where the log has no name.", show_default=False)
    ] = None,
    engine: Annotated[str, typer.Option(help="The engine that is fitted.")] = "analytic",
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--fit", help="Fit this key; again for more. Usually a rate or share, and a latency.", show_default=False
        ),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(
            "--hold-out", help="Sizes that the fit does not see; every second one without it.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: the fit, and a point a size.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No warnings.")] = False,
) -> None:
    """Fit link efficiency and latency to measured times; errors at sizes fitted and held out stand apart."""
    from astra_py.analysis.calibrate import calibrate as fit
    from astra_py.config import load_scenario
    from astra_py.formats import read
    from astra_py.formats.registry import Kind
    from astra_py.platforms import build_platform

    document = read(log, kinds=(Kind.MEASUREMENTS,))
    ranks = build_platform(load_scenario(scenario, overrides or ()).platform).ranks
    warnings = list(document.warnings if as_json else ())
    if document.ranks not in (None, ranks):
        warnings.append(f"{log} is of {document.ranks} GPUs, and the platform has {ranks} ranks")
    for warning in () if is_quiet else warnings:
        print(f"warning: {warning}", file=sys.stderr)
    measured = document.content
    kind = kind or str(measured.attrs.get("collective", ""))
    if not kind:
        raise ConfigError(f"{log}: the log does not name its collective; allowed: --collective KIND")
    found = fit(
        scenario,
        measured,
        kind,
        *(overrides or ()),
        f"engine={engine}",
        keys=keys or (),
        held_out=None if held_out is None else parse_sizes(held_out),
    )
    if as_json:
        points = found.points.to_dict("records")
        fit_of = {"fitted": dict(found.fitted), "before": dict(found.before), "at_limit": list(found.at_limit)}
        print_json([{**fit_of, "points": points}])
    else:
        print("\n".join([*document.notes, "", *_report(found, kind)]))


def _report(found: Calibration, kind: str) -> list[str]:
    lines = [f"{kind}, fitted by least squares of relative errors:"]
    for key, value in found.fitted.items():
        limit = "; as far as it may go, and the measurements ask for more" if key in found.at_limit else ""
        lines.append(f"  {key} = {value}  (was {found.before[key]}{limit})")
    rows = [
        [
            format_size(int(point["size_bytes"])),
            figure(float(point["measured_us"])),
            figure(float(point["before_us"])),
            figure(float(point["simulated_us"])),
            f"{float(point['error_percent']):+.2f} %",
            "fitted" if point["is_fitted"] else "held out",
        ]
        for point in found.points.to_dict("records")
    ]
    lines += ["", *grid(["size", "measured us", "before us", "simulated us", "error", ""], rows), ""]
    for is_fitted, word in ((True, "fitted"), (False, "held out")):
        error = found.error_percent(is_fitted=is_fitted)
        lines.append(
            f"error at sizes {word}: " + ("none there" if error != error else f"{error:.2f} % (root mean square)")
        )
    return [*lines, "", "to use it: " + " ".join(found.overrides)]
