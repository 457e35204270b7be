// SPDX-License-Identifier: GPL-2.0-only
#include "checksums.h"

#include "../roce/wire-format.h"

#include <array>
#include <cstddef>

namespace ns3
{

namespace
{

/// Ethernet's polynomial, lowest bit first (IEEE 802.3, section 3.2.9).
constexpr uint32_t CRC32_POLYNOMIAL = 0xedb88320;

constexpr std::array<uint32_t, 256>
MakeCrcTable()
{
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; ++byte)
    {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
        {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? CRC32_POLYNOMIAL : 0);
        }
        table[byte] = crc;
    }
    return table;
}

constexpr std::array<uint32_t, 256> CRC_TABLE = MakeCrcTable();

class Crc32
{
  public:
    void Add(uint8_t byte)
    {
        m_state = (m_state >> 8) ^ CRC_TABLE[(m_state ^ byte) & 0xff];
    }

    uint32_t Value() const
    {
        return ~m_state;
    }

  private:
    uint32_t m_state{0xffffffff};
};

/// Ones that stand for InfiniBand's local route header, which is not there.
constexpr int ROUTE_HEADER = 8;

/// Whether switches may change a byte, counted from the IPv4 header's first.
constexpr bool
IsVariant(size_t at)
{
    constexpr size_t typeOfService = 1;
    constexpr size_t timeToLive = 8;
    constexpr size_t headerChecksum = 10;
    constexpr size_t udpChecksum = wire::IPV4 + 6;
    constexpr size_t congestionBits = wire::IPV4 + wire::UDP + 4; // FECN and BECN, in the BTH.
    return at == typeOfService || at == timeToLive || at == headerChecksum ||
           at == headerChecksum + 1 || at == udpChecksum || at == udpChecksum + 1 ||
           at == congestionBits;
}

} // namespace

uint16_t
InternetChecksum(std::span<const uint8_t> bytes, uint32_t sum)
{
    for (size_t at = 0; at < bytes.size(); ++at)
    {
        sum += at % 2 == 0 ? static_cast<uint32_t>(bytes[at]) << 8 : bytes[at];
    }
    while (sum > 0xffff)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<uint16_t>(~sum);
}

uint32_t
PseudoHeaderSum(std::span<const uint8_t> packet)
{
    constexpr size_t addresses = 12;
    constexpr size_t protocol = 9;
    uint32_t sum = packet[protocol] + static_cast<uint32_t>(packet.size()) - wire::IPV4;
    for (size_t at = addresses; at < wire::IPV4; at += 2)
    {
        sum += static_cast<uint32_t>(packet[at]) << 8 | packet[at + 1];
    }
    return sum;
}

uint32_t
InvariantCrc(std::span<const uint8_t> packet)
{
    Crc32 crc;
    for (int i = 0; i < ROUTE_HEADER; ++i)
    {
        crc.Add(0xff);
    }
    for (size_t at = 0; at < packet.size(); ++at)
    {
        crc.Add(IsVariant(at) ? 0xff : packet[at]);
    }
    return crc.Value();
}

} // namespace ns3
