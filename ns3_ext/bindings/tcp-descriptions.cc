// SPDX-License-Identifier: GPL-2.0-only
#include "tcp-descriptions.h"

#include "columns.h"

#include <pybind11/stl.h>
#include <string>
#include <utility>

namespace ns3
{

TcpFigures
ReadTcp(const py::handle& model)
{
    TcpFigures figures;
    figures.mtu = model.attr("mtu_bytes").cast<uint32_t>();
    figures.hasTimestamps = model.attr("has_timestamps").cast<bool>();
    figures.hasSack = model.attr("has_sack").cast<bool>();
    figures.hasWindowScaling = model.attr("has_window_scaling").cast<bool>();
    figures.hasEcn = model.attr("has_ecn").cast<bool>();
    figures.hasNagle = model.attr("has_nagle").cast<bool>();
    figures.variant = model.attr("variant").cast<std::string>();
    figures.recovery = model.attr("recovery").cast<std::string>();
    figures.sendBuffer = model.attr("send_buffer_bytes").cast<int64_t>();
    figures.receiveBuffer = model.attr("receive_buffer_bytes").cast<int64_t>();
    figures.initialWindow = model.attr("initial_window_segments").cast<uint32_t>();
    figures.minRto = model.attr("min_rto_ps").cast<TimePs>();
    figures.initialRtt = model.attr("initial_rtt_ps").cast<TimePs>();
    figures.delayedAckSegments = model.attr("delayed_ack_segments").cast<uint32_t>();
    figures.delayedAckTimeout = model.attr("delayed_ack_timeout_ps").cast<TimePs>();
    figures.dataRetries = model.attr("data_retries").cast<uint32_t>();
    figures.socketsPerPeer = model.attr("sockets_per_peer").cast<uint32_t>();
    figures.socketPolicy = ReadEnum(model, "socket_policy", SocketPolicy::STRIPED);
    figures.unsentLimit = model.attr("unsent_limit_bytes").cast<int64_t>();
    figures.connect = ReadEnum(model, "connect", TcpConnect::TIMED);
    return figures;
}

HostFigures
ReadHost(const py::handle& model)
{
    HostFigures figures;
    figures.cores = model.attr("cores").cast<uint32_t>();
    if (figures.cores == 0)
    {
        throw ConfigError("cores: has to be at least 1");
    }
    figures.rss = ReadEnum(model, "rss", ReceiveSideScaling::SOCKET_INDEX);
    figures.perMessage = model.attr("per_message_ps").cast<TimePs>();
    figures.perSegment = model.attr("per_segment_ps").cast<TimePs>();
    figures.perPacket = model.attr("per_packet_ps").cast<TimePs>();
    figures.perMergedPacket = model.attr("per_merged_packet_ps").cast<TimePs>();
    figures.copyRate = model.attr("copy_rate_bps").cast<BitRate>();
    figures.hasTso = model.attr("has_tso").cast<bool>();
    figures.hasGro = model.attr("has_gro").cast<bool>();
    figures.rxDelay = model.attr("rx_delay_ps").cast<TimePs>();
    figures.rxFrames = model.attr("rx_frames").cast<uint32_t>();
    figures.staging = ReadEnum(model, "staging", HostStaging::ALWAYS);
    figures.stagingRate = model.attr("staging_rate_bps").cast<BitRate>();
    figures.stagingChunk = model.attr("staging_chunk_bytes").cast<ByteCount>();
    return figures;
}

namespace
{

void
GiveCores(py::dict& columns, CoreColumns& cores)
{
    columns["core_machine"] = GiveColumn(std::move(cores.machine));
    columns["core_core"] = GiveColumn(std::move(cores.core));
    columns["core_busy_ps"] = GiveColumn(std::move(cores.busy));
    columns["core_message_ps"] = GiveColumn(std::move(cores.message));
    columns["core_segment_ps"] = GiveColumn(std::move(cores.segment));
    columns["core_packet_ps"] = GiveColumn(std::move(cores.packet));
    columns["core_copy_ps"] = GiveColumn(std::move(cores.copy));
    columns["core_units"] = GiveColumn(std::move(cores.units));
}

void
GiveStaging(py::dict& columns, StagingColumns& staging)
{
    columns["staging_rank"] = GiveColumn(std::move(staging.rank));
    columns["staging_out_busy_ps"] = GiveColumn(std::move(staging.outBusy));
    columns["staging_in_busy_ps"] = GiveColumn(std::move(staging.inBusy));
    columns["staging_out_bytes"] = GiveColumn(std::move(staging.outBytes));
    columns["staging_in_bytes"] = GiveColumn(std::move(staging.inBytes));
}

void
GiveMessagesAtHosts(py::dict& columns, MessageHostColumns& messages)
{
    columns["message_src_core"] = GiveColumn(std::move(messages.srcCore));
    columns["message_dst_core"] = GiveColumn(std::move(messages.dstCore));
    columns["message_src_core_ps"] = GiveColumn(std::move(messages.srcCoreTime));
    columns["message_dst_core_ps"] = GiveColumn(std::move(messages.dstCoreTime));
    columns["message_copy_ps"] = GiveColumn(std::move(messages.copyTime));
    columns["message_cwnd_limited_ps"] = GiveColumn(std::move(messages.congestionWindow));
    columns["message_rwnd_limited_ps"] = GiveColumn(std::move(messages.receiveWindow));
    columns["message_sndbuf_limited_ps"] = GiveColumn(std::move(messages.sendBuffer));
}

void
GiveSockets(py::dict& columns, SocketColumns& sockets)
{
    columns["socket_src"] = GiveColumn(std::move(sockets.src));
    columns["socket_dst"] = GiveColumn(std::move(sockets.dst));
    columns["socket_priority"] = GiveColumn(std::move(sockets.priority));
    columns["socket_index"] = GiveColumn(std::move(sockets.index));
    columns["socket_segments"] = GiveColumn(std::move(sockets.segments));
    columns["socket_acks"] = GiveColumn(std::move(sockets.acks));
    columns["socket_retransmitted_segments"] = GiveColumn(std::move(sockets.retransmittedSegments));
    columns["socket_timeouts"] = GiveColumn(std::move(sockets.timeouts));
    columns["socket_late_acks"] = GiveColumn(std::move(sockets.lateAcks));
    columns["socket_bytes"] = GiveColumn(std::move(sockets.bytes));
    columns["socket_srtt_ps"] = GiveColumn(std::move(sockets.smoothedRoundTrip));
    columns["socket_cwnd_bytes"] = GiveColumn(std::move(sockets.congestionWindow));
}

} // namespace

void
GiveTcpColumns(py::dict& columns, RunOutcome& outcome)
{
    GiveCores(columns, outcome.cores);
    GiveStaging(columns, outcome.staging);
    GiveMessagesAtHosts(columns, outcome.messagesAtHosts);
    GiveSockets(columns, outcome.sockets);
}

} // namespace ns3
