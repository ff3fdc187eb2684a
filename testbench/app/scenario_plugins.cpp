#include "testbench/app/scenario_plugins.h"

#include <filesystem>
#include <optional>

#include "models/base/suggest.h"
#include "platform/plugins/loader.h"
#include "platform/scenario/document.h"
#include "platform/scenario/overlay.h"

namespace tlmssd {

namespace {

std::optional<Node> document_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};  // a stream can be read only once
  try {
    const auto text = read_text_file(path);
    if (!text) return {};
    return parse_document(*text, std::make_shared<const std::string>(path));
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

void load_plugins_of_scenario(const std::string& path) {
  const std::optional<Node> document = document_of(path);
  const Node::Child* const given = document ? document->find("plugins") : nullptr;
  if (given == nullptr || given->value.type != Node::Type::sequence) return;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  for (const Node::Child& name : given->value.children) {
    if (name.value.type != Node::Type::scalar) continue;
    try {
      load_plugin(name.value.text, folder);
    } catch (const InputError& problem) {
      throw given->value.origin.error(problem.what());
    }
  }
}

void check_plugins(const Scenario& scenario) {
  for (const std::string& name : scenario.plugins()) {
    if (!is_loaded(name))
      throw scenario.error(
          "plugins",
          "plugins: " + in_quotes(name) +
              " is not loaded; name it in the scenario's file or with --plugin, --set comes too late");
  }
}

}  // namespace tlmssd
