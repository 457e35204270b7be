// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_EVENT_H
#define ASTRA_EVENT_H

#include "units.h"

#include <cstdint>

namespace ns3
{

/// Something that events happen to.
class EventHandler
{
  public:
    virtual void HandleEvent(uint64_t argument) = 0;

    /**
     * An event comes soon, with others: bring its memory closer; nothing else may change.
     *
     * What a step reads, the step before has fetched. It comes for all events of a batch, so that
     * their waits overlap.
     *
     * @param argument Of the event.
     * @param step From 0 to FORESIGHT - 1.
     */
    virtual void Foresee(uint64_t argument, unsigned step) const
    {
        static_cast<void>(argument);
        static_cast<void>(step);
    }

    static constexpr unsigned FORESIGHT = 7;

  protected:
    ~EventHandler() = default;
};

/**
 * The steps of one instant.
 *
 * Events of the same picosecond run in this order, so that a result does not depend on how many
 * events an implementation needs to get there.
 */
enum class EventPhase : uint64_t
{
    RELEASE = 0, ///< Frames that have left give back their room, by port.
    ARRIVAL = 1, ///< Last bytes of frames, by channel.
    LEFT = 2,    ///< Last bits of messages have left their senders, by message.
    TIMER = 3,   ///< Timers and ordinary ns-3 events, in order of scheduling.
    PICK = 4,    ///< Ports choose their next frame, by port.
};

/// A plain event: when, its place within the instant, and what happens to whom.
struct Event
{
    TimePs time;
    uint64_t order; ///< Phase in the three upper bits, then channel, message, sequence or port.
    EventHandler* handler;
    uint64_t argument;

    /// Time and order as one number; no two events of a queue have the same.
    UInt128 Key() const
    {
        return (static_cast<UInt128>(static_cast<uint64_t>(time)) << 64) | order;
    }
};

/// Half a cache line.
static_assert(sizeof(Event) == 32);

} // namespace ns3

#endif // ASTRA_EVENT_H
