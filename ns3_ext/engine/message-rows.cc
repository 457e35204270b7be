// SPDX-License-Identifier: GPL-2.0-only
#include "message-rows.h"

#include "../core/errors.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace ns3
{

MessageRows::MessageRows(size_t messages)
    : m_firstRows(std::clamp<size_t>(messages, 1, BLOCK_ROWS))
{
}

void
MessageRows::Free::operator()(MessageRow* rows) const
{
    std::free(rows);
}

MessageRows::Block
MessageRows::MakeBlock(size_t rows)
{
    const bool isWhole = rows == BLOCK_ROWS;
    const size_t alignment = isWhole ? LARGE_PAGE_BYTES : alignof(MessageRow);
    void* memory = std::aligned_alloc(alignment, rows * sizeof(MessageRow));
    if (memory == nullptr)
    {
        throw std::bad_alloc();
    }
#ifdef __linux__
    if (isWhole)
    {
        // A wish: without large pages all is as right, and slower.
        madvise(memory, LARGE_PAGE_BYTES, MADV_HUGEPAGE);
    }
#endif
    return Block(static_cast<MessageRow*>(memory));
}

void
MessageRows::GiveBack(Block& block)
{
#ifdef __linux__
    // An allocator may keep what is freed in the middle of its heap.
    madvise(block.get(), LARGE_PAGE_BYTES, MADV_DONTNEED);
#endif
    block.reset();
}

MessageId
MessageRows::Append(const MessageRow& row)
{
    if (m_size == m_firstRows && m_firstRows < BLOCK_ROWS)
    {
        throw InvariantError("there are more messages than the " + std::to_string(m_firstRows) +
                             " of the schedule");
    }
    if (m_size == m_blocks.size() * BLOCK_ROWS)
    {
        m_blocks.push_back(MakeBlock(m_blocks.empty() ? m_firstRows : BLOCK_ROWS));
    }
    new (&(*this)[m_size]) MessageRow(row);
    return static_cast<MessageId>(m_size++);
}

void
MessageRows::CountRepeated(MessageId id)
{
    if (m_repeatedPackets.size() <= id)
    {
        m_repeatedPackets.resize(id + size_t{1}, 0);
    }
    ++m_repeatedPackets[id];
}

} // namespace ns3
