// Loads plug-ins (plugin.h), remembers them, and knows which of them an exception came from.
//
// Plug-ins stay loaded until the program ends, and must be loaded before the scenario catalogue is
// made.
#pragma once

#include <string>
#include <vector>

#include "models/base/input_error.h"

namespace tlmssd {

struct LoadedPlugin {
  std::string name;
  std::string version;
  std::string file;  ///< path of the library
};

/// Loads the shared library `name`, looked for in `folder` (empty: where the program was started),
/// then among the installed plug-ins. One that is loaded already is passed over, as is one that is
/// there no more but whose namesake is loaded: the results of a run name files that may have moved.
/// InputError: one line, also for another file of the same name. What it prints meanwhile goes to
/// standard error.
void load_plugin(const std::string& name, const std::string& folder = {});
/// Those that TLMSSD_PLUGINS names, separated by colons.
void load_plugins_of_environment();
/// In the order of loading.
const std::vector<LoadedPlugin>& loaded_plugins();
/// Whether the library `name` (or one with that file name) is loaded.
bool is_loaded(const std::string& name);

/// Notes where an exception is being thrown; called for each one (thrown.cpp). `error`: the
/// exception, if it is one of input, which remembers the plug-in wherever it is passed on to.
void note_throw(InputError* error) noexcept;
/// Name and version of the plug-in that threw the latest exception of this thread; empty: none did.
std::string thrown_by_plugin();
/// Of the one that has called what this thread is in, or that is being loaded; empty: none has.
std::string calling_plugin();
/// "plug-in acme 1.0": the one nearest to the top of this thread's stack; null: none is on it. For
/// signal handlers of a process that is about to end.
const char* plugin_on_stack() noexcept;

}  // namespace tlmssd
