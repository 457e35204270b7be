# SPDX-License-Identifier: GPL-2.0-only
"""Reader of ASTRA-sim 1.0's text workloads, such as its DLRM of 2020.

The format, as its documentation and its own files have it: line 1 names the parallelism and its options, line 2 the
number of layers, and each further line is one layer of 12 fields between tabs or spaces: name, a reserved field, then
(compute time, collective, bytes) for the forward pass, the input gradient and the weight gradient, and at last the
delay of the update that follows each of the layer's collectives. With HYBRID_CUSTOMIZED a 13th field is the layer's own
parallelism. Times are in cycles of 1 ns there; the unit is a choice of whoever runs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from astra_py.errors import WorkloadError, did_you_mean
from astra_py.workloads.calls import MAX_INT64, MOST_BYTES

__all__ = ["DLRM", "PASSES", "TRANSFORMER", "AstraLayer", "AstraPass", "AstraTextModel", "read_astra_text"]

#: The three passes of a layer, in the order of the file's fields; also the phases of the Trace.
PASSES = ("forward", "input_gradient", "weight_gradient")

DLRM, TRANSFORMER, CUSTOMIZED = "HYBRID_DLRM", "HYBRID_TRANSFORMER", "HYBRID_CUSTOMIZED"
#: What a layer's own parallelism may be.
LAYER_KINDS = ("DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA")
SUPPORTED_KINDS = (DLRM, "MICRO", *LAYER_KINDS, TRANSFORMER, CUSTOMIZED)
_GROUP_OPTION = "model_parallel_NPU_group:"
COLLECTIVES = {
    "NONE": None,
    "ALLREDUCE": "all_reduce",
    "ALLTOALL": "all_to_all",
    "ALLGATHER": "all_gather",
    "REDUCESCATTER": "reduce_scatter",
}
FIELDS = 12


@dataclass(frozen=True)
class AstraPass:
    """One pass of one layer: ``compute`` in file units, then a collective of ``size_bytes`` (None: no collective)."""

    compute: int
    collective: str | None
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class AstraLayer:
    """One layer as the file has it; ``update_delay`` in file units follows each of its collectives.

    ``parallelism`` is its own, or that of the file.
    """

    name: str
    line: int
    parallelism: str
    forward: AstraPass
    input_gradient: AstraPass
    weight_gradient: AstraPass
    update_delay: int

    @property
    def passes(self) -> tuple[tuple[str, AstraPass], ...]:
        """The three passes by name, in the order of the file."""
        return tuple(zip(PASSES, (self.forward, self.input_gradient, self.weight_gradient), strict=True))


@dataclass(frozen=True, kw_only=True)
class AstraTextModel:
    """A text workload, read and checked, nothing scaled.

    Attributes
    ----------
    path : the file.
    kind : parallelism, such as ``"HYBRID_DLRM"``.
    option : of HYBRID_DLRM, the index of the last layer of the bottom MLP, where layer 0 is the embedding; of
        HYBRID_TRANSFORMER, the ranks of a group of model parallelism; 0 of others.
    layers : in file order.
    """

    path: Path
    kind: str
    option: int
    layers: tuple[AstraLayer, ...]

    @property
    def last_bottom_layer(self) -> int:
        """Index of the last layer of the bottom MLP, of HYBRID_DLRM."""
        return self.option

    def where(self, layer: AstraLayer) -> str:
        """File and line of ``layer``, as error messages begin."""
        return f"{self.path}, line {layer.line}"

    def compute_units(self, which: str) -> int:
        """Sum of the compute times of one of :data:`PASSES` over all layers, in file units."""
        return sum(dict(layer.passes)[which].compute for layer in self.layers)

    def account(self, compute_unit_ps: int) -> list[str]:
        """Say what was taken from the file and what was not, a sentence a line, with units.

        Parameters
        ----------
        compute_unit_ps : how long one file unit of time is taken to be.
        """
        unit = compute_unit_ps / 1e6
        times = {which: self.compute_units(which) * unit for which in PASSES}
        lines = [
            f"{self.path}: {self._title}",
            f"times in units of {compute_unit_ps / 1000:g} ns: "
            + ", ".join(f"{which.replace('_', ' ')} {time:g} us" for which, time in times.items())
            + f", together {sum(times.values()):g} us a rank and iteration",
        ]
        exchanges = [(p, which) for layer in self.layers for which, p in layer.passes if p.collective is not None]
        for kind in sorted({str(p.collective) for p, _ in exchanges}):
            sizes = [p.size_bytes for p, _ in exchanges if p.collective == kind]
            over = " over all ranks" if self.kind == DLRM else ""
            lines.append(f"{len(sizes)} {kind} an iteration{over}, {sum(sizes)} B of buffers a rank")
        delays = sum(
            layer.update_delay * sum(p.collective is not None for _, p in layer.passes) for layer in self.layers
        )
        lines.append(f"update delays after collectives: {delays * unit:g} us a rank and iteration")
        lines.append("ignored: the reserved second field of each layer")
        idle = [
            layer.name
            for layer in self.layers
            if layer.update_delay and all(p.collective is None for _, p in layer.passes)
        ]
        if idle:
            lines.append(f"ignored: the update delay of {', '.join(idle)}, which follows no collective")
        return lines

    @property
    def _title(self) -> str:
        layers = f"{self.kind}, {len(self.layers)} layers"
        if self.kind == DLRM:
            bottom, top = self.layers[self.option].name, self.layers[-1].name
            return f"{layers}, embedding {self.layers[0].name}, bottom MLP to {bottom}, top MLP to {top}"
        return f"{layers}, model parallelism of {self.option} ranks" if self.kind == TRANSFORMER else layers


def read_astra_text(path: str | Path) -> AstraTextModel:
    """Read an ASTRA-sim 1.0 text workload.

    Parameters
    ----------
    path : the file. Fields are parted by any run of tabs and spaces, lines end in LF, CRLF or CR, empty lines do not
        count.

    Raises
    ------
    WorkloadError : the file cannot be read, or a line is not understood; the message has file, line and what is
        allowed.
    """
    path = Path(path)
    lines = _lines(path)
    header = _Line(path, *lines[0])
    kind, option = _read_kind(header)
    if len(lines) < 2:
        raise header.error("the number of layers is missing; it is the second line")
    counter = _Line(path, *lines[1])
    if len(counter.fields) != 1:
        raise counter.error(f"the second line is the number of layers alone, not {len(counter.fields)} fields")
    declared = counter.integer(0, "number of layers")
    found = lines[2:]
    if declared != len(found):
        raise counter.error(f"{declared} layers are declared and {len(found)} follow")
    if kind == DLRM and option > declared - 2:
        raise header.error(
            f"the last bottom layer is {option} of layers 0 to {declared - 1}; at least one layer, "
            "the top MLP, comes after it"
        )
    if declared < 1:
        raise counter.error("0 layers are declared; allowed: 1 or more")
    layers = tuple(_read_layer(_Line(path, *line), kind) for line in found)
    first_line: dict[str, int] = {}
    for layer in layers:
        if first_line.setdefault(layer.name, layer.line) != layer.line:
            raise WorkloadError(
                f"{path}, line {layer.line}: layer {layer.name!r} has the name of line {first_line[layer.name]}; "
                "tables tell layers by their names, which differ"
            )
    return AstraTextModel(path=path, kind=kind, option=option, layers=layers)


class _Line:
    """One line's fields, and errors that say where they stand."""

    def __init__(self, path: Path, number: int, text: str) -> None:
        self.path = path
        self.number = number
        self.fields = text.split()

    def error(self, what: str) -> WorkloadError:
        return WorkloadError(f"{self.path}, line {self.number}: {what}")

    def integer(self, index: int, what: str, most: int = MAX_INT64, most_text: str = "2^63 - 1") -> int:
        text = self.fields[index]
        # more digits than 64 bits can have are not even converted
        if not re.fullmatch(r"0*[0-9]{1,19}", text) or int(text) > most:
            raise self.error(f"field {index + 1}, {what}, is {text!r}; allowed is an integer from 0 to {most_text}")
        return int(text)

    def exchange(self, index: int, which: str) -> AstraPass:
        """Three fields from ``index`` on: compute, collective, bytes."""
        which = which.replace("_", " ")
        compute = self.integer(index, f"{which} compute time")
        name = self.fields[index + 1]
        if name not in COLLECTIVES:
            hint = did_you_mean(name.upper(), COLLECTIVES)
            raise self.error(
                f"field {index + 2}: unknown {which} collective {name!r}; allowed: {', '.join(COLLECTIVES)}{hint}"
            )
        size_bytes = self.integer(index + 2, f"{which} bytes", MOST_BYTES, "2^50 (1 PiB)")
        if COLLECTIVES[name] is None and size_bytes:
            raise self.error(f"field {index + 3}: {size_bytes} bytes are declared for {which} collective NONE")
        return AstraPass(compute, COLLECTIVES[name], size_bytes)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Line numbers and texts of all lines that are not empty."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WorkloadError(f"{path}: is not a text file: byte {error.start} is not UTF-8") from error
    numbered = enumerate(re.split(r"\r\n|\n|\r", text), start=1)
    lines = [(number, line) for number, line in numbered if line.strip()]
    if not lines:
        raise WorkloadError(f"{path}: is empty; the first line names the parallelism, such as 'HYBRID_DLRM 4'")
    return lines


