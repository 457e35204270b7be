// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_PACKET_CAPTURE_H
#define ASTRA_PACKET_CAPTURE_H

#include "../core/units.h"
#include "../fabric/frame.h"
#include "capture-options.h"
#include "frame-encoder.h"
#include "message-book.h"
#include "pcap-file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class Fabric;
class RoceTransport;
class TcpTransport;
struct PlatformDescription;

/**
 * Writes the frames that ports send, each port's to a pcap.
 *
 * It listens to the devices' PhyTxBegin: where nothing is captured nobody does, and no byte is
 * ever made. To know messages it listens at all ports of ranks, too.
 */
class PacketCapture
{
  public:
    /**
     * Open the files and listen.
     *
     * @param options Ports and files.
     * @param fabric Has its devices attached; must outlive the capture, as the others.
     * @param transport Whose frames they are.
     * @param tcp Whose segments they are; null where there are none.
     * @param platform Where they are.
     * @throws ConfigError when a file cannot be written.
     */
    PacketCapture(const CaptureOptions& options,
                  Fabric& fabric,
                  RoceTransport& transport,
                  const TcpTransport* tcp,
                  const PlatformDescription& platform);

    PacketCapture(const PacketCapture&) = delete;
    PacketCapture& operator=(const PacketCapture&) = delete;

    /**
     * Bring all frames to their files.
     *
     * @throws ConfigError when something could not be written.
     */
    void Flush();

    /// Frames written.
    int64_t Frames() const
    {
        return m_frames;
    }

    /// Frames left out because their file had as many as it may have.
    int64_t LeftOut() const
    {
        return m_leftOut;
    }

  private:
    /// A port's file.
    struct Capture
    {
        Capture(PacketCapture& owner, const std::string& path, LinkAddresses addresses);

        void FrameLeaves(const Frame& frame);

        PacketCapture& owner;
        PcapFile file;
        LinkAddresses addresses;
        int64_t frames{0};
    };

    void PacketLeavesNic(const Frame& frame);

    const CaptureOptions m_options;
    Fabric& m_fabric;
    MessageBook m_book;
    FrameEncoder m_encoder;
    std::vector<std::unique_ptr<Capture>> m_captures;
    int64_t m_frames{0};
    int64_t m_leftOut{0};
};

} // namespace ns3

#endif // ASTRA_PACKET_CAPTURE_H
