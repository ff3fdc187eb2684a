// Writers of a plug-in: each adds a file of its own to the results (`report: {NAME: {}}`), made
// from what report.json says. A class with k_name, k_summary and a Config, as PolicyFamily wants
// them, `static constexpr std::string_view k_file`, the file's name, and a constructor (Config).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/parameters.h"

namespace tlmssd {

class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  /// What the file holds.
  [[nodiscard]] virtual std::string text(const nlohmann::ordered_json& report) const = 0;
};

class ReportWriterFamily final : public PolicyFamily<ReportWriter> {
 public:
  /// InputError when the file's name is not free, or none in the folder of results.
  template <class Writer>
  void add(std::string origin) {
    check_file(Writer::k_file, origin);
    PolicyFamily::add<Writer>(std::move(origin));
    files_.emplace_back(Writer::k_name, Writer::k_file);
  }
  /// Whether no other result has that name.
  [[nodiscard]] static bool is_free(std::string_view file);
  /// Name of each writer and its file.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }

 private:
  void check_file(std::string_view file, const std::string& origin) const;
  std::vector<std::pair<std::string, std::string>> files_;
};

/// The program has none of its own.
ReportWriterFamily& report_writers();

}  // namespace tlmssd
