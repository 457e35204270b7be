// SPDX-License-Identifier: GPL-2.0-only
#include "../engine/analytic-world.h"
#include "../engine/flow-world.h"
#include "../engine/packet-world.h"
#include "../engine/schedule-run.h"
#include "bindings.h"
#include "descriptions.h"
#include "progress-hook.h"

#include <memory>
#include <pybind11/stl.h>

namespace ns3
{

namespace py = pybind11;

namespace
{

/// Run a schedule in a world that needs nothing of ns-3's own.
template <typename World>
py::dict
RunFromPython(const py::object& platform,
              const py::object& schedule,
              const py::object& transport,
              const py::object& options)
{
    const RunOptions runOptions = ReadOptions(options);
    ScheduleRun run(
        std::make_unique<World>(ReadPlatform(platform), ReadTransport(transport), runOptions),
        ReadSchedule(schedule),
        runOptions);
    const py::object callback = options.attr("progress");
    RunOutcome outcome;
    {
        const py::gil_scoped_release release;
        outcome = run.Run(MakeHook(callback));
    }
    return GiveOutcome(std::move(outcome));
}

std::unique_ptr<ScheduleRun>
MakePacketRun(const py::object& platform,
              const py::object& schedule,
              const py::object& transport,
              const py::object& options)
{
    ScheduleDescription description = ReadSchedule(schedule);
    const RunOptions runOptions = ReadOptions(options);
    return std::make_unique<ScheduleRun>(
        std::make_unique<PacketWorld>(ReadPlatform(platform), ReadTransport(transport), runOptions),
        std::move(description),
        runOptions);
}

py::dict
RunPacket(ScheduleRun& run, const py::object& progress)
{
    RunOutcome outcome;
    {
        const py::gil_scoped_release release;
        outcome = run.Run(MakeHook(progress));
    }
    return GiveOutcome(std::move(outcome));
}

} // namespace

void
BindRuns(py::module_& module)
{
    module.def("run_analytic",
               &RunFromPython<AnalyticWorld>,
               py::arg("platform"),
               py::arg("schedule"),
               py::arg("transport"),
               py::arg("options"),
               "Run a schedule on LogGP; returns the columns of EngineColumns by name.");
    module.def(
        "run_flow",
        &RunFromPython<FlowWorld>,
        py::arg("platform"),
        py::arg("schedule"),
        py::arg("transport"),
        py::arg("options"),
        "Run a schedule on max-min fair flows; returns the columns of EngineColumns by name.");
    py::class_<ScheduleRun>(module,
                            "PacketRun",
                            "A schedule on a platform in ns-3; one at a time in a process.")
        .def(py::init(&MakePacketRun),
             py::arg("platform"),
             py::arg("schedule"),
             py::arg("transport"),
             py::arg("options"))
        .def_property_readonly("node_ids",
                               &ScheduleRun::NodeIds,
                               "Where the platform's nodes are in ns-3's NodeList.")
        .def("run",
             &RunPacket,
             py::arg("progress"),
             "Run to the end, once; returns the columns of EngineColumns by name.")
        .def("close",
             &ScheduleRun::Close,
             "Take everything out of ns-3 again; harmless when done twice.");
}

} // namespace ns3
