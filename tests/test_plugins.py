# SPDX-License-Identifier: GPL-2.0-only
"""Plug-ins and files of one's own: a real package with entry points, and what is wrong with broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from astra_py.api import Run, one_collective
from astra_py.collectives import Group, ScheduleBuilder, build_template, check_dataflow, collective, registry
from astra_py.config import load_scenario
from astra_py.errors import ConfigError, PluginError, TopologyError, WorkloadError
from astra_py.plugins import BUILT_IN

ROOT = Path(__file__).parents[1]

ALGORITHM = """
    import numpy as np
    import astra_py as ap

    @ap.collective("all_reduce", name="through_0")
    def through_0(build, group, size_bytes):
        others = np.arange(1, group.size)
        arrived = build.send(others, 0, size_bytes, blocks=0, combine=True)
        added = build.reduce(0, (group.size - 1) * size_bytes, after=arrived[np.newaxis, :])
        build.send(0, others, size_bytes, after=added, blocks=0)
"""
TOPOLOGY = """
    import astra_py as ap
    from astra_py.platforms import PlatformBuilder

    @ap.topology("in_a_line")
    def in_a_line(config):
        build = PlatformBuilder(config)
        switches = [build.add_switch(f"switch{rank}") for rank in range(config.ranks)]
        for rank, switch in enumerate(switches):
            build.add_link(rank, switch, "host")
            if rank:
                build.add_link(switches[rank - 1], switch, "line")
        return build.build()
"""
WORKLOAD = """
    import astra_py as ap
    from astra_py.workloads import CollectiveCall, Job, TraceBuilder

    @ap.workload("one_all_reduce")
    def one_all_reduce(scenario, ranks):
        build = TraceBuilder(ranks)
        group = tuple(range(ranks))
        build.collective(CollectiveCall(name="gradients", kind="all_reduce", group=group, size_bytes=4096))
        return Job(build.build(), ("one all-reduce of 4 KiB",))
"""
SOURCES = {"algorithm": ALGORITHM, "topology": TOPOLOGY, "workload": WORKLOAD}


def install(folder: Path, points: str, **modules: str) -> None:
    """Put a distribution into ``folder``: modules, and the metadata that an installer writes."""
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(dedent(source))
    info = folder / "astra_extras-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: astra-extras\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(dedent(points))


def python(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a fresh interpreter that finds what is in ``folder``."""
    paths = os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", dedent(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_package_brings_an_algorithm_a_topology_and_a_workload(tmp_path: Path) -> None:
    points = """\
        [astra_py.collectives]
        extra = extras.algorithm
        [astra_py.topologies]
        extra = extras.topology
        [astra_py.workloads]
        extra = extras.workload:one_all_reduce
    """
    (tmp_path / "extras").mkdir()
    install(tmp_path, points)
    for name, source in SOURCES.items():
        (tmp_path / "extras" / f"{name}.py").write_text(dedent(source))
    done = python(
        tmp_path,
        """
        import astra_py as ap
        tree = {
            "platform": {"kind": "in_a_line", "ranks": 5},
            "collective": {"all_reduce": "through_0"},
            "workload": {"kind": "one_all_reduce"},
        }
        result = ap.load(tree).run()
        print(*result.collectives[["name", "algorithm", "ranks", "sent_bytes"]].iloc[0])
        print(result.links["link_class"].nunique() if "link_class" in result.links else 2, result.manifest["notes"])
        """,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == f"gradients through_0 5 {4096 * 4}"
    assert "one all-reduce of 4 KiB" in done.stdout


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def broken(:", "SyntaxError"),
        (
            "import astra_py as ap\n@ap.collective('all_reduce', name='ring')\ndef ring(build, group, size_bytes): ...",
            "all_reduce algorithm 'ring' is registered already",
        ),
    ],
)
def test_a_broken_plugin_is_named(tmp_path: Path, source: str, says: str) -> None:
    install(tmp_path, "[astra_py.collectives]\nbad = bad_plugin\n", bad_plugin=source)
    script = """
        from astra_py.collectives import algorithm_names
        from astra_py.errors import ConfigError
        for attempt in range(2):
            try:
                algorithm_names("all_reduce")
            except ConfigError as error:
                print(error)
        """
    done = python(tmp_path, script)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    named = "plug-in 'bad' of astra-extras 1.2 (astra_py.collectives: bad_plugin) does not load: "
    assert [line.startswith(named) for line in lines] == [True, True]
    assert says in lines[0]


