// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_FIFO_SERVER_H
#define ASTRA_FIFO_SERVER_H

#include "../core/event-loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace ns3
{

/// Who is told that a host has done a piece of work.
class HostWorkDone
{
  public:
    virtual void WorkDone(uint64_t argument) = 0;

  protected:
    ~HostWorkDone() = default;
};

/// Work of a kind that is done.
struct WorkAccount
{
    TimePs time{0};
    int64_t pieces{0};
    uint64_t amount{0}; ///< Bytes of copies, else as many as pieces.
};

/**
 * Does one piece of work after another, each to its end, in the order in which they come.
 *
 * As it takes nothing back and lets nothing overtake, the end of a piece is known when it comes:
 * one timer each. Work that takes no time is no event, and waits for nothing: it is done at once.
 */
class FifoServer final : private EventHandler
{
  public:
    explicit FifoServer(EventLoop& loop)
        : m_loop(loop)
    {
    }

    FifoServer(const FifoServer&) = delete;
    FifoServer& operator=(const FifoServer&) = delete;

    /**
     * Do a piece of work after all that came before.
     *
     * @param service Time that it takes.
     * @param amount What is counted of it.
     * @param account Where it is counted when it is done; must outlive the server.
     * @param done Told when it is done, now where it takes no time.
     * @param argument For done.
     */
    void Serve(TimePs service,
               uint64_t amount,
               WorkAccount& account,
               HostWorkDone& done,
               uint64_t argument)
    {
        if (service == 0)
        {
            Finish(Piece{service, amount, &account, &done, argument});
            return;
        }
        m_freeAt = std::max(m_freeAt, m_loop.Now()) + service;
        m_loop.ScheduleTimer(m_freeAt, *this, 0);
        m_pieces.push_back(Piece{service, amount, &account, &done, argument});
    }

    /// Pieces that wait or are being done; each is an event of the loop.
    size_t Pending() const
    {
        return m_pieces.size();
    }

  private:
    struct Piece
    {
        TimePs service;
        uint64_t amount;
        WorkAccount* account;
        HostWorkDone* done;
        uint64_t argument;
    };

    void HandleEvent(uint64_t) override
    {
        const Piece piece = m_pieces.front();
        m_pieces.pop_front();
        Finish(piece);
    }

    static void Finish(const Piece& piece)
    {
        piece.account->time += piece.service;
        piece.account->amount += piece.amount;
        ++piece.account->pieces;
        piece.done->WorkDone(piece.argument);
    }

    EventLoop& m_loop;
    TimePs m_freeAt{0};
    std::deque<Piece> m_pieces; ///< In order of their ends.
};

} // namespace ns3

#endif // ASTRA_FIFO_SERVER_H
