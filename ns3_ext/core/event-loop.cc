// SPDX-License-Identifier: GPL-2.0-only
#include "event-loop.h"

#include "errors.h"

#include <limits>
#include <string>

namespace ns3
{

LoopExit
EventLoop::Run()
{
    const uint64_t eventLimit = m_eventLimit < 0 ? std::numeric_limits<uint64_t>::max()
                                                 : static_cast<uint64_t>(m_eventLimit);
    const TimePs timeLimit = m_timeLimit < 0 ? std::numeric_limits<TimePs>::max() : m_timeLimit;
    m_isStopped = false;
    m_isAtTimeLimit = false;
    while (!m_isStopped)
    {
        if (m_queue.IsEmpty())
        {
            return LoopExit::EMPTY;
        }
        const TimePs next = m_queue.Top().time;
        if (next > timeLimit)
        {
            m_isAtTimeLimit = true;
            return LoopExit::TIME_LIMIT;
        }
        if (next > m_callAfter) [[unlikely]]
        {
            CallBetweenEvents(); // What it schedules may come first.
            continue;
        }
        if (m_eventCount >= eventLimit)
        {
            return LoopExit::EVENT_LIMIT;
        }
        const Event event = m_queue.Pop();
        m_now = event.time;
        m_order = event.order;
        ++m_eventCount;
        event.handler->HandleEvent(event.argument);
        if (m_eventCount % HOOK_EVENTS == 0 && m_hook)
        {
            m_hook();
        }
    }
    return LoopExit::STOPPED;
}

void
EventLoop::CallBetweenEvents()
{
    m_now = m_callAfter;
    m_order = std::numeric_limits<uint64_t>::max(); // All of the instant has happened.
    CallNobody();
    m_called->HandleEvent(0);
}

void
EventLoop::Clear()
{
    CallNobody();
    m_queue.Clear();
    m_now = 0;
    m_order = 0;
    m_sequence = 0;
    m_eventCount = 0;
}

void
EventLoop::Refuse(TimePs time) const
{
    const std::string what = "an event was scheduled for " + std::to_string(time) + " ps at " +
                             std::to_string(m_now) + " ps: ";
    throw InvariantError(what + (time < m_now ? std::string("before now")
                                              : "past the end of simulated time, " +
                                                    std::to_string(MAX_TIME_PS) + " ps (13 days)"));
}

} // namespace ns3
