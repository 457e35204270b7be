// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_MEMBER_HANDLER_H
#define ASTRA_MEMBER_HANDLER_H

#include "event-queue.h"

namespace ns3
{

/**
 * Lets one object take several kinds of events: each kind is a member function and a handler.
 *
 * @tparam T The object's class.
 * @tparam MEMBER What an event of this kind calls.
 */
template <typename T, void (T::*MEMBER)(uint64_t)>
class MemberHandler final : public EventHandler
{
  public:
    explicit MemberHandler(T& object)
        : m_object(object)
    {
    }

    void HandleEvent(uint64_t argument) override
    {
        (m_object.*MEMBER)(argument);
    }

  private:
    T& m_object;
};

} // namespace ns3

#endif // ASTRA_MEMBER_HANDLER_H
