// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CONGESTION_CONTROL_H
#define ASTRA_CONGESTION_CONTROL_H

#include "../core/units.h"
#include "telemetry.h"

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/// What a control is told of an acknowledgement. All bytes are payload.
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
        telemetry{}; ///< Of that packet, sender first; empty if not asked.
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
 * It schedules nothing: the NIC asks NextTimer after each call and calls OnTimer when that time has
 * come. A flow that was never slowed asks for no timer.
 */
class FlowControl
{
  public:
    virtual ~FlowControl() = default;

    /// An acknowledgement came.
    virtual void OnAck(const AckReport& report) = 0;

    /// A congestion notification came.
    virtual void OnCnp(TimePs now) = 0;

    /// A packet starts on the wire: its line bytes.
    virtual void OnSent(TimePs now, uint32_t lineBytes) = 0;

    /// Packets are to be sent again.
    virtual void OnLoss(TimePs now) = 0;

    /// The time of NextTimer has come.
    virtual void OnTimer(TimePs now) = 0;

    /// When OnTimer wants to be called, or NEVER_PS.
    virtual TimePs NextTimer() const = 0;

    /// Rate at which line bytes may leave; the line rate where nothing limits it.
    virtual BitRate Rate() const = 0;

    /// Most payload in flight, or 0 for no limit of its own.
    virtual ByteCount Window() const = 0;

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

    /// Whether data packets are ECN capable.
    virtual bool UsesEcn() const
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

} // namespace ns3

#endif // ASTRA_CONGESTION_CONTROL_H
