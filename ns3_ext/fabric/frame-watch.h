// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FRAME_WATCH_H
#define ASTRA_FRAME_WATCH_H

#include "frame.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/// A channel whose frames are written down, and when.
struct WatchedSpan
{
    ChannelId channel;
    TimePs from;
    TimePs until;
};

/// Frames that were on watched channels, as columns in order of their starts.
struct FrameColumns
{
    std::vector<int32_t> channel;
    std::vector<int32_t> ingress; ///< By which it came to the node that sends it; -1: made there.
    std::vector<uint8_t> kind;
    std::vector<uint8_t> priority; ///< That PFC pauses it by.
    std::vector<uint8_t> isRepetition;
    std::vector<int32_t> flow;
    std::vector<int32_t> psn;
    std::vector<int32_t> src;
    std::vector<int32_t> dst;
    std::vector<int64_t> message; ///< Of data at its first port; else -1.
    std::vector<int64_t> payloadBytes;
    std::vector<int64_t> lineBytes; ///< On this very wire.
    std::vector<int64_t> eligible;  ///< It came to the port; -1 for data that waited in its NIC.
    std::vector<int64_t> start;
    std::vector<int64_t> end;
};

/**
 * Writes down the frames of some channels, for whoever asks afterwards where the time went.
 *
 * It looks on through the ports' tracing and changes nothing.
 */
class FrameWatch
{
  public:
    /**
     * @param spans What to watch.
     * @param channels Of the platform.
     * @param limit Most frames that are written down.
     */
    FrameWatch(const std::vector<WatchedSpan>& spans, size_t channels, size_t limit);

    bool Watches(ChannelId channel) const
    {
        return !m_spans[channel].empty();
    }

    /// The data that a NIC hands out next is of this message.
    void SetMessage(uint32_t message)
    {
        m_message = message;
    }

    /// A frame has come to a watched port.
    void Enqueued(const Frame& frame, TimePs now)
    {
        m_waiting[&frame] = now;
    }

    /**
     * A frame's first bit leaves a watched port.
     *
     * @param channel The port's.
     * @param frame The frame.
     * @param lineBytes What it occupies on this wire.
     * @param start, end Of its transmission.
     */
    void Started(ChannelId channel,
                 const Frame& frame,
                 uint32_t lineBytes,
                 TimePs start,
                 TimePs end);

    /// Whether there were more frames than were written down.
    bool IsFull() const
    {
        return m_isFull;
    }

    FrameColumns TakeFrames()
    {
        return std::move(m_frames);
    }

  private:
    struct Span
    {
        TimePs from;
        TimePs until;
    };

    std::vector<std::vector<Span>> m_spans; ///< By channel, apart from each other and in order.
    std::vector<size_t> m_next;             ///< By channel: the first span that is not over.
    size_t m_limit;
    bool m_isFull{false};
    uint32_t m_message{0};
    std::unordered_map<const Frame*, TimePs> m_waiting; ///< Since when.
    FrameColumns m_frames;
};

} // namespace ns3

#endif // ASTRA_FRAME_WATCH_H
