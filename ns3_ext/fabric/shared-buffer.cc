// SPDX-License-Identifier: GPL-2.0-only
#include "shared-buffer.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ns3
{

namespace
{

/// floor(alpha x free), kept within 64 bits for any alpha.
ByteCount
Share(double alpha, ByteCount free)
{
    constexpr double most = 9e18;
    return static_cast<ByteCount>(std::min(std::floor(alpha * static_cast<double>(free)), most));
}

} // namespace

SharedBuffer::SharedBuffer(const BufferFigures& figures, uint32_t prioritiesInUse)
    : m_figures(figures),
      m_prioritiesInUse(prioritiesInUse),
      m_size(figures.size == AUTO_BUFFER ? AUTO_SHARED : figures.size),
      m_sharedSize(m_size)
{
}

uint32_t
SharedBuffer::AddIngress(ByteCount reserve, ByteCount headroom)
{
    const auto index = static_cast<uint32_t>(m_reserve.size());
    m_reserve.push_back(reserve);
    m_headroom.push_back(headroom);
    m_queues.resize(m_queues.size() + PRIORITIES);
    const uint32_t lossless = m_figures.isPfcOn ? m_figures.losslessMask & m_prioritiesInUse : 0;
    const ByteCount apart =
        std::popcount(m_prioritiesInUse) * reserve + std::popcount(lossless) * headroom;
    if (m_figures.size == AUTO_BUFFER)
    {
        m_size += apart;
    }
    else
    {
        m_sharedSize -= apart;
    }
    return index;
}

ByteCount
SharedBuffer::Threshold() const
{
    return Share(m_figures.pfcAlpha, Free());
}

bool
SharedBuffer::SurelyFits(uint32_t ingress,
                         uint8_t priority,
                         ByteCount bytes,
                         ByteCount egressBytes) const
{
    const Queue& queue = m_queues[ingress * PRIORITIES + priority];
    const ByteCount free = Free();
    if (queue.isPaused || bytes > free || m_held + bytes > m_maxHeld)
    {
        return false;
    }
    return IsLossless(priority) ? queue.Held() + bytes <= Share(m_figures.pfcAlpha, free - bytes)
                                : egressBytes + bytes <= Share(m_figures.egressAlpha, free);
}

SharedBuffer::Verdict
SharedBuffer::Charge(uint32_t ingress, uint8_t priority, ByteCount bytes, ByteCount egressBytes)
{
    Queue& queue = At(ingress, priority);
    const ByteCount free = Free();
    const bool isLossless = IsLossless(priority);
    const bool hasReserve = queue.reserved + bytes <= m_reserve[ingress];
    const bool hasHeadroom = isLossless && queue.headroom + bytes <= m_headroom[ingress];
    // Above its egress limit a lossy frame has the reserve alone, which is its queue's own.
    const bool isOver = !isLossless && egressBytes + bytes > Share(m_figures.egressAlpha, free);
    bool isShared = false;
    if (queue.isPaused && hasHeadroom)
    {
        queue.headroom += bytes;
    }
    else if (!queue.isPaused && !isOver && bytes <= free)
    {
        queue.shared += bytes;
        m_sharedHeld += bytes;
        isShared = true;
    }
    else if (hasReserve)
    {
        queue.reserved += bytes;
    }
    else if (hasHeadroom)
    {
        queue.headroom += bytes;
    }
    else
    {
        const bool mustPause = isLossless && !queue.isPaused && queue.Held() > 0;
        return mustPause ? Verdict::DROPPED_PAUSES : Verdict::DROPPED;
    }
    m_held += bytes;
    m_maxHeld = std::max(m_maxHeld, m_held);
    const bool mustPause =
        isLossless && !queue.isPaused && (!isShared || queue.Held() > Threshold());
    return mustPause ? Verdict::PAUSES : Verdict::ADMITTED;
}

bool
SharedBuffer::Release(uint32_t ingress, uint8_t priority, ByteCount bytes)
{
    Queue& queue = At(ingress, priority);
    m_held -= bytes;
    const ByteCount fromHeadroom = std::min(queue.headroom, bytes);
    queue.headroom -= fromHeadroom;
    bytes -= fromHeadroom;
    const ByteCount fromReserve = std::min(queue.reserved, bytes);
    queue.reserved -= fromReserve;
    bytes -= fromReserve;
    queue.shared -= bytes;
    m_sharedHeld -= bytes;
    return queue.isPaused && queue.headroom == 0 && queue.reserved == 0 &&
           queue.shared <= std::max<ByteCount>(0, Threshold() - m_figures.xonOffset);
}

} // namespace ns3
