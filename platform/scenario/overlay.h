// Layers of a scenario before it is checked: --set over the file, a section's own keys over the
// part file it names.
#pragma once

#include <string>
#include <vector>

#include "platform/scenario/document.h"

namespace tlmssd {

/// Applies "a.b.c=value" to the tree. Throws InputError ("--set a.b.c=value: ...") when the path
/// leads nowhere.
void apply_setting(Node& root, const Catalogue& catalogue, const std::string& setting);

/// `base` with the keys of `over` put over it, maps merged key by key.
Node merged(Node base, const Node& over);

/// Reads part files: finds them, refuses circles.
class PartFiles {
 public:
  PartFiles(const ReadOptions& options, std::string scenario_file)
      : options_(options), scenario_file_(std::move(scenario_file)) {}
  /// The map that stands for a section which may come from a file: itself, or the file it names
  /// overlaid by its own keys.
  [[nodiscard]] Node expanded(const Node& node, const std::string& path, std::size_t depth = 0) const;
  struct Lines {
    std::string file;
    std::vector<std::string> lines;
  };
  /// The lines of the text file `name`, looked for as part files are.
  [[nodiscard]] Lines lines(const std::string& name, const Origin& origin) const;

 private:
  struct Found {
    std::shared_ptr<const std::string> file;
    std::string text;
  };
  [[nodiscard]] Found find(const std::string& name, const Origin& origin, const std::string& subject) const;
  [[nodiscard]] Node read(const std::string& name, const Origin& origin, const std::string& path) const;
  const ReadOptions& options_;
  std::string scenario_file_;
};

/// Text of a file on disk, nothing when there is none. Throws InputError for a directory or what
/// cannot be read.
std::optional<std::string> read_text_file(const std::string& path);

}  // namespace tlmssd
