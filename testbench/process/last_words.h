// What the program says when it has no memory left to say it with.
#pragma once

namespace tlmssd {

inline constexpr int k_exit_out_of_memory = 6;  ///< k_exit_memory

/// "tlmssd: out of memory" to standard error, without asking for memory. Returns the exit code.
int say_out_of_memory() noexcept;

/// An allocation that fails where nothing may be thrown, as while the stack unwinds, ends the
/// process with those words and that exit code instead of an abort.
void install_last_words();

}  // namespace tlmssd
