// SPDX-License-Identifier: GPL-2.0-only
#include "../tcp/host-trial.h"
#include "bindings.h"
#include "columns.h"

#include <array>
#include <pybind11/stl.h>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{

namespace py = pybind11;

namespace
{

constexpr std::array<const char*, CORE_WORK_KINDS> WORK_NAMES{"message",
                                                              "segment",
                                                              "packet",
                                                              "copy"};

CoreWork
ReadWork(const std::string& name)
{
    for (size_t kind = 0; kind < CORE_WORK_KINDS; ++kind)
    {
        if (name == WORK_NAMES[kind])
        {
            return static_cast<CoreWork>(kind);
        }
    }
    throw ConfigError("\"" + name +
                      "\" is no work of a core; allowed: message, segment, packet, copy");
}

/// By kind of work: pieces and time.
py::dict
CoreAccounts(const HostTrial& trial, uint32_t core)
{
    if (core >= trial.Host().Cores())
    {
        throw ConfigError("HostTrial: there is no core " + std::to_string(core));
    }
    py::dict accounts;
    for (size_t kind = 0; kind < CORE_WORK_KINDS; ++kind)
    {
        const WorkAccount& account = trial.Host().Core(core).Account(static_cast<CoreWork>(kind));
        accounts[WORK_NAMES[kind]] = py::make_tuple(account.pieces, account.time);
    }
    return accounts;
}

py::list
RunTrial(HostTrial& trial)
{
    py::list moments;
    for (const TrialMoment& moment : trial.Run())
    {
        moments.append(py::make_tuple(moment.time, moment.what, moment.number, moment.bytes));
    }
    return moments;
}

} // namespace

void
BindHost(py::module_& module)
{
    using Trial = HostTrial;
    py::class_<Trial>(
        module,
        "HostTrial",
        "The host stack of one machine alone, on a clock of its own: what it is asked "
        "for at which times, and what became of it. Times in ps, sizes in bytes.")
        .def(py::init<const std::map<std::string, std::string>&, uint32_t, uint64_t>(),
             py::arg("attributes"),
             py::kw_only(),
             py::arg("local_ranks") = 1,
             py::arg("seed") = 1,
             "A machine with these attributes of ns3::HostStack, as text. Raises ConfigError when "
             "there is no such attribute or value.")
        .def(
            "work",
            [](Trial& trial,
               TimePs at,
               uint32_t core,
               const std::string& kind,
               uint64_t amount,
               uint64_t number) { trial.Work(at, core, ReadWork(kind), amount, number); },
            py::arg("at_ps"),
            py::kw_only(),
            py::arg("core"),
            py::arg("kind"),
            py::arg("amount") = 1,
            py::arg("number") = 0,
            "Work of a core: message, segment, packet, or copy, whose amount is bytes.")
        .def(
            "stage",
            [](Trial& trial,
               TimePs at,
               uint32_t localRank,
               bool isOut,
               ByteCount bytes,
               uint64_t number) { trial.Stage(at, localRank, isOut, bytes, number); },
            py::arg("at_ps"),
            py::kw_only(),
            py::arg("local_rank") = 0,
            py::arg("is_out"),
            py::arg("bytes"),
            py::arg("number") = 0,
            "A copy between an accelerator and the host.")
        .def(
            "send",
            [](Trial& trial,
               TimePs at,
               uint32_t core,
               uint32_t flow,
               uint32_t payload,
               uint64_t number) { trial.Send(at, core, {flow, 0, payload, 0, 0}, number); },
            py::arg("at_ps"),
            py::kw_only(),
            py::arg("core") = 0,
            py::arg("flow") = 0,
            py::arg("payload_bytes"),
            py::arg("number") = 0,
            "TCP hands a segment down.")
        .def(
            "receive",
            [](Trial& trial,
               TimePs at,
               ChannelId port,
               uint32_t core,
               uint32_t flow,
               uint32_t sequence,
               uint32_t payload,
               uint8_t flags,
               uint8_t ecn) {
                trial.Receive(at, port, core, {flow, sequence, payload, flags, ecn});
            },
            py::arg("at_ps"),
            py::kw_only(),
            py::arg("port") = 0,
            py::arg("core") = 0,
            py::arg("flow") = 0,
            py::arg("sequence") = 1,
            py::arg("payload_bytes"),
            py::arg("flags") = 16,
            py::arg("ecn") = 2,
            "A segment comes to a NIC: flags are TCP's, ecn those of IPv4 (2: ECT(0), 3: CE).")
        .def("run",
             &RunTrial,
             "Do it all. What happened, in order: (time_ps, \"done\" or \"sent\", number, 0), or "
             "(time_ps, \"received\", flow, payload).")
        .def(
            "core_of",
            [](const Trial& trial, RankId src, RankId dst, uint8_t priority, uint32_t index) {
                return trial.Host().CoreOf(HostStack::ConnectionKey(src, dst, priority, index),
                                           index);
            },
            py::arg("src"),
            py::arg("dst"),
            py::arg("priority"),
            py::arg("index"),
            "The core of a connection.")
        .def("core_accounts",
             &CoreAccounts,
             py::arg("core"),
             "By kind of work: how many pieces are done, and the time that they took.")
        .def_property_readonly(
            "pending_events",
            [](const Trial& trial) { return trial.Host().PendingEvents(); },
            "Events of the host that have not come.")
        .def_property_readonly("events", &Trial::EventCount, "Events so far.");
}

} // namespace ns3
