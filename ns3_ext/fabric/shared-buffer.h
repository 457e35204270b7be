// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_SHARED_BUFFER_H
#define ASTRA_SHARED_BUFFER_H

#include "../core/units.h"
#include "frame.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/// A buffer as large as it must be for AUTO_SHARED bytes to be shared.
constexpr ByteCount AUTO_BUFFER = -1;
/// Shared bytes of such a buffer: 32 MB, the buffer of the HPCC simulations (SIGCOMM 2019, 5.1).
constexpr ByteCount AUTO_SHARED = 32'000'000;

/// What a switch's buffer is like; see FabricSwitch's attributes.
struct BufferFigures
{
    ByteCount size{
        AUTO_BUFFER}; ///< All of it; AUTO_BUFFER has AUTO_SHARED beside what is reserved.
    bool isPfcOn{true};
    uint32_t losslessMask{0xff};
    double pfcAlpha{0.125};
    double egressAlpha{1.0};
    ByteCount xonOffset{0};
};

/**
 * The packet buffer of one switch, shared by its ports: who holds what, who must pause, what is
 * dropped (docs/borders.md, "Switch buffers, pauses, marks, losses").
 *
 * Arithmetic only: Fabric brings the frames, sends PAUSE frames, and settles releases. A release
 * may be told late, as long as SurelyFits is false whenever that would matter: what the buffer
 * holds is then an upper bound.
 */
class SharedBuffer
{
  public:
    /// What became of a frame.
    enum class Verdict : uint8_t
    {
        ADMITTED,
        PAUSES, ///< Admitted, and its queue must pause from here on.
        DROPPED,
        DROPPED_PAUSES, ///< Dropped, and what its queue holds must pause from here on.
    };

    /// One priority of one ingress channel.
    struct Queue
    {
        ByteCount shared{0};
        ByteCount reserved{0};
        ByteCount headroom{0};
        TimePs refreshAt{0}; ///< When the PAUSE is to be sent again.
        bool isPaused{false};
        bool isRefreshPending{false};

        ByteCount Held() const
        {
            return shared + reserved + headroom;
        }
    };

    /**
     * @param figures What the buffer is like.
     * @param prioritiesInUse Bit p is set for each priority that may come; the others have no room.
     */
    SharedBuffer(const BufferFigures& figures, uint32_t prioritiesInUse);

    /**
     * Make room for a channel that ends at the switch.
     *
     * @param reserve Bytes that are each queue's own.
     * @param headroom Bytes of each lossless queue for what arrives after its pause.
     * @return The channel's index here.
     */
    uint32_t AddIngress(ByteCount reserve, ByteCount headroom);

    bool IsLossless(uint8_t priority) const
    {
        return m_figures.isPfcOn && (m_figures.losslessMask >> priority & 1) != 0;
    }

    /**
     * Whether a frame goes to shared, pauses nothing and sets no record even if all that was
     * released late is still here.
     */
    bool SurelyFits(uint32_t ingress,
                    uint8_t priority,
                    ByteCount bytes,
                    ByteCount egressBytes) const;

    /**
     * A frame's last byte has arrived.
     *
     * @param ingress Index of its channel.
     * @param priority Its priority.
     * @param bytes Frame bytes.
     * @param egressBytes Bytes of its priority at its egress port.
     */
    Verdict Charge(uint32_t ingress, uint8_t priority, ByteCount bytes, ByteCount egressBytes);

    /**
     * A frame's last bit has left.
     *
     * @return Whether its queue, paused, may go on.
     */
    bool Release(uint32_t ingress, uint8_t priority, ByteCount bytes);

    Queue& At(uint32_t ingress, uint8_t priority)
    {
        return m_queues[ingress * PRIORITIES + priority];
    }

    /// Bring what is known of a channel's priority closer.
    void Prefetch(uint32_t ingress, uint8_t priority) const
    {
        __builtin_prefetch(&m_queues[ingress * PRIORITIES + priority]);
    }

    /// One more queue is paused; whether it is the only one.
    bool BeginPause()
    {
        return m_paused++ == 0;
    }

    void EndPause()
    {
        --m_paused;
    }

    /// Whether releases must be told when they happen: a queue is paused.
    bool IsWatched() const
    {
        return m_paused != 0;
    }

    /// Shared bytes that nobody holds.
    ByteCount Free() const
    {
        return m_sharedSize > m_sharedHeld ? m_sharedSize - m_sharedHeld : 0;
    }

    /// Most bytes that were held at a time.
    ByteCount MaxHeld() const
    {
        return m_maxHeld;
    }

    ByteCount Held() const
    {
        return m_held;
    }

    ByteCount Size() const
    {
        return m_size;
    }

    /// Egress ports with frames or a release, which are caught up with when it matters.
    std::vector<ChannelId> unsettled;

  private:
    ByteCount Threshold() const;

    BufferFigures m_figures;
    uint32_t m_prioritiesInUse;
    std::vector<Queue> m_queues;       ///< By ingress index and priority.
    std::vector<ByteCount> m_reserve;  ///< By ingress index.
    std::vector<ByteCount> m_headroom; ///< By ingress index.
    ByteCount m_size;
    ByteCount m_sharedSize;
    ByteCount m_sharedHeld{0};
    ByteCount m_held{0};
    ByteCount m_maxHeld{0};
    uint32_t m_paused{0};
};

} // namespace ns3

#endif // ASTRA_SHARED_BUFFER_H
