// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_BARE_EVENT_LOOP_H
#define ASTRA_BARE_EVENT_LOOP_H

#include <cstdint>

namespace ns3
{

/**
 * What the events of a run cost by themselves: an EventLoop whose events do nothing but schedule
 * another one, up to 2 us later, about as far as a packet's are.
 *
 * @param pending Events that are pending all the time.
 * @param events How many run, after `pending` ones that are not counted.
 * @return CPU seconds of this thread for all of them.
 */
double RunBareEventLoop(uint64_t pending, uint64_t events);

} // namespace ns3

#endif // ASTRA_BARE_EVENT_LOOP_H
