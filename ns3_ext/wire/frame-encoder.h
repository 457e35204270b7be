// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FRAME_ENCODER_H
#define ASTRA_FRAME_ENCODER_H

#include "../fabric/frame.h"
#include "byte-buffer.h"

#include "ns3/mac48-address.h"

#include <cstdint>
#include <span>

namespace ns3
{

class MessageBook;
class TcpTransport;
struct PacketPlace;

/// MAC addresses of the two ends of a link.
struct LinkAddresses
{
    Mac48Address transmitter;
    Mac48Address receiver;
};

/**
 * Makes a frame's bytes: Ethernet without FCS, and RoCEv2, TCP or a PAUSE in it.
 *
 * InfiniBand Architecture 1.4 volume 1, chapter 9 and annex A17 (RoCEv2), RFC 791, RFC 3168 (ECN),
 * IEEE 802.3 annex 31B and 31D (PAUSE). A TCP segment's bytes are those of its ns3::Packet, with
 * the checksums that ns-3 leaves out.
 */
class FrameEncoder
{
  public:
    /**
     * @param book What the queue pairs have sent; must outlive the encoder.
     * @param telemetryBytes Of a frame that carries telemetry; it goes behind the ICRC, where
     * Ethernet has a trailer.
     * @param tcp Whose the segments are; null where there are none.
     */
    FrameEncoder(const MessageBook& book, uint32_t telemetryBytes, const TcpTransport* tcp);

    /**
     * Make the bytes.
     *
     * @param frame As it leaves a port.
     * @param addresses Of the link that it goes to.
     * @return Valid until the next call.
     * @throws InvariantError when they are not as many as the frame has on the line, or when a
     *         number does not fit its field.
     */
    std::span<const uint8_t> Encode(const Frame& frame, const LinkAddresses& addresses);

  private:
    void PutEthernet(const LinkAddresses& addresses, uint32_t type);
    void PutPause(const Frame& frame, const LinkAddresses& addresses);
    void PutSegment(const Frame& frame, const LinkAddresses& addresses);
    void PutIpv4(const Frame& frame);
    void PutUdp(const Frame& frame);
    void SetLengths();
    void PutBth(const Frame& frame, uint32_t opcode, uint32_t padding, uint32_t psn);
    void PutData(const Frame& frame, const PacketPlace& place);
    void PutAnswer(const Frame& frame);
    void PutNotification(const Frame& frame);
    void PutTelemetry(const FrameNotes* notes);

    const MessageBook& m_book;
    const uint32_t m_telemetryBytes;
    const TcpTransport* m_tcp;
    ByteBuffer m_bytes;
};

} // namespace ns3

#endif // ASTRA_FRAME_ENCODER_H
