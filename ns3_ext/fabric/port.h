// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PORT_H
#define ASTRA_PORT_H

#include "../core/ring-queue.h"
#include "ecn-marker.h"
#include "frame.h"
#include "line-bytes.h"
#include "priority-scheduler.h"
#include "shared-buffer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

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

    /// Take out the first frame whose class on the wire is not in the mask; there is one.
    Frame* PopOutside(uint32_t classes)
    {
        Frame* before = nullptr;
        Frame* frame = m_head;
        while ((classes >> frame->transitPriority & 1) != 0)
        {
            before = frame;
            frame = frame->next;
        }
        if (before == nullptr)
        {
            return Pop();
        }
        before->next = frame->next;
        if (m_tail == frame)
        {
            m_tail = before;
        }
        return frame;
    }

    const Frame* Head() const
    {
        return m_head;
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
    int64_t droppedFrames{0};           ///< Lost on the link.
    int64_t bufferDrops{0};             ///< Refused by the buffer at the far end.
    int64_t markedFrames{0};            ///< Marked at the egress port.
    int64_t pfcFrames{0};               ///< Of its frames, those that pause or resume.
    int64_t pauses{0};                  ///< Times that the far end made a priority pause.
    TimePs busy{0};
    TimePs paused{0};           ///< Sum over priorities, of pauses that are over.
    ByteCount maxQueueBytes{0}; ///< Of a port, since a sampler looked: see Port::MaxQueueBytes.
};

/// A frame, and when it gets where it is going.
struct TimedFrame
{
    Frame* frame;
    TimePs time;
};

/// What a frame takes on a port's wire; kept, since most are as large as the one before.
struct WireTime
{
    uint32_t lineBytes{UINT32_MAX};
    TimePs time{0};
};

/// Room in the buffer that goes back once a frame's last bit has left.
struct PendingRelease
{
    ChannelId ingress{NO_CHANNEL}; ///< By which the frame came; NO_CHANNEL where there is none.
    uint32_t bytes{0};
    uint8_t priority{0};
};

/// One priority of a port, as PFC sees it.
struct PriorityPause
{
    TimePs start{0};
    TimePs until{0};
    bool isActive{false};
    bool isTimerPending{false};
};

/// What only some ports have.
struct PortExtras
{
    std::array<PriorityPause, PRIORITIES> pause{};
    std::optional<PriorityScheduler> scheduler;
    EcnMarker marker;
    ByteCount maxQueueBefore{0}; ///< Until a sampler last looked at the port.
    ByteCount queueAtSample{0};  ///< Frame bytes that were there when it looked.
};

/**
 * An egress port and the channel behind it: a queue for each priority, and a wire.
 *
 * Plain state that Fabric works on; FabricDevice shows it to ns-3. It lags behind the clock: what
 * frames do at a port is known before it has to be looked at, so that it is worked off when that is
 * needed (Fabric::Advance), and only the head of what flies is an event.
 */
struct Port
{
    // Touched for every frame.
    TimePs busyUntil{0};
    TimePs pickTime{0};            ///< When the next frame is chosen, if that is pending.
    TimePs latestPick{NEVER_PS};   ///< Until when that may be made up for; not known: NEVER_PS.
    TimePs wakeTime{MAX_TIME_PS};  ///< Of the event at the far end that counts; none: the maximum.
    TimePs pickEvent{MAX_TIME_PS}; ///< Of the last event for a choice; none: the maximum.
    RingQueue<TimedFrame> coming;  ///< Passed on to it: in its queues at their times.
    RingQueue<TimedFrame> flying;  ///< Sent: their last bytes at the far end at their times.
    TimePs delay{0};
    TimePs peerLatency{0}; ///< Forwarding latency of the node at the far end.
    BitRate rate{0};
    int64_t efficiencyPpm{0};         ///< Of a scale-up link; 0 for Ethernet.
    std::array<WireTime, 2> wireTime; ///< Of the last data frame, and of the last other frame.
    bool isLastData{false};           ///< Which of these the last frame was.
    FrameSource* source{nullptr};
    SharedBuffer* ownBuffer{nullptr};  ///< Of the node where it sends from; none is unlimited.
    SharedBuffer* peerBuffer{nullptr}; ///< Takes what arrives at the far end; none is unlimited.
    uint32_t peerIngress{0};           ///< This channel's index there.
    uint32_t waiting{0};               ///< Bit p is set while queue p holds frames.
    uint32_t paused{0};                ///< Bit p is set while queue p may send nothing.
    uint32_t pausedClasses{0};         ///< Bit p is set while PFC pauses priority p on the wire.
    uint32_t sendingBytes{0};          ///< Frame bytes of what is on the wire until busyUntil.
    uint8_t sendingQueue{0};
    bool isPickPending{false};
    bool isTraced{false};
    bool marksAtEnqueue{false};
    bool marksAtDequeue{false};
    bool isUnsettled{false};    ///< Listed by its buffer: it has frames, or a release to settle.
    bool isTimely{false};       ///< What it does is an event each, in time: somebody looks.
    uint32_t peerCutThrough{0}; ///< Bytes after which the far end may forward; 0: all of them.
    PendingRelease release;
    ByteCount waitingBytes{0}; ///< Frame bytes of all queues but that of PAUSE frames.
    std::array<ByteCount, QUEUES> queueBytes{};
    uint64_t lossThreshold{0}; ///< A frame is lost when its draw is below; 0 on a lossless link.
    ChannelCounters counters;
    std::array<FrameFifo, QUEUES> queue;
    NodeIndex node{0}; ///< Where it sends from.
    NodeIndex peer{0}; ///< The far end.
    FabricDevice* device{nullptr};
    std::unique_ptr<PortExtras> extras;

