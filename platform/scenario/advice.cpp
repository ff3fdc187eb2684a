#include "platform/scenario/advice.h"

#include <algorithm>
#include <optional>
#include <set>

#include "platform/scenario/value_search.h"

namespace tlmssd {
namespace {

constexpr std::size_t k_most_errors = 32;
constexpr int k_most_replaced = 4;      ///< proposals that follow each other before one is searched for
constexpr int k_most_examined = 1'000;  ///< then proposals stay as they are

std::string setting(const Proposal& proposal) {
  return proposal.key + "=" + proposal.value;
}

/// Whether the section says what the drive is, so that loads need not be looked at.
bool is_drive(std::string_view key) {
  const std::string_view section = key.substr(0, key.find('.'));
  return section == "ssd" || section == "firmware" || section == "log_structured" ||
         section == "file_cache" || section == "contents";
}

/// Whether loads may be refused for what is proposed for this key of the drive: sizes of files.
bool bears_on_loads(std::string_view key) {
  return !is_drive(key) || key.starts_with("file_cache.");
}

bool is_number(const ParameterSpec& spec) {
  return spec.kind != Kind::choice && spec.kind != Kind::flag && spec.kind != Kind::text;
}

std::string_view section_of(std::string_view key) {
  return key.substr(0, std::min(key.rfind('.'), key.size()));
}

class Adviser {
 public:
  Adviser(const Scenario& scenario, const Examine& examine) : scenario_(scenario), examine_(examine) {
    for (Scenario::Written& one : scenario.written()) {
      if (!one.path.empty()) written_.push_back(std::move(one));
    }
  }

  std::vector<InputError> errors() {
    std::vector<InputError> pending = examine_({}, true);
    for (bool first = true; !pending.empty(); first = false) {
      known_ = keys_of(pending);
      bool fixed = false;
      for (const InputError& error : pending) {
        if (of_a_fix(error) || (!first && of_reading(error)) || found_.size() >= k_most_errors) continue;
        if (!seen_.insert(name_of(error)).second) continue;
        const InputError better = improved(error);
        const Complaint& complaint = better.complaint();
        // What shows only with the proposals made must be the user's doing, or else they would not
        // do.
        const bool own = !scenario_.has_parameter(complaint.key) || written(complaint.key) != nullptr;
        if (!first && !own && !complaint.proposal) continue;
        const bool blamed = complaint.key != error.complaint().key;
        if (blamed && !seen_.insert(complaint.key).second) continue;
        found_.push_back(better);
        if (complaint.proposal) fixes_.push_back(setting(*complaint.proposal));
        fixed = fixed || complaint.proposal;
      }
      if (!fixed) break;
      pending = examine_(fixes_, true);
    }
    sort_by_place(found_, scenario_.file());
    return std::move(found_);
  }

 private:
  /// Which keys may be the cause of a refusal: numbers of the same section, numbers, or choices
  /// too.
  enum class Suspects : std::uint8_t { neighbours, numbers, all };
  enum class Verdict : std::uint8_t { refused, other_key, accepted };

  /// What an error is known by: its key, or the place in another file than the scenario.
  static std::string name_of(const InputError& error) {
    const Complaint& complaint = error.complaint();
    if (!complaint.key.empty() || complaint.line == 0) return complaint.key;
    return complaint.file + ":" + std::to_string(complaint.line);
  }
  static std::set<std::string> keys_of(const std::vector<InputError>& errors) {
    std::set<std::string> keys;
    for (const InputError& error : errors) keys.insert(error.complaint().key);
    return keys;
  }
  /// Whether the error is about a proposal itself.
  [[nodiscard]] bool of_a_fix(const InputError& error) const {
    return std::any_of(fixes_.begin(), fixes_.end(),
                       [&](const std::string& fix) { return error.complaint().file == "--set " + fix; });
  }
  /// Whether a setting of the user's could not be read. The scenario has been read, so that only a
  /// proposal can be the cause: the key belongs to the policy that it replaces.
  static bool of_reading(const InputError& error) {
    const Complaint& complaint = error.complaint();
    return complaint.key.empty() && complaint.file.starts_with("--set ");
  }
  [[nodiscard]] const SectionValues::Setting* written(const std::string& key) const {
    const auto found = std::find_if(written_.begin(), written_.end(),
                                    [&](const Scenario::Written& one) { return one.path == key; });
    return found == written_.end() ? nullptr : found->setting;
  }
  /// Whether the user wrote anything in the section of `key`, whose line then says enough.
  [[nodiscard]] bool section_written(const std::string& key) const {
    return std::any_of(written_.begin(), written_.end(),
                       [&](const Scenario::Written& one) { return section_of(one.path) == section_of(key); });
  }
  /// Written neither in the scenario itself nor by --set: in a data sheet, say.
  [[nodiscard]] bool elsewhere(const SectionValues::Setting& setting) const {
    return *setting.origin.file != scenario_.file() && !setting.origin.set;
  }
  /// The same scenario with these settings, for what they do to the refusal of the key `refused`.
  std::vector<InputError> examine_set(const std::vector<std::string>& settings, const std::string& refused) {
    ++examined_;
    return examine_(settings, bears_on_loads(refused));
  }
  /// The same with the proposals made so far and this one.
  std::vector<InputError> examine_with(const Proposal& proposal, const std::string& refused) {
    return examine_set(fixes_and(proposal), refused);
  }
  [[nodiscard]] std::vector<std::string> fixes_and(const Proposal& proposal) const {
    std::vector<std::string> settings = fixes_;
    settings.push_back(setting(proposal));
    return settings;
  }
  /// What becomes of the refusal of the keys `refused` with this proposal.
  Verdict judge(const std::vector<InputError>& errors, const std::set<std::string>& refused) const {
    bool new_key = false;
    for (const std::string& key : keys_of(errors)) {
      if (refused.contains(key)) return Verdict::refused;
      new_key = new_key || !known_.contains(key);
    }
    return new_key ? Verdict::other_key : Verdict::accepted;
  }

