// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FRAME_H
#define ASTRA_FRAME_H

#include "../core/units.h"

#include <cstdint>

namespace ns3
{

/// What a frame is for.
enum class FrameKind : uint8_t
{
    DATA = 0,
    ACK = 1,
    NAK = 2,
};

/// Number of priorities of a port; a larger one goes first.
constexpr uint8_t PRIORITIES = 8;
/// Class of acknowledgements where they have one of their own: before all data.
constexpr uint8_t ACK_PRIORITY = PRIORITIES - 1;

/**
 * A packet inside the fabric: a plain value from a slab, never an ns3::Packet.
 *
 * It carries its way with it: `path[hop]` is the channel it waits for or is on.
 */
struct Frame
{
    Frame* next{nullptr}; ///< Behind it in its queue, or free in its slab.
    const ChannelId* path{nullptr};
    uint32_t flow{0}; ///< Queue pair, as an index of the transport.
    uint32_t psn{0};  ///< 24-bit packet sequence number; in an ACK or NAK the next one expected.
    uint32_t lineBytes{0}; ///< All that occupies an Ethernet wire, gap and preamble included.
    uint32_t payloadBytes{0};
    RankId src{0};
    RankId dst{0};
    uint16_t hop{0};
    uint16_t hops{0};
    FrameKind kind{FrameKind::DATA};
    uint8_t priority{0};        ///< At the port where it waits.
    uint8_t transitPriority{0}; ///< At the ports after its first.
    bool isLast{false};         ///< Last packet of its message.
    bool isAckRequested{
        false};               ///< The receiver acknowledges it whatever its policy (BTH's AckReq).
    bool isRepetition{false}; ///< Sent before: counts on the wire, not as new payload.
};

/// A frame that waits in the fabric for its turn takes one cache line.
static_assert(sizeof(Frame) <= 64);

/// Where frames end: takes them over at their last channel's end.
class FrameSink
{
  public:
    /**
     * @param frame Its last byte has just arrived; the sink reads it and leaves it to the caller.
     */
    virtual void ReceiveFrame(const Frame& frame) = 0;

  protected:
    ~FrameSink() = default;
};

/// Where a port gets frames that do not wait in its queues: the data of a NIC.
class FrameSource
{
  public:
    /// Highest priority with a frame ready, or -1.
    virtual int ReadyPriority() const = 0;

    /// The next frame of the ready priority; the port transmits it at once.
    virtual Frame* NextFrame() = 0;

    /// The frame just taken is the last of its message, and its last bit leaves at that time.
    virtual void LastFrameStarted(TimePs end) = 0;

  protected:
    ~FrameSource() = default;
};

} // namespace ns3

#endif // ASTRA_FRAME_H
