// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_SWITCH_H
#define ASTRA_FABRIC_SWITCH_H

#include "../core/units.h"
#include "priority-scheduler.h"
#include "shared-buffer.h"

#include "ns3/nstime.h"
#include "ns3/object.h"

#include <string>

namespace ns3
{

/// When a frame's queue is looked at for marking.
enum class EcnMarkAt : uint8_t
{
    ENQUEUE = 0,
    DEQUEUE = 1,
};

/**
 * A switch, aggregated to its Node: the parameters of its forwarding, buffer, flow control, marking
 * and scheduling. Fabric does the work.
 *
 * A frame may leave a forwarding latency after its last byte came in; its egress is one of the
 * shortest ways to its destination (RouteTable).
 */
class FabricSwitch : public Object
{
  public:
    static TypeId GetTypeId();

    FabricSwitch();
    ~FabricSwitch() override;

    TimePs ForwardingLatency() const
    {
        return m_forwardingLatency.GetTimeStep();
    }

    BufferFigures Buffer() const;

    /**
     * Bytes of a lossless queue for what arrives after its pause.
     *
     * @param rate Of the channel that ends here.
     * @param delay Of that channel.
     * @param largestFrame Line bytes of the largest frame.
     */
    ByteCount HeadroomOf(BitRate rate, TimePs delay, uint32_t largestFrame) const;

    /// Whether the room for pauses is what the calculators give, so that no lossless frame drops.
    bool HasCalculatedRoom() const
    {
        return m_headroom < 0 && m_reserve < 0;
    }

    /// Bytes that are each queue's own.
    ByteCount ReserveOf(uint32_t largestFrame) const;

    /// Time that so many quanta of 512 bits take at a rate.
    static TimePs QuantaTime(uint32_t quanta, BitRate rate);

    uint32_t PauseQuanta() const
    {
        return m_pauseQuanta;
    }

    uint32_t ResponseQuanta() const
    {
        return m_responseQuanta;
    }

    bool MarksEcn() const
    {
        return m_isEcnOn;
    }

    EcnMarkAt MarkAt() const
    {
        return m_markAt;
    }

    double EcnPmax() const
    {
        return m_ecnPmax;
    }

    /**
     * Both thresholds of a port.
     *
     * @throws ConfigError when the text is no threshold, or names no value for the rate.
     */
    std::pair<ByteCount, ByteCount> EcnThresholds(BitRate rate) const;

    PriorityScheduling Scheduling() const
    {
        return m_scheduling;
    }

    /// @throws ConfigError when the text is not seven whole numbers from 1 to 1,000,000.
    PriorityScheduler::Weights Weights() const;

    bool CutsThrough() const
    {
        return m_cutsThrough;
    }

    uint32_t CutThroughHeader() const
    {
        return m_cutThroughHeader;
    }

  private:
    Time m_forwardingLatency;
    int64_t m_buffer{AUTO_BUFFER};
    bool m_isPfcOn{true};
    uint32_t m_losslessMask{0};
    double m_pfcAlpha{0.0};
    int64_t m_reserve{-1};
    int64_t m_headroom{-1};
    uint64_t m_xonOffset{0};
    uint32_t m_pauseQuanta{0};
    uint32_t m_responseQuanta{0};
    double m_egressAlpha{0.0};
    bool m_isEcnOn{true};
    std::string m_ecnKmin;
    std::string m_ecnKmax;
    double m_ecnPmax{0.0};
    EcnMarkAt m_markAt{EcnMarkAt::ENQUEUE};
    PriorityScheduling m_scheduling{PriorityScheduling::STRICT};
    std::string m_weights;
    bool m_cutsThrough{false};
    uint32_t m_cutThroughHeader{0};
};

} // namespace ns3

#endif // ASTRA_FABRIC_SWITCH_H