  /// The same of one that must do by itself, too: of several proposals not all may be taken.
  Verdict judge_with(const Proposal& proposal, const std::string& about, const std::set<std::string>& refused,
                     std::vector<InputError>& errors) {
    errors = examine_with(proposal, about);
    const Verdict verdict = judge(errors, refused);
    if (verdict == Verdict::refused || fixes_.empty()) return verdict;
    const std::vector<InputError> alone = examine_set({setting(proposal)}, about);
    if (!keys_of(alone).contains(proposal.key)) return verdict;
    errors = alone;
    return Verdict::refused;
  }
  Verdict judge_with(const Proposal& proposal, const std::string& about,
                     const std::set<std::string>& refused) {
    std::vector<InputError> errors;
    return judge_with(proposal, about, refused, errors);
  }

  InputError improved(const InputError& error) {
    Complaint complaint = error.complaint();
    const bool parameter = scenario_.has_parameter(complaint.key);
    const bool own = !parameter || written(complaint.key) != nullptr;
    if (!own) {
      if (const auto neighbour = blame(complaint, Suspects::neighbours)) return *neighbour;
    }
    const std::optional<Proposal> proven = prove(complaint);
    const bool holds =
        proven && (own || judge(examine_with(*proven, complaint.key), {complaint.key}) == Verdict::accepted);
    if (!holds && parameter) {
      if (const auto other = blame(complaint, own ? Suspects::numbers : Suspects::all)) return *other;
    }
    if (!own && holds && !section_written(complaint.key)) {
      if (const Scenario::Written* const cause = only_cause(complaint.key))
        return blamed(*cause, complaint, *proven);
    }
    const bool absent = parameter && !scenario_.has(complaint.key);
    if (!own && !absent) complaint.what += " (by default: the scenario does not give it)";
    complaint.proposal = proven;
    return InputError(complaint);
  }

  /// A proposal that makes the scenario pass this check, and if possible brings up no other.
  std::optional<Proposal> prove(const Complaint& complaint) {
    std::optional<Proposal> passes;
    std::optional<Proposal> candidate = complaint.proposal;
    for (int n = 0; candidate && n < k_most_replaced && examined_ < k_most_examined; ++n) {
      std::vector<InputError> errors;
      const Verdict verdict = judge_with(*candidate, complaint.key, {complaint.key}, errors);
      if (verdict == Verdict::accepted) return candidate;
      if (verdict == Verdict::other_key) {
        passes = candidate;
        break;
      }
      candidate = proposal_for(complaint.key, errors);
    }
    const SectionValues::Setting* const given = written(complaint.key);
    const bool searchable = is_drive(complaint.key) || complaint.proposal;
    if (given == nullptr || !searchable) return passes;
    if (auto value = search(complaint.key, *given, complaint.key, Verdict::accepted))
      return Proposal{complaint.key, *value};
    if (passes) return passes;
    if (auto value = search(complaint.key, *given, complaint.key, Verdict::other_key))
      return Proposal{complaint.key, *value};
    return {};
  }
  static std::optional<Proposal> proposal_for(const std::string& key, const std::vector<InputError>& errors) {
    for (const InputError& error : errors) {
      if (error.complaint().key == key) return error.complaint().proposal;
    }
    return {};
  }

  /// A value of `key` with which `refused` is refused no more.
  std::optional<std::string> search(const std::string& key, const SectionValues::Setting& given,
                                    const std::string& refused, Verdict wanted) {
    return nearest_accepted(*given.spec, *given.given, [&](const std::string& value) {
      return examined_ < k_most_examined && judge_with({key, value}, refused, {key, refused}) >= wanted;
    });
  }

  /// Whether `refused` is refused no more even when what the proposal brings up is mended, too:
  /// else that came first, and only hid it.
  bool stays_away(const std::string& refused, const Proposal& proposal) {
    std::vector<std::string> settings = fixes_and(proposal);
    for (int n = 0; n < k_most_replaced && examined_ < k_most_examined; ++n) {
      const std::vector<InputError> errors = examine_set(settings, refused);
      if (judge(errors, {proposal.key, refused}) == Verdict::refused) return false;
      const std::size_t before = settings.size();
      for (const InputError& error : errors) {
        if (error.complaint().proposal) settings.push_back(setting(*error.complaint().proposal));
      }
      if (settings.size() == before) break;
    }
    return true;
  }

