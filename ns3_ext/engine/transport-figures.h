// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_TRANSPORT_FIGURES_H
#define ASTRA_TRANSPORT_FIGURES_H

#include "../core/units.h"
#include "../roce/policies.h"
#include "../roce/wire-format.h"
#include "../tcp/host-figures.h"
#include "../tcp/tcp-figures.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3
{

/// A transport as plain figures; see astra_py.engines.base.TransportModel.
struct TransportFigures
{
    uint32_t payload{4096};
    LineFormat format;
    AckPolicy ackPolicy{AckPolicy::PER_PACKET};
    uint32_t ackEvery{1};
    bool isAckClassShared{false};
    WindowPolicy windowPolicy{WindowPolicy::NONE};
    uint64_t window{0};
    uint32_t qpsPerPeer{1};
    bool isStriped{false}; ///< Each message goes over all queue pairs of its peer.
    TimePs timeout{-1};
    TimePs sendLatency{0};
    TimePs receiveLatency{0};
    TimeRounding rounding{TimeRounding::PS_CEIL};
    std::string congestionControl; ///< TypeId of a CongestionControl; empty for none.
    std::optional<TcpFigures> tcp; ///< What Ethernet carries; the above is for scale-up links then.
    HostFigures host;              ///< With it.
};

} // namespace ns3

#endif // ASTRA_TRANSPORT_FIGURES_H
