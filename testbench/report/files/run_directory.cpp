#include "testbench/report/files/run_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "models/base/input_error.h"
#include "models/base/input_file.h"
#include "testbench/process/interrupt.h"
#include "testbench/report/files/checksum.h"
#include "testbench/report/report_writer.h"

namespace tlmssd {
namespace {

namespace fs = std::filesystem;
constexpr const char* k_list_of_files = ".tlmssd-run";
constexpr std::size_t k_longest_list = 65536;
constexpr std::string_view k_between = "  ";  ///< a digest and a name
constexpr std::size_t k_longest_digested = std::size_t{64} << 20U;

/// Every name that a result of the program may have.
constexpr std::array<std::string_view, 10> k_file_names = {
    "scenario.yaml", "report.json",     "report.html",      "fio.json",          "run.json",
    "commands.csv",  "commands.csv.gz", "commands.csv.zst", "timeline.perfetto", "decisions.jsonl"};

/// And those of plug-ins.
std::vector<std::string> result_names() {
  std::vector<std::string> names(k_file_names.begin(), k_file_names.end());
  for (const auto& [writer, file] : report_writers().files()) names.push_back(file);
  return names;
}

bool is_result_name(std::string_view name) {
  const std::vector<std::string> names = result_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT)
      throw InputError(path.string(), 0, "cannot be read: " + std::generic_category().message(errno));
    status.st_mode = 0;
  }
  return status;
}
bool is_there(const fs::path& path) {
  return status_of(path).st_mode != 0;
}
bool is_file(const fs::path& path) {
  return S_ISREG(status_of(path).st_mode);
}

/// Of a file's content; of a long one's the beginning and the size.
std::string digest_of(const fs::path& path) {
  InputFile file(path.string());
  std::array<char, 65536> part;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  std::uint64_t sum = file.size();
  for (std::size_t done = 0, size = part.size(); size == part.size() && done < k_longest_digested;
       done += size) {
    size = 0;
    while (const std::size_t got = file.read(part.data() + size, part.size() - size)) size += got;
    sum = checksum(part.data(), size, sum);
  }
  return fmt::format("{:016x}", sum);
}

/// A result that tlmssd has written.
struct Own {
  std::string name;
  std::string digest;  ///< of what it wrote; empty: not known
};

Own own_of(const std::string& line) {
  const std::size_t end = line.find(k_between);
  if (is_result_name(line) || end == std::string::npos) return {line, {}};
  return {line.substr(end + k_between.size()), line.substr(0, end)};
}

/// What the list in `folder` says tlmssd has written there; nothing when it holds no list.
std::vector<Own> listed(const fs::path& folder) {
  if (!is_file(folder / k_list_of_files)) return {};
  InputFile file((folder / k_list_of_files).string());
  std::string text(k_longest_list, '\0');
  std::size_t size = 0;
  while (const std::size_t got = file.read(text.data() + size, text.size() - size)) size += got;
  text.resize(size);
  std::vector<Own> found;
  if (text.empty()) {
    for (const std::string_view name : k_file_names) found.push_back({std::string(name), {}});
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (Own own = own_of(text.substr(at, end - at)); is_result_name(own.name))
      found.push_back(std::move(own));
    at = end + 1;
  }
  return found;
}

/// The lines of a list for files that lie in `folder`.
std::vector<std::string> lines_for(const std::vector<std::string>& names, const fs::path& folder) {
  std::vector<std::string> lines;
  for (const std::string& name : names)
    lines.push_back(digest_of(folder / name) + std::string(k_between) + name);
  return lines;
}

/// Whether both are there and the same.
bool same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

/// Whether the folder holds nothing but what is under construction, and the run's snapshot.
bool holds_nothing(const fs::path& folder, const std::string& snapshot) {
  std::error_code error;
  const std::vector<std::string> names = names_in(folder, error);
  if (error) throw fs::filesystem_error("cannot be read", folder, error);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return Staging::is_name(name) || same_file(folder / name, snapshot);
  });
}

/// `path` from the root on, as far as it is there without links.
fs::path plain_path(const fs::path& path) {
  return fs::weakly_canonical(fs::absolute(path));
}

void expect_file_or_nothing(const fs::path& path) {
  const mode_t mode = status_of(path).st_mode;
  if (mode != 0 && !S_ISREG(mode)) {
    throw InputError(path.string(), 0,
                     std::string("is ") + kind_of_file(mode) + " where results have a file; move it away");
  }
}

