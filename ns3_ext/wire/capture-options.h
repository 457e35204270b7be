// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_CAPTURE_OPTIONS_H
#define ASTRA_CAPTURE_OPTIONS_H

#include "../core/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/// What is captured; see astra_py.engines.capture.Capture.
struct CaptureOptions
{
    std::vector<ChannelId> channels;
    std::vector<std::string> paths; ///< Of each channel.
    uint32_t snapLength{0};
    int64_t maxFrames{-1};      ///< Of each channel; -1 without limit.
    uint32_t telemetryBytes{0}; ///< Of frames that carry telemetry.
};

} // namespace ns3

#endif // ASTRA_CAPTURE_OPTIONS_H
