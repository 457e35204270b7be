// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_WATCH_OPTIONS_H
#define ASTRA_WATCH_OPTIONS_H

#include "../fabric/frame-watch.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/// What of a run is written down beside its results; see astra_py.engines.watch.Watch.
struct WatchOptions
{
    bool isOn{false};
    std::vector<int64_t> messages;
    std::vector<WatchedSpan> spans;
    int64_t maxRecords{0}; ///< Most frames, and most changes of queue pairs.
};

} // namespace ns3

#endif // ASTRA_WATCH_OPTIONS_H
