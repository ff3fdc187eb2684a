// What the catalogue lists and what is accepted agree: each bound of each parameter's range passes
// every check that is about that parameter, or is refused for another key.
#include <algorithm>
#include <catch2/catch.hpp>

#include "models/base/quantity.h"
#include "platform/scenario/value_search.h"
#include "platform/ssd_config.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenario_check.h"
#include "testbench/app/scenario_loads.h"

namespace tlmssd::drive_tests {
namespace {

/// What is refused about the scenario with these settings, without building a drive.
std::vector<InputError> refused(const std::vector<std::string>& settings) {
  ErrorList errors;
  errors.attempt([&] {
    const Scenario scenario = parse_scenario("load: {rw: read}\n", "bounds", scenario_catalogue(), settings);
    errors.attempt([&] { static_cast<void>(SsdConfig::from(scenario)); });
    errors.attempt([&] { static_cast<void>(read_simulation(scenario)); });
    errors.attempt([&] { located(scenario, "load.0", [&] { static_cast<void>(read_load(scenario, 0)); }); });
  });
  return errors.errors();
}

/// Goes through every parameter that there is, with the settings that make it apply.
class EveryParameter {
 public:
  virtual ~EveryParameter() = default;
  void check_section(const Section& section, const std::string& above) {
    std::string path = join_path(above, section.name());
    if (section.is_list()) path = join_path(path, "0");
    check_keys(section, path);
    for (const auto& child : section.children()) check_section(*child, path);
  }

 protected:
  virtual void check(const Section& section, const std::string& path, const ParameterSpec& spec,
                     std::vector<std::string> settings) = 0;

 private:
  void check_keys(const Section& section, const std::string& path) {
    for (const KeyGroup& group : section.groups()) {
      std::vector<std::string> settings;
      const auto named = std::find_if(group.only_with.begin(), group.only_with.end(),
                                      [](const std::string& variant) { return !variant.empty(); });
      const bool plain =
          std::find(group.only_with.begin(), group.only_with.end(), "") != group.only_with.end();
      if (named != group.only_with.end() && !plain) settings.push_back(join_path(path, *named) + "=x");
      for (const ParameterSpec& spec : group.parameters) check(section, path, spec, settings);
      for (const PolicyInfo& policy : group.policies) {
        std::vector<std::string> chosen = settings;
        chosen.push_back(join_path(path, group.parameters.front().name) + "=" + policy.name);
        for (const ParameterSpec& spec : policy.parameters) check(section, path, spec, chosen);
      }
    }
  }
};

class Empties final : public EveryParameter {
 public:
  [[nodiscard]] int refused_ones() const { return refused_; }

 private:
  void check(const Section& /*section*/, const std::string& path, const ParameterSpec& spec,
             std::vector<std::string> settings) override {
    if (spec.lines_of_file) return;  // such a table is read with the drive
    const std::string key = join_path(path, spec.name);
    settings.push_back(key + (spec.list ? "=['']" : "=''"));
    const auto errors = refused(settings);
    const bool said = std::any_of(errors.begin(), errors.end(), [&](const InputError& error) {
      return error.complaint().key == key || std::string(error.what()).find(key) != std::string::npos;
    });
    if (said) ++refused_;
    INFO(settings.back());
    CHECK((said || (spec.kind == Kind::text && spec.doc.find("empty") != std::string::npos)));
  }
  int refused_ = 0;
};

class Bounds final : public EveryParameter {
 public:
  [[nodiscard]] int checked() const { return checked_; }

 private:
  /// Whether the refusal is about another key, or says which other key is the reason.
  static bool of_another(const Complaint& complaint, const Section& section, const ParameterSpec& spec,
                         const std::string& key) {
    if (complaint.key != key) return true;
    if (spec.list && complaint.what.find("out of range") == std::string::npos)
      return true;  // too short a list
    const auto others = section.all_parameters();
    return complaint.what.find("ssd.") != std::string::npos ||
           complaint.what.find("firmware.") != std::string::npos ||
           std::any_of(others.begin(), others.end(), [&](const ParameterSpec* other) {
             return other->name != spec.name && complaint.what.find(other->name) != std::string::npos;
           });
  }
  void check(const Section& section, const std::string& path, const ParameterSpec& spec,
             std::vector<std::string> settings) override {
    if (range_text(spec).empty()) return;
    const bool real = spec.kind == Kind::real || spec.kind == Kind::share || spec.kind == Kind::duration ||
                      spec.kind == Kind::temperature;
    for (const double bound : {spec.minimum, spec.maximum}) {
      const Value value =
          real ? Value(bound) : Value(bound >= 0x1p63 ? INT64_MAX : static_cast<std::int64_t>(bound));
      const std::string text = format_value(spec.kind, value);
      const std::string key = join_path(path, spec.name);
      settings.push_back(key + "=" + (spec.list ? "[" + text + "]" : text));
      for (const InputError& error : refused(settings)) {
        INFO(settings.back() << ": " << error.what());
        CHECK(of_another(error.complaint(), section, spec, key));
      }
      settings.pop_back();
      ++checked_;
    }
  }
  int checked_ = 0;
};

/// What "write for instance" and "write a list" say, put in.
class Instances final : public EveryParameter {
 public:
  [[nodiscard]] int tried() const { return tried_; }

