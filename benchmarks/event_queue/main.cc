// SPDX-License-Identifier: GPL-2.0-only
// What an event costs in queues of pending events: the product's, a 4-ary heap, and a std::map.
//
// Usage: cmake -S benchmarks/event_queue -B FOLDER && cmake --build FOLDER && FOLDER/event_queue
//
// Each event that is taken puts in another one, so that the same number is pending all the time
// (the "hold model" of the literature on event queues). Prints ns of CPU time per event.
#include "event-queue.h"
#include "hash.h"

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>

namespace
{

using ns3::Event;
using ns3::Mix64;
using ns3::TimePs;

constexpr uint64_t EVENTS = 3'000'000;
constexpr uint64_t US = 1'000'000; // In ps.

double
CpuNanoseconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// As simulators of the field have it.
class Map
{
  public:
    const Event& Top() const
    {
        return m_events.begin()->second;
    }

    void Push(const Event& event)
    {
        m_events.emplace(event.Key(), event);
    }

    Event Pop()
    {
        const Event event = m_events.begin()->second;
        m_events.erase(m_events.begin());
        return event;
    }

  private:
    std::map<ns3::UInt128, Event> m_events;
};

/// How far off an event is that another one schedules.
struct Delays
{
    const char* name;
    TimePs (*draw)(uint64_t random);
};

constexpr Delays DELAYS[] = {
    {"up to 2 us", [](uint64_t random) { return static_cast<TimePs>(random % (2 * US)); }},
    {"of 4 links",
     [](uint64_t random) {
         constexpr TimePs links[] = {82'000, 500'000, 640'000, 1'000'000};
         return links[random % 4];
     }},
    {"and timers",
     [](uint64_t random) {
         const uint64_t rest = random >> 8;
         return static_cast<TimePs>(random % 20 == 0 ? 55 * US + rest % 1000 : rest % US);
     }},
};

template <typename QUEUE>
double
CostOfEvent(uint64_t pending, const Delays& delays)
{
    QUEUE queue;
    uint64_t sequence = 0;
    for (; sequence < pending; ++sequence)
    {
        const auto time = static_cast<TimePs>(Mix64(sequence) % (2 * US));
        queue.Push(Event{time, sequence, nullptr, sequence});
    }
    const auto run = [&](uint64_t events) {
        for (const uint64_t end = sequence + events; sequence < end; ++sequence)
        {
            queue.Top();
            Event event = queue.Pop();
            event.argument = Mix64(event.argument);
            event.time += delays.draw(event.argument);
            event.order = sequence;
            queue.Push(event);
        }
    };
    run(pending);
    const double begin = CpuNanoseconds();
    run(EVENTS);
    return (CpuNanoseconds() - begin) / EVENTS;
}

} // namespace

int
main()
{
    std::printf("%-12s %9s %9s %9s %9s   ns per event\n",
                "delays",
                "pending",
                "queue",
                "heap",
                "map");
    for (const Delays& delays : DELAYS)
    {
        for (const uint64_t pending : {10, 100, 1'000, 10'000, 100'000, 1'000'000})
        {
            std::printf("%-12s %9lu %9.0f %9.0f %9.0f\n",
                        delays.name,
                        static_cast<unsigned long>(pending),
                        CostOfEvent<ns3::EventQueue>(pending, delays),
                        CostOfEvent<ns3::EventHeap>(pending, delays),
                        CostOfEvent<Map>(pending, delays));
            std::fflush(stdout);
        }
    }
}
