#include "platform/plugins/loader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <link.h>
#include <optional>
#include <system_error>
#include <unistd.h>

#include "firmware/foreign/c_firmware.h"
#include "firmware/foreign/crash_watch.h"
#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "platform/plugins/plugin.h"

namespace tlmssd {

namespace {

namespace fs = std::filesystem;

struct Loaded {
  std::vector<LoadedPlugin> plugins;
  std::vector<const void*> bases;   ///< where each library lies in memory
  std::vector<std::string> titles;  ///< "plug-in acme 1.0"
  std::string loading;              ///< as it was named, while it is loaded
  std::string loading_title;        ///< "plug-in 'libacme.so'"
};
Loaded& loaded() {
  static Loaded all;
  return all;
}

thread_local std::optional<std::size_t> thrower;  // index of the plug-in

/// Base address of the library that `address` belongs to.
const void* base_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Index of the plug-in nearest to the top of this thread's stack.
std::optional<std::size_t> on_stack() noexcept {
  const auto& bases = loaded().bases;
  if (bases.empty()) return {};
  std::array<void*, 64> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < depth; ++i) {
    const auto found = std::find(bases.begin(), bases.end(), base_of(frames[static_cast<std::size_t>(i)]));
    if (found != bases.end()) return static_cast<std::size_t>(found - bases.begin());
  }
  return {};
}

std::string title_of(std::size_t plugin) {
  const LoadedPlugin& one = loaded().plugins[plugin];
  return one.name + " " + one.version;
}

/// Where plug-ins are installed: lib/tlmssd/plugins beside the program's bin.
fs::path installed_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path{} : program.parent_path() / TLMSSD_INSTALLED_PLUGINS;
}

/// The loaded one whose file has the name of `name`, by which reports, resolved scenarios and
/// snapshots know it; null: there is none.
const LoadedPlugin* namesake_of(const std::string& name) {
  const auto& all = loaded().plugins;
  const auto same = std::find_if(all.begin(), all.end(), [&](const LoadedPlugin& plugin) {
    return fs::path(plugin.file).filename() == fs::path(name).filename();
  });
  return same == all.end() ? nullptr : &*same;
}

/// The file of `name`. Empty: it lies nowhere, but `namesake` is meant, from another folder.
fs::path find_library(const std::string& name, const std::string& folder, const LoadedPlugin* namesake) {
  std::error_code error;
  std::vector<fs::path> folders = {fs::path(folder.empty() ? "." : folder)};
  if (!fs::path(name).has_parent_path()) folders.push_back(installed_folder());
  for (const fs::path& place : folders) {
    const fs::path candidate = place / name;
    if (fs::is_regular_file(candidate, error)) return fs::weakly_canonical(candidate, error);
    if (fs::exists(candidate, error))
      throw InputError("plug-in " + in_quotes(name) + ": " + candidate.string() + " is " +
                       (fs::is_directory(candidate, error) ? "a folder" : "a pipe or device") +
                       ", no library");
  }
  if (namesake != nullptr) return {};
  throw InputError("plug-in " + in_quotes(name) + ": there is no such file in " + folders.front().string() +
                   (folders.size() > 1 ? " or " + folders.back().lexically_normal().string() : ""));
}

const PluginDescription& description_of(const std::string& name, void* library) {
  using Describe = const PluginDescription* (*)();
  const auto describe = reinterpret_cast<Describe>(dlsym(library, "tlmssd_plugin"));
  if (describe == nullptr)
    throw InputError("plug-in " + in_quotes(name) +
                     ": is a library, but no plug-in of tlmssd (it lacks TLMSSD_PLUGIN)");
  const PluginDescription& description = *describe();
  if (description.format != 1 || std::strcmp(description.build, k_plugin_build) != 0) {
    throw InputError("plug-in " + in_quotes(name) + ": is built for " +
                     (description.format == 1 ? description.build : "another tlmssd") + ", but this is " +
                     k_plugin_build + "; build it anew");
  }
  if (description.layout != k_layout) {
    throw InputError(
        "plug-in " + in_quotes(name) +
        ": has classes of other sizes than the program's, as with -fpack-struct; build it without "
        "options that change them");
  }
  if (description.own_symbols == &k_own_symbols) {
    throw InputError("plug-in " + in_quotes(name) +
                     ": exports its classes, which then are mixed up with those of the same name elsewhere; "
                     "build it with -fvisibility=hidden, as tlmssd_add_plugin does");
  }
  return description;
}

/// Firmware in plain C, which is no matter of headers and compiler; null: the library is none.
const tlmssd_firmware* c_firmware_of(const std::string& name, void* library) {
  using Describe = const tlmssd_firmware* (*)();
  const auto describe = reinterpret_cast<Describe>(dlsym(library, "tlmssd_firmware_plugin"));
  if (describe == nullptr) return nullptr;
  const tlmssd_firmware* const firmware = describe();
  if (firmware == nullptr || firmware->name == nullptr || firmware->version == nullptr)
    throw InputError("plug-in " + in_quotes(name) + ": its firmware has no name or version");
  return firmware;
}

void remember(const char* title, const char* version, const fs::path& file, const void* base) {
  loaded().plugins.push_back({title, version, file.string()});
  loaded().titles.push_back(std::string("plug-in ") + title + " " + version);
  loaded().bases.push_back(base);
}

