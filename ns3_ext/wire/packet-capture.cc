// SPDX-License-Identifier: GPL-2.0-only
#include "packet-capture.h"

#include "../fabric/fabric-device.h"
#include "../fabric/fabric.h"
#include "../fabric/platform-description.h"

#include "ns3/callback.h"

#include <utility>

namespace ns3
{

namespace
{

constexpr const char* TRANSMISSION = "PhyTxBegin";

Mac48Address
AddressOf(const Fabric& fabric, ChannelId channel)
{
    return Mac48Address::ConvertFrom(fabric.GetPort(channel).device->GetAddress());
}

} // namespace

PacketCapture::Capture::Capture(PacketCapture& capturing,
                                const std::string& path,
                                LinkAddresses ends)
    : owner(capturing),
      file(path, capturing.m_options.snapLength),
      addresses(std::move(ends))
{
}

PacketCapture::PacketCapture(const CaptureOptions& options,
                             Fabric& fabric,
                             RoceTransport& transport,
                             const TcpTransport* tcp,
                             const PlatformDescription& platform)
    : m_options(options),
      m_fabric(fabric),
      m_book(transport),
      m_encoder(m_book, options.telemetryBytes, tcp)
{
    // Before the captures, so that a packet is known when its bytes are made.
    for (ChannelId channel = 0; channel < platform.Channels(); ++channel)
    {
        if (platform.nodeRank[platform.Transmitter(channel)] >= 0)
        {
            fabric.GetPort(channel).device->TraceConnectWithoutContext(
                TRANSMISSION,
                MakeCallback(&PacketCapture::PacketLeavesNic, this));
        }
    }
    for (size_t i = 0; i < options.channels.size(); ++i)
    {
        const ChannelId channel = options.channels[i];
        const LinkAddresses ends{AddressOf(fabric, channel), AddressOf(fabric, channel ^ 1U)};
        m_captures.push_back(std::make_unique<Capture>(*this, options.paths[i], ends));
        fabric.GetPort(channel).device->TraceConnectWithoutContext(
            TRANSMISSION,
            MakeCallback(&Capture::FrameLeaves, m_captures.back().get()));
    }
}

void
PacketCapture::Flush()
{
    for (const std::unique_ptr<Capture>& capture : m_captures)
    {
        capture->file.Flush();
    }
}

void
PacketCapture::PacketLeavesNic(const Frame& frame)
{
    if (frame.kind == FrameKind::DATA && frame.ingress == NO_CHANNEL)
    {
        m_book.Learn(frame);
    }
}

void
PacketCapture::Capture::FrameLeaves(const Frame& frame)
{
    if (owner.m_options.maxFrames >= 0 && frames >= owner.m_options.maxFrames)
    {
        ++owner.m_leftOut;
        return;
    }
    ++frames;
    ++owner.m_frames;
    file.Write(owner.m_fabric.Loop().Now(), owner.m_encoder.Encode(frame, addresses));
}

} // namespace ns3
