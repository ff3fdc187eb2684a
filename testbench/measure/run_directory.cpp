#include "testbench/measure/run_directory.h"

#include <fstream>
#include <unistd.h>

#include "models/common/input_error.h"

namespace tlmssd {
namespace {

namespace fs = std::filesystem;
constexpr const char* k_marker = ".tlmssd-run";

/// Refuses what is not ours to replace.
void check_replaceable(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() != fs::file_type::directory)
    throw InputError(target.string(), 0, "exists and is not a directory");
  if (fs::is_empty(target, error) && !error) return;
  if (error) throw InputError(target.string(), 0, "cannot be read: " + error.message());
  if (!fs::exists(target / k_marker, error)) {
    throw InputError(target.string(), 0,
                     "exists and was not written by tlmssd; choose another output directory");
  }
}

}  // namespace

RunDirectory::RunDirectory(const std::string& target) {
  if (target.empty()) throw InputError("the output directory has no name");
  target_ = fs::absolute(target).lexically_normal();
  if (!target_.has_filename()) target_ = target_.parent_path();  // "out/" is "out"
  if (!target_.has_filename()) throw InputError(target, 0, "cannot be an output directory");
  check_replaceable(target_);
  work_ =
      target_.parent_path() / ("." + target_.filename().string() + ".partial-" + std::to_string(getpid()));
  std::error_code error;
  fs::remove_all(work_, error);
  fs::create_directories(work_, error);
  if (error) throw InputError(target, 0, "cannot be written: " + error.message());
  write(k_marker, "");
}

RunDirectory::~RunDirectory() {
  std::error_code error;
  if (!committed_) fs::remove_all(work_, error);
}

std::string RunDirectory::file(std::string_view name) const {
  return (work_ / name).string();
}

void RunDirectory::write(std::string_view name, std::string_view content) const {
  std::ofstream file(work_ / name, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw InputError((target_ / name).string(), 0, "cannot be written in full");
}

void RunDirectory::commit() {
  check_replaceable(target_);
  const fs::path old = work_.string() + ".old";
  std::error_code error;
  const bool replaces = fs::exists(target_, error);
  if (replaces) fs::rename(target_, old, error);
  if (!error) fs::rename(work_, target_, error);
  if (error) {
    std::error_code ignored;
    if (replaces && !fs::exists(target_, ignored)) fs::rename(old, target_, ignored);
    throw InputError(target_.string(), 0, "cannot be put in place: " + error.message());
  }
  committed_ = true;
  if (replaces) fs::remove_all(old, error);
}

}  // namespace tlmssd
