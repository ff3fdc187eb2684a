// What shells and man know of the command line, made from the parser's own description of it.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tlmssd {

/// For `shell`, bash, zsh or fish: a script that completes commands, options and files.
std::string completion_script(const CLI::App& app, const std::string& shell);
/// The manual page tlmssd(1), troff.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace tlmssd
