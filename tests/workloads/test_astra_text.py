# SPDX-License-Identifier: GPL-2.0-only
"""The ASTRA-sim 1.0 text reader: what it takes, and what it refuses with file and line."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra_py.errors import WorkloadError
from astra_py.workloads import AstraPass, AstraTextModel, read_astra_text

EMBEDDING = "emb -1 3 ALLTOALL 40 4 ALLTOALL 50 5 NONE 0 6"
TOP = "top -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 7 0"


def read(folder: Path, text: str | bytes) -> AstraTextModel:
    path = folder / "model.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_astra_text(path)


def test_fields_are_taken_as_they_are(tmp_path: Path) -> None:
    model = read(tmp_path, f"HYBRID_DLRM 0\n2\n{EMBEDDING}\n{TOP}\n")
    embedding, top = model.layers
    assert (model.kind, model.last_bottom_layer) == ("HYBRID_DLRM", 0)
    assert (embedding.name, embedding.line, embedding.update_delay) == ("emb", 3, 6)
    assert embedding.forward == AstraPass(3, "all_to_all", 40)
    assert embedding.input_gradient == AstraPass(4, "all_to_all", 50)
    assert embedding.weight_gradient == AstraPass(5, None, 0)
    assert top.weight_gradient == AstraPass(1, "all_reduce", 7)
    assert model.where(top) == f"{tmp_path / 'model.txt'}, line 4"


@given(
    gaps=st.lists(st.sampled_from([" ", "\t", "\t\t ", "   "]), min_size=12, max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    trailing=st.sampled_from(["", "\t\t\t", " "]),
    is_ended=st.booleans(),
    is_marked=st.booleans(),
)
def test_layout_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, gaps: list[str], end: str, trailing: str, is_ended: bool, is_marked: bool
) -> None:
    def ragged(line: str) -> str:
        return "".join(field + gap for field, gap in zip(line.split(), gaps, strict=False)).rstrip() + trailing

    lines = [ragged("HYBRID_DLRM 0"), ragged("2"), "", ragged(EMBEDDING), ragged(TOP)]
    text = ("\ufeff" if is_marked else "") + end.join(lines) + (end if is_ended else "")
    folder = tmp_path_factory.mktemp("layout")
    plain = read(folder, f"HYBRID_DLRM 0\n2\n\n{EMBEDDING}\n{TOP}\n")
    assert read(folder, text) == plain


def test_the_dlrm_of_2020_has_its_published_figures(dlrm: AstraTextModel) -> None:
    assert [layer.name for layer in dlrm.layers][:: len(dlrm.layers) - 1] == ["embedding", "top_2"]
    assert dlrm.layers[dlrm.last_bottom_layer].name == "bottom_3"
    assert dlrm.compute_units("forward") == 19_020
    assert dlrm.compute_units("input_gradient") == 19_014
    assert dlrm.compute_units("weight_gradient") == 13_644
    reduced = [layer.weight_gradient for layer in dlrm.layers if layer.weight_gradient.collective == "all_reduce"]
    assert (len(reduced), sum(part.size_bytes for part in reduced)) == (7, 3_191_808)
    assert dlrm.layers[0].forward.size_bytes == dlrm.layers[0].input_gradient.size_bytes == 98_304


def test_the_account_says_what_was_taken_and_what_was_not(dlrm: AstraTextModel, tmp_path: Path) -> None:
    account = "\n".join(dlrm.account(1000))
    for said in (
        "HYBRID_DLRM, 8 layers, embedding embedding, bottom MLP to bottom_3, top MLP to top_2",
        "times in units of 1 ns: forward 19.02 us, input gradient 19.014 us, weight gradient 13.644 us",
        "together 51.678 us a rank and iteration",
        "7 all_reduce an iteration over all ranks, 3191808 B",
        "2 all_to_all an iteration over all ranks, 196608 B",
        "update delays after collectives: 3.386 us",
        "ignored: the reserved second field",
    ):
        assert said in account
    assert "which follows no collective" not in account
    idle = read(tmp_path, f"HYBRID_DLRM 0\n2\n{EMBEDDING}\ntop -1 1 NONE 0 1 NONE 0 1 NONE 0 9\n")
    assert "ignored: the update delay of top, which follows no collective" in idle.account(1000)


def test_every_known_collective_is_read(tmp_path: Path) -> None:
    for written, kind in (
        ("ALLREDUCE", "all_reduce"),
        ("ALLTOALL", "all_to_all"),
        ("ALLGATHER", "all_gather"),
        ("REDUCESCATTER", "reduce_scatter"),
    ):
        model = read(tmp_path, f"HYBRID_DLRM 0\n2\n{EMBEDDING}\n{TOP.replace('ALLREDUCE', written)}")
        assert model.layers[1].weight_gradient.collective == kind


def with_field(index: int, value: str) -> str:
    fields = TOP.split()
    fields[index] = value
    return f"HYBRID_DLRM 0\n2\n{EMBEDDING}\n" + " ".join(fields)


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("", "", "is empty"),
        (" \n\t\n", "", "is empty"),
        (b"\xff\xfe\x00", "", "not a text file: byte 0 is not UTF-8"),
        ("DATUM\n1\n" + TOP, ", line 1", "parallelism 'DATUM' is not supported; supported is HYBRID_DLRM, MICRO, DATA"),
        ("DATA 1\n1\n" + TOP, ", line 1", "DATA takes no options; here are 1"),
        ("DATA\n0\n", ", line 2", "0 layers are declared; allowed: 1 or more"),
        (
            "HYBRID_TRANSFORMER 8\n1\n" + TOP,
            ", line 1",
            "takes the ranks of a model-parallel group, such as 'HYBRID_TR",
        ),
        ("HYBRID_TRANSFORMER model_parallel_NPU_group: 0\n1\n" + TOP, ", line 1", "a model-parallel group has 0 ranks"),
        ("HYBRID_CUSTOMIZED\n1\n" + TOP, ", line 3", "a layer has 13 fields, not 12"),
        (
            f"HYBRID_CUSTOMIZED\n1\n{TOP} DATE",
            ", line 3",
            "field 13: unknown parallelism 'DATE' .*; did you mean 'DATA'",
        ),
        ("hybrid_dlrm 0\n1\n" + TOP, ", line 1", "'hybrid_dlrm' is not supported"),
        ("HYBRID_DLRM\n1\n" + TOP, ", line 1", "takes one option, .* here are 0"),
        ("HYBRID_DLRM 0 1\n1\n" + TOP, ", line 1", "takes one option, .* here are 2"),
        ("HYBRID_DLRM four\n1\n" + TOP, ", line 1", "index of the last bottom layer, is 'four'"),
        ("HYBRID_DLRM 0", ", line 1", "number of layers is missing"),
        ("\n\nHYBRID_DLRM 0\n\ntwo\n", ", line 5", "number of layers, is 'two'"),
        (f"HYBRID_DLRM 0\n2 3\n{EMBEDDING}\n{TOP}", ", line 2", "number of layers alone, not 2 fields"),
        (f"HYBRID_DLRM 0\n3\n{EMBEDDING}\n{TOP}", ", line 2", "3 layers are declared and 2 follow"),
        (f"HYBRID_DLRM 0\n1\n{EMBEDDING}\n{TOP}", ", line 2", "1 layers are declared and 2 follow"),
        (f"HYBRID_DLRM 1\n2\n{EMBEDDING}\n{TOP}", ", line 1", "last bottom layer is 1 of layers 0 to 1"),
        (f"HYBRID_DLRM 0\n2\n{EMBEDDING}\n{TOP} 1", ", line 4", "12 fields, not 13"),
        (f"HYBRID_DLRM 0\n2\n{EMBEDDING}\n{TOP[:-2]}", ", line 4", "12 fields, not 11"),
        (with_field(2, "-1"), ", line 4", "field 3, forward compute time, is '-1'"),
        (with_field(2, "1.5"), ", line 4", "field 3, forward compute time, is '1.5'"),
        (with_field(5, "0x10"), ", line 4", "field 6, input gradient compute time, is '0x10'"),
        (with_field(8, "9223372036854775808"), ", line 4", "weight gradient compute time, is '9223372036854775808'"),
        (with_field(8, "9" * 5000), ", line 4", "weight gradient compute time, is '9+'; allowed is an integer from 0"),
        (with_field(10, str(2**50 + 1)), ", line 4", r"weight gradient bytes, is .*; .* from 0 to 2\^50 \(1 PiB\)"),
        (with_field(0, "emb"), ", line 4", "layer 'emb' has the name of line 3"),
        (with_field(10, "1e3"), ", line 4", "field 11, weight gradient bytes, is '1e3'"),
        (with_field(10, "٣"), ", line 4", "field 11"),
        (with_field(11, "+1"), ", line 4", "field 12, update delay, is '\\+1'"),
        (with_field(9, "ALLRDUCE"), ", line 4", "unknown weight gradient collective 'ALLRDUCE'; .*mean 'ALLREDUCE'"),
        (with_field(9, "allreduce"), ", line 4", "did you mean 'ALLREDUCE'"),
        (with_field(9, "BROADCAST"), ", line 4", "allowed: NONE, ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER"),
        (with_field(9, "NONE"), ", line 4", "7 bytes are declared for weight gradient collective NONE"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, text: str | bytes, where: str, message: str) -> None:
    with pytest.raises(WorkloadError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'model.txt'}{where}: ")


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.txt", tmp_path):
        with pytest.raises(WorkloadError, match=f"^{re.escape(str(path))}: cannot be read: "):
            read_astra_text(path)
