#include "testbench/process/exit_watch.h"

#include <cstdlib>
#include <iostream>
#include <unistd.h>

#include "models/base/suggest.h"
#include "testbench/process/staging.h"

namespace tlmssd {

namespace {

struct Watched {
  ExitWatch::Caller caller = nullptr;  // null: nothing is watched
  int code = 0;
  pid_t process = 0;  // a child that was forked may exit
};
Watched watched;

void refuse(const std::string& call) {
  if (watched.caller == nullptr || watched.process != getpid()) return;
  Staging::remove_all();
  const std::string caller = watched.caller();
  std::cerr << "tlmssd: "
            << printable((caller.empty() ? "something " : caller + ": ") + "called " + call +
                         " before the program was done; no results were written")
            << std::endl;
  _exit(watched.code);
}

}  // namespace

ExitWatch::ExitWatch(Caller caller, int code) {
  static const bool once = [] {
    on_exit([](int status, void*) { refuse("exit(" + std::to_string(status) + ")"); }, nullptr);
    std::at_quick_exit([] { refuse("quick_exit()"); });
    return true;
  }();
  static_cast<void>(once);
  watched = {caller, code, getpid()};
}

ExitWatch::~ExitWatch() {
  watched = {};
}

}  // namespace tlmssd
