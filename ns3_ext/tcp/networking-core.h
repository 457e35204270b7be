// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_NETWORKING_CORE_H
#define ASTRA_NETWORKING_CORE_H

#include "fifo-server.h"

#include "ns3/traced-callback.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ns3
{

/// What a core's time goes to.
enum class CoreWork : uint8_t
{
    MESSAGE = 0, ///< System calls and wake-ups of a message, at either end.
    SEGMENT = 1, ///< What is handed to the NIC at a time: a packet, or with TSO up to 64 KiB.
    PACKET = 2,  ///< What comes from the NIC at a time: a packet, or with GRO what was merged.
    COPY = 3,    ///< Bytes between the application and a socket.
};

constexpr size_t CORE_WORK_KINDS = 4;

/// What pieces of work take of a core.
struct CoreCosts
{
    std::array<TimePs, CORE_WORK_KINDS> perPiece{}; ///< By CoreWork; of a COPY nothing.
    TimePs perMergedPacket{0}; ///< Of each PACKET that comes up in one piece with a first one.
    BitRate copyRate{0};       ///< 0: copies take no time.

    /// @param amount Bytes of a COPY, packets of a PACKET that is of so many, else pieces.
    TimePs ServiceTime(CoreWork kind, uint64_t amount) const
    {
        if (kind == CoreWork::COPY)
        {
            return copyRate == 0 ? 0
                                 : SerializationTime(static_cast<ByteCount>(amount),
                                                     copyRate,
                                                     TimeRounding::PS_CEIL);
        }
        const TimePs first = perPiece[static_cast<size_t>(kind)];
        const TimePs further = kind == CoreWork::PACKET ? perMergedPacket : first;
        return amount == 0 ? 0 : first + static_cast<TimePs>(amount - 1) * further;
    }
};

/// Told of each piece of work that a core is given: core, kind, time that it takes in ps.
using CoreWorkTrace = TracedCallback<uint32_t, uint8_t, int64_t>;

/**
 * A core of a machine that runs its TCP/IP: one thing after another, in order of arrival, for all
 * its ranks and both directions.
 */
class NetworkingCore
{
  public:
    /// @param number Of the core in its machine; costs and trace outlive it.
    NetworkingCore(EventLoop& loop, uint32_t number, const CoreCosts& costs, CoreWorkTrace& trace)
        : m_number(number),
          m_costs(costs),
          m_trace(trace),
          m_server(loop)
    {
    }

    TimePs ServiceTime(CoreWork kind, uint64_t amount) const
    {
        return m_costs.ServiceTime(kind, amount);
    }

    /// Do some work; see HostStack::Work.
    TimePs Work(CoreWork kind, uint64_t amount, HostWorkDone& done, uint64_t argument)
    {
        const TimePs service = m_costs.ServiceTime(kind, amount);
        m_trace(m_number, static_cast<uint8_t>(kind), service);
        m_server.Serve(service, amount, m_accounts[static_cast<size_t>(kind)], done, argument);
        return service;
    }

    /// Take note of a piece of work that takes no time, and that nobody waits for.
    void CountFree(CoreWork kind)
    {
        ++m_accounts[static_cast<size_t>(kind)].pieces;
    }

    const WorkAccount& Account(CoreWork kind) const
    {
        return m_accounts[static_cast<size_t>(kind)];
    }

    size_t Pending() const
    {
        return m_server.Pending();
    }

  private:
    const uint32_t m_number;
    const CoreCosts& m_costs;
    CoreWorkTrace& m_trace;
    FifoServer m_server;
    std::array<WorkAccount, CORE_WORK_KINDS> m_accounts{};
};

} // namespace ns3

#endif // ASTRA_NETWORKING_CORE_H
