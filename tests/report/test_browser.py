# SPDX-License-Identifier: GPL-2.0-only
"""A report opens in a browser, without a complaint on its console and without asking for anything."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import astra_py as ap
from astra_py.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
JOB = Path(__file__).resolve().parents[2] / "workloads" / "zionex_2x8.toml"


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_the_console_stays_empty_and_the_script_sorts(tmp_path: Path) -> None:
    result = ap.load(JOB, "platform.nodes=1", "platform.ranks=8", "engine=analytic").run()
    path = write_report(result, tmp_path / "run.html")
    # what a reader does, done by the page itself: sort the links by their channel, downwards
    probe = (
        "<script>const head = [...document.querySelectorAll('#r1-links th button')].find((each) => "
        "each.textContent.trim() === 'channel'); head.click(); document.title = "
        "'sorted ' + document.querySelector('#r1-links tbody td').textContent;</script></body>"
    )
    path.write_text(path.read_text(encoding="utf-8").replace("</body>", probe), encoding="utf-8")
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--no-first-run",
    ]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    shown = result.links.sort_values("utilisation_percent", ascending=False, kind="stable").head(50)
    assert f"<title>sorted {shown['channel'].max()}</title>" in done.stdout
