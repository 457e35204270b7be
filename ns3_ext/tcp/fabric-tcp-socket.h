// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_TCP_SOCKET_H
#define ASTRA_FABRIC_TCP_SOCKET_H

#include "../core/units.h"

#include "ns3/data-rate.h"
#include "ns3/tcp-socket-base.h"

#include <cstdint>

namespace ns3
{

class TcpTransport;
struct TcpEnd;

/**
 * ns-3's TCP, at an end of a connection of the fabric.
 *
 * It measures round trips by the clock, where ns-3's own takes timestamps, which count
 * milliseconds; it tells its transport how far its stream is; and it can be open without a
 * handshake. All else is TcpSocketBase's.
 */
class FabricTcpSocket : public TcpSocketBase
{
  public:
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;

    FabricTcpSocket();
    FabricTcpSocket(const FabricTcpSocket& other);
    ~FabricTcpSocket() override;

    /// What depends on the connection; once, before it is opened.
    struct Place
    {
        uint32_t sendBuffer;
        uint32_t receiveBuffer;
        BitRate rate; ///< Of the NIC's port: nobody paces faster.
    };

    /// A socket like this one, of which there is one at an end.
    Ptr<FabricTcpSocket> CopyFor(TcpTransport& transport, TcpEnd& end, Ptr<Node> node);

    void SetPlace(const Place& place);

    /// Give it its end; as a listener has none, what it accepts gets one here.
    void SetEnd(TcpTransport& transport, TcpEnd* end)
    {
        m_transport = &transport;
        m_end = end;
    }

    TcpEnd* End() const
    {
        return m_end;
    }

    /// Call the other end: a SYN leaves.
    void Call();

    /// As a handshake would leave it, without one and without a round trip measured.
    void OpenByHand(const FabricTcpSocket& peer);

    /// Where packets for it come in; null before it is bound.
    Ipv4EndPoint* GetEndPoint() const
    {
        return m_endPoint;
    }

    /// Bytes of the stream that are known to have arrived.
    ByteCount AckedBytes() const
    {
        return m_acked;
    }

    TcpStates_t State() const
    {
        return m_state;
    }

  protected:
    Ptr<TcpSocketBase> Fork() override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override;
    void ReTxTimeout() override;
    Time CalculateRttSample(const TcpHeader& header, const RttHistory& history) override;

  private:
    /// Bind it to its addresses and ports, which together are no other connection's.
    void BindToConnection();

    TcpTransport* m_transport{nullptr};
    TcpEnd* m_end{nullptr};
    SequenceNumber32 m_head{1}; ///< First byte that is not known to have arrived.
    ByteCount m_acked{0};
};

} // namespace ns3

#endif // ASTRA_FABRIC_TCP_SOCKET_H
