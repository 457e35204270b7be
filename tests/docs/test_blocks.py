# SPDX-License-Identifier: GPL-2.0-only
"""What a page says to type is typed, in its order: commands, programs, files; and pictures are what commands print."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

from astra_py.cli.app import COMMANDS, LazyGroup, command
from astra_py.config.params import rule_at
from astra_py.results import TABLES
from document_runs import RUNS, run_named
from documents import NOT_RUN, PAGES, ROOT, Block, blocks, commands, name_of

#: Languages whose blocks are only shown.
SHOWN = {"", "json", "text", "yaml", "math", "{include}", "{toctree}"}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
#: What ``make run`` gives to astra-py, a line a command.
RECIPE_OF_RUN = [
    line.replace("$(OUT)", "results")
    for line in re.findall(
        r"^\t\$\(bin\)/astra-py (.*)$",
        re.split(r"^run: lean$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)[1].partition(
            "\n\n"
        )[0],
        re.MULTILINE,
    )
]
OVERRIDE = re.compile(r"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)=.*", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, current, with what of the checkout commands and programs name."""
    for name in ("workloads", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for name, value in TASK.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "docs" / "pictures" / "plots").mkdir(parents=True)  # where pages draw their pictures
    return tmp_path


#: Examples whose output pages show, and the tests that hold it.
EXAMPLES = {
    "what_overlaps.py": "tests/workloads/dlrm/test_document.py",
    "hoti2020_study.py": "tests/examples/test_hoti2020_document.py",
}
#: What a comment before a block may begin with, and what may follow.
COMMENTS = {"file: ": None, "astra-py ": None, "slow: astra-py ": None, "run: ": RUNS, "not run: ": NOT_RUN}
#: Which task of an array job a page's commands are of.
TASK = {"SLURM_ARRAY_TASK_ID": "1"}


def _check_comment(block: Block, where: str) -> None:
    """Refuse a comment that no test knows, so that none keeps a block from being run."""
    if block.comment in ("", "slow") or block.comment.partition(" ")[0] in EXAMPLES:
        return
    kind = next((start for start in COMMENTS if block.comment.startswith(start)), None)
    assert kind is not None, f"{where}: {block.comment!r}; allowed: {', '.join(COMMENTS)}, slow"
    allowed, rest = COMMENTS[kind], block.comment.removeprefix(kind)
    assert allowed is None or rest in allowed, f"{where}: {block.comment!r}; allowed: {kind}{', '.join(allowed or ())}"