    /// What a frame occupies on this port's wire.
    uint32_t LineBytes(const Frame& frame) const
    {
        return LineBytes(FrameSize{frame.lineBytes, frame.payloadBytes});
    }

    /// What a frame of a size occupies on this port's wire.
    uint32_t LineBytes(const FrameSize& size) const
    {
        return efficiencyPpm == 0 ? size.lineBytes
                                  : ScaleUpLineBytes(size.payloadBytes, efficiencyPpm);
    }

    /// What the last frame took; there was one.
    const WireTime& LastOnWire() const
    {
        return wireTime[isLastData ? 0 : 1];
    }

    /// Bit p is set while a frame of queue p, or of the source's priority p, may be sent.
    uint32_t EligibleMask() const
    {
        return (waiting | (source == nullptr ? 0 : source->ReadyMask())) & ~paused;
    }

    /// Whether the far end's forwarding latency is an event of its own, after the last byte's.
    bool IsLatencyApart() const
    {
        return peerLatency > 0 && (peerBuffer != nullptr || peerCutThrough != 0);
    }

    /// Most frame bytes that waited or were being sent so far.
    ByteCount MaxQueueBytes() const
    {
        return std::max(counters.maxQueueBytes, extras ? extras->maxQueueBefore : 0);
    }

    /// The same since the last call; counts anew.
    ByteCount TakeMaxQueue(TimePs now)
    {
        const ByteCount most = std::max(counters.maxQueueBytes, extras->queueAtSample);
        extras->maxQueueBefore = MaxQueueBytes();
        counters.maxQueueBytes = 0;
        // What is sent without having waited, from a NIC or cut through, was in no queue.
        const ByteCount depth = waitingBytes + (busyUntil > now ? sendingBytes : 0);
        extras->queueAtSample = std::min(depth, extras->maxQueueBefore);
        return most;
    }

    /// Line bytes that have left, of the frame on the wire those that have until now.
    ByteCount SentLineBytes(TimePs now) const
    {
        const TimePs left = busyUntil - now;
        if (left <= 0)
        {
            return counters.lineBytes;
        }
        const auto unsent =
            static_cast<UInt128>(LastOnWire().lineBytes) * static_cast<uint64_t>(left);
        const auto time = static_cast<uint64_t>(LastOnWire().time);
        return counters.lineBytes - static_cast<ByteCount>((unsent + time - 1) / time);
    }

    /// Whether what it does must be done in time: somebody looks, or a release may end a pause.
    bool IsTimely() const
    {
        return isTimely || (ownBuffer != nullptr && ownBuffer->IsWatched());
    }

    /// Frame bytes of a queue that wait or are being sent.
    ByteCount Depth(uint8_t priority, TimePs now) const
    {
        const bool isSending = busyUntil > now && sendingQueue == priority;
        return queueBytes[priority] + (isSending ? sendingBytes : 0);
    }
};

} // namespace ns3

#endif // ASTRA_PORT_H
