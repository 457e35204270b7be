// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FRAME_H
#define ASTRA_FRAME_H

#include "../congestion/telemetry.h"
#include "../core/units.h"

#include <array>
#include <cstdint>
#include <limits>

namespace ns3
{

/// What a frame is for.
enum class FrameKind : uint8_t
{
    DATA = 0,
    ACK = 1,
    NAK = 2,
    CNP = 3,     ///< Congestion notification of a receiver (DCQCN).
    PAUSE = 4,   ///< Priority-based flow control, for the node at the other end of one link.
    SEGMENT = 5, ///< A TCP segment; without payload an acknowledgement, or part of a handshake.
};

/// No channel: of a frame at the node that made it.
constexpr ChannelId NO_CHANNEL = std::numeric_limits<ChannelId>::max();

/// A PAUSE frame on the line: 64 bytes, preamble and gap (IEEE 802.3, annex 31D).
constexpr uint32_t PAUSE_LINE_BYTES = 84;

/// Number of priorities of a port; a larger one goes first.
constexpr uint8_t PRIORITIES = 8;
/// The queue of PAUSE frames: before all priorities, and never paused itself.
constexpr uint8_t CONTROL_QUEUE = PRIORITIES;
constexpr uint8_t QUEUES = PRIORITIES + 1;
/// Class of acknowledgements where they have one of their own: before all data.
constexpr uint8_t ACK_PRIORITY = PRIORITIES - 1;

/**
 * What few frames carry beside themselves: the time of sending, telemetry, a second sequence
 * number, a packet of ns-3's.
 */
struct FrameNotes
{
    FrameNotes* next{nullptr}; ///< Free in its slab.
    TimePs sentTime{NEVER_PS}; ///< When the data packet's first bit left its NIC.
    uint32_t receivedPsn{0};   ///< In a NAK under selective repeat: the packet that came instead.
    uint32_t packet{0};        ///< Of a segment: its packet, as its owner's handle.
    ByteCount streamEnd{0};    ///< Of a segment: the bytes of its stream up to its end.
    bool isTelemetryWanted{false};
    uint8_t hops{0};  ///< Stamps made.
    uint64_t path{0}; ///< The ports that made them, as one number.
    std::array<TelemetryHop, MAX_TELEMETRY_HOPS> telemetry;
};

/**
 * A packet inside the fabric: a plain value from a slab, never an ns3::Packet.
 *
 * It waits for or is on `channel`. A frame with a path carries its way with it: `path[hop]` is that
 * channel. One without is sent on node by node (spraying, least loaded).
 */
struct Frame
{
    Frame* next{nullptr};           ///< Behind it in its queue, or free in its slab.
    const ChannelId* path{nullptr}; ///< Its way, or none.
    FrameNotes* notes{nullptr};
    uint32_t flow{0}; ///< Queue pair, as an index of the transport; in a PAUSE the priority; of a
                      ///< segment the end of its connection that sent it.
    uint32_t psn{0};  ///< 24-bit packet sequence number; in an ACK or NAK the next one expected; in
                      ///< a PAUSE the quanta; of a segment its number among those of its sender.
    uint32_t lineBytes{0}; ///< All that occupies an Ethernet wire, gap and preamble included.
    uint32_t payloadBytes{0};
    RankId src{0};
    RankId dst{0};
    ChannelId channel{0};
    ChannelId ingress{NO_CHANNEL}; ///< By which it came to the node where it is.
    uint16_t hop{0};
    uint16_t hops{0}; ///< Of its path.
    FrameKind kind{FrameKind::DATA};
    uint8_t priority{0};             ///< At the port where it waits.
    uint8_t transitPriority{0};      ///< At the ports after its first.
    bool isLast : 1 {false};         ///< Last packet of its message.
    bool isAckRequested : 1 {false}; ///< The receiver acknowledges it whatever its policy (AckReq).
    bool isRepetition : 1 {false};   ///< Sent before: counts on the wire, not as new payload.
    bool isEcnCapable : 1 {false};
    bool isMarked : 1 {false};     ///< Congestion experienced; in an ACK: what it acknowledges was.
    bool isCharged : 1 {false};    ///< Takes room in the buffer of the node where it is.
    bool isInPipeline : 1 {false}; ///< Waits for a forwarding latency.
    bool isGone : 1 {false};       ///< Has been cut through: a copy of it is under way.

    /// Whether it counts as data, and not as what a transport says to itself.
    bool IsData() const
    {
        return kind == FrameKind::DATA || (kind == FrameKind::SEGMENT && payloadBytes > 0);
    }
};

/// A frame that waits in the fabric for its turn takes one cache line.
static_assert(sizeof(Frame) <= 64);

/// Where frames end: takes them over at their last channel's end.
class FrameSink
{
  public:
    /**
     * @param frame Its last byte has just arrived. The sink reads it and leaves it to the caller;
     * it may keep its notes, and then sets them to none.
     */
    virtual void ReceiveFrame(Frame& frame) = 0;

    /// A frame will come soon: bring what it will touch closer; nothing else may change.
    virtual void Foresee(const Frame& frame) const
    {
        static_cast<void>(frame);
    }

  protected:
    ~FrameSink() = default;
};

/// Whose the packets are that segments carry.
class SegmentOwner
{
  public:
    /**
     * @param frame A segment whose first bit leaves the node that made it.
     * @param end When its last bit does.
     */
    virtual void SegmentStarted(const Frame& frame, TimePs end) = 0;

    /// A segment has come to an end, wherever that is; its notes are the owner's for the last time.
    virtual void SegmentIsOver(FrameNotes& notes) = 0;

  protected:
    ~SegmentOwner() = default;
};

/// What decides how long a frame takes on a wire.
struct FrameSize
{
    uint32_t lineBytes{0};
    uint32_t payloadBytes{0};
};

/// Where a port gets frames that do not wait in its queues: the data of a NIC.
class FrameSource
{
  public:
    /// Bit p is set while a frame of priority p is ready.
    virtual uint32_t ReadyMask() const = 0;

    /**
     * Whether the next frame of a priority that is ready may be taken after the instant at which
     * the port starts it, though before its last bit leaves.
     *
     * @return Its size, or no bytes where it must be taken in time.
     */
    virtual FrameSize SizeIfLate(uint8_t priority) const = 0;

    /// The next frame of a priority that is ready; the port transmits it at once.
    virtual Frame* NextFrame(uint8_t priority) = 0;

    /// The frame just taken is the last of its message, and its last bit leaves at that time.
    virtual void LastFrameStarted(TimePs end) = 0;

  protected:
    ~FrameSource() = default;
};

} // namespace ns3

#endif // ASTRA_FRAME_H