def _command_of(block: Block) -> str:
    """The arguments of the command whose picture a block is."""
    return block.comment.partition("astra-py ")[2]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_what_stands_in_a_page_runs(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        where = f"{name_of(page)}:{block.line}"
        _check_comment(block, where)
        if block.comment.startswith("file: "):
            (folder / block.comment.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
        if block.comment.startswith("astra-py "):
            printed = _run(capsys, shlex.split(_command_of(block)), where)
            _compare(printed, block.text)
        elif block.language == "sh":
            for words, code in commands(block):
                _take(capsys, words, code, block, where)
        elif block.language == "python":
            program = compile(block.text, where, "exec")
            if block.result_name is not None:
                names["run"] = run_named(block.result_name)
            if block.is_run:
                exec(program, names)
        elif block.language == "toml":
            tomllib.loads(block.text)
        else:
            kind = block.language.partition(" ")[0]
            assert kind in SHOWN, f"{where}: no test knows what to do with {kind!r}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", [block for page in PAGES for block in blocks(page) if block.comment.startswith("slow: ")], ids=_command_of
)
def test_a_picture_that_takes_long_is_what_the_command_prints(
    block: Block, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command_line = _command_of(block)
    _compare(_run(capsys, shlex.split(command_line), command_line), block.text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "block"),
    [
        pytest.param(page, block, id=f"{name_of(page)}:{block.line}")
        for page in PAGES
        for block in blocks(page)
        if block.is_slow
    ],
)
def test_a_block_that_takes_long_runs(
    page: Path, block: Block, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"{name_of(page)}:{block.line}"
    taken = list(commands(block))
    assert taken, where
    for words, code in taken:
        assert words[0] == "astra-py", where
        _run(capsys, words[1:], where, code)


def test_where_what_is_not_run_here_is_tested() -> None:
    given = {block.comment.removeprefix("not run: ") for page in PAGES for block in blocks(page) if not block.is_run}
    assert given - {"slow"} == set(NOT_RUN)
    assert [path for path in NOT_RUN.values() if path is not None and not (ROOT / path).is_file()] == []
    for name, path in EXAMPLES.items():
        assert f"<!-- {name} " in (ROOT / path).read_text(encoding="utf-8"), path


def test_a_reason_that_there_is_not_is_found() -> None:
    for comment in ("not run: no time", "run: another", "no run", "not run", "slow: make"):
        with pytest.raises(AssertionError, match="allowed: "):
            _check_comment(Block("sh", comment, "", 1), "here")
    for comment in ("not run: docker", "run: tcp", "slow", "", "slow: astra-py run x", "file: x.toml"):
        _check_comment(Block("sh", comment, "", 1), "here")


@pytest.mark.parametrize("table", TABLES)
def test_the_page_of_a_table_works_on_rows_of_it(table: str) -> None:
    names = [
        block.result_name for block in blocks(ROOT / "docs" / "tables" / f"{table}.md") if block.language == "python"
    ]
    assert len(names) == 1
    assert names[0] is not None
    assert len(run_named(names[0]).table(table)) > 0


def _take(capsys: pytest.CaptureFixture[str], words: list[str], code: int, block: Block, where: str) -> None:
    """Run one command of a page, or check it where its own tests run it or nothing can."""
    program, *arguments = words
    if program == "astra-py" and block.is_run:
        arguments = [os.path.expandvars(word) for word in arguments]
        arguments, output = (arguments[:-2], arguments[-1]) if ">" in arguments[:-1] else (arguments, None)
        printed = _run(capsys, arguments, where, code)
        if output is not None:
            Path(output).write_text(printed, encoding="utf-8")
    elif program == "astra-py":
        _parse(arguments, where)
    elif program == "make":
        wanted = {word for word in arguments if "=" not in word}
        assert wanted <= TARGETS, f"{where}: make has no {wanted - TARGETS}"
        if wanted == {"run"}:
            for line in RECIPE_OF_RUN:
                _run(capsys, shlex.split(line), where)
    elif program == "python":
        # examples are run by tests/examples, benchmarks measure
        assert re.fullmatch(r"(examples|benchmarks)/\w+\.py", arguments[0]), where
        assert (ROOT / arguments[0]).is_file(), f"{where}: there is no {arguments[0]}"
    else:
        assert not block.is_run, f"{where}: {program} is not ours; say why it is not run"


def _run(capsys: pytest.CaptureFixture[str], arguments: list[str], where: str, code: int = 0) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as caught:
        command(arguments)
    printed = capsys.readouterr()
    assert caught.value.code == code, f"{where}: astra-py {shlex.join(arguments)}\n{printed.err}"
    return printed.out


def _parse(arguments: list[str], where: str) -> None:
    """Hold a command that is not run against the command line's own parser, and its keys against the parameters."""
    name, *rest = arguments
    assert name in COMMANDS, f"{where}: there is no command {name}"
    LazyGroup(name="astra-py").get_command(None, name).make_context(name, list(rest))
    for word in rest:
        if (found := OVERRIDE.fullmatch(word)) is not None:
            assert rule_at(found[1]) is not None, f"{where}: there is no key {found[1]}"


def _compare(printed: str, picture: str) -> None:
    """Hold a picture against what was printed, but for what a run cost, which differs from machine to machine."""
    lines, shown = (
        [line for line in text.splitlines() if not line.startswith("cost: ")] for text in (printed, picture)
    )
    assert shown == _shortened(lines, shown)


def _shortened(printed: list[str], picture: list[str]) -> list[str]:
    """What was printed, without the lines for which the picture has a line of three dots."""
    shown: list[str] = []
    at = 0
    for i, line in enumerate(picture):
        if line == "...":
            shown.append(line)
            # go on where the picture does
            after = picture[i + 1 : i + 2]
            at = printed.index(after[0], at) if after and after[0] in printed[at:] else len(printed)
        else:
            shown += printed[at : at + 1]
            at += 1
    return shown + printed[at:]


def test_a_picture_that_is_out_of_date_is_found() -> None:
    _compare("a\nb\nc\nd\n", "a\n...\nd\n")
    _compare("a\ncost: 1 s\n", "a\ncost: 2 s\n")
    for picture in ("a\nb\n", "a\nx\nc\nd\n", "a\n...\ne\n"):
        with pytest.raises(AssertionError):
            _compare("a\nb\nc\nd\n", picture)


@pytest.mark.parametrize("words", [["run", "x.toml", "--ot", "y"], ["rn"], ["run", "x.toml", "platform.rank=3"]])
def test_a_command_that_there_is_not_is_found(words: list[str]) -> None:
    with pytest.raises((AssertionError, typer.BadParameter.__mro__[1])):
        _parse(words, "here")


def test_no_commands_stand_outside_of_fences() -> None:
    stray = [
        f"{name_of(page)}: {line.strip()}"
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.match(r" {4,}(astra-py|make|python|import|from) .*\S", line) and page.name != "borders.md"
    ]
    assert [line for line in stray if not _is_fenced(line)] == []


def _is_fenced(stray: str) -> bool:
    """Whether a line that begins like a command stands in a block."""
    page, _, line = stray.partition(": ")
    return any(line in block.text for block in blocks(ROOT / f"{page}.md"))
