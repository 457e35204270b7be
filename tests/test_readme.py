# SPDX-License-Identifier: GPL-2.0-only
"""The documents are true: pictures are what their commands print, README's examples run, links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import astra_py
from astra_py.cli.app import COMMANDS, command

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
ALGORITHMS = (ROOT / "docs" / "algorithms.md").read_text()
FORMATS = (ROOT / "docs" / "formats.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README + ALGORITHMS, re.DOTALL)
COMMAND_LINES = re.findall(r"^    astra-py (.*)$", README, re.MULTILINE)
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PICTURES = [
    picture
    for document in DOCUMENTS
    for picture in re.findall(r"<!-- astra-py (.*?) -->\n```\n(.*?)```", document.read_text(), re.DOTALL)
]


@pytest.fixture(autouse=True)
def in_a_folder_like_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workloads").symlink_to(ROOT / "workloads")
    monkeypatch.chdir(tmp_path)


def _run(capsys: pytest.CaptureFixture[str], arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        command(shlex.split(arguments))
    assert caught.value.code == 0
    return capsys.readouterr().out


def _without_cost(text: str) -> list[str]:
    """Lines of a report but for what a run cost, which differs from machine to machine."""
    return [line for line in text.splitlines() if not line.startswith("cost: ")]


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


@pytest.mark.parametrize(("arguments", "picture"), PICTURES)
def test_the_picture_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], arguments: str, picture: str
) -> None:
    picture_lines = _without_cost(picture)
    assert picture_lines == _shortened(_without_cost(_run(capsys, arguments)), picture_lines)


@pytest.mark.parametrize("arguments", COMMAND_LINES)
def test_the_commands_run(capsys: pytest.CaptureFixture[str], arguments: str) -> None:
    assert _run(capsys, arguments)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(example: str) -> None:
    names: dict[str, object] = {}
    exec(example, names)
    assert isinstance(names["run"], astra_py.Result)


def test_there_is_a_picture_and_there_are_examples() -> None:
    assert len(PICTURES) >= 2
    assert len(EXAMPLES) == 3
    assert COMMAND_LINES


def test_the_smallest_scenario_and_workload_run(capsys: pytest.CaptureFixture[str]) -> None:
    ((scenario, workload),) = re.findall(r"```toml\n(.*?)```.*?```\n(HYBRID_DLRM.*?)```", FORMATS, re.DOTALL)
    Path("job.toml").write_text(scenario)
    Path("job.txt").write_text(workload)
    assert "4 ranks on single_switch" in _run(capsys, "run job.toml")


def test_every_command_is_listed() -> None:
    listed = re.findall(r"^\| `astra-py (\w+)", README, re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize(
    ("overrides", "time_us"),
    [
        ((), 5_993),
        (("transport.preset=dcqcn_vendor",), 1_605),
        (("transport.congestion_control=none",), 1_218),
        (("platform.routing=spray",), 672),
    ],
)
def test_a_leaf_for_each_node_takes_as_long_as_the_readme_says(overrides: tuple[str, ...], time_us: int) -> None:
    keys = ("platform.ranks_per_leaf=8", *overrides)
    result = astra_py.load(str(ROOT / "workloads" / "zionex_2x8.toml"), *keys).run()
    assert int(result.iterations["time_us"][1]) == time_us
    assert f"{time_us:,}" in README