def _read_kind(header: _Line) -> tuple[str, int]:
    """The parallelism of line 1, and its option."""
    kind, *options = header.fields
    if kind not in SUPPORTED_KINDS:
        raise header.error(f"parallelism {kind!r} is not supported; supported is {', '.join(SUPPORTED_KINDS)}")
    if kind == DLRM:
        if len(options) != 1:
            raise header.error(
                f"{kind} takes one option, the index of the last bottom layer, such as '{kind} 4'; here are "
                f"{len(options)}"
            )
        return kind, header.integer(1, "index of the last bottom layer")
    if kind == TRANSFORMER:
        if len(options) != 2 or options[0] != _GROUP_OPTION:
            raise header.error(f"{kind} takes the ranks of a model-parallel group, such as '{kind} {_GROUP_OPTION} 8'")
        group = header.integer(2, "ranks of a model-parallel group")
        if group < 1:
            raise header.error("a model-parallel group has 0 ranks; allowed: 1 or more")
        return kind, group
    if options:
        raise header.error(f"{kind} takes no options; here are {len(options)}")
    return kind, 0


def _read_layer(line: _Line, kind: str) -> AstraLayer:
    fields = FIELDS + (kind == CUSTOMIZED)
    if len(line.fields) != fields:
        raise line.error(f"a layer has {fields} fields, not {len(line.fields)}")
    forward, input_gradient, weight_gradient = (line.exchange(2 + 3 * i, which) for i, which in enumerate(PASSES))
    own = line.fields[FIELDS] if kind == CUSTOMIZED else kind
    if kind == CUSTOMIZED and own not in LAYER_KINDS:
        hint = did_you_mean(own, LAYER_KINDS)
        raise line.error(f"field 13: unknown parallelism {own!r} of a layer; allowed: {', '.join(LAYER_KINDS)}{hint}")
    return AstraLayer(
        name=line.fields[0],
        line=line.number,
        parallelism=own,
        forward=forward,
        input_gradient=input_gradient,
        weight_gradient=weight_gradient,
        update_delay=line.integer(FIELDS - 1, "update delay"),
    )
