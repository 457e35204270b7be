// SPDX-License-Identifier: GPL-2.0-only
#include "../core/errors.h"
#include "../engine/analytic-world.h"
#include "../engine/flow-world.h"
#include "../engine/network-run.h"
#include "../engine/packet-world.h"
#include "bindings.h"
#include "columns.h"
#include "descriptions.h"
#include "progress-hook.h"

#include <memory>
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <string>
#include <utility>

namespace ns3
{

namespace
{

std::unique_ptr<NetworkRun>
MakeNetworkRun(const std::string& engine,
               const py::object& platform,
               const py::object& transport,
               const py::object& options)
{
    PlatformDescription description = ReadPlatform(platform);
    const TransportFigures figures = ReadTransport(transport);
    const RunOptions runOptions = ReadOptions(options);
    std::unique_ptr<NetworkWorld> world;
    if (engine == "packet")
    {
        world = std::make_unique<PacketWorld>(std::move(description), figures, runOptions);
    }
    else if (engine == "analytic")
    {
        world = std::make_unique<AnalyticWorld>(std::move(description), figures, runOptions);
    }
    else if (engine == "flow")
    {
        world = std::make_unique<FlowWorld>(std::move(description), figures, runOptions);
    }
    else
    {
        throw ConfigError("engine: \"" + engine + "\" is none of packet, flow, analytic");
    }
    return std::make_unique<NetworkRun>(std::move(world), ReadNotifyOn(transport));
}

std::string
RunNetwork(NetworkRun& run)
{
    const py::object nobody = py::none();
    const py::gil_scoped_release release;
    return run.Run(MakeHook(nobody));
}

py::list
GiveLeftovers(const NetworkRun& run)
{
    py::list items;
    for (const NetworkRun::Unfinished& unfinished : run.Leftovers())
    {
        py::dict fields;
        fields["is_send"] = unfinished.isSend;
        fields["is_matched"] = unfinished.isMatched;
        fields["is_delivered"] = unfinished.isDelivered;
        fields["src"] = unfinished.src;
        fields["dst"] = unfinished.dst;
        fields["size_bytes"] = unfinished.size;
        fields["tag"] = unfinished.tag;
        fields["called_ps"] = unfinished.called;
        items.append(fields);
    }
    return items;
}

py::dict
GiveMessages(const NetworkRun& run)
{
    MessageLog log = run.Messages();
    py::dict columns;
    columns["src"] = GiveColumn(std::move(log.src));
    columns["dst"] = GiveColumn(std::move(log.dst));
    columns["tag"] = GiveColumn(run.Tags());
    columns["size_bytes"] = GiveColumn(std::move(log.size));
    columns["posted_ps"] = GiveColumn(std::move(log.posted));
    columns["sent_ps"] = GiveColumn(std::move(log.sent));
    columns["delivered_ps"] = GiveColumn(std::move(log.delivered));
    columns["acked_ps"] = GiveColumn(std::move(log.acked));
    columns["delivered_bytes"] = GiveColumn(std::move(log.deliveredBytes));
    columns["retransmitted_packets"] = GiveColumn(std::move(log.repeatedPackets));
    return columns;
}

} // namespace

void
BindNetwork(py::module_& module)
{
    py::class_<NetworkRun>(module,
                           "NetworkRun",
                           "A network driven by sends, receives and timers, with callbacks.")
        .def(py::init(&MakeNetworkRun),
             py::arg("engine"),
             py::arg("platform"),
             py::arg("transport"),
             py::arg("options"))
        .def("send",
             &NetworkRun::Send,
             py::arg("src"),
             py::arg("dst"),
             py::arg("size_bytes"),
             py::arg("tag"),
             py::arg("on_sent"),
             "Send a message, now.")
        .def("recv",
             &NetworkRun::Receive,
             py::arg("dst"),
             py::arg("src"),
             py::arg("size_bytes"),
             py::arg("tag"),
             py::arg("on_received"),
             "Be told of a message.")
        .def("schedule",
             &NetworkRun::Schedule,
             py::arg("delay_ps"),
             py::arg("function"),
             "Call back after a delay.")
        .def("now", &NetworkRun::Now, "Simulated time in ps.")
        .def("run", &RunNetwork, "Run until all is over; returns why it came back.")
        .def("leftovers",
             &GiveLeftovers,
             "Calls without their match and messages that never came, as dictionaries.")
        .def("messages", &GiveMessages, "What happened to each message so far, as columns.")
        .def(
            "counts",
            [](const NetworkRun& run) { return GiveOutcome(run.Counts()); },
            "What the network counted so far: the columns of EngineColumns but for the messages.")
        .def_property_readonly("node_ids",
                               &NetworkRun::NodeIds,
                               "Where the platform's nodes are in ns-3's NodeList.")
        .def("close",
             &NetworkRun::Close,
             "Take everything out of ns-3 again; harmless when done twice.");
}

} // namespace ns3