void watch_crashes() {
  firmware::foreign::watch_for_crashes();
  std::array<void*, 1> frame{};
  static_cast<void>(backtrace(frame.data(), 1));  // it loads a library when it is first called
}

void enrol(const std::string& name, const fs::path& file, void* library) {
  if (const tlmssd_firmware* const firmware = c_firmware_of(name, library)) {
    remember(firmware->name, firmware->version, file, base_of(dlsym(library, "tlmssd_firmware_plugin")));
    firmware::add_c_firmware(*firmware, std::string(firmware->name) + " " + firmware->version);
    return;
  }
  const PluginDescription& description = description_of(name, library);
  remember(description.name, description.version, file, base_of(dlsym(library, "tlmssd_plugin")));
  Registrar registrar(description.name, description.version);
  description.enrol(registrar);
}

/// Whether the file ends before what its head says is to be loaded of it. The dynamic linker does
/// not look, and dies of it.
bool is_cut_off(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  ElfW(Ehdr) head{};
  if (!in.read(reinterpret_cast<char*>(&head), sizeof head) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(ElfW(Phdr)))
    return false;  // dlopen says what it is
  std::vector<ElfW(Phdr)> segments(head.e_phnum);
  in.seekg(static_cast<std::streamoff>(head.e_phoff));
  if (!in.read(reinterpret_cast<char*>(segments.data()),
               static_cast<std::streamsize>(segments.size() * sizeof(ElfW(Phdr)))))
    return true;
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  return std::any_of(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD &&
           (segment.p_offset > size || segment.p_filesz > size - segment.p_offset);
  });
}

/// The library; what a constructor in it throws is told as what the loader itself says.
void* opened(const std::string& name, const fs::path& file) {
  const std::string cannot = "plug-in " + in_quotes(name) + ": cannot be loaded: ";
  if (is_cut_off(file)) throw InputError(cannot + "the file is cut off");
  // Declared to throw nothing, which holds for the loader and not for constructors: called
  // directly, the compiler would leave out the catch.
  void* (*volatile const open)(const char*, int) = &dlopen;
  void* library = nullptr;
  try {
    library = open(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const std::exception& error) {
    throw InputError(cannot + error.what());
  }
  if (library == nullptr) throw InputError(cannot + dlerror());
  return library;
}

/// While it lives, what is written to standard output goes to standard error: a plug-in may say
/// something of itself, but not in the midst of a schema.
class OutputToErrors {
 public:
  OutputToErrors() {
    flush();
    output_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (output_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputToErrors() {
    if (output_ < 0) return;
    flush();
    dup2(output_, STDOUT_FILENO);
    close(output_);
  }
  OutputToErrors(const OutputToErrors&) = delete;
  OutputToErrors& operator=(const OutputToErrors&) = delete;

 private:
  static void flush() {
    std::cout.flush();
    std::fflush(stdout);
  }
  int output_ = -1;  ///< standard output meanwhile; below 0: there is none
};

/// While it lives, the plug-in `name` is being loaded.
class Loading {
 public:
  explicit Loading(const std::string& name) {
    loaded().loading_title = "plug-in " + in_quotes(name);
    loaded().loading = name;
    watch_crashes();
  }
  ~Loading() { loaded().loading.clear(); }
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

 private:
  OutputToErrors output_;
};

}  // namespace

bool is_loaded(const std::string& name) {
  return namesake_of(name) != nullptr;
}

void load_plugin(const std::string& name, const std::string& folder) {
  if (name.empty()) throw InputError("the name of a plug-in is empty");
  const LoadedPlugin* const namesake = namesake_of(name);
  const fs::path file = find_library(name, folder, namesake);
  std::error_code error;
  if (namesake != nullptr) {
    if (file.empty() || fs::equivalent(file, namesake->file, error)) return;
    throw InputError("plug-in " + in_quotes(name) + ": " + file.string() + " has the file name of " +
                     namesake->file + ", which is loaded; rename one of them, they are told apart by it");
  }
  const Loading loading(name);
  enrol(name, file, opened(name, file));
}

void load_plugins_of_environment() {
  const char* const names = std::getenv("TLMSSD_PLUGINS");
  if (names == nullptr) return;
  const std::string all = names;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(':', begin), all.size());
    if (end > begin) load_plugin(all.substr(begin, end - begin));
    begin = end + 1;
  }
}

const std::vector<LoadedPlugin>& loaded_plugins() {
  return loaded().plugins;
}

void note_throw(InputError* error) noexcept {
  thrower = on_stack();
  if (thrower && error != nullptr) error->set_thrower("plug-in " + title_of(*thrower));
}

std::string thrown_by_plugin() {
  return thrower ? title_of(*thrower) : std::string();
}

std::string calling_plugin() {
  if (const auto caller = on_stack()) return title_of(*caller);
  return loaded().loading.empty() ? std::string() : in_quotes(loaded().loading);
}

const char* plugin_on_stack() noexcept {
  const auto caller = on_stack();
  if (caller) return loaded().titles[*caller].c_str();
  return loaded().loading.empty() ? nullptr : loaded().loading_title.c_str();
}

}  // namespace tlmssd