/// Refuses results that are not as tlmssd has written them.
void expect_unchanged(const fs::path& folder, const std::vector<Own>& ours) {
  for (const Own& own : ours) {
    const fs::path file = folder / own.name;
    if (own.digest.empty() || !is_there(file) || own.digest == digest_of(file)) continue;
    throw InputError(file.string(), 0,
                     "was changed after tlmssd had written it; move it away, or replace it with --force");
  }
}

/// Refuses to write into `folder` where that would cost the user a file.
void expect_replaceable(const fs::path& folder, Replace replace, const OtherFiles& others) {
  const mode_t mode = status_of(folder).st_mode;
  if (mode == 0) return;
  if (!S_ISDIR(mode)) {
    throw InputError(folder.string(), 0,
                     std::string("is ") + kind_of_file(mode) + ", expected a folder or a name that is free");
  }
  const bool force = replace == Replace::any_file;
  if (!force && !is_file(folder / k_list_of_files) && !holds_nothing(folder, others.snapshot)) {
    throw InputError(
        folder.string(), 0,
        "holds files and was not written by tlmssd; choose another folder, or add the results to it "
        "with --force");
  }
  expect_file_or_nothing(folder / k_list_of_files);
  const std::vector<Own> ours = listed(folder);
  for (const std::string& name : result_names()) {
    const fs::path file = folder / name;
    expect_file_or_nothing(file);
    if (!is_there(file)) continue;
    const bool own = std::any_of(ours.begin(), ours.end(), [&](const Own& one) { return one.name == name; });
    if (!force && !own)
      throw InputError(file.string(), 0,
                       "was not written by tlmssd; move it away, or replace it with --force");
    const bool reads = std::any_of(others.read.begin(), others.read.end(),
                                   [&](const std::string& read) { return same_file(read, file); });
    if (!force && reads) {
      throw InputError(file.string(), 0,
                       "is read by this run, whose results would take its place; choose another folder, or "
                       "replace it with --force");
    }
  }
  if (!force) expect_unchanged(folder, ours);
}

void write_file(const fs::path& path, std::string_view content, const fs::path& shown) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw not_written(shown.string(), "cannot be written in full", errno);
}

/// Files of one folder that take the places of others in a second one; back in their places unless
/// all of them do.
class Replacement {
 public:
  Replacement(fs::path from, fs::path to) : from_(std::move(from)), to_(std::move(to)) {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    std::error_code ignored;
    for (auto name = done_.rbegin(); name != done_.rend(); ++name) {
      if (fs::exists(before(*name), ignored)) {
        fs::rename(before(*name), to_ / *name, ignored);
      } else {
        fs::remove(to_ / *name, ignored);
      }
    }
  }
  void put(const std::string& name) {
    std::error_code ignored;
    const bool first = std::find(done_.begin(), done_.end(), name) == done_.end();
    // A second name for what is there: it keeps its place until the new file has it.
    if (first) fs::create_hard_link(to_ / name, before(name), ignored);
    fs::rename(from_ / name, to_ / name);
    if (first) done_.push_back(name);
  }
  void take_away(const std::string& name) {
    if (!fs::exists(to_ / name)) return;
    fs::rename(to_ / name, before(name));
    done_.push_back(name);
  }
  /// All is well.
  void keep() { done_.clear(); }

 private:
  [[nodiscard]] fs::path before(const std::string& name) const { return from_ / (name + ".before"); }
  fs::path from_;
  fs::path to_;
  std::vector<std::string> done_;
};

}  // namespace

ReportWriterFamily& report_writers() {
  static ReportWriterFamily family;
  return family;
}

bool ReportWriterFamily::is_free(std::string_view file) {
  return !is_result_name(file);
}

void ReportWriterFamily::check_file(std::string_view file, const std::string& origin) const {
  const bool plain = !file.empty() && file.front() != '.' &&
                     file.find_first_of("/\n") == std::string_view::npos &&
                     !Staging::is_name(std::string(file));
  if (plain && is_free(file)) return;
  throw InputError("plug-in " + origin + ": a report cannot be written to " + std::string(file) +
                   (plain ? ", which is the file of another one" : ""));
}

RunDirectory::RunDirectory(const std::string& target, Replace replace, OtherFiles others)
    : replace_(replace), others_(std::move(others)) {
  if (target.empty()) throw InputError("the output folder has no name");
  try {
    target_ = fs::absolute(target).lexically_normal();
    if (!target_.has_filename()) target_ = target_.parent_path();  // "out/" is "out"
    if (!target_.has_filename()) throw InputError(target, 0, "cannot be an output folder");
    check_snapshot(target);
    prepare();
  } catch (const fs::filesystem_error& error) {
    remove_parents();
    throw not_written(target, "cannot be written", error.code().value());
  }
}

