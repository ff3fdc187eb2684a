// Work in a process of its own, which sees nothing of what comes after in this one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace tlmssd {

/// What `work` gives there; nothing when it throws or ends the process.
std::optional<std::uint64_t> in_child(const std::function<std::uint64_t()>& work);

}  // namespace tlmssd
