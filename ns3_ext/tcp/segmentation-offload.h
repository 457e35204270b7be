// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SEGMENTATION_OFFLOAD_H
#define ASTRA_SEGMENTATION_OFFLOAD_H

#include "fifo-server.h"
#include "networking-core.h"
#include "offload-unit.h"
#include "slot-store.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * Segments on their way from TCP to the NIC (TSO).
 *
 * A segment waits for its core, SEGMENT work each. With TSO what a connection's end emits in one
 * instant, one segment after the other, is one unit and one piece of work, up to
 * LARGEST_OFFLOAD_UNIT; the NIC cuts it into the segments again.
 */
class SegmentationOffload final : private HostWorkDone
{
  public:
    /// @param isOn Whether there are units; else each segment is one.
    SegmentationOffload(EventLoop& loop, bool isOn)
        : m_loop(loop),
          m_isOn(isOn)
    {
    }

    SegmentationOffload(const SegmentationOffload&) = delete;
    SegmentationOffload& operator=(const SegmentationOffload&) = delete;

    /**
     * A segment with payload leaves TCP.
     *
     * @param core Of its connection.
     * @param flow The end of the connection that sends it.
     * @param payloadBytes Its payload.
     * @param done Told when it may leave: now where the work takes no time.
     * @param argument For done.
     * @return Time of the core that it takes; none where its unit has begun with another one.
     */
    TimePs Send(NetworkingCore& core,
                uint32_t flow,
                uint32_t payloadBytes,
                HostWorkDone& done,
                uint64_t argument)
    {
        if (!m_isOn)
        {
            return core.Work(CoreWork::SEGMENT, 1, done, argument);
        }
        if (m_openedAt != m_loop.Now())
        {
            m_open.clear();
            m_openedAt = m_loop.Now();
        }
        const auto found = m_open.find(flow);
        if (found != m_open.end() && found->second.bytes + payloadBytes <= LARGEST_OFFLOAD_UNIT)
        {
            found->second.bytes += payloadBytes;
            if (found->second.isInTime)
            {
                m_units.At(found->second.unit).push_back(Segment{&done, argument});
            }
            else
            {
                done.WorkDone(argument);
            }
            return 0;
        }
        const bool isInTime = core.ServiceTime(CoreWork::SEGMENT, 1) > 0;
        const uint64_t unit = isInTime ? m_units.Put({Segment{&done, argument}}) : 0;
        m_open[flow] = Open{unit, payloadBytes, isInTime};
        return isInTime ? core.Work(CoreWork::SEGMENT, 1, *this, unit)
                        : core.Work(CoreWork::SEGMENT, 1, done, argument);
    }

  private:
    struct Segment
    {
        HostWorkDone* done;
        uint64_t argument;
    };

    /// A unit that began in this instant, and takes more.
    struct Open
    {
        uint64_t unit{0};
        uint32_t bytes{0};
        bool isInTime{false}; ///< Its work takes time, so that it is still here.
    };

    void WorkDone(uint64_t unit) override
    {
        for (const Segment& segment : m_units.Take(unit))
        {
            segment.done->WorkDone(segment.argument);
        }
    }

    EventLoop& m_loop;
    const bool m_isOn;
    SlotStore<std::vector<Segment>> m_units;
    std::unordered_map<uint32_t, Open> m_open; ///< By flow, as of m_openedAt.
    TimePs m_openedAt{NEVER_PS};
};

} // namespace ns3

#endif // ASTRA_SEGMENTATION_OFFLOAD_H
