// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PORT_H
#define ASTRA_PORT_H

#include "frame.h"
#include "line-bytes.h"

#include <array>
#include <cstdint>

namespace ns3
{

class FabricDevice;

/// First in, first out, through the frames' own links.
class FrameFifo
{
  public:
    bool IsEmpty() const
    {
        return m_head == nullptr;
    }

    void Push(Frame* frame)
    {
        frame->next = nullptr;
        if (m_head == nullptr)
        {
            m_head = frame;
        }
        else
        {
            m_tail->next = frame;
        }
        m_tail = frame;
    }

    Frame* Pop()
    {
        Frame* frame = m_head;
        m_head = frame->next;
        return frame;
    }

  private:
    Frame* m_head{nullptr};
    Frame* m_tail{nullptr};
};

/// What a channel has carried so far.
struct ChannelCounters
{
    ByteCount lineBytes{0};
    int64_t frames{0};
    int64_t dataFrames{0};
    ByteCount payloadBytes{0};          ///< Of data frames, repetitions included.
    ByteCount deliveredPayloadBytes{0}; ///< Of data frames whose last byte arrived at the far end.
    int64_t droppedFrames{0};
    TimePs busy{0};
    ByteCount maxQueueBytes{0};
};

/**
 * An egress port and the channel behind it: one queue a priority, strict, and a wire.
 *
 * Plain state that Fabric works on; FabricDevice shows it to ns-3.
 */
struct Port
{
    // Touched for every frame.
    TimePs busyUntil{0};
    TimePs delay{0};
    TimePs peerLatency{0}; ///< Forwarding latency of the node at the far end.
    BitRate rate{0};
    int64_t efficiencyPpm{0};  ///< Of a scale-up link; 0 for Ethernet.
    uint32_t lastLineBytes{0}; ///< Serialisation of the last size, since most frames are alike.
    TimePs lastSerialization{0};
    FrameSource* source{nullptr};
    ByteCount waitingBytes{0};
    uint32_t sendingBytes{0};  ///< Of the frame that is on the wire until busyUntil.
    uint64_t lossThreshold{0}; ///< A frame is lost when its draw is below; 0 on a lossless link.
    uint32_t waiting{0};       ///< Bit p is set while queue p holds frames.
    uint32_t paused{0};        ///< Bit p is set while priority p is paused.
    bool isPickPending{false};
    bool isTraced{false};
    ChannelCounters counters;
    std::array<FrameFifo, QUEUES> queue;
    FabricDevice* device{nullptr};

    /// What a frame occupies on this port's wire.
    uint32_t LineBytes(const Frame& frame) const
    {
        return efficiencyPpm == 0 ? frame.lineBytes
                                  : ScaleUpLineBytes(frame.payloadBytes, efficiencyPpm);
    }

    /// Bit p is set while a frame of queue p, or of the source's priority p, may be sent.
    uint32_t EligibleMask() const
    {
        return (waiting | (source == nullptr ? 0 : source->ReadyMask())) & ~paused;
    }
};

} // namespace ns3

#endif // ASTRA_PORT_H
