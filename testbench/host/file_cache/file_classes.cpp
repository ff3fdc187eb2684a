#include "testbench/host/file_cache/file_classes.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/random.h"

namespace tlmssd {

namespace {

constexpr std::uint32_t k_gaps = 16;    ///< powers of two that gaps between an app's files are told apart by
constexpr std::uint64_t k_watched = 2;  ///< how long a life is watched, over the period of transient files
constexpr const char* k_class_names[k_file_classes] = {"burst reading", "transient", "long living"};

const std::shared_ptr<const AppFiles>& known(const AdmissionContext& context) {
  if (!context.apps) {
    throw refusal("file_cache.admission",
                  "file-classes needs files of which something is known (section file_cache.apps)",
                  "cachesifter");
  }
  return context.apps;
}

}  // namespace

const ParameterTable<FileClassesConfig>& FileClassesConfig::parameters() {
  static const auto table =
      ParameterTable<FileClassesConfig>{}
          .bytes("memory", &FileClassesConfig::memory, {512, std::int64_t{1} << 50U},
                 "memory of the host for files that have come over the network")
          .shapes_state()
          .choice("classified_by", &FileClassesConfig::classified_by, {"learned", "random", "size", "oracle"},
                  "what says which class a file has: naive Bayes, trained on lives that have ended; chance, "
                  "by the shares among these; its size; or the population itself, which no cache can know")
          .shapes_state()
          .bytes("largest", &FileClassesConfig::largest, {1, std::int64_t{1} << 50U},
                 "with size: files up to this are taken for long-living")
          .integer("burst", &FileClassesConfig::burst, {1, 1'000'000},
                   "active period of burst-reading files, in accesses to whatever file")
          .shapes_state()
          .integer("transient", &FileClassesConfig::transient, {1, 100'000'000},
                   "active period of transient files; what is read for longer is long-living")
          .shapes_state();
  return table;
}

FileClasses::FileClasses(const Config& config, const AdmissionContext& context)
    : config_(config),
      context_(context),
      learner_(k_file_classes,
               {known(context)->config().number * AppFiles::k_kinds, AppFiles::k_sizes, k_gaps}),
      held_(config.memory, context),
      last_of_app_(context.apps->config().number, 0) {
  if (config.transient <= config.burst) {
    throw refusal("file_cache.transient",
                  fmt::format("{} accesses are not more than the {} of burst-reading files", config.transient,
                              config.burst),
                  fmt::format("{}", config.burst + 1));
  }
}

// ---- lives

FileClasses::Life FileClasses::begin_life(FileNumber file) {
  const AppFiles& files = *context_.apps;
  Life life;
  life.came = life.last = now_;
  life.file = file;
  std::uint64_t& last = last_of_app_[files.app(file)];
  const auto gap = static_cast<std::uint32_t>(std::bit_width(now_ - last));
  last = now_;
  life.features = {files.app(file) * AppFiles::k_kinds + files.kind(file), files.size_class(file),
                   std::min(gap, k_gaps - 1)};
  life.guessed = static_cast<std::uint32_t>(guess(file, life));
  return life;
}

/// Where nothing speaks for one class more than for another, the longer living one.
FileClass FileClasses::guess(FileNumber file, const Life& life) {
  if (config_.classified_by == "oracle") return context_.apps->file_class(file);
  if (config_.classified_by == "size") {
    return context_.size(file) <= config_.largest ? FileClass::long_living : FileClass::transient;
  }
  std::size_t best = 0;
  if (config_.classified_by == "random") {
    const std::vector<double> shares = learner_.prior();
    double ticket = RandomStream(context_.seed + drawn_++, "classes of files").uniform();
    while (best + 1 < shares.size() && ticket >= shares[best]) ticket -= shares[best++];
  } else {
    const std::vector<double> shares = learner_.posterior(life.features);
    for (std::size_t c = 1; c < shares.size(); ++c) {
      if (shares[c] >= shares[best]) best = c;
    }
  }
  return static_cast<FileClass>(best);
}

FileClass FileClasses::observed(const Life& life) const {
  const std::uint64_t period = life.last - life.came;
  if (period <= config_.burst) return FileClass::burst_reading;
  return period <= config_.transient ? FileClass::transient : FileClass::long_living;
}

void FileClasses::end_life(FileNumber file) {
  const auto found = lives_.find(file);
  if (found == lives_.end()) return;
  const Life& life = found->second;
  const auto had = static_cast<std::size_t>(observed(life));
  ++stats_.ended[life.guessed][had];
  learner_.learn(had, life.features);
  lives_.erase(found);
}

/// Of those that have been watched for long enough.
void FileClasses::end_long_lives() {
  while (!watched_.empty() && now_ - watched_.front().came > k_watched * config_.transient) {
    const Period over = watched_.front();
    watched_.pop_front();
    const auto found = lives_.find(over.file);
    if (found != lives_.end() && found->second.came == over.came) end_life(over.file);
  }
}

// ---- what becomes of files

bool FileClasses::accessed(FileNumber file) {
  ++now_;
  end_long_lives();
  if (const auto found = lives_.find(file); found != lives_.end()) found->second.last = now_;
  return held_.use(file) != nullptr;
}

std::vector<AdmissionPolicy::Verdict> FileClasses::fetched(FileNumber file) {
  if (held_.use(file) != nullptr) return {};  // it has come twice
  auto found = lives_.find(file);
  if (found == lives_.end()) {
    found = lives_.emplace(file, begin_life(file)).first;
    watched_.push_back({found->second.came, file, found->second.guessed});
  }
  const std::uint32_t guessed = found->second.guessed;
  ++stats_.guessed[guessed];
  if (guessed == static_cast<std::uint32_t>(FileClass::long_living)) return {{file, true}};
  std::vector<Verdict> verdicts;
  make_room(file, verdicts);
  held_.hold(file, static_cast<std::uint32_t>(now_));
  periods_[guessed].push_back({now_, file, guessed});
  return verdicts;
}

/// Files whose period is over go first, and then those used longest ago.
void FileClasses::make_room(FileNumber file, std::vector<Verdict>& verdicts) {
  for (std::size_t c = 0; c < periods_.size(); ++c) {
    const std::uint64_t period = c == 0 ? config_.burst : config_.transient;
    while (!periods_[c].empty() && now_ - periods_[c].front().came > period) {
      const Period over = periods_[c].front();
      periods_[c].pop_front();
      // It may have been deleted and have come again since.
      const HeldFiles::Held* const held = held_.find(over.file);
      if (held != nullptr && held->mark == static_cast<std::uint32_t>(over.came)) forget(over.file, verdicts);
    }
  }
  while (!held_.has_room_for(file)) forget(held_.oldest().file, verdicts);
}

void FileClasses::forget(FileNumber file, std::vector<Verdict>& verdicts) {
  held_.drop(file);
  stats_.kept += context_.size(file);
  verdicts.push_back({file, false});
}

void FileClasses::deleted(FileNumber file) {
  end_life(file);
  if (held_.drop(file)) stats_.kept += context_.size(file);
}

// ---- state and reports

void FileClasses::report(StatisticsSink& sink) const {
  std::uint64_t all = 0;
  std::uint64_t right = 0;
  for (std::size_t c = 0; c < k_file_classes; ++c) {
    right += stats_.ended[c][c];
    for (const std::uint64_t count : stats_.ended[c]) all += count;
  }
  sink.value("files in memory", std::uint64_t{held_.size()}, "files", "held back in the host's memory");
  sink.value("bytes kept from flash", stats_.kept, "B", "of files that left memory without being written");
  sink.value("lives ended", all, "files",
             "deleted, or watched for twice the active period of transient files");
  sink.value("accuracy", all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all), "share",
             "lives that had the class that was guessed when the file came");
  sink.value("examples", learner_.examples(), "files", "lives that have been learned from, all told");
  for (std::size_t c = 0; c < k_file_classes; ++c) {
    sink.open(fmt::format("guessed {}", k_class_names[c]), "files by the class that was guessed");
    sink.value("came", stats_.guessed[c], "files", "over the network");
    for (std::size_t had = 0; had < k_file_classes; ++had)
      sink.value(fmt::format("was {}", k_class_names[had]), stats_.ended[c][had], "files", "of lives ended");
    sink.close();
  }
}

void FileClasses::archive(Archive& a) {
  a(now_);
  a(drawn_);
  a(last_of_app_);
  a(learner_);
  a(held_);
  for (std::deque<Period>& periods : periods_) a(periods);
  std::vector<Life> lives;  // in the order in which they came
  for (const Period& one : watched_) {
    const auto found = lives_.find(one.file);
    if (found != lives_.end() && found->second.came == one.came) lives.push_back(found->second);
  }
  a(lives);
  if (a.saving()) return;
  lives_.clear();
  watched_.clear();
  for (const Life& life : lives) {
    if (life.guessed >= k_file_classes)
      throw ArchiveError("snapshot is damaged: a class of files that is none");
    lives_[life.file] = life;
    watched_.push_back({life.came, life.file, life.guessed});
  }
}

}  // namespace tlmssd
