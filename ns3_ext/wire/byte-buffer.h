// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_BYTE_BUFFER_H
#define ASTRA_BYTE_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ns3
{

/// Bytes of a frame in the order of the wire; numbers go in with their highest byte first.
class ByteBuffer
{
  public:
    void Clear()
    {
        m_bytes.clear();
    }

    size_t Size() const
    {
        return m_bytes.size();
    }

    void Put8(uint32_t value)
    {
        m_bytes.push_back(static_cast<uint8_t>(value));
    }

    void Put16(uint32_t value)
    {
        Put8(value >> 8);
        Put8(value);
    }

    void Put24(uint32_t value)
    {
        Put8(value >> 16);
        Put16(value);
    }

    void Put32(uint32_t value)
    {
        Put16(value >> 16);
        Put16(value);
    }

    void Put64(uint64_t value)
    {
        Put32(static_cast<uint32_t>(value >> 32));
        Put32(static_cast<uint32_t>(value));
    }

    /// As a checksum in Ethernet's bit order is sent.
    void Put32LowestFirst(uint32_t value)
    {
        for (int shift = 0; shift < 32; shift += 8)
        {
            Put8(value >> shift);
        }
    }

    void PutZeros(size_t count)
    {
        m_bytes.resize(m_bytes.size() + count, 0);
    }

    /// Room at the end for so many bytes, to be filled in at once.
    std::span<uint8_t> PutRoom(size_t count)
    {
        PutZeros(count);
        return std::span(m_bytes).last(count);
    }

    /// Put a number where zeros were left for it.
    void Set16(size_t at, uint32_t value)
    {
        m_bytes[at] = static_cast<uint8_t>(value >> 8);
        m_bytes[at + 1] = static_cast<uint8_t>(value);
    }

    std::span<const uint8_t> From(size_t first) const
    {
        return std::span(m_bytes).subspan(first);
    }

  private:
    std::vector<uint8_t> m_bytes;
};

} // namespace ns3

#endif // ASTRA_BYTE_BUFFER_H
