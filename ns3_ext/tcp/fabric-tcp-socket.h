// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FABRIC_TCP_SOCKET_H
#define ASTRA_FABRIC_TCP_SOCKET_H

#include "../core/units.h"

#include "ns3/tcp-socket-base.h"

#include <cstdint>
#include <memory>

namespace ns3
{

class FabricTcpSocket;
struct TcpEnd;

/// What keeps a stream's next byte from leaving its socket.
enum class TcpHold : uint8_t
{
    NOTHING, ///< Or the application, or a port that is busy.
    CONGESTION_WINDOW,
    RECEIVE_WINDOW,
    SEND_BUFFER,
};

/// Who is told what sockets do.
class TcpSocketOwner
{
  public:
    /// A listener has taken the call that is now coming up.
    virtual void Accepted(const Ptr<FabricTcpSocket>& socket) = 0;
    /// All bytes of a stream up to here are known to have arrived.
    virtual void Acked(TcpEnd& end, ByteCount bytes) = 0;
    /// A retransmission timer ran out.
    virtual void TimedOut(TcpEnd& end) = 0;
    /// A receiver acknowledges as its delayed-ACK timer ran out, and not for what has come.
    virtual void AckedLate(TcpEnd& end) = 0;
    /// It has sent something, or was told something: what holds it may be another thing now.
    virtual void Moved(TcpEnd& end) = 0;

  protected:
    ~TcpSocketOwner() = default;
};

/**
 * ns-3's TCP, at an end of a connection of the fabric.
 *
 * It measures round trips by the clock, where ns-3's own takes timestamps, which count
 * milliseconds; it tells its owner how far its stream is; it tells the other end of its window when
 * its application has read late; it can be open without a handshake; and where ns-3's would wait
 * for ever, or end the process, it does what Linux does. All else is TcpSocketBase's.
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
        TimePs
            roundTrip; ///< Of a segment and its acknowledgement, where nothing else is under way.
    };

    /**
     * A socket like this one.
     *
     * @param owner Told what it does; it must outlive the run.
     * @param end Where it is; none of a listener.
     * @param node The node of its rank.
     */
    Ptr<FabricTcpSocket> CopyFor(TcpSocketOwner& owner, TcpEnd* end, Ptr<Node> node) const;

    void SetPlace(const Place& place);

    /// What a listener has accepted gets its end here.
    void SetEnd(TcpEnd& end)
    {
        m_end = &end;
    }

    TcpEnd* End() const
    {
        return m_end;
    }

    /// Call the other end: a SYN leaves.
    void Call();

    /// As a handshake would leave it, without one; its round trip is the unloaded one.
    void OpenByHand(const FabricTcpSocket& peer);

    /// Where packets for it come in; null before it is bound.
    Ipv4EndPoint* GetEndPoint() const
    {
        return m_endPoint;
    }

    /**
     * What holds the bytes that it has and has not sent.
     *
     * @param bytes How many these are.
     */
    TcpHold HoldOf(ByteCount bytes) const;

    /// Bytes that have come and wait to be read.
    uint32_t Readable() const;

    /// Tell the other end of the window, if what was told it has been much too little for a while.
    void TellWindow();

    /// Bytes that may be in flight by its congestion control.
    uint32_t CongestionWindow() const;

    /// Round trip as it is estimated now; 0 before one was measured.
    TimePs SmoothedRoundTrip() const;

    int Send(Ptr<Packet> packet, uint32_t flags) override;

  protected:
    Ptr<TcpSocketBase> Fork() override;
    void DoForwardUp(Ptr<Packet> packet, const Address& from, const Address& to) override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override;
    void ReceivedData(Ptr<Packet> packet, const TcpHeader& header) override;
    uint32_t SendDataPacket(SequenceNumber32 sequence, uint32_t maxSize, bool withAck) override;
    void SendEmptyPacket(uint8_t flags) override;
    void ReTxTimeout() override;
    void PersistTimeout() override;
    void DelAckTimeout() override;
    Time CalculateRttSample(const TcpHeader& header, const RttHistory& history) override;

  private:
    /// Bind it to its addresses and ports, which together are no other connection's.
    void BindToConnection();

    /// Whether an acknowledgement that tells of no new data tells of no lost ones either.
    bool IsNoDuplicate(const Packet& packet, const TcpHeader& header) const;

    /// Send the first bytes that are not acknowledged, where nothing is under way that would be.
    void Probe();

    /// See to it that a timer runs for as long as there are bytes to be acknowledged.
    void KeepTimer();

    TcpSocketOwner* m_owner{nullptr};
    TcpEnd* m_end{nullptr};
    /// ns-3's list of them is walked for each that is added, and by nobody else here.
    std::unique_ptr<Ipv4EndPoint> m_ownEndPoint;
    SequenceNumber32 m_head{1};     ///< First byte that is not known to have arrived.
    SequenceNumber32 m_toldEdge{0}; ///< First byte that the other end may not send yet.
    uint32_t m_windowBefore{0};     ///< Of the other end, before the packet that is coming up.
    bool m_isEchoing{false};        ///< The last data that came were told of as marked.
    TimePs m_roundTrip{0};
    ByteCount m_acked{0};
};

} // namespace ns3

#endif // ASTRA_FABRIC_TCP_SOCKET_H
