// SPDX-License-Identifier: GPL-2.0-only
#ifndef ASTRA_NS3_DEFAULTS_H
#define ASTRA_NS3_DEFAULTS_H

#include "ns3/attribute.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

/// Attribute defaults of a run, which are the whole process's while it lives.
class Ns3Defaults
{
  public:
    Ns3Defaults() = default;

    ~Ns3Defaults()
    {
        Restore();
    }

    Ns3Defaults(const Ns3Defaults&) = delete;
    Ns3Defaults& operator=(const Ns3Defaults&) = delete;

    /**
     * Set defaults.
     *
     * @param defaults Full attribute name, "ns3::RoceNic::Payload", to ns-3's text form.
     * @throws ConfigError when ns-3 has no such attribute, it is read-only, or refuses the value.
     */
    void Apply(const std::map<std::string, std::string>& defaults);

    /// Put back what was there before; harmless when done twice.
    void Restore();

  private:
    struct Saved
    {
        TypeId type;
        size_t index;
        Ptr<const AttributeValue> value;
    };

    std::vector<Saved> m_saved;
};

} // namespace ns3

#endif // ASTRA_NS3_DEFAULTS_H
