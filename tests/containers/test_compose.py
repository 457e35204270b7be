# SPDX-License-Identifier: GPL-2.0-only
"""``docker/compose.yaml``: services as closed as the script's containers, of words that Dask and astra-py know."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from astra_py.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
#: Of a service, as the Compose specification names them.
KEYS = {
    *("build", "cap_drop", "command", "depends_on", "entrypoint", "image", "network_mode", "networks", "read_only"),
    *("restart", "security_opt", "tmpfs", "user", "volumes", "working_dir"),
}


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    text = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text)["services"])


def test_each_service_is_closed(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert set(service) <= KEYS, name
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert {each["target"]: each.get("read_only", False) for each in service["volumes"]} == {
            "/data": True,
            "/results": False,
        }


def test_no_service_reaches_out(services: dict[str, dict[str, Any]]) -> None:
    text = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8")
    networks = yaml.safe_load(text)["networks"]
    for service in services.values():
        assert service.get("network_mode") == "none" or all(networks[each]["internal"] for each in service["networks"])
        assert "ports" not in service


def test_a_folder_that_is_absent_is_not_made_as_roots(services: dict[str, dict[str, Any]]) -> None:
    for service in services.values():
        (results,) = (each for each in service["volumes"] if each["target"] == "/results")
        assert results["bind"] == {"create_host_path": False}


def test_it_is_built_from_the_dockerfile(services: dict[str, dict[str, Any]]) -> None:
    targets = re.findall(r"^FROM .* AS (\S+)$", (ROOT / "docker" / "Dockerfile").read_text(), re.MULTILINE)
    for service in services.values():
        build = service["build"]
        # below the project directory, which the document has as the checkout
        assert (ROOT / build["context"] / build["dockerfile"]).samefile(ROOT / "docker" / "Dockerfile")
        assert build["target"] in targets


@pytest.mark.parametrize("service", ["scheduler", "worker"])
def test_dask_knows_each_option_of_a_service(services: dict[str, dict[str, Any]], service: str) -> None:
    words = [*services[service]["entrypoint"], *services[service]["command"]]
    assert words[:3] == ["tini", "--", "dask"]
    options = [each for each in words[3:] if each.startswith("--")]
    help_text = subprocess.run(
        [sys.executable, "-m", "dask", words[3], "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert [each for each in options if not re.search(rf"(?<![\w-]){each}\b", help_text)] == []


def test_the_document_and_the_header_name_services_and_commands(services: dict[str, dict[str, Any]]) -> None:
    header = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8")
    document = (ROOT / "docs" / "containers.md").read_text(encoding="utf-8").replace("\\\n", " ")
    calls = re.findall(r"docker compose --project-directory \. run --rm (\w+)\s+(\w+)", header + document)
    assert len(calls) == 4
    for service, command in calls:
        assert service in services
        assert command in COMMANDS
    up = re.findall(r"up --detach --scale (\w+)=\d+ (\w+) (\w+)", header + document)
    assert up == 2 * [("worker", "scheduler", "worker")]
