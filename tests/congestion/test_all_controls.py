# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every control: complete parameters, each of which does something, and no two controls alike."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest

import astra_py._ns3_ext as native
from astra_py.config.congestion import CONGESTION_TABLES
from astra_py.config.ns3 import attributes_of
from astra_py.config.table import declaration, rule_of
from astra_py.engines.resolve import CONTROL_CLASSES
from astra_py.errors import ConfigError
from congestion.trials import FIGURES, US, Figures, new_trial, run_timers

CONTROLS = list(CONGESTION_TABLES)
LINE = FIGURES.line_rate_bps
MSS = FIGURES.payload_bytes

#: Another value of each attribute, as ns-3's text.
OTHERS = {
    "dcqcn": {
        "Gain": "0.25",
        "AlphaInterval": "7us",
        "AlphaUpdate": "per_interval",
        "IncreaseTimer": "11us",
        "ByteCounter": "50000",
        "FastRecovery": "2",
        "AdditiveIncrease": "1Gbps",
        "HyperIncrease": "3Gbps",
        "MinRate": "10Gbps",
        "DecreaseInterval": "20us",
        "ClampTarget": "false",
        "CnpInterval": "4us",
        "CnpDelay": "1us",
    },
    "hpcc": {
        "TargetUtilization": "0.8",
        "MaxStage": "1",
        "AdditiveIncrease": "500",
        "BaseRoundTrip": "13us",
        "MinRate": "30Gbps",
        "TelemetrySize": "26",
    },
    "timely": {
        "LowThreshold": "20us",
        "HighThreshold": "80us",
        "MinRoundTrip": "5us",
        "GradientWeight": "0.3",
        "Decrease": "0.4",
        "AdditiveIncrease": "1Gbps",
        "HyperAfter": "2",
        "HyperFactor": "20",
        "Segment": "4096",
        "MinRate": "20Gbps",
    },
    "swift": {
        "BaseTarget": "10us",
        "HopTarget": "5us",
        "FlowRange": "50us",
        "FlowMinWindow": "2",
        "FlowMaxWindow": "20",
        "AdditiveIncrease": "2",
        "Decrease": "0.5",
        "MaxDecrease": "0.2",
        "ResetAfter": "2",
        "MinWindow": "0.5",
        "MaxWindow": "14",
    },
    "dctcp": {"Gain": "0.5", "InitialWindow": "20480"},
}


def history(trial: native.CongestionTrial) -> list[tuple[int, int]]:
    """Rates and windows of a flow that meets a calm, a congestion, losses and a recovery; of all feedback at once."""
    seen = []
    now, psn, sent_bytes = 0, 0, 0
    # phase: round trips of 5 us, queue in bytes, its growth in a round trip, marked packets of 10, CNPs
    phases = [(10, 0, 0, 0, 0), (12, 20_000, 150_000, 6, 1), (12, 1_500_000, -110_000, 1, 0), (40, 0, 0, 0, 0)]
    for number, (rounds, queue, growth, marked, cnps) in enumerate(phases):
        for k in range(rounds):
            queue_bytes = max(queue + k * growth, 0)
            load = 1.0 if queue_bytes else 0.4
            for p in range(10):
                now += US // 2
                run_timers(trial, now)
                trial.sent(now, FIGURES.packet_line_bytes)
                psn += 1
                sent_bytes += int(load * LINE / 8e12 * US / 2)
                hop = (now, sent_bytes, queue_bytes, LINE)
                trial.ack(
                    now,
                    newly_acked_bytes=MSS,
                    in_flight_bytes=10**8,
                    acked_psn=psn,
                    sent_psn=psn + 9,
                    marked_packets=int(p < marked),
                    round_trip_ps=5 * US + queue_bytes * 8 * 10 + FIGURES.packet_line_bytes * 80,
                    telemetry=[hop] * 3,
                )
                if p < 2 * cnps:
                    trial.cnp(now)
                seen.append((trial.rate_bps, trial.window_bytes))
        if number == 2:
            for when in range(6):
                trial.timeout(now + when * 100 * US)
                seen.append((trial.rate_bps, trial.window_bytes))
            trial.loss(now + 700 * US)
            for _ in range(30):
                now += 55 * US
                run_timers(trial, now)
                trial.sent(now, 5 * 10**6)
                seen.append((trial.rate_bps, trial.window_bytes))
            trial.cnp(now)
    return seen


def traits(trial: native.CongestionTrial) -> tuple[object, ...]:
    return (trial.cnp_interval_ps, trial.cnp_delay_ps, trial.telemetry_bytes, trial.uses_cnp, trial.uses_ecn)


@pytest.mark.parametrize("control", CONTROLS)
def test_each_parameter_does_something(control: str) -> None:
    assert set(OTHERS[control]) == set(native.attributes(CONTROL_CLASSES[control]))
    plain = new_trial(control)
    usual = history(plain), traits(plain)
    for name, text in OTHERS[control].items():
        trial = new_trial(control, **{name: text})
        assert (history(trial), traits(trial)) != usual, name


@pytest.mark.parametrize("control", CONTROLS)
def test_it_acts_and_says_so(control: str) -> None:
    trial = new_trial(control)
    assert not trial.has_acted
    seen = history(trial)
    assert trial.has_acted
    assert all(0 < rate <= LINE and window >= 0 for rate, window in seen)


