// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_CONNECTION_H
#define ASTRA_TCP_CONNECTION_H

#include "../core/message-network.h"
#include "../core/units.h"
#include "fabric-tcp-socket.h"

#include "ns3/ptr.h"

#include <cstdint>

namespace ns3
{

struct TcpConnection;

/// A message whose parts go over several connections.
struct TcpStripes
{
    TcpStripes* next{nullptr}; ///< Free in its slab.
    ByteCount deliveredBytes{0};
    uint32_t partsToSend{0};
    uint32_t partsToDeliver{0};
    uint32_t partsToAck{0};
};

/// A message, or the part of it that is a connection's, as bytes of its stream.
struct TcpMessage
{
    TcpMessage* next{nullptr}; ///< Behind it in its stream, or free in its slab.
    TcpStripes* whole{nullptr};
    TcpConnection* connection{nullptr};
    MessageId id{0};
    ByteCount size{0};
    ByteCount begin{0};    ///< Bytes of the stream before it.
    ByteCount end{0};      ///< Bytes of the stream up to its end: at least one more.
    ByteCount unloaded{0}; ///< Of its bytes, those that are being copied to the accelerator.
    uint8_t moments{0};    ///< Of sent, delivered and acknowledged, those that were.
};

/// A piece of a message that is being copied from an accelerator.
struct TcpChunk
{
    TcpChunk* next{nullptr}; ///< Free in its slab.
    TcpConnection* connection{nullptr};
    ByteCount end{0}; ///< Bytes of the stream up to its end.
};

/// One of the two ends of a connection: a socket, and the way of what it sends.
struct TcpEnd
{
    TcpConnection* connection{nullptr};
    Ptr<FabricTcpSocket> socket; ///< None at a receiver that nobody has called yet.
    const ChannelId* path{nullptr};
    uint16_t hops{0};
    uint16_t port{0};
    uint16_t peerPort{0};
    bool isRoutedByHop{false}; ///< Only its first channel is the path's; switches choose the rest.
    bool isSender{false};      ///< Of the connection's messages.
    bool isStaged{false};      ///< Messages are copied between accelerator and host here.
    RankId rank{0};
    RankId peer{0};
    uint32_t core{0};   ///< Of its machine, by RSS.
    uint32_t index{0};  ///< Of all ends; the other end's is index ^ 1.
    uint32_t frames{0}; ///< Sent so far.
};

/// How far the opening of a connection is.
enum class TcpOpening : uint8_t
{
    CLOSED,
    OPENING,
    OPEN,
    FAILED,
};

/**
 * A stream of messages from one rank to another.
 *
 * Messages have their moments in order, so each kind of moment needs no more than the first message
 * that has not had it. All offsets count bytes of the stream.
 */
struct TcpConnection
{
    TcpEnd sender;
    TcpEnd receiver;
    uint32_t number{0}; ///< Socket index, among those of the peer and priority.
    uint8_t priority{0};
    TcpOpening opening{TcpOpening::CLOSED};
    bool isWriting{false};  ///< Its application is at work right now.
    bool isReading{false};  ///< The same of the receiving one, for as long as it takes.
    bool isReadLate{false}; ///< What is being read waits for a core.
    TcpHold hold{TcpHold::NOTHING};
    TimePs holdSince{0};
    int64_t fillers{0}; ///< Messages without a byte, each of which takes one of the stream.

    ByteCount posted{0};
    ByteCount staged{0};  ///< In host memory.
    ByteCount called{0};  ///< Of messages whose system call has been made.
    ByteCount copied{0};  ///< In the send buffer, of which the socket may still have to get some.
    ByteCount copying{0}; ///< Being copied there, beyond these.
    ByteCount written{0}; ///< Handed to the socket.
    ByteCount emitted{0}; ///< Handed to the device by TCP, at least once.
    ByteCount left{0};    ///< Left the NIC, at least once.
    ByteCount reading{0}; ///< Being copied from the receiving socket, beyond read.
    ByteCount read{0};    ///< By the receiving application.

    TcpChunk* lastChunk{nullptr}; ///< None where no copy from the accelerator is under way.
    TcpMessage* last{nullptr};
    TcpMessage* calling{nullptr};
    TcpMessage* opened{nullptr};  ///< First whose system call is not over.
    TcpMessage* filling{nullptr}; ///< First that is not all in the send buffer.
    TcpMessage* writing{nullptr};
    TcpMessage* emitting{nullptr};
    TcpMessage* leaving{nullptr};
    TcpMessage* arriving{nullptr};
    TcpMessage* acking{nullptr};

    int64_t segments{0}; ///< With payload, sent again or not.
    int64_t repeatedSegments{0};
    int64_t acks{0}; ///< Without payload, that came to the sender.
    int64_t timeouts{0};
    int64_t lateAcks{0};    ///< Sent by the delayed-ACK timer while the sender was held.
    ByteCount sentBytes{0}; ///< Payload, each byte once.
};

} // namespace ns3

#endif // ASTRA_TCP_CONNECTION_H
