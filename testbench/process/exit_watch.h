// exit() called by what runs in the program, as by a plug-in: the process must not end as if its
// work were done.
#pragma once

#include <string>

namespace tlmssd {

/// While it lives, exit() and quick_exit() of this process end it with one line on standard error
/// and `code`, and what is under construction (Staging) is removed. One at a time. _exit() cannot
/// be seen.
class ExitWatch {
 public:
  /// Who has called, such as "plug-in acme 1.0"; empty: unknown. Asked with the call on the stack;
  /// what it uses must have been made before the ExitWatch, or it is destroyed by then.
  using Caller = std::string (*)();
  ExitWatch(Caller caller, int code);
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
};

}  // namespace tlmssd
