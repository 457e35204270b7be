// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_QUEUE_PAIR_WATCH_H
#define ASTRA_QUEUE_PAIR_WATCH_H

#include "../core/units.h"
#include "outgoing-message.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/// What holds a queue pair back; the values are those of astra_py.engines.watch.Hold.
enum class Hold : uint8_t
{
    NOTHING = 0,        ///< It is its port that it waits for.
    NO_DATA = 1,        ///< All that was posted has been sent.
    PACING = 2,         ///< Its congestion control's rate.
    WINDOW = 3,         ///< The transport's window.
    CONTROL_WINDOW = 4, ///< Its congestion control's window.
    UNKNOWN = 5,        ///< Nobody has looked so far.
};

/// What queue pairs did, as columns: what they were given, and when they were held back.
struct QueuePairColumns
{
    // Messages, or parts of them, in order of their submission.
    std::vector<int64_t> partMessage;
    std::vector<int32_t> partFlow;   ///< Index of the queue pair.
    std::vector<int32_t> partNumber; ///< Of the queue pair among those between its ranks.
    std::vector<int32_t> partFirstPsn;
    std::vector<int64_t> partPackets;
    std::vector<int64_t> partTime;
    // Changes of what holds them back.
    std::vector<int32_t> holdFlow;
    std::vector<uint8_t> hold;
    std::vector<int64_t> holdTime;
};

/// Writes down what queue pairs with watched messages do; it changes nothing.
class QueuePairWatch
{
  public:
    /**
     * @param messages Those to watch.
     * @param limit Most changes that are written down.
     */
    QueuePairWatch(const std::vector<int64_t>& messages, size_t limit)
        : m_limit(limit)
    {
        for (const int64_t message : messages)
        {
            const auto id = static_cast<size_t>(message);
            if (id >= m_isWatched.size())
            {
                m_isWatched.resize(id + 1, false);
            }
            m_isWatched[id] = true;
        }
    }

    bool IsWatched(MessageId id) const
    {
        return id < m_isWatched.size() && m_isWatched[id];
    }

    /// A watched message, or a part of one, has come to its queue pair.
    void Submitted(uint32_t flow, uint32_t number, const OutgoingMessage& part, TimePs now)
    {
        constexpr uint64_t mask = 0xffffff;
        m_columns.partMessage.push_back(part.id);
        m_columns.partFlow.push_back(static_cast<int32_t>(flow));
        m_columns.partNumber.push_back(static_cast<int32_t>(number));
        m_columns.partFirstPsn.push_back(static_cast<int32_t>(part.firstPsn & mask));
        m_columns.partPackets.push_back(static_cast<int64_t>(part.packets));
        m_columns.partTime.push_back(now);
        m_last.try_emplace(flow, Hold::UNKNOWN);
    }

    /// What holds a queue pair back now; written down where it is something else than before, from
    /// its first watched message on.
    void Holds(uint32_t flow, Hold hold, TimePs now)
    {
        const auto last = m_last.find(flow);
        if (last == m_last.end() || last->second == hold)
        {
            return;
        }
        last->second = hold;
        if (m_columns.hold.size() == m_limit)
        {
            m_isFull = true;
            return;
        }
        m_columns.holdFlow.push_back(static_cast<int32_t>(flow));
        m_columns.hold.push_back(static_cast<uint8_t>(hold));
        m_columns.holdTime.push_back(now);
    }

    /// The queue pair is gone, and its index may be another one's.
    void Gone(uint32_t flow)
    {
        m_last.erase(flow);
    }

    /// Whether there was more than was written down.
    bool IsFull() const
    {
        return m_isFull;
    }

    QueuePairColumns TakeColumns()
    {
        return std::move(m_columns);
    }

  private:
    std::vector<bool> m_isWatched;
    std::unordered_map<uint32_t, Hold> m_last; ///< By queue pair.
    size_t m_limit;
    bool m_isFull{false};
    QueuePairColumns m_columns;
};

} // namespace ns3

#endif // ASTRA_QUEUE_PAIR_WATCH_H