 private:
  void check(const Section& /*section*/, const std::string& path, const ParameterSpec& spec,
             std::vector<std::string> settings) override {
    if (range_text(spec).empty()) return;
    const std::string key = join_path(path, spec.name);
    for (const char* text : {"1", "50", "2000", "4096", "0.3", "0", "-1", "1e30", "much"}) {
      settings.push_back(key + "=" + text);
      for (const std::string& instance : instances(errors_of(settings))) {
        INFO(settings.back() << ": " << instance);
        CHECK_NOTHROW(parse_instance(spec, instance));
        ++tried_;
      }
      settings.pop_back();
    }
  }
  /// What reading refuses.
  static std::string errors_of(const std::vector<std::string>& settings) {
    try {
      static_cast<void>(parse_scenario("load: {rw: read}\n", "bounds", scenario_catalogue(), settings));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }
  /// The texts in quotes after "write for instance", or the list after "write a list".
  static std::vector<std::string> instances(const std::string& message) {
    static const std::string k_list = "write a list: ";
    static const std::string k_instance = "write for instance ";
    if (const auto list = message.find(k_list); list != std::string::npos)
      return {message.substr(list + k_list.size())};
    std::vector<std::string> found;
    const auto from = message.find(k_instance);
    if (from == std::string::npos) return found;
    for (std::size_t begin = message.find('\'', from); begin != std::string::npos;) {
      const std::size_t end = message.find('\'', begin + 1);
      found.push_back(message.substr(begin + 1, end - begin - 1));
      begin = message.find('\'', end + 1);
    }
    return found;
  }
  static void parse_instance(const ParameterSpec& spec, std::string text) {
    if (spec.list && text.starts_with('[')) text = text.substr(1, text.size() - 2);
    static_cast<void>(parse_value(spec, text));
  }
  int tried_ = 0;
};

/// Puts in what is said of a section that is set to nothing, for it and those in it.
int follow_advice(const Section& section, const std::string& above) {
  const std::string path = join_path(above, section.name());
  const auto read = [&](const std::string& setting) {
    return parse_scenario("load: {rw: read}\n", "bounds", scenario_catalogue(), {setting});
  };
  std::string said;
  try {
    static_cast<void>(read(path + "="));
  } catch (const InputError& error) {
    said = error.what();
  }
  INFO(said);
  CHECK(said.find(path + " has no value; set a key in it") != std::string::npos);
  const auto offers = [&](const std::string& words) { return said.find(words) != std::string::npos; };
  int offered = 1;
  if (offers("leave all of it out by " + path + "=[]")) {
    CHECK(read(path + "=[]").count(path) == 0);
  } else if (offers("take the defaults of all of it by " + path + "={}")) {
    CHECK(read(path + "={}").has(above == "load" ? "load.0." + section.name() : path));
    CHECK(offers("remove it from the file") == section.is_optional());
  } else {
    CHECK(section.needs_keys());
    offered = 0;
  }
  for (const auto& child : section.children()) offered += follow_advice(*child, path);
  return offered;
}

}  // namespace

TEST_CASE("what is said of a section that is set to nothing is true", "[drive]") {
  int offered = 0;
  for (const auto& section : scenario_catalogue().root().children()) offered += follow_advice(*section, "");
  CHECK(offered > 30);
}

TEST_CASE("an empty text is refused, or the parameter says what it means", "[drive]") {
  Empties empties;
  for (const auto& section : scenario_catalogue().root().children()) empties.check_section(*section, "");
  CHECK(empties.refused_ones() > 400);
}

TEST_CASE("whatever a refused value is to be written as is accepted by its parameter", "[drive]") {
  Instances instances;
  for (const auto& section : scenario_catalogue().root().children()) instances.check_section(*section, "");
  CHECK(instances.tried() > 1'000);
}

TEST_CASE("every bound that is listed is accepted, or another key is the reason", "[drive]") {
  Bounds bounds;
  const Section& root = scenario_catalogue().root();
  for (const auto& section : root.children()) bounds.check_section(*section, "");
  CHECK(bounds.checked() > 400);
  for (const char* seed : {"seed=0", "seed=9223372036854775807"}) CHECK(refused({seed}).empty());
  CHECK_FALSE(refused({"seed=9223372036854775808"}).empty());
}

}  // namespace tlmssd::drive_tests
