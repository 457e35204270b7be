# SPDX-License-Identifier: GPL-2.0-only
"""The container's image: it builds, runs what it should with nothing but a folder to write to, and holds no more."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
import pytest
import yaml

import astra_py as ap
from container_cases import Containers, find_containers

ROOT = Path(__file__).resolve().parents[2]
MAIN_JOB = ROOT / "workloads" / "astra2020_16.toml"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def containers() -> Containers:
    found = find_containers()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture(scope="module")
def image(containers: Containers) -> str:
    return containers.build("lean")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that the image's own user may write to."""
    made = tmp_path / "results"
    made.mkdir()
    made.chmod(0o777)
    return made


def script(containers: Containers, image: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """``docker/run.sh``, as a user calls it from the project's root."""
    environ = os.environ | {"ENGINE": " ".join(containers.engine), "OPTIONS": " ".join(containers.options)}
    return subprocess.run(
        ["sh", "docker/run.sh", *command],
        cwd=ROOT,
        env=environ | {"IMAGE": image, "OUT": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_runs_the_main_job_as_it_runs_here(containers: Containers, image: str, folder: Path) -> None:
    done = script(containers, image, folder)
    assert done.returncode == 0, done.stderr
    assert "checks passed: declared = measured" in done.stdout
    inside = ap.read_result(folder / "main_job")
    here = ap.load(MAIN_JOB).run()
    assert inside.digest == here.digest
    assert inside.messages.equals(here.messages)
    assert (folder / "main_job").stat().st_uid == os.getuid()


def test_the_script_runs_a_scenario_of_the_current_folder(containers: Containers, image: str, folder: Path) -> None:
    done = script(containers, image, folder, "run", "workloads/incast_64.toml", "--dry-run")
    assert done.returncode == 0, done.stderr


def test_nothing_is_written_but_results(containers: Containers, image: str, folder: Path) -> None:
    # not even /tmp; and a user that the image does not know
    options = ["--read-only", "--user", "54321:54321", "--volume", f"{folder}:/results"]
    if containers.engine[0] == "podman":
        options.append("--read-only-tmpfs=false")
    done = containers.run(image, options=options)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(ap.read_result(folder / "main_job").messages) > 0


def test_results_that_cannot_be_written_are_an_error_of_usage(containers: Containers, image: str, folder: Path) -> None:
    folder.chmod(0o755)
    done = containers.run(image, options=["--user", "54321:54321", "--volume", f"{folder}:/results"])
    assert done.returncode == 2
    assert "/results is no folder that may be written to" in done.stderr


@pytest.mark.parametrize(
    ("command", "environ", "code"),
    [
        (["headroom", "--rate", "100Gbps", "--delay", "1us", "--mtu", "4096B"], "", 0),
        (["run", "absent.toml"], "", 2),
        (["run", "astra2020_16.toml", "--quiet"], "ASTRA_PY_FAULT=drop_message", 3),
    ],
)
def test_exit_codes_come_out(containers: Containers, image: str, command: list[str], environ: str, code: int) -> None:
    options = ["--env", environ] if environ else []
    assert containers.run(image, *command, options=options).returncode == code


@pytest.fixture
def long_job(containers: Containers, image: str, tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A container with a job of minutes, under way, and the engine's process that waits for it."""
    name = f"astra-py-test-{os.getpid()}"
    job = ["run", "meta_ai_zone.toml", "workload.iterations=100", "--quiet"]
    options = ["--rm", "--network", "none", "--name", name, *containers.options]
    with subprocess.Popen([*containers.engine, "run", *options, image, *job]) as process:
        for _ in range(100):
            time.sleep(0.2)
            shown = subprocess.run(
                [*containers.engine, "top", name, "args"], capture_output=True, text=True, check=False
            )
            if "astra-py run" in shown.stdout:
                break
        yield name, process
        subprocess.run([*containers.engine, "kill", name], capture_output=True, check=False)


def test_process_1_is_an_init(containers: Containers, long_job: tuple[str, subprocess.Popen[bytes]]) -> None:
    done = subprocess.run(
        [*containers.engine, "exec", long_job[0], "cat", "/proc/1/comm"], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "tini"


@pytest.mark.parametrize(("stop", "code"), [(["stop"], 130), (["kill", "--signal", "TERM"], 128 + signal.SIGTERM)])
def test_signals_reach_the_run(
    containers: Containers, long_job: tuple[str, subprocess.Popen[bytes]], stop: list[str], code: int
) -> None:
    name, process = long_job
    subprocess.run([*containers.engine, *stop, name], capture_output=True, check=True)
    assert process.wait() == code


def test_it_is_run_without_privileges(containers: Containers, image: str) -> None:
    done = containers.run(image, "-u", options=["--entrypoint", "id"])
    assert int(done.stdout) != 0


def test_a_sweep_runs(containers: Containers, image: str, folder: Path) -> None:
    (folder / "sweep.toml").write_text(
        'scenario = "/workloads/astra2020_16.toml"\nseeds = 2\n[grid]\nplatform.link_rate = ["100Gbps", "10 parsecs"]\n'
    )
    options = ["--read-only", "--tmpfs", "/tmp", "--volume", f"{folder}:/results"]
    command = ["sweep", "/results/sweep.toml", "--out", "/results/rates", "--quiet"]
    assert containers.run(image, *command, options=options).returncode == 2
    (folder / "sweep.toml").write_text((folder / "sweep.toml").read_text().replace("10 parsecs", "200Gbps"))
    done = containers.run(image, *command, options=options)
    assert done.returncode == 0, done.stderr
    assert len(pd.read_csv(folder / "rates" / "results.csv")) == 4


def test_the_services_that_are_composed_run_a_sweep(containers: Containers, image: str, folder: Path) -> None:
    # no engine's compose is needed for their words; the host's network has one scheduler in place of a name of it
    services = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8"))["services"]
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = str(unused.getsockname()[1])
    closed = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    command = [*containers.engine, "run", "--rm", "--network", "host", "--add-host", "scheduler:127.0.0.1"]
    command += [*containers.options, *closed, "--volume", f"{folder}:/results"]
    names = {name: f"astra-py-test-{os.getpid()}-{name}" for name in ("scheduler", "worker")}
    with ExitStack() as stack:
        for service, name in names.items():
            entrypoint, *words = [*services[service]["entrypoint"], *services[service]["command"]]
            words = [word.replace("8786", port) for word in words]
            options = ["--name", name, "--entrypoint", entrypoint]
            stack.enter_context(subprocess.Popen([*command, *options, image, *words], stderr=subprocess.DEVNULL))
            stack.callback(subprocess.run, [*containers.engine, "kill", name], capture_output=True, check=False)
        (folder / "sweep.toml").write_text('scenario = "/workloads/astra2020_16.toml"\nseeds = 3\n')
        cluster = f"tcp://scheduler:{port}"
        sweep = ["sweep", "/results/sweep.toml", "--out", "/results/seeds", "--cluster", cluster]
        for _ in range(20):
            # until the scheduler is there
            done = subprocess.run([*command, image, *sweep], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            time.sleep(1)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(folder / "seeds" / "results.csv")
    assert table["status"].to_list() == 3 * ["ok"]
    assert table["time_us"].to_list() == [
        ap.load(MAIN_JOB, f"seed={seed}").run().iterations["time_us"].sum() for seed in table["seed"]
    ]


def test_the_full_target_has_ns3s_bindings(containers: Containers) -> None:
    script = """
import astra_py as ap
from astra_py import interop

ns = interop.import_ns()
with interop.built(ap.load("/workloads/astra2020_16.toml", "workload.iterations=1")) as simulation:
    print(ns.NodeList.GetNNodes() == len(simulation.node_ids) > 0, len(simulation.run().messages) > 0)
"""
    options = ["--read-only", "--tmpfs", "/tmp", "--user", "54321:54321", "--entrypoint", "python"]
    done = containers.run(containers.build("full"), "-c", script, options=options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True"]


def test_the_tests_pass_inside(containers: Containers) -> None:
    image = containers.build("test")
    done = containers.run(image, "tests/engines", "tests/batch", options=["--read-only", "--tmpfs", "/tmp"])
    assert done.returncode == 0, done.stdout[-4000:]


def test_its_size_is_what_the_document_states(containers: Containers, image: str) -> None:
    text = (ROOT / "docs" / "containers.md").read_text(encoding="utf-8")
    stated = re.search(r"at most (\d+) MB more than its base", text)
    assert stated is not None
    layers_bytes = int(containers.inspect(image, ".Size")) - int(containers.inspect(containers.base, ".Size"))
    # also not far below, or the document should be changed
    assert 0.8 * int(stated[1]) * 1e6 < layers_bytes < int(stated[1]) * 1e6


def test_nothing_is_left_of_the_build(containers: Containers, image: str) -> None:
    look = """
for name in cc c++ gcc g++ clang ld as make cmake ninja; do command -v $name; done
ls -d /source /requirements /installed /root/.cache /tmp/.[!.]* /tmp/*
ls -d /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
ls -d /venv/bin/pip* /venv/lib/python3.*/site-packages/pip
find /venv \\( -name '*.a' -o -name '*.h' -o -name 'CMakeCache.txt' -o -name '*.whl' \\)
"""
    done = containers.run(image, "-c", f"({look}) 2>/dev/null", options=["--user", "0:0", "--entrypoint", "sh"])
    assert done.stdout.split() == []
