# SPDX-License-Identifier: GPL-2.0-only
"""The commands by name. A command's module is imported only when that command is run, so that help needs nothing.

A command ``x`` is the function ``x`` of the module ``astra_py.cli.x``, written as typer wants it. It raises the
package's own errors; :func:`astra_py.cli.common.with_exit_codes` turns them into messages and exit codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from astra_py.cli.common import with_exit_codes, written_output
from astra_py.errors import did_you_mean

__all__ = ["COMMANDS", "command"]

#: Name and one line of help of each command, in the order of the help text.
COMMANDS = {
    "run": "Simulate a training job: iteration, compute, communication and what is exposed.",
    "collective": "Time one collective over a range of sizes.",
    "compare": "Compare engines, transports and algorithms, and say why a packet run takes as long as it does.",
    "sensitivity": "Halve and double each figure of a scenario: what moves the result, and what does nothing.",
    "sweep": "Run a scenario at many points: unattended, resumable, on as many CPUs or machines as there are.",
    "calibrate": "Fit figures of a scenario to an nccl-tests log, and test the fit at sizes that it has not seen.",
    "validate": "Run the validation table: exact recurrences, other simulators, measured machines.",
    "plan": "Shard a DLRM's tables: memory and bytes of each rank, the plan as a table to edit.",
    "plot": "Draw results: timeline, bus bandwidth, why, links, topology, queues, flows, traffic.",
    "trace": "Write results as a timeline for Perfetto: ranks, messages with arrows, links.",
    "bandwidth": "Time collectives by kind, ranks and size: a table for sharders.",
    "inspect": "Say what a file is, check it, and print what is taken from it.",
    "convert": "Write a file as one of another format.",
    "topology": "Show a platform: nodes, ports, links, bisection bandwidth.",
    "headroom": "Print the buffer that PFC needs behind a port, part by part.",
    "params": "List the parameters of scenarios with units, defaults and sources.",
    "doctor": "Check the installation.",
}


class LazyGroup(TyperGroup):
    """A group whose commands are imported one at a time, when asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help text."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one command, or return None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        function = getattr(import_module(f"astra_py.cli.{cmd_name}"), cmd_name)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(cmd_name, short_help=COMMANDS[cmd_name])(with_exit_codes(function))
        return typer.main.get_command(app)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that ``args`` start with; an unknown one is named with the nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS)} Commands: {', '.join(COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        try:
            print(f"astra-py {version('astra-py')}")
        except PackageNotFoundError:
            print("astra-py (not installed: run from its source folder)")
        raise typer.Exit


_app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@_app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Simulate distributed training, packet by packet, in ns-3.

    Results go to standard output, progress and errors to standard error. Exit codes: 0 fine, 1 a comparison out of
    tolerance, 2 usage or configuration, 3 the simulation failed, 4 an engine crashed, 130 interrupted.
    """


def command(arguments: Sequence[str] | None = None, *, prog_name: str = "astra-py") -> None:
    """Run the command line with ``arguments``, by default those of the process, and exit."""
    with written_output():
        typer.main.get_command(_app)(args=arguments, prog_name=prog_name)
