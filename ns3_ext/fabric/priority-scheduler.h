// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PRIORITY_SCHEDULER_H
#define ASTRA_PRIORITY_SCHEDULER_H

#include "frame.h"

#include <array>
#include <bit>
#include <cstdint>

namespace ns3
{

/// How a port chooses among its priorities.
enum class PriorityScheduling : uint8_t
{
    STRICT = 0,
    DWRR = 1,
};

/**
 * Weighted shares of a port for the priorities below that of ACKs: deficit round robin that pays
 * after sending (surplus round robin; Adiseshu, Parulkar and Varghese, SIGCOMM 1996), since a NIC
 * does not know the size of its next packet before it is made.
 */
class PriorityScheduler
{
  public:
    using Weights = std::array<uint32_t, ACK_PRIORITY>;

    explicit PriorityScheduler(const Weights& weights)
        : m_weights(weights)
    {
    }

    /// The priority whose turn it is, of those in the mask, of which at least one is below ACKs'.
    uint8_t Choose(uint32_t eligible)
    {
        for (;;)
        {
            const bool isEligible = (eligible >> m_current & 1) != 0;
            if (isEligible && m_deficit[m_current] > 0)
            {
                return m_current;
            }
            if (!isEligible && m_deficit[m_current] > 0)
            {
                m_deficit[m_current] = 0; // Nobody saves up while there is nothing to send.
            }
            m_current = m_current == 0 ? ACK_PRIORITY - 1 : static_cast<uint8_t>(m_current - 1);
            if ((eligible >> m_current & 1) != 0)
            {
                m_deficit[m_current] += static_cast<int64_t>(m_weights[m_current]) * QUANTUM;
            }
        }
    }

    /// So many line bytes of a priority are sent.
    void Pay(uint8_t priority, uint32_t lineBytes)
    {
        if (priority < ACK_PRIORITY)
        {
            m_deficit[priority] -= lineBytes;
        }
    }

  private:
    /// Line bytes of a turn at weight 1: one full packet of the largest verbs MTU, about; assumed.
    static constexpr int64_t QUANTUM = 4096;

    Weights m_weights;
    std::array<int64_t, ACK_PRIORITY> m_deficit{};
    uint8_t m_current{ACK_PRIORITY - 1};
};

} // namespace ns3

#endif // ASTRA_PRIORITY_SCHEDULER_H