/// Before anything is written: the snapshot takes its place long before the results do.
void RunDirectory::check_snapshot(const std::string& target) const {
  if (others_.snapshot.empty()) return;
  const fs::path results = plain_path(target_);
  const fs::path snapshot = plain_path(others_.snapshot);
  const auto inside = std::mismatch(snapshot.begin(), snapshot.end(), results.begin(), results.end());
  const std::string name = snapshot.filename().string();
  if (inside.first == snapshot.end()) {
    throw InputError("--out " + target + " and --save-snapshot " + others_.snapshot +
                     ": one cannot be a folder where the other is a file; choose two names");
  }
  if (snapshot.parent_path() == results && (is_result_name(name) || name == k_list_of_files)) {
    throw InputError("--out " + target + " and --save-snapshot " + others_.snapshot +
                     ": results have a file of that name, too; choose another name for the snapshot");
  }
}

void RunDirectory::check_replaceable() const {
  expect_replaceable(target_, replace_, others_);
}

void RunDirectory::prepare() {
  {
    const FolderLock turn(target_);
    check_replaceable();
  }
  make_parents();
  Staging::sweep(target_.parent_path());  // what was left when there was no target yet
  // On the target's own file system, which need not be its parent's.
  staging_ =
      std::make_unique<Staging>(is_there(target_) ? target_ : target_.parent_path(), Staging::Kind::folder);
}

void RunDirectory::make_parents() {
  std::vector<fs::path> missing;
  for (fs::path at = target_.parent_path(); !fs::exists(at); at = at.parent_path()) missing.push_back(at);
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (fs::create_directory(*at)) parents_.push_back(*at);
  }
}

RunDirectory::~RunDirectory() {
  staging_.reset();
  remove_parents();
}

/// Those that nothing was put into.
void RunDirectory::remove_parents() const {
  for (auto parent = parents_.rbegin(); parent != parents_.rend(); ++parent) rmdir(parent->c_str());
}

std::string RunDirectory::file(std::string_view name) {
  if (!is_result_name(name)) throw std::logic_error("no result is called " + std::string(name));
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.emplace_back(name);
  return (staging_->path() / name).string();
}

void RunDirectory::write(std::string_view name, std::string_view content) {
  write_file(file(name), content, target_ / name);
}

void RunDirectory::commit_only(std::string_view name) {
  for (const std::string& other : names_) {
    if (other != name) fs::remove(staging_->path() / other);
  }
  names_.assign(1, std::string(name));
  commit();
}

void RunDirectory::write_list(const std::vector<std::string>& lines) const {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_file(staging_->path() / k_list_of_files, text.empty() ? "\n" : text, target_ / k_list_of_files);
  sync_to_disk(staging_->path() / k_list_of_files);
}

void RunDirectory::commit() {
  check_interrupt();
  const UninterruptedWork to_its_end;
  try {
    for (const std::string& name : names_) sync_to_disk(staging_->path() / name);
    if (!put_in_place_as_a_whole()) replace_files();
  } catch (const fs::filesystem_error& error) {
    throw not_written(target_.string(), "cannot be put in place", error.code().value());
  }
  parents_.clear();
  staging_.reset();
}

/// Where no folder, or an empty one, has the target's name.
bool RunDirectory::put_in_place_as_a_whole() {
  if (staging_->path().parent_path() == target_) return false;
  write_list(lines_for(names_, staging_->path()));
  sync_to_disk(staging_->path());
  std::error_code error;
  fs::rename(staging_->path(), target_, error);
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists) return false;
  if (error) throw fs::filesystem_error("rename", target_, error);
  staging_->moved();
  sync_to_disk(target_.parent_path());
  return true;
}

/// One after another into a folder that is there. The list names old and new files as long as there
/// are both.
void RunDirectory::replace_files() {
  const FolderLock turn(target_);
  check_replaceable();
  std::vector<std::string> old;
  for (const Own& own : listed(target_)) old.push_back(own.name);
  std::vector<std::string> both = names_;
  const auto is_new = [&](const std::string& name) {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  };
  std::remove_copy_if(old.begin(), old.end(), std::back_inserter(both), is_new);
  Replacement replacement(staging_->path(), target_);
  write_list(both);
  replacement.put(k_list_of_files);
  for (const std::string& name : names_) replacement.put(name);
  for (const std::string& name : old) {
    if (!is_new(name)) replacement.take_away(name);
  }
  write_list(lines_for(names_, target_));
  replacement.put(k_list_of_files);
  replacement.keep();
  sync_to_disk(target_);
}

}  // namespace tlmssd