def test_a_broken_plugin_of_topologies_is_named_where_the_scenario_is_read(tmp_path: Path) -> None:
    install(tmp_path, "[astra_py.topologies]\nbad = bad_plugin\n", bad_plugin="1 / 0")
    script = """
        from astra_py.config import load_scenario
        load_scenario({"platform": {"kind": "single_switch"}})  # the package's own are not kept waiting for it
        try:
            load_scenario({"platform": {"kind": "their_own"}})
        except Exception as error:
            print(type(error).__name__, error)
        """
    out = python(tmp_path, script).stdout
    assert out.startswith("ConfigError platform.kind")
    assert "plug-in 'bad' of astra-extras 1.2" in out
    assert "ZeroDivisionError" in out


def test_the_packages_own_come_the_same_way() -> None:
    for group, names in (
        ("astra_py.collectives", "_algorithms['all_reduce']"),
        ("astra_py.topologies", "_builders"),
        ("astra_py.workloads", "_makers"),
        ("astra_py.formats", "_formats"),
    ):
        module = BUILT_IN[group][0]
        # nothing but load_group() imports them here
        script = f"""
            import sys
            from astra_py.plugins import load_group
            assert {module!r} not in sys.modules
            load_group({group!r})
            from {module}.registry import {names.partition("[")[0]}
            print(*{names}.names())
            """
        assert python(ROOT, script).stdout.split()


def write(folder: Path, name: str, *sources: str) -> str:
    """Write a file of one's own and give its name in a scenario."""
    (folder / name).write_text("\n".join(dedent(source) for source in sources))
    return f"file:{folder / name}"


def test_a_file_brings_an_algorithm_for_itself_alone(tmp_path: Path) -> None:
    name = write(tmp_path, "mine.py", ALGORITHM)
    check_dataflow(build_template("all_reduce", name, 5, 1000), 1000)
    scenario = load_scenario({"platform": {"ranks": 4}}, [f"collective.all_reduce={name}"])
    (row,) = one_collective(scenario, "all_reduce", 1000).run().collectives.itertuples()
    assert (row.algorithm, row.sent_bytes) == (name, 3000)
    with pytest.raises(ConfigError, match="unknown all_reduce algorithm 'through_0'"):
        build_template("all_reduce", "through_0", 5, 1000)


