// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_DEVICE_H
#define ASTRA_FABRIC_DEVICE_H

#include "frame.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

namespace ns3
{

class Fabric;

/**
 * A port of the fabric as ns-3 sees it: a NetDevice on its Node, with its figures as attributes
 * and its frames as trace sources.
 *
 * It shows a Port and owns no state of it. It carries the fabric's own frames only and refuses
 * ns3::Packets.
 */
class FabricDevice : public NetDevice
{
  public:
    static TypeId GetTypeId();

    FabricDevice();
    ~FabricDevice() override;

    /// Signature of the trace sources.
    typedef void (*FrameTracedCallback)(const Frame& frame);
    /// Signature of the trace source of plain numbers, which needs no header of the fabric.
    typedef void (*NumbersTracedCallback)(uint32_t kind,
                                          uint32_t src,
                                          uint32_t dst,
                                          uint32_t psn,
                                          uint32_t payloadBytes);
    /// Signature of the trace sources that tell of a priority.
    typedef void (*PriorityTracedCallback)(uint32_t priority);

    /**
     * @param fabric Owner of the port.
     * @param port Egress port, and the channel behind it.
     * @param loss Probability of losing a frame on that channel.
     */
    void Attach(Ptr<Fabric> fabric, ChannelId port, double loss);

    /// Whether anybody listens to a trace source.
    bool IsTraced() const;

    void NotifyEnqueue(const Frame& frame)
    {
        m_enqueueTrace(frame);
    }

    void NotifyTransmit(const Frame& frame)
    {
        m_txBeginTrace(frame);
        m_frameSentTrace(static_cast<uint32_t>(frame.kind),
                         frame.src,
                         frame.dst,
                         frame.psn,
                         frame.payloadBytes);
    }

    void NotifyArrival(const Frame& frame)
    {
        m_rxEndTrace(frame);
    }

    void NotifyMark(const Frame& frame)
    {
        m_markTrace(frame);
    }

    void NotifyBufferDrop(const Frame& frame)
    {
        m_bufferDropTrace(frame);
    }

    void NotifyPause(uint32_t priority)
    {
        m_pauseTrace(priority);
    }

    void NotifyResume(uint32_t priority)
    {
        m_resumeTrace(priority);
    }

    void NotifyDrop(const Frame& frame)
    {
        m_dropTrace(frame);
    }

    // NetDevice
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  private:
    void DoDispose() override;
    uint64_t GetDataRate() const;
    Time GetDelay() const;
    double GetLossProbability() const;

    Ptr<Fabric> m_fabric;
    Ptr<Node> m_node;
    Mac48Address m_address;
    double m_loss{0.0};
    ChannelId m_port{0};
    uint32_t m_ifIndex{0};
    uint16_t m_mtu;
    TracedCallback<const Frame&> m_enqueueTrace;
    TracedCallback<const Frame&> m_txBeginTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t> m_frameSentTrace;
    TracedCallback<const Frame&> m_rxEndTrace;
    TracedCallback<const Frame&> m_dropTrace;
    TracedCallback<const Frame&> m_markTrace;
    TracedCallback<const Frame&> m_bufferDropTrace;
    TracedCallback<uint32_t> m_pauseTrace;
    TracedCallback<uint32_t> m_resumeTrace;
};

} // namespace ns3

#endif // ASTRA_FABRIC_DEVICE_H
