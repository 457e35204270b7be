// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PCAP_FILE_H
#define ASTRA_PCAP_FILE_H

#include "../core/units.h"

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace ns3
{

/**
 * A capture in the classic format, with nanoseconds (draft-ietf-opsawg-pcap).
 *
 * Times are simulated time, which begins in 1970; whole nanoseconds, the rest cut off.
 */
class PcapFile
{
  public:
    /**
     * @param path Written anew.
     * @param snapLength Most bytes of a frame that are kept.
     * @throws ConfigError when it cannot be written.
     */
    PcapFile(const std::string& path, uint32_t snapLength);

    void Write(TimePs time, std::span<const uint8_t> frame);

    /**
     * Bring everything to the file.
     *
     * @throws ConfigError when something could not be written, now or before.
     */
    void Flush();

  private:
    void Put(uint32_t value);

    std::string m_path;
    std::ofstream m_stream;
    uint32_t m_snapLength;
};

} // namespace ns3

#endif // ASTRA_PCAP_FILE_H
