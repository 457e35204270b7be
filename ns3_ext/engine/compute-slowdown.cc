// SPDX-License-Identifier: GPL-2.0-only
#include "compute-slowdown.h"

#include <algorithm>

namespace ns3
{

ComputeSlowdown::ComputeSlowdown(SlowdownFactor factor,
                                 size_t ranks,
                                 EventLoop& loop,
                                 EventHandler& timer)
    : m_factor(factor),
      m_loop(loop),
      m_timer(timer),
      m_ranks(ranks)
{
}

void
ComputeSlowdown::BeginWork(uint32_t op, int32_t rank, TimePs duration)
{
    Rank& owner = m_ranks[static_cast<size_t>(rank)];
    Work work{op, static_cast<uint64_t>(duration), 0, m_loop.Now(), 0, 0};
    work.end = EndOf(work, owner.collectives > 0);
    SetTimer(work);
    owner.works.push_back(work);
}

void
ComputeSlowdown::BeginCollective(int32_t rank)
{
    Rank& owner = m_ranks[static_cast<size_t>(rank)];
    if (++owner.collectives == 1)
    {
        SetPace(owner, false);
    }
}

void
ComputeSlowdown::EndCollective(int32_t rank)
{
    Rank& owner = m_ranks[static_cast<size_t>(rank)];
    if (--owner.collectives == 0)
    {
        SetPace(owner, true);
    }
}

void
ComputeSlowdown::SetPace(Rank& rank, bool wasSlow)
{
    for (Work& work : rank.works)
    {
        Advance(work, wasSlow);
        work.end = EndOf(work, !wasSlow);
        // A timer that comes too early sets the next one; only one that would be late needs
        // another.
        if (work.end < work.timer)
        {
            SetTimer(work);
        }
    }
}

void
ComputeSlowdown::Advance(Work& work, bool isSlow) const
{
    const auto passed = static_cast<uint64_t>(m_loop.Now() - work.since);
    work.since = m_loop.Now();
    if (!isSlow)
    {
        work.left -= passed;
        return;
    }
    const UInt128 done = static_cast<UInt128>(passed) * m_factor.denominator + work.leftOver;
    work.left -= static_cast<uint64_t>(done / m_factor.numerator);
    work.leftOver = static_cast<uint64_t>(done % m_factor.numerator);
}

TimePs
ComputeSlowdown::EndOf(const Work& work, bool isSlow) const
{
    if (!isSlow || work.left == 0)
    {
        // What is left over is less than a picosecond of work.
        return work.since + static_cast<TimePs>(work.left);
    }
    const UInt128 todo = static_cast<UInt128>(work.left) * m_factor.numerator - work.leftOver;
    const UInt128 takes = (todo + m_factor.denominator - 1) / m_factor.denominator;
    return work.since + static_cast<TimePs>(std::min<UInt128>(takes, MAX_TIME_PS));
}

void
ComputeSlowdown::SetTimer(Work& work)
{
    work.timer = work.end;
    ++m_timers;
    m_loop.ScheduleTimer(work.timer, m_timer, work.op);
}

bool
ComputeSlowdown::IsEnded(uint32_t op, int32_t rank)
{
    --m_timers;
    std::vector<Work>& works = m_ranks[static_cast<size_t>(rank)].works;
    const auto work =
        std::find_if(works.begin(), works.end(), [op](const Work& each) { return each.op == op; });
    if (work == works.end())
    {
        return false; // It ended before, at a better pace than when this timer was set.
    }
    if (m_loop.Now() == work->end)
    {
        works.erase(work);
        return true;
    }
    if (m_loop.Now() == work->timer)
    {
        SetTimer(*work);
    }
    return false;
}

} // namespace ns3
