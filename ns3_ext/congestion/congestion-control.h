// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CONGESTION_CONTROL_H
#define ASTRA_CONGESTION_CONTROL_H

#include "../core/units.h"
#include "telemetry.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * What a control is told of an acknowledgement. All bytes are payload.
 *
 * Where several queue pairs share a control, sums over them: bytes in flight, and packets
 * acknowledged in order and packets sent so far as ackedPsn and sentPsn.
 */
struct AckReport
{
    TimePs now{0};
    ByteCount newlyAcked{0};   ///< 0 where it acknowledges nothing new.
    ByteCount inFlight{0};     ///< Sent and not acknowledged, after it.
    uint64_t ackedPsn{0};      ///< One past the last packet acknowledged in order.
    uint64_t sentPsn{0};       ///< One past the last packet sent so far.
    uint32_t packets{0};       ///< Packets that it covers.
    uint32_t markedPackets{0}; ///< Of these, those that came with an ECN mark.
    TimePs roundTrip{
        NEVER_PS}; ///< Since the newest packet it covers was sent; NEVER_PS if unknown.
    std::span<const TelemetryHop>
        telemetry{};  ///< Of that packet, sender first; empty if not asked.
    uint64_t path{0}; ///< Of that packet; the same number where it took the same ports.
};

/// What a control knows of a flow before its first packet.
struct FlowFigures
{
    BitRate lineRate{0};         ///< Of the NIC's port.
    TimePs baseRoundTrip{0};     ///< Of a full packet and its ACK over empty links.
    uint16_t hops{0};            ///< Links from NIC to NIC.
    uint32_t payload{0};         ///< Largest of a packet.
    uint32_t packetLineBytes{0}; ///< Of a full packet.
};

/**
 * The control of one flow: what its sender may do next, from what came back.
 *
 * It schedules nothing: the NIC asks NextTimer after each call, and before it tells or asks
 * anything else it has called OnTimer for all such times that have come. So nobody has to be woken
 * by a timer: it may change the rate, and never the window. What the control answers changes by
 * calls only.
 */
class FlowControl
{
  public:
    virtual ~FlowControl() = default;

    /// An acknowledgement came.
    virtual void OnAck(const AckReport& /* report */)
    {
    }

    /// A congestion notification came.
    virtual void OnCnp(TimePs /* now */)
    {
    }

    /// A packet starts on the wire: its line bytes.
    virtual void OnSent(TimePs /* now */, uint32_t /* lineBytes */)
    {
    }

    /// Packets are to be sent again, once for each gap that the receiver tells of.
    virtual void OnLoss(TimePs /* now */)
    {
    }

    /// Packets are to be sent again because nothing was heard of them.
    virtual void OnTimeout(TimePs now)
    {
        OnLoss(now);
    }

    /// The time of NextTimer has come.
    virtual void OnTimer(TimePs /* now */)
    {
    }

    /// When OnTimer wants to be called, or NEVER_PS.
    virtual TimePs NextTimer() const
    {
        return NEVER_PS;
    }

    /// Rate at which line bytes may leave; the line rate where nothing limits it.
    virtual BitRate Rate() const = 0;

    /// A packet may start while less payload than this is in flight; 0 for no limit of its own.
    virtual ByteCount Window() const
    {
        return 0;
    }

    /// Whether it ever held the flow back.
    virtual bool HasActed() const = 0;

    /// Its inner state by name, for tests and probes: alpha, target_rate, stage and the like.
    virtual std::vector<std::pair<std::string, double>> Inspect() const = 0;
};

/**
 * A congestion-control algorithm: its parameters as attributes, and a maker of flows' controls.
 */
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();

    CongestionControl();
    ~CongestionControl() override;

    /// Control of a new flow; the algorithm outlives it.
    virtual std::unique_ptr<FlowControl> NewFlow(const FlowFigures& figures) const = 0;

    /// Whether receivers answer marks with CNPs (DCQCN).
    virtual bool UsesCnp() const
    {
        return false;
    }

    /// Shortest time between two CNPs of a flow; 0 where every mark is answered.
    virtual TimePs CnpInterval() const
    {
        return 0;
    }

    /// From the arrival of a marked packet to its CNP at the receiver's port.
    virtual TimePs CnpDelay() const
    {
        return 0;
    }

    /// Whether data packets are ECN capable.
    virtual bool UsesEcn() const
    {
        return false;
    }

    /**
     * Whether a flow's control does nothing, and gives the line rate and no window, until its first
     * notification: then it is made no earlier, and not told of ACKs and losses at all.
     */
    virtual bool ActsOnCnpOnly() const
    {
        return false;
    }

    /// Whether ACKs must tell the round trip of a packet.
    virtual bool UsesRoundTrip() const
    {
        return false;
    }

    /// Whether data packets carry telemetry, and how many bytes of it a packet has on the wire.
    virtual uint32_t TelemetryBytes() const
    {
        return 0;
    }
};

/**
 * Make a congestion control.
 *
 * @param typeName Its TypeId, such as "ns3::Dcqcn".
 * @param attributes Values that are not to be the defaults, as ns-3 reads them from text; it ends
 *        the process at one that it cannot read at all.
 * @return The control.
 * @throws ConfigError when there is no such control, attribute or value.
 */
Ptr<CongestionControl> MakeCongestionControl(const std::string& typeName,
                                             const std::map<std::string, std::string>& attributes);

} // namespace ns3

#endif // ASTRA_CONGESTION_CONTROL_H