def test_a_file_brings_a_topology_and_a_workload_relative_to_the_scenario(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", ALGORITHM, TOPOLOGY, WORKLOAD)
    (tmp_path / "job.toml").write_text(
        '[platform]\nkind = "file:mine.py"\nranks = 3\n[workload]\nkind = "file:mine.py"\n'
        '[collective]\nall_reduce = "file:mine.py:through_0"\n'
    )
    run = Run(load_scenario(tmp_path / "job.toml"))
    assert (run.platform.ranks, len(run.platform.graph)) == (3, 6)
    assert run.run().collectives["algorithm"].tolist() == [f"file:{tmp_path / 'mine.py'}:through_0"]
    assert run.notes == ("one all-reduce of 4 KiB",)


def test_the_digest_has_the_bytes_of_files_and_not_where_they_lie(tmp_path: Path) -> None:
    digests = []
    for folder, source in (("a", ALGORITHM), ("b", ALGORITHM), ("c", ALGORITHM + "\n")):
        (tmp_path / folder).mkdir()
        name = write(tmp_path / folder, "mine.py", source)
        digests.append(load_scenario({}, [f"collective.all_reduce={name}:through_0"]).digest)
    assert digests[0] == digests[1] != digests[2]
    other = load_scenario({}, [f"collective.all_reduce={name}"]).digest
    assert other != digests[2]


def test_a_file_that_changed_is_loaded_again(tmp_path: Path) -> None:
    name = write(tmp_path, "mine.py", ALGORITHM)
    before = build_template("all_reduce", name, 3, 100)
    write(tmp_path, "mine.py", ALGORITHM.replace("size_bytes, blocks", "size_bytes + 1, blocks"))
    os.utime(tmp_path / "mine.py", ns=(1, 1))
    after = build_template("all_reduce", name, 3, 100)
    assert (before.size_bytes[0], after.size_bytes[0]) == (100, 101)


@pytest.mark.parametrize(
    ("name", "source", "says"),
    [
        ("mine.py", "x = 1\n\n1 / 0\n", r"mine\.py:3 does not load: ZeroDivisionError: division by zero"),
        ("mine.py", "def f(:\n", r"mine\.py:1 does not load: SyntaxError"),
        ("mine.py", "x = 1\n", r"mine\.py registers no all_reduce algorithm; it registers nothing"),
        ("mine.py", TOPOLOGY, r"registers no all_reduce algorithm; it registers topology 'in_a_line'"),
        (
            "mine.py",
            ALGORITHM + ALGORITHM.replace("through_0", "other"),
            r"more than one all_reduce algorithm; allowed: ",
        ),
        ("mine.txt", ALGORITHM, r"mine\.txt: a file of Python has the suffix \.py"),
        (
            "mine.py",
            "import astra_py as ap\n@ap.collective('all_reduce', name='a b')\ndef f(a, b, c): ...\n",
            r"mine\.py:2 does not load: all_reduce algorithm 'a b': a name is made of letters",
        ),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, name: str, source: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build_template("all_reduce", write(tmp_path, name, source), 3, 100)


def test_a_file_that_is_not_there_or_lacks_a_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.py: cannot be read: No such file"):
        build_template("all_reduce", f"file:{tmp_path / 'nowhere.py'}", 3, 100)
    with pytest.raises(ConfigError, match=r"registers no all_reduce algorithm 'through_1'; allowed: through_0"):
        build_template("all_reduce", write(tmp_path, "mine.py", ALGORITHM) + ":through_1", 3, 100)


def test_what_a_topology_or_workload_returns_is_looked_at(tmp_path: Path) -> None:
    topology = write(tmp_path, "t.py", "import astra_py as ap\n@ap.topology('t')\ndef t(config): return 5\n")
    with pytest.raises(TopologyError, match=r"its builder returned 5, and a Platform is needed"):
        _ = Run(load_scenario({"platform": {"kind": topology}})).platform
    workload = write(tmp_path, "w.py", "import astra_py as ap\n@ap.workload('w')\ndef w(scenario, ranks): return 5\n")
    with pytest.raises(WorkloadError, match=r"returned 5, and a Trace is needed"):
        _ = Run(load_scenario({"workload": {"kind": workload}})).trace
    other = write(tmp_path, "o.py", WORKLOAD.replace("TraceBuilder(ranks)", "TraceBuilder(9)"))
    with pytest.raises(WorkloadError, match=r"its Trace has 9 ranks, and the platform 8"):
        _ = Run(load_scenario({"workload": {"kind": other}})).trace
    wrong = write(tmp_path, "x.py", "import astra_py as ap\n@ap.workload('x')\ndef x(scenario): return 5\n")
    with pytest.raises(ConfigError, match=r"x\.py:2 does not load: workload 'x': a function of \(scenario, ranks\)"):
        _ = Run(load_scenario({"workload": {"kind": wrong}})).trace


def test_an_exception_of_ones_own_is_named_with_its_line(tmp_path: Path) -> None:
    head = "import astra_py as ap\n@ap."
    algorithm = write(tmp_path, "a.py", f"{head}collective('all_reduce', name='a')\ndef a(b, group, s):\n    s['x']\n")
    with pytest.raises(PluginError, match=r"all_reduce algorithm '.*', a group of 3 ranks: .*a\.py:4: TypeError:"):
        build_template("all_reduce", algorithm, 3, 9)
    topology = write(tmp_path, "t.py", f"{head}topology('t')\ndef t(config):\n    return 1 / 0\n")
    with pytest.raises(PluginError, match=r"topology '.*': .*t\.py:4: ZeroDivisionError: division by zero"):
        _ = Run(load_scenario({"platform": {"kind": topology}})).platform
    workload = write(tmp_path, "w.py", f"{head}workload('w')\ndef w(scenario, ranks):\n    return {{}}['x']\n")
    with pytest.raises(PluginError, match=r"workload '.*': .*w\.py:4: KeyError: 'x'"):
        _ = Run(load_scenario({"workload": {"kind": workload}})).trace


def test_auto_does_not_pass_over_a_broken_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry._algorithms["scatter"]
    monkeypatch.setattr(known, "_known", dict(known._known))

    @collective("scatter", name="broken")
    def broken(build: ScheduleBuilder, group: Group, size_bytes: int) -> None:
        raise RuntimeError("not done")

    scenario = load_scenario({"platform": {"ranks": 3}}, ["collective.scatter=auto"])
    with pytest.raises(
        PluginError, match=r"scatter algorithm 'broken', .*test_plugins\.py:\d+: RuntimeError: not done"
    ):
        one_collective(scenario, "scatter", 9).run()


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"'single_swich' is unknown; did you mean 'single_switch'"):
        load_scenario({"platform": {"kind": "single_swich"}})
