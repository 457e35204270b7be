// SPDX-License-Identifier: GPL-2.0-only
#include "pcap-file.h"

#include "../core/errors.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr uint32_t MAGIC_OF_NANOSECONDS = 0xa1b23c4d;
constexpr uint32_t VERSION = 4U << 16 | 2; ///< 2.4, the major number in the lower half.
constexpr uint32_t LINK_TYPE_ETHERNET = 1;

} // namespace

PcapFile::PcapFile(const std::string& path, uint32_t snapLength)
    : m_path(path),
      m_stream(path, std::ios::binary | std::ios::trunc),
      m_snapLength(snapLength)
{
    for (const uint32_t field :
         {MAGIC_OF_NANOSECONDS, VERSION, 0U, 0U, snapLength, LINK_TYPE_ETHERNET})
    {
        Put(field);
    }
    Flush();
}

void
PcapFile::Write(TimePs time, std::span<const uint8_t> frame)
{
    const auto length = static_cast<uint32_t>(frame.size());
    const uint32_t kept = std::min(length, m_snapLength);
    Put(static_cast<uint32_t>(time / PS_PER_S));
    Put(static_cast<uint32_t>(time % PS_PER_S / PS_PER_NS));
    Put(kept);
    Put(length);
    m_stream.write(reinterpret_cast<const char*>(frame.data()), kept);
}

void
PcapFile::Flush()
{
    m_stream.flush();
    if (!m_stream)
    {
        throw ConfigError("pcap.folder: " + m_path + " cannot be written");
    }
}

void
PcapFile::Put(uint32_t value)
{
    // In this machine's order of bytes; the magic number tells readers which.
    m_stream.write(reinterpret_cast<const char*>(&value), sizeof(value));
}

} // namespace ns3
