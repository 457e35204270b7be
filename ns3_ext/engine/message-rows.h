// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_MESSAGE_ROWS_H
#define ASTRA_MESSAGE_ROWS_H

#include "../core/message-network.h"
#include "message-log.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/// What an executor knows of a message while it may still be under way: one cache line, so that
/// each of its moments touches one.
struct alignas(64) MessageRow
{
    int32_t instance;
    int32_t op;
    int32_t src; ///< Members of the instance's group, not ranks.
    int32_t dst;
    ByteCount size;
    TimePs posted;
    TimePs sent{NEVER_PS};
    TimePs delivered{NEVER_PS};
    TimePs acked{NEVER_PS};
    ByteCount deliveredBytes{0};
};

static_assert(sizeof(MessageRow) == 64);

/**
 * Messages in order of posting, by row.
 *
 * Rows lie in blocks that never move, each on a large page where the system has them: which message
 * has its moment next is anybody's guess, and among a million even the page is one that the
 * processor does not remember.
 */
class MessageRows
{
  public:
    MessageRows() = default;

    /// @param messages Most of them, so that few take little room.
    explicit MessageRows(size_t messages);

    size_t Size() const
    {
        return m_size;
    }

    MessageRow& operator[](size_t id)
    {
        return m_blocks[id / BLOCK_ROWS][id % BLOCK_ROWS];
    }

    const MessageRow& operator[](size_t id) const
    {
        return m_blocks[id / BLOCK_ROWS][id % BLOCK_ROWS];
    }

    /// The identity of a new row.
    MessageId Append(const MessageRow& row);

    /// A packet of a message was sent once more.
    void CountRepeated(MessageId id);

    /**
     * All rows as columns; none is left here.
     *
     * @param rankOf Called with an instance and a member; gives the member's rank.
     */
    template <typename RANK_OF>
    MessageLog TakeColumns(const RANK_OF& rankOf)
    {
        MessageLog log;
        log.Reserve(m_size);
        for (size_t id = 0; id < m_size; ++id)
        {
            const MessageRow& row = (*this)[id];
            const auto instance = static_cast<uint32_t>(row.instance);
            log.Append(row.instance,
                       row.op,
                       rankOf(instance, row.src),
                       rankOf(instance, row.dst),
                       row.size);
            log.posted.back() = row.posted;
            log.sent.back() = row.sent;
            log.delivered.back() = row.delivered;
            log.acked.back() = row.acked;
            log.deliveredBytes.back() = row.deliveredBytes;
            if (id % BLOCK_ROWS == BLOCK_ROWS - 1)
            {
                GiveBack(m_blocks[id / BLOCK_ROWS]); // Before the next block becomes columns.
            }
        }
        for (size_t id = 0; id < m_repeatedPackets.size(); ++id)
        {
            log.repeatedPackets[id] = m_repeatedPackets[id];
        }
        *this = MessageRows();
        return log;
    }

  private:
    static constexpr size_t LARGE_PAGE_BYTES = size_t{1} << 21;
    static constexpr size_t BLOCK_ROWS = LARGE_PAGE_BYTES / sizeof(MessageRow);

    struct Free
    {
        void operator()(MessageRow* rows) const;
    };

    using Block = std::unique_ptr<MessageRow[], Free>;

    static Block MakeBlock(size_t rows);

    /// Free a whole block and its page.
    static void GiveBack(Block& block);

    std::vector<Block> m_blocks;
    std::vector<int64_t> m_repeatedPackets; ///< Up to the last message that had any.
    size_t m_firstRows{BLOCK_ROWS};         ///< Room in the first block.
    size_t m_size{0};
};

} // namespace ns3

#endif // ASTRA_MESSAGE_ROWS_H