def test_no_two_differ_by_a_constant_only() -> None:
    def allowed_rates(control: str) -> list[float]:
        trial = new_trial(control)
        trip = FIGURES.base_round_trip_ps
        return [min(rate, window * 8e12 / trip) if window else rate for rate, window in history(trial)]

    measures: list[Callable[[float, float], float]] = [lambda a, b: a / b, lambda a, b: (a - b) / LINE]
    for one, other in combinations([*map(allowed_rates, CONTROLS)], 2):
        for measure in measures:
            distances = [measure(a, b) for a, b in zip(one, other, strict=True)]
            assert max(distances) - min(distances) > 0.1


@pytest.mark.parametrize("control", CONTROLS)
def test_the_same_feedback_has_the_same_effect(control: str) -> None:
    assert history(new_trial(control)) == history(new_trial(control))


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("line_rate", [10**9, 25 * 10**9, 800 * 10**9])
def test_flows_start_at_line_rate(control: str, line_rate: int) -> None:
    figures = Figures(line_rate_bps=line_rate, base_round_trip_ps=30 * US)
    trial = new_trial(control, figures)
    round_trip_payload = line_rate * 30 * US / 8e12 * MSS / FIGURES.packet_line_bytes
    assert trial.rate_bps == line_rate
    if trial.window_bytes:
        assert trial.window_bytes == pytest.approx(max(round_trip_payload, 1), abs=MSS)


def test_each_control_has_a_table() -> None:
    assert list(CONGESTION_TABLES) == list(CONTROL_CLASSES)
    assert [table.key for table in CONGESTION_TABLES.values()] == [f"transport.{name}" for name in CONTROLS]


@pytest.mark.parametrize("control", CONTROLS)
def test_parameters_are_the_attributes_with_the_same_defaults(control: str) -> None:
    attributes = native.attributes(CONTROL_CLASSES[control])
    names = []
    for field, info in CONGESTION_TABLES[control].model_fields.items():
        made, rule = declaration(info), rule_of(info)
        assert made is not None
        assert made.ns3 is not None
        names += made.ns3.names
        assert made.ns3.names == (f"{CONTROL_CLASSES[control]}::{field.title().replace('_', '')}",)
        fields = attributes[made.ns3.names[0].rpartition(":")[2]]
        text = made.ns3.words.get(info.default) if isinstance(info.default, str) else None
        text = rule.to_ns3(rule.read(info.default)) if text is None else text
        if fields["type"].endswith(("TimeValue", "DoubleValue")):
            assert float(text.removesuffix("ps")) == float(fields["default"].removesuffix("ps")), field
        else:
            assert text == fields["default"], field
    assert [name.rpartition(":")[2] for name in names] == list(attributes)


@pytest.mark.parametrize("control", CONTROLS)
def test_parameters_say_what_they_are(control: str) -> None:
    for name, fields in native.attributes(CONTROL_CLASSES[control]).items():
        assert fields["help"].endswith("."), name
        assert len(fields["help"]) > 15, name
    for name, info in CONGESTION_TABLES[control].model_fields.items():
        made = declaration(info)
        assert made is not None
        assert info.description is not None
        assert info.description.endswith(".")
        if rule_of(info).type_name in ("size", "rate", "time", "integer", "number"):
            assert made.source, name


def test_given_parameters_become_attributes() -> None:
    given = {"byte_counter": "off", "clamp_target": False, "gain": 0.1, "min_rate": "1Gbps", "cnp_interval": "1.5us"}
    attributes = attributes_of(CONGESTION_TABLES["dcqcn"].model_validate(given))
    assert attributes == {
        "ns3::Dcqcn::Gain": "0.1",
        "ns3::Dcqcn::ByteCounter": "0",
        "ns3::Dcqcn::MinRate": "1000000000bps",
        "ns3::Dcqcn::ClampTarget": "false",
        "ns3::Dcqcn::CnpInterval": "1500000ps",
    }
    trial = new_trial("dcqcn", **{name.rpartition(":")[2]: text for name, text in attributes.items()})
    assert trial.cnp_interval_ps == 1_500_000


@pytest.mark.parametrize(
    ("control", "given", "message"),
    [
        ("timely", {"low_threshold": "600us"}, "'600us' is above transport.timely.high_threshold = '500us'"),
        ("swift", {"flow_min_window": 100}, "100 is not below transport.swift.flow_max_window = 100"),
        ("swift", {"min_window": 2, "max_window": 1}, "2 is above transport.swift.max_window = 1"),
        ("dcqcn", {"byte_counter": "0B"}, "'0B' is out of range"),
        ("dcqcn", {"gain": 1.5}, "1.5 is out of range"),
        ("hpcc", {"eta": 0.9}, "Extra inputs are not permitted"),
    ],
)
def test_parameters_out_of_bounds(control: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CONGESTION_TABLES[control].model_validate(given)


@pytest.mark.parametrize("name", ["ns3::Cubic", "ns3::RoceNic", "ns3::CongestionControl"])
def test_an_unknown_control_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match=f'no congestion control "{name}"'):
        native.CongestionTrial(name, {}, **vars(FIGURES))


@pytest.mark.parametrize(("name", "text"), [("Gian", "0.1"), ("Gain", "2"), ("IncreaseTimer", "0ps")])
def test_an_attribute_that_cannot_be_is_an_error(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f'ns3::Dcqcn has no attribute "{name}" that can be "{text}"'):
        new_trial("dcqcn", **{name: text})


@pytest.mark.parametrize("key", ["line_rate_bps", "base_round_trip_ps", "payload_bytes"])
def test_a_flow_without_figures_is_an_error(key: str) -> None:
    with pytest.raises(ConfigError, match="a flow has a rate, a round trip and a payload"):
        new_trial("dcqcn", Figures(**{key: 0}))
