// SPDX-License-Identifier: GPL-2.0-only
#include "bare-event-loop.h"

#include "event-loop.h"
#include "hash.h"

#include <ctime>

namespace ns3
{

namespace
{

/// Latest of an event after the one that schedules it: of a frame, and of its acknowledgement.
constexpr uint64_t LATEST_PS = 2'000'000;
constexpr double NS_PER_S = 1e9;

double
ThreadSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / NS_PER_S;
}

/// Schedules an event for each one that runs.
class Rescheduler : public EventHandler
{
  public:
    explicit Rescheduler(EventLoop& loop)
        : m_loop(loop)
    {
    }

    void HandleEvent(uint64_t random) override
    {
        const uint64_t next = Mix64(random);
        m_loop.ScheduleTimer(m_loop.Now() + static_cast<TimePs>(next % LATEST_PS), *this, next);
    }

  private:
    EventLoop& m_loop;
};

} // namespace

double
RunBareEventLoop(uint64_t pending, uint64_t events)
{
    EventLoop loop;
    Rescheduler rescheduler(loop);
    for (uint64_t i = 0; i < pending; ++i)
    {
        rescheduler.HandleEvent(i);
    }
    loop.SetEventLimit(static_cast<int64_t>(pending));
    loop.Run();
    loop.SetEventLimit(static_cast<int64_t>(pending + events));
    const double begin = ThreadSeconds();
    loop.Run();
    return ThreadSeconds() - begin;
}

} // namespace ns3
