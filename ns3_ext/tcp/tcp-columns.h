// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TCP_COLUMNS_H
#define ASTRA_TCP_COLUMNS_H

#include <cstdint>
#include <vector>

namespace ns3
{

/// The cores of each machine, in order of machine and core; times in ps.
struct CoreColumns
{
    std::vector<int32_t> machine;
    std::vector<int32_t> core;
    std::vector<int64_t> busy;
    std::vector<int64_t> message; ///< Of busy, by kind of work.
    std::vector<int64_t> segment;
    std::vector<int64_t> packet;
    std::vector<int64_t> copy;
    std::vector<int64_t> units; ///< Pieces of work done.
};

/// Copies between accelerator and host memory, one row a rank that has any; times in ps.
struct StagingColumns
{
    std::vector<int32_t> rank;
    std::vector<int64_t> outBusy;
    std::vector<int64_t> inBusy;
    std::vector<int64_t> outBytes;
    std::vector<int64_t> inBytes;
};

/// What hosts did for each message, in order of posting; none where no message is TCP's. Times in
/// ps.
struct MessageHostColumns
{
    std::vector<int32_t> srcCore; ///< -1 for a message that is not TCP's.
    std::vector<int32_t> dstCore;
    std::vector<int64_t> srcCoreTime;
    std::vector<int64_t> dstCoreTime;
    std::vector<int64_t> copyTime;         ///< Of both.
    std::vector<int64_t> congestionWindow; ///< While it was the first unsent of its socket, and
    std::vector<int64_t> receiveWindow;    ///< that was held by its congestion window, the window
    std::vector<int64_t> sendBuffer;       ///< of the receiver, or its own send buffer.
};

/// The ends of connections that sent, one row each.
struct SocketColumns
{
    std::vector<int32_t> src;
    std::vector<int32_t> dst;
    std::vector<uint8_t> priority;
    std::vector<int32_t> index;
    std::vector<int64_t> segments; ///< With payload, sent again or not.
    std::vector<int64_t> acks;     ///< Received without payload.
    std::vector<int64_t> retransmittedSegments;
    std::vector<int64_t> timeouts;
    std::vector<int64_t> lateAcks; ///< That a held sender had to wait the delayed-ACK timer for.
    std::vector<int64_t> bytes;    ///< Of payload, each once.
    std::vector<int64_t> smoothedRoundTrip;
    std::vector<int64_t> congestionWindow; ///< Bytes, at the end.
};

} // namespace ns3

#endif // ASTRA_TCP_COLUMNS_H
