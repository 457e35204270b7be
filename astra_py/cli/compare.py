# SPDX-License-Identifier: GPL-2.0-only
"""``astra-py compare``: engines, transports and algorithms side by side, and where the packet run's time went."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from astra_py.cli.interrupts import finished_first
from astra_py.cli.progress import progress
from astra_py.cli.sizes import parse_sizes
from astra_py.errors import ConfigError

if TYPE_CHECKING:
    from astra_py.analysis.comparison import Comparison
    from astra_py.formats import Document

__all__ = ["compare"]

#: Exit code where something differs by more than is allowed.
_OUT_OF_TOLERANCE = 1
_FORMATS = ("table", "markdown", "csv", "json")


def compare(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCENARIO] [key.path=value]...",
            help="Scenario file, and changes; a single collective needs no file.",
            show_default=False,
        ),
    ] = None,
    engines: Annotated[
        str, typer.Option(help="Engines, the first of which the others are compared with.")
    ] = "packet,analytic",
    transports: Annotated[
        str | None,
        typer.Option(
            help="Kinds of transport to compare, such as roce,tcp; keys of the other kind are put aside.",
            show_default=False,
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="key.path=V1,V2",
            help="Values of a parameter to compare, such as transport.window=none,bdp; of several, every combination. "
            "Values that have commas: apart by semicolons.",
            show_default=False,
        ),
    ] = None,
    collective: Annotated[
        str | None,
        typer.Option(help="A kind of collective, alone in place of the scenario's workload.", show_default=False),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Sizes of it, as astra-py collective has them; those of --log without it.", show_default=False
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(help="A log of nccl-tests of that collective, to compare with.", show_default=False),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="Largest difference from the first column, such as 5%; more is exit code 1.", show_default=False
        ),
    ] = None,
    form: Annotated[str, typer.Option("--format", help=f"One of {', '.join(_FORMATS)}.")] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to write table.csv, why.csv, queueing.csv, stretches.csv and comparison.json, .md to.",
            show_default=False,
        ),
    ] = None,
    has_no_why: Annotated[bool, typer.Option("--no-why", help="Do not follow the frames of packet runs.")] = False,
    is_quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no warnings.")] = False,
) -> None:
    """Compare times by iteration, collective and phase, and split those of the packet engine into their parts."""
    from astra_py.analysis.compare import compare as run

    if as_json:
        if form not in ("table", "json"):
            raise ConfigError(f"--json and --format {form}: both are given; allowed: one of the two")
        form = "json"
    if form not in _FORMATS:
        raise ConfigError(f"--format {form!r}; allowed: {', '.join(_FORMATS)}")
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out {out}: is there already; allowed: a folder that is absent or empty")
    given = list(arguments or [])
    has_file = bool(given) and ("=" not in given[0] or Path(given[0]).is_file())
    if log is not None and collective is None:
        raise ConfigError(f"--log {log}: a log is of one collective; allowed: with --collective KIND")
    if not has_file and collective is None:
        raise ConfigError("a scenario file is missing; allowed: SCENARIO [key.path=value]..., or --collective KIND")
    measured = None if log is None else _measured(log, is_quiet=is_quiet)
    wanted = None if sizes is None else parse_sizes(sizes)
    if measured is not None and wanted is None:
        wanted = measured.content["size_bytes"].tolist()
    comparison = run(
        given[0] if has_file else {},
        *given[int(has_file) :],
        engines=[name.strip() for name in engines.split(",")],
        transports=None if transports is None else [name.strip() for name in transports.split(",")],
        vary=_varied(vary or []),
        collective=collective,
        sizes=wanted,
        reference=None if measured is None else measured.content,
        tolerance=None if tolerance is None else _share(tolerance),
        observe=partial(progress, is_quiet=is_quiet),
    )
    ranks = comparison.cases[0].runs[0].platform.ranks
    if measured is not None and measured.ranks not in (None, ranks) and not is_quiet:
        print(f"warning: {log} is of {measured.ranks} GPUs, and the platform has {ranks} ranks", file=sys.stderr)
    for warning in () if is_quiet else comparison.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    is_why_told = not has_no_why and comparison.is_explained and (form != "csv" or out is not None)
    refused = _refusal(comparison) if is_why_told else None
    has_why = is_why_told and refused is None
    _print(comparison, form, has_why=has_why)
    if out is not None:
        with finished_first(f"the comparison is being written to {out}"):
            comparison.save(out, has_why=has_why)
    if refused is not None:
        # the runs were not for nothing: their times are told before
        raise refused
    if not comparison.is_within_tolerance:
        print(comparison.verdict, file=sys.stderr)
        raise typer.Exit(_OUT_OF_TOLERANCE)


def _measured(log: Path, *, is_quiet: bool) -> Document:
    """What a log has; what was taken from it is told on standard error."""
    from astra_py.formats import Kind, read

    document = read(log, kinds=(Kind.MEASUREMENTS,))
    for note in () if is_quiet else document.notes:
        print(f"note: {note}", file=sys.stderr)
    return document


def _refusal(comparison: Comparison) -> ConfigError | None:
    """Why it cannot be said where the time went, or None where it can."""
    try:
        _ = comparison.why
    except ConfigError as error:
        return error
    return None


def _varied(texts: list[str]) -> dict[str, list[str]]:
    """Values by key, of texts ``key=V1,V2``, or ``key=V1;V2`` where values have commas."""
    varied: dict[str, list[str]] = {}
    for text in texts:
        key, _, values = text.partition("=")
        if not key or not values:
            raise ConfigError(f"--vary {text!r}; allowed: key.path=V1,V2")
        if key in varied:
            raise ConfigError(f"--vary {text!r}: {key} is given twice; allowed: all its values at once")
        varied[key] = [value.strip() for value in values.split(";" if ";" in values else ",")]
    return varied


def _share(text: str) -> float:
    """``5%`` or ``0.05`` as a share."""
    number = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if number is None:
        raise ConfigError(f"--tolerance {text!r}; allowed: a share such as 5% or 0.05")
    return float(number[1]) / (100 if number[2] else 1)


def _print(comparison: Comparison, form: str, *, has_why: bool) -> None:
    match form:
        case "json":
            print(comparison.to_json(has_why=has_why))
        case "markdown":
            print(comparison.to_markdown(has_why=has_why))
        case "csv":
            print(comparison.table.to_csv(index=False), end="")
        case _:
            print(comparison.report(has_why=has_why))
