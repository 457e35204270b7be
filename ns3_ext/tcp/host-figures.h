// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_HOST_FIGURES_H
#define ASTRA_HOST_FIGURES_H

#include "../core/units.h"

#include <cstdint>

namespace ns3
{

/// How a connection finds its core; see astra_py.engines.tcp_model.Rss.
enum class ReceiveSideScaling : uint8_t
{
    HASH,
    SOCKET_INDEX,
};

/// Where messages are copied between accelerator and host; see astra_py.engines.tcp_model.Staging.
enum class HostStaging : uint8_t
{
    AUTO, ///< Where no PCIe link of the platform is on the way already.
    NONE,
    ALWAYS,
};

/// What TCP costs a machine as plain figures; see astra_py.engines.base.HostModel.
struct HostFigures
{
    uint32_t cores{8};
    ReceiveSideScaling rss{ReceiveSideScaling::HASH};
    TimePs perMessage{0};
    TimePs perSegment{0};
    TimePs perPacket{0};
    TimePs perMergedPacket{0};
    BitRate copyRate{0}; ///< 0: copies take no time.
    bool hasTso{false};
    bool hasGro{false};
    TimePs rxDelay{0};    ///< Of an interrupt, from the first packet on.
    uint32_t rxFrames{0}; ///< Packets that bring it forward; 0: none do.
    HostStaging staging{HostStaging::NONE};
    BitRate stagingRate{115'200'000'000};
    ByteCount stagingChunk{524'288};
};

} // namespace ns3

#endif // ASTRA_HOST_FIGURES_H
