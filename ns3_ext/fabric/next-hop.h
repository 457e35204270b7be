// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_NEXT_HOP_H
#define ASTRA_NEXT_HOP_H

#include "frame.h"

namespace ns3
{

/// Who knows the way of frames that carry none.
class NextHop
{
  public:
    /**
     * The channel on which a frame goes on from the node where it has arrived.
     *
     * @param frame Its `ingress` is the channel by which it came.
     */
    virtual ChannelId Choose(const Frame& frame) = 0;

  protected:
    ~NextHop() = default;
};

} // namespace ns3

#endif // ASTRA_NEXT_HOP_H
