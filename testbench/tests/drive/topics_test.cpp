// Words that users look for: what they lead to is there.
#include "testbench/app/topics.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/app/scenario_catalogue.h"

namespace tlmssd::drive_tests {

TEST_CASE("every topic leads to keys and sections that there are") {
  const Catalogue& catalogue = scenario_catalogue();
  for (const Topic& topic : scenario_topics()) {
    for (const std::string& path : topic.paths) {
      INFO(topic.words.front() << ": " << path);
      const std::size_t dot = path.rfind('.');
      const Section* const above = catalogue.find(dot == std::string::npos ? "" : path.substr(0, dot));
      REQUIRE(above != nullptr);
      const std::string key = path.substr(dot + 1);
      const std::vector<const ParameterSpec*> specs = above->all_parameters();
      const bool is_key = std::any_of(specs.begin(), specs.end(),
                                      [&](const ParameterSpec* spec) { return spec->name == key; });
      CHECK((is_key || catalogue.find(path) != nullptr));
    }
  }
}

}  // namespace tlmssd::drive_tests
