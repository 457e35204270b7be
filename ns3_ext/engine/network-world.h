// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_NETWORK_WORLD_H
#define ASTRA_NETWORK_WORLD_H

#include "../core/event-loop.h"
#include "../core/message-network.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{

struct ChannelBins;
struct RunOutcome;
struct WatchLog;

/**
 * A network with its clock: what a run needs to happen in, whichever model carries its messages.
 *
 * A schedule runs in one, and so does a script through the network interface.
 */
class NetworkWorld
{
  public:
    virtual ~NetworkWorld() = default;

    virtual uint32_t Ranks() const = 0;

    virtual EventLoop& Loop() = 0;

    virtual MessageNetwork& Network() = 0;

    /**
     * Say which priorities messages will have; until then, any.
     *
     * @param mask Bit p is set for each.
     */
    virtual void UsePriorities(uint32_t mask) = 0;

    /**
     * What was changed from outside since construction counts from now on.
     *
     * @throws ConfigError when the world is closed.
     */
    virtual void Begin() = 0;

    /**
     * Run until nothing is pending, the loop is stopped, or a limit is met.
     *
     * @param hook Called now and then, or empty; may throw to end the run.
     * @return Why it came back.
     */
    virtual LoopExit Run(const std::function<void()>& hook) = 0;

    /// Whoever runs here waits for nothing more: come back from Run when the network is quiet.
    virtual void StopWhenIdle() = 0;

    /// Whether nothing is on its way.
    virtual bool IsIdle() const = 0;

    /// Add what was counted so far.
    virtual void Count(RunOutcome& outcome) const = 0;

    /// Hand over what was written down of a watched run; a world without frames has nothing.
    virtual void TakeLog(WatchLog&)
    {
    }

    /// Hand over what channels carried by bins of time; a world that was not to look has nothing.
    virtual void TakeBins(ChannelBins&)
    {
    }

    /// Give back what is the process's own; harmless when done twice.
    virtual void Close() = 0;

    /// Where the platform's nodes are in ns-3's NodeList; empty where ns-3 has none.
    virtual std::vector<uint32_t> NodeIds() const = 0;
};

} // namespace ns3

#endif // ASTRA_NETWORK_WORLD_H
