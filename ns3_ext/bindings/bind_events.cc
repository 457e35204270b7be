// SPDX-License-Identifier: GPL-2.0-only
#include "../core/bare-event-loop.h"
#include "../core/errors.h"
#include "../core/event-queue.h"
#include "bindings.h"

#include <pybind11/stl.h>
#include <set>
#include <string>

namespace ns3
{

namespace py = pybind11;

namespace
{

/// The event queue by itself, for tests of its order.
class EventQueueTrial
{
  public:
    void Push(TimePs time, uint64_t order, uint64_t argument)
    {
        if (time < m_now || time >= MAX_TIME_PS)
        {
            throw ConfigError("an event at " + std::to_string(time) + " ps: allowed: from " +
                              std::to_string(m_now) + " ps on, below " +
                              std::to_string(MAX_TIME_PS) + " ps");
        }
        m_queue.Push(Event{time, order, &m_nobody, argument});
    }

    uint64_t Pop()
    {
        if (m_queue.IsEmpty())
        {
            throw ConfigError("no event is pending");
        }
        m_now = m_queue.Top().time;
        return m_queue.Pop().argument;
    }

    void Forget(const std::set<uint64_t>& arguments)
    {
        m_queue.EraseIf(
            [&arguments](const Event& event) { return arguments.contains(event.argument); });
    }

    size_t Size() const
    {
        return m_queue.Size();
    }

  private:
    /// Events of the trial are only looked at.
    class Nobody final : public EventHandler
    {
        void HandleEvent(uint64_t) override
        {
        }
    };

    Nobody m_nobody;
    EventQueue m_queue;
    TimePs m_now{0};
};

double
BareEventLoop(uint64_t pending, uint64_t events)
{
    const py::gil_scoped_release release;
    return RunBareEventLoop(pending, events);
}

} // namespace

void
BindEvents(py::module_& module)
{
    py::class_<EventQueueTrial>(module,
                                "EventQueueTrial",
                                "The queue of pending events by itself; times in ps.")
        .def(py::init<>())
        .def("push",
             &EventQueueTrial::Push,
             py::arg("time_ps"),
             py::arg("order"),
             py::arg("argument"),
             "Put in an event, not before the one taken last.")
        .def("pop", &EventQueueTrial::Pop, "Take the first event by time, then order.")
        .def("forget",
             &EventQueueTrial::Forget,
             py::arg("arguments"),
             "Take out all events with one of these arguments.")
        .def("__len__", &EventQueueTrial::Size);
    module.def("bare_event_loop",
               &BareEventLoop,
               py::arg("pending"),
               py::arg("events"),
               "CPU seconds of that many events that only schedule another one each, with so many "
               "pending all the time.");
}

} // namespace ns3
