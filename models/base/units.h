// The units of each kind of quantity, and what messages call them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/base/parameters.h"

namespace tlmssd {

struct Unit {
  std::string_view name;
  std::uint64_t scale;  ///< base units in one of these
  bool canonical;       ///< used when formatting
};

struct KindTexts {
  std::span<const Unit> units;
  std::string_view name;      ///< "not a ..."
  std::string_view names;     ///< the units, for people
  std::string_view usual;     ///< unit of the example in messages
  std::string_view too_fine;  ///< why a fraction of the base unit is refused; empty: it is not
};

/// Throws std::logic_error for a kind without units.
const KindTexts& texts_of(Kind kind);

}  // namespace tlmssd
