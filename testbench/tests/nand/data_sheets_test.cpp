// Every data sheet of scenarios/parts/nand and scenarios/parts/reliability: known keys, right
// units, in range, free of contradictions, with a source.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <vector>

#include "models/base/quantity.h"
#include "models/nand/bus_timing.h"
#include "models/nand/reliability/bit_errors.h"
#include "models/nand/reliability/retention_clock.h"
#include "models/nand/timing/timing_model.h"

using namespace tlmssd;
using namespace tlmssd::literals;

namespace {

struct Sheet final : ParameterValues {
  std::map<std::string, Value, std::less<>> values;
  [[nodiscard]] const Value* find(std::string_view name) const override {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  }
};

std::string trimmed(std::string text) {
  const auto wanted = [](char c) { return c != ' ' && c != '"'; };
  text.erase(text.begin(), std::find_if(text.begin(), text.end(), wanted));
  text.erase(std::find_if(text.rbegin(), text.rend(), wanted).base(), text.end());
  return text;
}

Value parse(const ParameterSpec& spec, std::string text) {
  if (!spec.list) return parse_value(spec, text);
  std::vector<Value> elements;
  text = text.substr(1, text.size() - 2);  // [a, b]
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    elements.push_back(parse_value(spec, trimmed(text.substr(from, comma - from))));
    from = comma + 1;
  }
  return make_list(spec, elements);
}

/// The sheets use no more of YAML than "key: value # comment".
Sheet read_sheet(const std::filesystem::path& path, const std::vector<ParameterSpec>& specs) {
  Sheet sheet;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(':');
    const std::string key = line.substr(0, colon);
    INFO(line);
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const ParameterSpec& s) { return s.name == key; });
    REQUIRE(spec != specs.end());
    REQUIRE(sheet.values.count(key) == 0);
    std::string value = line.substr(colon + 1);
    value = trimmed(value.substr(0, value.find(" #")));
    sheet.values.emplace(key, parse(*spec, value));
  }
  return sheet;
}

NandPart read_part(const std::filesystem::path& path) {
  return NandPart::parameters().read(read_sheet(path, NandPart::parameters().specs()));
}

/// The model that a sheet names and all it needs.
std::vector<ParameterSpec> specs_of(const PolicyInfo& model) {
  std::vector<ParameterSpec> specs = model.parameters;
  for (const ParameterSpec& spec : ErrorConfig::parameters().specs()) specs.push_back(spec);
  for (const ParameterSpec& spec : RetentionConfig::parameters().specs()) specs.push_back(spec);
  ParameterSpec choice;
  choice.name = "model";
  choice.kind = Kind::choice;
  choice.choices = {model.name};
  specs.push_back(choice);
  return specs;
}

}  // namespace

TEST_CASE("every data sheet reads, agrees with itself and cites a source") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TLMSSD_SOURCE_DIR "/scenarios/parts/nand")) {
    INFO(entry.path().string());
    const NandPart part = read_part(entry.path());
    CHECK_NOTHROW(make_timing_model(part));
    CHECK_NOTHROW(BusTiming(part, 400_MBps, part.page_size));
    CHECK(part.name + ".yaml" == entry.path().filename().string());
    CHECK(!part.source.empty());
    ++count;
  }
  CHECK(count >= 19);
}

TEST_CASE("every sheet of bit errors reads and fits its model") {
  const std::string folder = TLMSSD_SOURCE_DIR "/scenarios/parts/reliability/";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.is_regular_file() ? 1 : 0;
  struct Row {
    const char* file;
    const char* model;
    const char* cell;
    ArrayOperation stress;
    double rber;  // of the average page
  };
  const std::vector<Row> rows = {
      {"tlc-72l.yaml", "power-law", "tlc", {.cycles = 1000, .age_days = 0}, 2.03e-3},
      {"mlc-1x-calibrated.yaml", "calibrated-mlc", "mlc", {.cycles = 2000, .age_days = 1}, 5.4e-3},
      {"tlc-3d-log.yaml", "log-retention", "tlc", {.cycles = 3000, .age_days = 365}, 3.9e-3},
      {"tlc-48l-retry.yaml", "power-law", "tlc", {.cycles = 1000, .age_days = 0}, 5.08e-4}};
  CHECK(rows.size() == count);
  const auto models = reliability_models().infos();
  for (const Row& row : rows) {
    INFO(row.file);
    const auto info =
        std::find_if(models.begin(), models.end(), [&](const PolicyInfo& m) { return m.name == row.model; });
    REQUIRE(info != models.end());
    const Sheet sheet = read_sheet(folder + row.file, specs_of(*info));
    for (const ParameterSpec& spec : info->parameters) CHECK(sheet.find(spec.name) != nullptr);
    NandPart part;
    part.cell = row.cell;
    auto model = reliability_models().make(row.model, sheet, part);
    CHECK(model->rber(row.stress) == Approx(row.rber).epsilon(0.01));
    CHECK_NOTHROW(BitErrors(std::move(model), part, ErrorConfig::parameters().read(sheet), 9200, 1));
  }
}

