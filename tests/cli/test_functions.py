# SPDX-License-Identifier: GPL-2.0-only
"""Each command is a documented function of the package: the table of docs/python.md, held to the code."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from astra_py.cli.app import COMMANDS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
FUNCTIONS = dict(re.findall(r"^\| `([a-z]+)` \| `([\w.]+)` \|", DOCUMENT, re.MULTILINE))


def function_of(command: str) -> Any:
    """The function that the table has for a command."""
    module, _, name = FUNCTIONS[command].rpartition(".")
    assert name in import_module(module).__all__
    return getattr(import_module(module), name)


def test_the_table_has_each_command_and_no_other() -> None:
    assert set(FUNCTIONS) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_function_of_a_command_is_public_and_explains_each_parameter(command: str) -> None:
    function = function_of(command)
    text = inspect.getdoc(function)
    assert text
    parameters = inspect.signature(function).parameters
    assert [name for name in parameters if not re.search(rf"^[\w, ]*\b{name}\b[\w, ]* :", text, re.MULTILINE)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_its_function_from_the_package(command: str) -> None:
    source = inspect.getsource(import_module(f"astra_py.cli.{command}"))
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.module]
    imported = [getattr(import_module(str(node.module)), each.name, None) for node in imports for each in node.names]
    assert any(each is function_of(command) for each in imported)
