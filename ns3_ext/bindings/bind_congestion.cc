// SPDX-License-Identifier: GPL-2.0-only
#include "../congestion/congestion-control.h"
#include "../core/errors.h"
#include "bindings.h"

#include <map>
#include <memory>
#include <pybind11/stl.h>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{

namespace py = pybind11;

namespace
{

/// As a hop is told from Python: time_ps, sent_bytes, queue_bytes, rate_bps.
using HopTuple = std::tuple<TimePs, ByteCount, ByteCount, BitRate>;

/// One flow's control with the algorithm that it refers to, moved step by step.
class CongestionTrial
{
  public:
    CongestionTrial(const std::string& typeName,
                    const std::map<std::string, std::string>& attributes,
                    BitRate lineRate,
                    TimePs baseRoundTrip,
                    uint16_t hops,
                    uint32_t payload,
                    uint32_t packetLineBytes)
        : m_control(MakeCongestionControl(typeName, attributes))
    {
        if (lineRate < 1 || baseRoundTrip < 1 || payload < 1 || packetLineBytes < payload)
        {
            throw ConfigError("CongestionTrial: a flow has a rate, a round trip and a payload "
                              "within its packets");
        }
        m_flow = m_control->NewFlow({lineRate, baseRoundTrip, hops, payload, packetLineBytes});
    }

    void Ack(TimePs now,
             ByteCount newlyAcked,
             ByteCount inFlight,
             uint64_t ackedPsn,
             uint64_t sentPsn,
             uint32_t packets,
             uint32_t markedPackets,
             TimePs roundTrip,
             const std::vector<HopTuple>& telemetry,
             uint64_t path)
    {
        std::vector<TelemetryHop> hops;
        for (const auto& [time, sentBytes, queueBytes, rate] : telemetry)
        {
            hops.push_back({time, sentBytes, queueBytes, rate});
        }
        m_flow->OnAck({now,
                       newlyAcked,
                       inFlight,
                       ackedPsn,
                       sentPsn,
                       packets,
                       markedPackets,
                       roundTrip,
                       hops,
                       path});
    }

    const CongestionControl& Control() const
    {
        return *m_control;
    }

    FlowControl& Flow() const
    {
        return *m_flow;
    }

    std::map<std::string, double> Inspect() const
    {
        const auto state = m_flow->Inspect();
        return {state.begin(), state.end()};
    }

  private:
    Ptr<CongestionControl> m_control;
    std::unique_ptr<FlowControl> m_flow;
};

} // namespace

void
BindCongestion(py::module_& module)
{
    using Trial = CongestionTrial;
    py::class_<Trial>(module,
                      "CongestionTrial",
                      "The congestion control of one flow, moved step by step: times in ps, sizes "
                      "in bytes, rates in bit/s.")
        .def(py::init<const std::string&,
                      const std::map<std::string, std::string>&,
                      BitRate,
                      TimePs,
                      uint16_t,
                      uint32_t,
                      uint32_t>(),
             py::arg("type_name"),
             py::arg("attributes"),
             py::kw_only(),
             py::arg("line_rate_bps"),
             py::arg("base_round_trip_ps"),
             py::arg("hops"),
             py::arg("payload_bytes"),
             py::arg("packet_line_bytes"),
             "A new flow under the control of that ns-3 class, its attributes as text. Raises "
             "ConfigError when there is no such class, attribute or value.")
        .def("ack",
             &Trial::Ack,
             py::arg("now_ps"),
             py::kw_only(),
             py::arg("newly_acked_bytes") = 0,
             py::arg("in_flight_bytes") = 0,
             py::arg("acked_psn") = 0,
             py::arg("sent_psn") = 0,
             py::arg("packets") = 1,
             py::arg("marked_packets") = 0,
             py::arg("round_trip_ps") = NEVER_PS,
             py::arg("telemetry") = std::vector<HopTuple>{},
             py::arg("path") = 0,
             "An acknowledgement; a hop of telemetry is (time_ps, sent_bytes, queue_bytes, "
             "rate_bps).")
        .def(
            "cnp",
            [](Trial& trial, TimePs now) { trial.Flow().OnCnp(now); },
            py::arg("now_ps"),
            "A congestion notification.")
        .def(
            "sent",
            [](Trial& trial, TimePs now, uint32_t lineBytes) {
                trial.Flow().OnSent(now, lineBytes);
            },
            py::arg("now_ps"),
            py::arg("line_bytes"),
            "A packet starts on the wire.")
        .def(
            "loss",
            [](Trial& trial, TimePs now) { trial.Flow().OnLoss(now); },
            py::arg("now_ps"),
            "The receiver told of a gap.")
        .def(
            "timeout",
            [](Trial& trial, TimePs now) { trial.Flow().OnTimeout(now); },
            py::arg("now_ps"),
            "Nothing was heard of packets.")
        .def(
            "timer",
            [](Trial& trial, TimePs now) { trial.Flow().OnTimer(now); },
            py::arg("now_ps"),
            "The time of next_timer_ps has come.")
        .def("inspect", &Trial::Inspect, "The control's inner state by name.")
        .def_property_readonly("rate_bps", [](const Trial& trial) { return trial.Flow().Rate(); })
        .def_property_readonly("window_bytes",
                               [](const Trial& trial) { return trial.Flow().Window(); })
        .def_property_readonly("next_timer_ps",
                               [](const Trial& trial) { return trial.Flow().NextTimer(); })
        .def_property_readonly("has_acted",
                               [](const Trial& trial) { return trial.Flow().HasActed(); })
        .def_property_readonly("uses_cnp",
                               [](const Trial& trial) { return trial.Control().UsesCnp(); })
        .def_property_readonly("uses_ecn",
                               [](const Trial& trial) { return trial.Control().UsesEcn(); })
        .def_property_readonly("uses_round_trip",
                               [](const Trial& trial) { return trial.Control().UsesRoundTrip(); })
        .def_property_readonly("telemetry_bytes",
                               [](const Trial& trial) { return trial.Control().TelemetryBytes(); })
        .def_property_readonly("cnp_interval_ps",
                               [](const Trial& trial) { return trial.Control().CnpInterval(); })
        .def_property_readonly("cnp_delay_ps",
                               [](const Trial& trial) { return trial.Control().CnpDelay(); });
}

} // namespace ns3