// Calibrated (the sheet says so): this guards the calibration. Steps are counted as retry-only
// does: the next one until all frames of the page can be corrected, 40 at most.
TEST_CASE("the 48-layer sheet takes as many retry steps as the study of 160 chips counted") {
  const std::filesystem::path folder = TLMSSD_SOURCE_DIR "/scenarios/parts";
  const NandPart part = read_part(folder / "nand" / "tlc-48l.yaml");
  const auto models = reliability_models().infos();
  const auto info =
      std::find_if(models.begin(), models.end(), [](const PolicyInfo& m) { return m.name == "power-law"; });
  REQUIRE(info != models.end());
  const Sheet sheet = read_sheet(folder / "reliability" / "tlc-48l-retry.yaml", specs_of(*info));
  constexpr std::uint32_t k_frame = 8 * (1024 + 126);
  constexpr std::uint32_t k_corrects = 72;  // F
  constexpr std::uint32_t k_blocks = 400;
  const auto steps = [&](std::uint64_t seed, double cycles, double days) {
    const BitErrors errors(reliability_models().make("power-law", sheet, part), part,
                           ErrorConfig::parameters().read(sheet), k_frame, seed);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < k_blocks * 3; ++i) {
      const BitErrors::Place place{DieId{0}, PlaneId{0}, BlockId{i / 3}, PageId{i % 3}, 0};
      const ArrayOperation stress{.type = i % 3, .cycles = cycles, .age_days = days};
      std::array<std::uint32_t, 16> wrong{};
      for (std::uint32_t step = 0; step <= 40; ++step, ++sum) {
        errors.draw(place, errors.rber(place, stress, step), 0, 16, wrong.data());
        if (*std::max_element(wrong.begin(), wrong.end()) <= k_corrects) break;
      }
    }
    return static_cast<double>(sum) / (k_blocks * 3);
  };
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO(seed);
    CHECK(steps(seed, 0, 0) == 0);
    CHECK(steps(seed, 1000, 90) == Approx(8).margin(0.2));
    CHECK(steps(seed, 2000, 365) == Approx(19.9).margin(0.2));
  }
}

TEST_CASE("the published parts have the published numbers") {
  const std::string folder = TLMSSD_SOURCE_DIR "/scenarios/parts/nand/";
  struct Row {
    const char* file;
    Picoseconds program;
    Picoseconds read;
    Picoseconds erase;
    double block_bytes;
    std::uint32_t unit_pages;
  };
  for (const Row& row : {Row{"2d-fg-mlc.yaml", 1185_us, 44_us, 3300_us, 4.2e6, 1},
                         Row{"2d-fg-tlc.yaml", 2180_us, 87_us, 3200_us, 4.2e6, 256},
                         Row{"3d-fg-tlc.yaml", 1900_us, 102_us, 7500_us, 25e6, 1536},
                         Row{"3d-ct-tlc.yaml", 1083_us, 76_us, 4300_us, 9.4e6, 3}}) {
    INFO(row.file);
    const NandPart part = read_part(folder + row.file);
    CHECK(part.program_time(PageId{1}) == row.program);
    CHECK(part.read_time(PageId{2}) == row.read);
    CHECK(part.erase_latency == row.erase);
    CHECK(static_cast<double>(part.page_size * part.pages_per_block) ==
          Approx(row.block_bytes).epsilon(0.01));
    CHECK(part.pages_per_program() == row.unit_pages);
  }
}

TEST_CASE("QLC parts with an SLC mode have the published program rates and ratios") {
  const std::string folder = TLMSSD_SOURCE_DIR "/scenarios/parts/nand/";
  struct Row {
    const char* file;
    double rate;  // bytes per second that a die programs
  };
  for (const Row& row :
       {Row{"qlc-64-layer.yaml", 12e6}, Row{"qlc-96-layer.yaml", 30e6}, Row{"qlc-144-layer.yaml", 40e6}}) {
    INFO(row.file);
    const NandPart part = read_part(folder + row.file);
    const double word_line = 4.0 * static_cast<double>(part.page_size) * part.planes;
    CHECK(word_line / (static_cast<double>(
                           make_timing_model(part)->answer(program_operation(part, PageId{0}, 4)).duration) *
                       1e-12) ==
          Approx(row.rate).epsilon(0.001));
    CHECK(part.has_slc_mode());
    CHECK(part.slc_pages_per_block() * 4 == part.pages_per_block);
    CHECK(part.slc_endurance == 30 * part.endurance);
  }
}