  /// The same complaint about the key that the user wrote and that is its cause.
  std::optional<InputError> blame(const Complaint& complaint, Suspects which) {
    if (!is_drive(complaint.key)) return {};
    const SectionValues::Setting* const own = written(complaint.key);
    const bool own_here = own != nullptr && !elsewhere(*own);
    std::vector<const Scenario::Written*> suspects;
    for (const Scenario::Written& one : written_) {
      if (which != Suspects::all && !is_number(*one.setting->spec)) continue;
      if (own_here && elsewhere(*one.setting))
        continue;  // what is written here does not fit the file: not the reverse
      if (is_drive(one.path) && one.path != complaint.key && !seen_.contains(one.path))
        suspects.push_back(&one);
    }
    const auto distance = [&](const Scenario::Written* one) {
      return 2 * static_cast<int>(elsewhere(*one->setting)) +
             static_cast<int>(section_of(one->path) != section_of(complaint.key));
    };
    std::stable_sort(suspects.begin(), suspects.end(),
                     [&](const auto* a, const auto* b) { return distance(a) < distance(b); });
    // Without it other errors may come to light; then only a neighbour can be said to be the cause.
    for (const Verdict wanted : {Verdict::accepted, Verdict::other_key}) {
      for (const Scenario::Written* suspect : suspects) {
        if ((wanted == Verdict::other_key || which == Suspects::neighbours) && distance(suspect) > 0)
          continue;
        const auto value = innocent_value(*suspect, complaint.key, wanted);
        if (!value) continue;
        const Proposal proposal{suspect->path, *value};
        if (wanted == Verdict::accepted || stays_away(complaint.key, proposal))
          return blamed(*suspect, complaint, proposal);
      }
    }
    return {};
  }
  /// The only number that the user wrote and without which `refused` would not be; null where
  /// there are several, or none.
  const Scenario::Written* only_cause(const std::string& refused) {
    const Scenario::Written* found = nullptr;
    for (const Scenario::Written& one : written_) {
      const ParameterSpec& spec = *one.setting->spec;
      if (!is_number(spec) || !is_drive(one.path) || spec.required || spec.optional ||
          spec.fallback == *one.setting->given || examined_ >= k_most_examined)
        continue;
      const Proposal without{one.path, written_text(spec, spec.fallback)};
      if (judge(examine_with(without, refused), {refused}) != Verdict::accepted) continue;
      if (found != nullptr) return nullptr;
      found = &one;
    }
    return found;
  }
  InputError blamed(const Scenario::Written& one, const Complaint& complaint,
                    const Proposal& proposal) const {
    Complaint result = scenario_.error(one.path, "").complaint();
    result.what = "with " + written_text(*one.setting->spec, *one.setting->given) + ", " + complaint.key +
                  ": " + complaint.what;
    result.proposal = proposal;
    return InputError(result);
  }
  /// The value nearest to the written one with which `refused` is refused no more; nothing when the
  /// default does not help either.
  std::optional<std::string> innocent_value(const Scenario::Written& suspect, const std::string& refused,
                                            Verdict wanted) {
    const ParameterSpec& spec = *suspect.setting->spec;
    if (examined_ >= k_most_examined || spec.required) return {};
    std::optional<std::string> standard;
    if (!spec.optional) {
      standard = written_text(spec, spec.fallback);
      if (spec.fallback == *suspect.setting->given || standard->empty()) return {};
      const Proposal proposal{suspect.path, *standard};
      if (judge_with(proposal, refused, {suspect.path, refused}) < wanted) return {};
    }
    if (auto value = search(suspect.path, *suspect.setting, refused, wanted)) return value;
    return standard;
  }

  const Scenario& scenario_;
  const Examine& examine_;
  std::vector<Scenario::Written> written_;
  std::vector<InputError> found_;
  std::vector<std::string> fixes_;  ///< the proposals of found_
  std::set<std::string> seen_;      ///< keys that have been dealt with
  std::set<std::string> known_;     ///< keys refused at present
  int examined_ = 0;
};

}  // namespace

std::vector<InputError> advised_errors(const Scenario& scenario, const Examine& examine) {
  return Adviser(scenario, examine).errors();
}

void sort_by_place(std::vector<InputError>& errors, const std::string& first) {
  std::vector<std::string> files = {first};
  const auto rank = [&](const InputError& error) {
    const Complaint& complaint = error.complaint();
    const auto file = std::find(files.begin(), files.end(), complaint.file);
    return std::pair(file - files.begin(), complaint.line);
  };
  for (const InputError& error : errors) {
    if (rank(error).first == static_cast<std::ptrdiff_t>(files.size()))
      files.push_back(error.complaint().file);
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [&](const InputError& a, const InputError& b) { return rank(a) < rank(b); });
}

}  // namespace tlmssd
