// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_EVENT_LOOP_H
#define ASTRA_EVENT_LOOP_H

#include "event-queue.h"
#include "units.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace ns3
{

/// Why a loop came back.
enum class LoopExit : uint8_t
{
    EMPTY,
    STOPPED,
    EVENT_LIMIT,
    TIME_LIMIT,
};

/**
 * A clock and its pending events.
 *
 * Models schedule through a reference to their loop and never through the global Simulator, so
 * that a run may have several. FabricSimulatorImpl makes one of them ns-3's own.
 */
class EventLoop
{
  public:
    TimePs Now() const
    {
        return m_now;
    }

    /// The place of the event under way, or the last one, within its instant: as Event::order.
    uint64_t Order() const
    {
        return m_order;
    }

    /// Whatever comes before it has happened: the event under way; once a time limit has ended the
    /// run, all up to the limit, whether it was an event or not.
    struct Moment
    {
        TimePs time;
        uint64_t order;
    };

    Moment Horizon() const
    {
        return m_isAtTimeLimit ? Moment{m_timeLimit, std::numeric_limits<uint64_t>::max()}
                               : Moment{m_now, m_order};
    }

    /// Place within its instant of the arrival that ScheduleArrival would schedule.
    static uint64_t ArrivalOrder(ChannelId channel, bool isDelayed)
    {
        const uint64_t rank = 2 * static_cast<uint64_t>(channel) + (isDelayed ? 0 : 1);
        return EventQueue::MakeOrder(EventPhase::ARRIVAL, rank);
    }

    /// Place within its instant of what SchedulePick would schedule.
    static uint64_t PickOrder(ChannelId port)
    {
        return EventQueue::MakeOrder(EventPhase::PICK, port);
    }

    /**
     * The last byte of a frame arrives from a channel, or arrived a forwarding latency ago.
     *
     * @param time When it is handled.
     * @param channel Orders the arrivals of an instant.
     * @param isDelayed Whether a forwarding latency has passed since: it was sent before a frame of
     *        the same channel whose last byte arrives only now, and goes first.
     * @param handler What handles it.
     * @param argument For the handler.
     */
    void ScheduleArrival(TimePs time,
                         ChannelId channel,
                         bool isDelayed,
                         EventHandler& handler,
                         uint64_t argument)
    {
        Schedule(time, ArrivalOrder(channel, isDelayed), handler, argument);
    }

    /// A port's frame has left, and its room in a buffer is to be given back in that very instant.
    void ScheduleRelease(TimePs time, ChannelId port, EventHandler& handler)
    {
        Schedule(time, EventQueue::MakeOrder(EventPhase::RELEASE, port), handler, port);
    }

    /// The last bit of a message leaves its sender; once for each message.
    void ScheduleLeft(TimePs time, uint32_t message, EventHandler& handler, uint64_t argument)
    {
        Schedule(time, EventQueue::MakeOrder(EventPhase::LEFT, message), handler, argument);
    }

    /// Anything that keeps the order in which it was scheduled.
    void ScheduleTimer(TimePs time, EventHandler& handler, uint64_t argument)
    {
        Schedule(time, EventQueue::MakeOrder(EventPhase::TIMER, m_sequence++), handler, argument);
    }

    /// A port chooses its next frame; at most one is pending for a port.
    void SchedulePick(TimePs time, ChannelId port, EventHandler& handler)
    {
        Schedule(time, PickOrder(port), handler, port);
    }

    /**
     * Run until nothing is pending, somebody stops the loop, or a limit is met.
     *
     * @return Why it came back.
     */
    LoopExit Run();

    /// Come back from Run after the current event.
    void Stop()
    {
        m_isStopped = true;
    }

    /// Forget all pending events and start again at time zero.
    void Clear();

    /**
     * Take pending events out of the queue.
     *
     * @param isOver Called once for each pending event; true where it goes.
     */
    template <typename PREDICATE>
    void Forget(const PREDICATE& isOver)
    {
        m_queue.EraseIf(isOver);
    }

    /// Most events of a run, or a negative number for no limit.
    void SetEventLimit(int64_t events)
    {
        m_eventLimit = events;
    }

    /// Latest time of an event, or a negative number for no limit.
    void SetTimeLimit(TimePs time)
    {
        m_timeLimit = time;
    }

    /**
     * Call a handler once, between events: when all of an instant has happened, and more is to
     * come.
     *
     * It is no event: it is not counted, keeps no run going, and does not come where nothing is
     * later. The handler may ask to be called again.
     *
     * @param time The instant; not before now.
     * @param handler Called with 0; instead of one that still waits.
     */
    void CallAfter(TimePs time, EventHandler& handler)
    {
        m_callAfter = time;
        m_called = &handler;
    }

    /// Call nobody between events.
    void CallNobody()
    {
        m_callAfter = std::numeric_limits<TimePs>::max();
    }

    /// Called every HOOK_EVENTS events; may throw to end the run.
    void SetHook(std::function<void()> hook)
    {
        m_hook = std::move(hook);
    }

    uint64_t EventCount() const
    {
        return m_eventCount;
    }

    size_t Pending() const
    {
        return m_queue.Size();
    }

    bool IsEmpty() const
    {
        return m_queue.IsEmpty();
    }

    static constexpr uint64_t HOOK_EVENTS = 1U << 15;

  private:
    void Schedule(TimePs time, uint64_t order, EventHandler& handler, uint64_t argument)
    {
        if (time < m_now || time >= MAX_TIME_PS) [[unlikely]]
        {
            Refuse(time);
        }
        m_queue.Push(Event{time, order, &handler, argument});
    }

    [[noreturn]] void Refuse(TimePs time) const;
    void CallBetweenEvents();

    EventQueue m_queue;
    TimePs m_now{0};
    uint64_t m_order{0}; ///< Of the event under way.
    uint64_t m_sequence{0};
    uint64_t m_eventCount{0};
    int64_t m_eventLimit{-1};
    TimePs m_timeLimit{-1};
    TimePs m_callAfter{std::numeric_limits<TimePs>::max()};
    EventHandler* m_called{nullptr};
    std::function<void()> m_hook;
    bool m_isStopped{false};
    bool m_isAtTimeLimit{false};
};

} // namespace ns3

#endif // ASTRA_EVENT_LOOP_H
