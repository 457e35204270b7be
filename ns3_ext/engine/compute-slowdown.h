// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_COMPUTE_SLOWDOWN_H
#define ASTRA_COMPUTE_SLOWDOWN_H

#include "../core/event-loop.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/// How many times as long work takes, as a fraction, which is exact where a number is not.
struct SlowdownFactor
{
    uint64_t numerator{1}; ///< At least the denominator.
    uint64_t denominator{1};

    bool IsOne() const
    {
        return numerator == denominator;
    }
};

/**
 * Local work of ranks that goes on more slowly while collectives are under way there.
 *
 * In a picosecond with a collective under way, 1/factor of a picosecond of work is done, else a
 * whole one. What is left over is kept exactly, and work ends in the first picosecond by which all
 * of it is done.
 */
class ComputeSlowdown
{
  public:
    /**
     * @param factor How many times as long work takes beside a collective.
     * @param ranks Of the schedule.
     * @param loop The run's clock.
     * @param timer Gets the timers, with an operation as their argument, and asks IsEnded.
     */
    ComputeSlowdown(SlowdownFactor factor, size_t ranks, EventLoop& loop, EventHandler& timer);

    /// A rank begins an operation.
    void BeginWork(uint32_t op, int32_t rank, TimePs duration);

    /// A rank takes part in one more collective from now on.
    void BeginCollective(int32_t rank);

    /// A rank's part in a collective is done.
    void EndCollective(int32_t rank);

    /// A timer of an operation has come: whether the operation's work has ended by it.
    bool IsEnded(uint32_t op, int32_t rank);

    /// Whether no timer is pending. Those of work that went faster in the end outlast it.
    bool IsQuiet() const
    {
        return m_timers == 0;
    }

  private:
    /// An operation under way.
    struct Work
    {
        uint32_t op;
        uint64_t left;     ///< Whole picoseconds of work, as of `since`.
        uint64_t leftOver; ///< Work done beyond these, in 1/numerator of a picosecond.
        TimePs since;
        TimePs end;   ///< As things are now.
        TimePs timer; ///< The pending timer that counts: none is earlier, and it is not after end.
    };

    struct Rank
    {
        uint32_t collectives{0};
        std::vector<Work> works;
    };

    void SetPace(Rank& rank, bool wasSlow);
    void Advance(Work& work, bool isSlow) const;
    TimePs EndOf(const Work& work, bool isSlow) const;
    void SetTimer(Work& work);

    const SlowdownFactor m_factor;
    EventLoop& m_loop;
    EventHandler& m_timer;
    std::vector<Rank> m_ranks;
    uint64_t m_timers{0}; ///< Pending ones.
};

} // namespace ns3

#endif // ASTRA_COMPUTE_SLOWDOWN_H
