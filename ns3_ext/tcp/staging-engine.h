// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_STAGING_ENGINE_H
#define ASTRA_STAGING_ENGINE_H

#include "../fabric/platform-description.h"
#include "fifo-server.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ns3
{

/**
 * Copies between an accelerator's memory and its host's over PCIe, one after another each way; the
 * two ways do not disturb each other.
 */
class StagingEngine
{
  public:
    /// @param rate Of each way.
    StagingEngine(EventLoop& loop, BitRate rate)
        : m_rate(rate),
          m_out(loop),
          m_in(loop)
    {
    }

    /// Copy to the host; done is told at the end.
    void StageOut(ByteCount bytes, HostWorkDone& done, uint64_t argument)
    {
        m_out.Serve(ServiceTime(bytes), static_cast<uint64_t>(bytes), m_outAccount, done, argument);
    }

    /// Copy from the host; done is told at the end.
    void StageIn(ByteCount bytes, HostWorkDone& done, uint64_t argument)
    {
        m_in.Serve(ServiceTime(bytes), static_cast<uint64_t>(bytes), m_inAccount, done, argument);
    }

    const WorkAccount& OutAccount() const
    {
        return m_outAccount;
    }

    const WorkAccount& InAccount() const
    {
        return m_inAccount;
    }

    size_t Pending() const
    {
        return m_out.Pending() + m_in.Pending();
    }

  private:
    TimePs ServiceTime(ByteCount bytes) const
    {
        return SerializationTime(bytes, m_rate, TimeRounding::PS_CEIL);
    }

    const BitRate m_rate;
    FifoServer m_out;
    FifoServer m_in;
    WorkAccount m_outAccount;
    WorkAccount m_inAccount;
};

/// Whether a way leads over a host before its first Ethernet link: then the platform's own links
/// are the copy to host memory.
inline bool
StartsOverHost(const PlatformDescription& platform, std::span<const ChannelId> way)
{
    for (const ChannelId channel : way)
    {
        if (platform.nodeKind[platform.Transmitter(channel)] == NodeKind::HOST)
        {
            return true;
        }
        if (!platform.IsScaleUp(channel))
        {
            return false;
        }
    }
    return false;
}

} // namespace ns3

#endif // ASTRA_STAGING_ENGINE_H
