// SPDX-License-Identifier: GPL-2.0-only
#include "../engine/analytic-run.h"
#include "../engine/packet-run.h"
#include "bindings.h"
#include "descriptions.h"

#include <chrono>
#include <memory>
#include <pybind11/stl.h>

namespace ns3
{

namespace py = pybind11;

namespace
{

/// Time between two looks at Python while an engine runs.
constexpr std::chrono::milliseconds PYTHON_INTERVAL{100};

/// A hook that lets Ctrl-C through and calls the user back now and then.
ProgressHook
MakeHook(const py::object& callback)
{
    auto last =
        std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
    return [last, &callback](TimePs now, uint64_t events, uint64_t done, uint64_t ops) {
        const auto clock = std::chrono::steady_clock::now();
        if (clock - *last < PYTHON_INTERVAL)
        {
            return;
        }
        *last = clock;
        const py::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0)
        {
            throw py::error_already_set();
        }
        if (!callback.is_none())
        {
            callback(now, events, done, ops);
        }
    };
}

py::dict
RunAnalyticFromPython(const py::object& platform,
                      const py::object& schedule,
                      const py::object& transport,
                      const py::object& options)
{
    const PlatformDescription platformDescription = ReadPlatform(platform);
    const ScheduleDescription scheduleDescription = ReadSchedule(schedule);
    const TransportFigures figures = ReadTransport(transport);
    const RunOptions runOptions = ReadOptions(options);
    const py::object callback = options.attr("progress");
    RunOutcome outcome;
    {
        const py::gil_scoped_release release;
        outcome = RunAnalytic(platformDescription,
                              scheduleDescription,
                              figures,
                              runOptions,
                              MakeHook(callback));
    }
    return GiveOutcome(std::move(outcome));
}

std::unique_ptr<PacketRun>
MakePacketRun(const py::object& platform,
              const py::object& schedule,
              const py::object& transport,
              const py::object& options)
{
    return std::make_unique<PacketRun>(ReadPlatform(platform),
                                       ReadSchedule(schedule),
                                       ReadTransport(transport),
                                       ReadOptions(options));
}

py::dict
RunPacket(PacketRun& run, const py::object& progress)
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
               &RunAnalyticFromPython,
               py::arg("platform"),
               py::arg("schedule"),
               py::arg("transport"),
               py::arg("options"),
               "Run a schedule on LogGP; returns the columns of EngineColumns by name.");
    py::class_<PacketRun>(module,
                          "PacketRun",
                          "A schedule on a platform in ns-3; one at a time in a process.")
        .def(py::init(&MakePacketRun),
             py::arg("platform"),
             py::arg("schedule"),
             py::arg("transport"),
             py::arg("options"))
        .def_property_readonly("node_ids",
                               &PacketRun::NodeIds,
                               "Where the platform's nodes are in ns-3's NodeList.")
        .def("run",
             &RunPacket,
             py::arg("progress"),
             "Run to the end, once; returns the columns of EngineColumns by name.")
        .def("close",
             &PacketRun::Close,
             "Take everything out of ns-3 again; harmless when done twice.");
}

} // namespace ns3
