// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_INTERRUPT_MODERATOR_H
#define ASTRA_INTERRUPT_MODERATOR_H

#include "../core/event-loop.h"
#include "received-packet.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/// Who takes the packets of an interrupt.
class InterruptListener
{
  public:
    /**
     * @param core Whose receive queue it is.
     * @param batch What has come since the last time, in order; emptied by who calls.
     */
    virtual void InterruptCame(uint32_t core, const std::vector<ReceivedPacket>& batch) = 0;

  protected:
    ~InterruptListener() = default;
};

/// When a receive queue interrupts its core, as ethtool's rx-usecs and rx-frames say.
struct InterruptFigures
{
    TimePs delay{0};    ///< From the first packet of a batch on; 0: each packet interrupts.
    uint32_t frames{0}; ///< Packets that bring the interrupt forward; 0: none do.
};

/**
 * One receive queue of a NIC, with its moderated interrupts.
 *
 * The first packet that comes to an empty queue sets a timer; at that time, or as soon as as many
 * packets are there as bring it forward, all go up together, and the queue is empty again.
 */
class InterruptModerator final : private EventHandler
{
  public:
    InterruptModerator(EventLoop& loop,
                       const InterruptFigures& figures,
                       uint32_t core,
                       InterruptListener& listener)
        : m_loop(loop),
          m_figures(figures),
          m_core(core),
          m_listener(listener)
    {
    }

    InterruptModerator(const InterruptModerator&) = delete;
    InterruptModerator& operator=(const InterruptModerator&) = delete;

    void Add(ReceivedPacket received)
    {
        m_waiting.push_back(std::move(received));
        if (m_waiting.size() == m_figures.frames || m_figures.delay == 0)
        {
            Interrupt();
        }
        else if (m_waiting.size() == 1)
        {
            m_loop.ScheduleTimer(m_loop.Now() + m_figures.delay, *this, m_batch);
            ++m_timers;
        }
    }

    /// Timers that are events of the loop, those of interrupts that were brought forward too.
    uint64_t Pending() const
    {
        return m_timers;
    }

  private:
    void HandleEvent(uint64_t batch) override
    {
        --m_timers;
        if (batch == m_batch)
        {
            Interrupt();
        }
    }

    void Interrupt()
    {
        ++m_batch;
        m_up.swap(m_waiting);
        m_listener.InterruptCame(m_core, m_up);
        m_up.clear();
    }

    EventLoop& m_loop;
    const InterruptFigures& m_figures;
    const uint32_t m_core;
    InterruptListener& m_listener;
    std::vector<ReceivedPacket> m_waiting;
    std::vector<ReceivedPacket> m_up; ///< Memory that is used again and again.
    uint64_t m_batch{0};              ///< Number of the one that waits.
    uint64_t m_timers{0};
};

} // namespace ns3

#endif // ASTRA_INTERRUPT_MODERATOR_H
