#include "models/base/ledger.h"

namespace tlmssd {

std::string_view name_of(Cause cause) {
  static constexpr std::array<std::string_view, k_causes> k_names = {"submission",
                                                                     "log_structured",
                                                                     "network",
                                                                     "link",
                                                                     "firmware",
                                                                     "core wait",
                                                                     "map fetch",
                                                                     "memory",
                                                                     "buffer wait",
                                                                     "space wait",
                                                                     "LBA hazard wait",
                                                                     "bus wait",
                                                                     "die busy: read",
                                                                     "die busy: program",
                                                                     "die busy: erase",
                                                                     "die busy: gc",
                                                                     "die busy: wear",
                                                                     "die busy: migration",
                                                                     "die busy: refresh",
                                                                     "die busy: map",
                                                                     "suspend",
                                                                     "flash command",
                                                                     "sense",
                                                                     "transfer",
                                                                     "program",
                                                                     "erase",
                                                                     "decoder wait",
                                                                     "decode",
                                                                     "retry"};
  return k_names[static_cast<std::size_t>(cause)];
}

}  // namespace tlmssd