TEST_CASE("page types differ about the published time of a read") {
  const std::string folder = TLMSSD_SOURCE_DIR "/scenarios/parts/nand/";
  struct Row {
    const char* file;
    Picoseconds mean;
  };
  const std::vector<double> tlc = {2, 3, 2};                   // senses: ASPLOS'21
  const std::vector<double> qlc = {47.9, 76.2, 134.6, 228.1};  // us: PACA, ICCD 2022
  for (const Row& row : {Row{"tlc-96l-bics4.yaml", 58_us},
                         Row{"tlc-128l-bics5.yaml", 56_us},
                         Row{"tlc-162l-bics6.yaml", 50_us},
                         Row{"tlc-176l-hynix.yaml", 50_us},
                         Row{"tlc-176l-v7.yaml", 40_us},
                         Row{"tlc-218l-bics8.yaml", 40_us},
                         Row{"tlc-232l.yaml", 50_us},
                         Row{"tlc-2yyl-micron.yaml", 32_us},
                         Row{"tlc-236l-v8.yaml", 40_us},
                         Row{"tlc-300l-hynix.yaml", 34_us},
                         Row{"qlc.yaml", 110_us},
                         Row{"qlc-64-layer.yaml", 110_us},
                         Row{"qlc-96-layer.yaml", 121'700_ns},
                         Row{"qlc-144-layer.yaml", 90_us},
                         Row{"qlc-176l-micron.yaml", 92'492_ns},
                         Row{"qlc-232l-micron.yaml", 74'590_ns},
                         Row{"qlc-280l-v9.yaml", 85_us},
                         Row{"qlc-321l-hynix.yaml", 85_us},
                         Row{"femu-qlc.yaml", 121'700_ns},
                         Row{"tlc-48l.yaml", 90_us}}) {
    INFO(row.file);
    const NandPart part = read_part(folder + row.file);
    const std::vector<double>& weights = part.bits() == 3 ? tlc : qlc;
    REQUIRE(weights.size() == part.bits());
    const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / part.bits();
    for (std::uint32_t page = 0; page < part.bits(); ++page) {
      const double wanted = static_cast<double>(row.mean) * weights[page] / mean;
      CHECK(static_cast<double>(part.read_time(PageId{page})) == Approx(wanted).epsilon(5e-5));
    }
  }
}

TEST_CASE("parts of 112 layers and more have the published layers, planes and program rates") {
  const std::string folder = TLMSSD_SOURCE_DIR "/scenarios/parts/nand/";
  struct Row {
    const char* file;
    const char* cell;
    std::uint32_t layers;
    std::uint32_t planes;
    double rate;  // bytes per second that a die programs
  };
  for (const Row& row :
       {Row{"tlc-128l-v6.yaml", "tlc", 128, 2, 82e6}, Row{"tlc-128l-bics5.yaml", "tlc", 128, 4, 132e6},
        Row{"tlc-162l-bics6.yaml", "tlc", 162, 4, 160e6}, Row{"tlc-176l-hynix.yaml", "tlc", 176, 4, 168e6},
        Row{"tlc-176l-v7.yaml", "tlc", 176, 4, 184e6}, Row{"tlc-218l-bics8.yaml", "tlc", 218, 4, 205e6},
        Row{"tlc-2yyl-micron.yaml", "tlc", 232, 6, 314.6e6},  // 300 MiB/s: FEMU reckons in MiB
        Row{"tlc-236l-v8.yaml", "tlc", 236, 4, 164e6}, Row{"tlc-300l-hynix.yaml", "tlc", 300, 4, 194e6},
        Row{"qlc-176l-micron.yaml", "qlc", 176, 4, 40e6}, Row{"qlc-232l-micron.yaml", "qlc", 232, 4, 52.4e6},
        Row{"qlc-280l-v9.yaml", "qlc", 280, 4, 41e6}, Row{"qlc-321l-hynix.yaml", "qlc", 321, 6, 75e6}}) {
    INFO(row.file);
    const NandPart part = read_part(folder + row.file);
    CHECK(part.cell == row.cell);
    CHECK(part.layers == row.layers);
    CHECK(part.planes == row.planes);
    CHECK(part.word_lines() == 4 * row.layers);
    const std::uint32_t bits = part.bits();
    const Picoseconds word_line =
        make_timing_model(part)->answer(program_operation(part, PageId{0}, bits)).duration;
    CHECK(bits * static_cast<double>(part.page_size) * part.planes /
              (static_cast<double>(word_line) * 1e-12) ==
          Approx(row.rate).epsilon(0.001));
  }
}
