// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_TCP_DEVICE_H
#define ASTRA_FABRIC_TCP_DEVICE_H

#include "../core/units.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"

namespace ns3
{

class TcpSegments;

/**
 * What IPv4 has for a device at a rank: all NIC ports of its node.
 *
 * IPv4 packets go down to TcpSegments, which knows the port and the way of their connection, and
 * come up from it. There is no ARP: the fabric is asked for ranks, not for hardware addresses.
 */
class FabricTcpDevice : public NetDevice
{
  public:
    static TypeId GetTypeId();

    FabricTcpDevice();
    ~FabricTcpDevice() override;

    void Attach(TcpSegments& segments, RankId rank);

    /// An IPv4 packet has come, from the device at that address.
    void ComeUp(const Ptr<Packet>& packet, const Address& from);

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
    Address GetMulticast(Ipv6Address address) const override;
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
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  private:
    void DoDispose() override;

    TcpSegments* m_segments{nullptr};
    Ptr<Node> m_node;
    ReceiveCallback m_receive;
    Mac48Address m_address;
    RankId m_rank{0};
    uint32_t m_ifIndex{0};
    uint16_t m_mtu;
};

} // namespace ns3

#endif // ASTRA_FABRIC_TCP_DEVICE_H
