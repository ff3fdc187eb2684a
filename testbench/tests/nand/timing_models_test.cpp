// Timing models of the program: tables and formulas over the fields of an array operation, against
// closed forms.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "models/base/input_error.h"
#include "models/nand/reliability/retention_clock.h"
#include "models/nand/timing/arguments.h"
#include "models/nand/timing/formula.h"
#include "models/nand/timing/lookup_table.h"
#include "models/nand/timing/timing_model.h"

using namespace tlmssd;
using namespace tlmssd::literals;

namespace {

NandPart tlc() {
  NandPart part;
  part.cell = "tlc";
  part.pages_per_block = 192;
  part.layers = 32;  // two strings
  part.read_latency = {56'500'000, 77'500'000, 106'000'000};
  part.program_latency = {820'000'000, 2'225'000'000, 5'734'000'000};
  part.erase_latency = 3_ms;
  part.endurance = 3000;
  part.timing = "formula";
  return part;
}

class Given final : public ParameterValues {
 public:
  explicit Given(std::map<std::string, Value, std::less<>> values) : values_(std::move(values)) {}
  [[nodiscard]] const Value* find(std::string_view name) const override {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

using Lines = std::vector<std::string>;

std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

LookupTable table(const Lines& lines, LookupTable::Between between = LookupTable::Between::linear,
                  ArrayCommand command = ArrayCommand::sense) {
  return {"program_table", lines, tlc(), command, {820_us, 10_s}, between};
}

std::string refused_table(const Lines& lines, ArrayCommand command = ArrayCommand::sense) {
  return refusal_of([&] { static_cast<void>(table(lines, LookupTable::Between::linear, command)); });
}

Picoseconds formula(const std::string& text, const ArrayOperation& op) {
  const NandPart part = tlc();
  return Formula("read", text, part, op.command, op.slc()).at(op);
}

std::string refused_formula(const std::string& text) {
  return refusal_of([&] { static_cast<void>(formula(text, {})); });
}

}  // namespace

TEST_CASE("a part's layers: word lines in the order of programming, spread evenly") {
  const NandPart part = tlc();
  CHECK(program_operation(part, PageId{0}, 3).layer == 0);
  CHECK(program_operation(part, PageId{5}, 1).word_line == 1);
  CHECK(program_operation(part, PageId{5}, 1).layer == 0);
  CHECK(program_operation(part, PageId{6}, 1).layer == 1);
  CHECK(program_operation(part, PageId{191}, 1).layer == 31);
  CHECK(sense_operation(part, PageId{5}).type == 2);
  NandPart odd = part;
  odd.layers = 65;
  CHECK_THROWS_WITH(odd.check(), Catch::Contains("only 64 word lines"));
}

TEST_CASE("a table is exact at its points, linear between them and constant beyond") {
  const LookupTable t = table({"# a comment", "layer, cycles, time", "", "0, 0, 1000 us", "31, 0, 690 us",
                               "0, 3000, 800 us", "31, 3000, 490 us"});
  ArrayOperation op;
  op.command = ArrayCommand::program;
  CHECK(t.at(op, 1) == 1000e6);
  op.layer = 31;
  op.cycles = 3000;
  CHECK(t.at(op, 1) == 490e6);
  op.cycles = 99'999;
  CHECK(t.at(op, 1) == 490e6);
  op.layer = 10;  // 1000 - 10 a layer, 200 less at 3000 cycles
  op.cycles = 1500;
  CHECK(t.at(op, 1) == Approx(800e6).epsilon(1e-12));
  CHECK_FALSE(t.looks_at_history());
  op.mode = BlockMode::slc;
  CHECK_FALSE(t.applies(op));
}

TEST_CASE("a table of factors, of steps, of types and of SLC mode") {
  const LookupTable steps =
      table({"age_days, factor", "0, 1", "30, 1.5", "365, 3"}, LookupTable::Between::step);
  ArrayOperation op;
  op.age_days = 29.9;
  CHECK(steps.at(op, 100) == 100);
  op.age_days = 30;
  CHECK(steps.at(op, 100) == 150);
  op.age_days = 400;
  CHECK(steps.at(op, 100) == 300);
  CHECK(steps.looks_at_history());
  CHECK(table({"plane, factor", "0, 1", "1, 2"}).looks_at_history());
  CHECK(table({"block, factor", "0, 1", "7, 2"}).looks_at_history());
  const LookupTable types =
      table({"type, slc, time", "0,0,1 us", "1,0,2 us", "2,0,3 us", "0,1,4 us", "1,1,4 us", "2,1,4 us"});
  op.type = 2;
  CHECK(types.at(op, 1) == 3e6);
  op.mode = BlockMode::slc;
  op.type = 0;
  CHECK(types.applies(op));
  CHECK(types.at(op, 1) == 4e6);
}

TEST_CASE("a table that is none is refused with the line that is wrong") {
  CHECK_THAT(refused_table({""}), Catch::Contains("has no lines"));
  CHECK_THAT(refused_table({"layer, time"}), Catch::Contains("no line of values"));
  CHECK_THAT(refused_table({"layer, tiem", "0, 1 us"}),
             Catch::Contains("line 1") && Catch::Contains("\"time\" or"));
  CHECK_THAT(refused_table({"laier, time", "0, 1 us"}),
             Catch::Contains("line 1") && Catch::Contains("is no argument"));
  CHECK_THAT(refused_table({"layer, layer, time", "0, 0, 1 us"}), Catch::Contains("twice"));
  CHECK_THAT(refused_table({"layer, factor, time", "0, 1, 1 us"}),
             Catch::Contains("line 1: names both 'factor' and 'time'; give one, as the last column"));
  CHECK_THAT(refused_table({"layer, time", "0, 1"}), Catch::Contains("line 2: time"));
  CHECK_THAT(refused_table({"layer, time", "0, 0 us"}), Catch::Contains("not above 0"));
  CHECK_THAT(refused_table({"layer, time", "0, 10001 ms"}), Catch::Contains("at most 10 s"));
  CHECK_THAT(refused_table({"layer, factor", "0, 1000.5"}), Catch::Contains("at most 1000"));
  CHECK_THAT(refused_table({"layer, factor", "0, 1", "31, 6e-10"}),
             Catch::Contains("line 3: factor: '6e-10' leaves no latency of the data sheet's 820 us"));
  CHECK(refused_table({"layer, factor", "0, 1", "31, 7e-10"}) == "accepted");
  CHECK_THAT(refused_table({"layer, time", "32, 1 us"}), Catch::Contains("outside 0 to 31"));
  CHECK_THAT(refused_table({"layer, time", "1.5, 1 us"}), Catch::Contains("no whole number"));
  CHECK_THAT(refused_table({"layer, time", "0, 1 us, 3"}), Catch::Contains("3 values for 2 columns"));
  CHECK_THAT(refused_table({"layer, time", "0, 1 us", "0, 2 us"}),
             Catch::Contains("line 3") && Catch::Contains("twice"));
  CHECK_THAT(refused_table({"layer, cycles, time", "0, 0, 1 us", "1, 5, 2 us"}),
             Catch::Contains("whole grid"));
  CHECK_THAT(refused_table({"type, time", "0, 1 us", "1, 2 us"}), Catch::Contains("no line with type 2"));
}

TEST_CASE("times of a table may be what the data sheet's may be") {
  NandPart part = tlc();
  part.timing = "table";
  const auto answer_to = [&](const char* key, const char* time) {
    const Lines lines{"cycles, time", std::string("0, ") + time};
    return refusal_of([&] { static_cast<void>(make_timing_model(part, Given({{key, lines}}))); });
  };
  CHECK(answer_to("read_table", "1 s") == "accepted");
  CHECK_THAT(answer_to("read_table", "1001 ms"), Catch::Contains("at most 1 s"));
  for (const char* key : {"program_table", "erase_table"}) {
    CHECK(answer_to(key, "10 s") == "accepted");
    CHECK_THAT(answer_to(key, "10001 ms"), Catch::Contains("at most 10 s"));
  }
}

TEST_CASE("program variation: each die, block and layer keeps its factor, lognormal with mean 1") {
  NandPart part = tlc();
  part.timing = "table";
  const Given values({{"program_block_variation", 0.2}, {"program_layer_variation", 0.03}});
  const auto model = make_timing_model(part, values);
  CHECK(model->looks_at_history());
  const NandVariation variation(7);
  double sum = 0;
  double squares = 0;
  constexpr std::uint32_t k_blocks = 20'000;
  for (std::uint32_t b = 0; b < k_blocks; ++b) {
    ArrayOperation op = program_operation(part, PageId{0}, 3);
    op.block_deviate = variation.block(DieId{b % 8}, PlaneId{1}, BlockId{b});
    op.layer_deviate = variation.layer(0);
    const double factor = static_cast<double>(model->answer(op).duration) /
                          static_cast<double>(data_sheet_latency(part, op)) /
                          std::exp(0.03 * op.layer_deviate - 0.03 * 0.03 / 2);
    sum += factor;
    squares += std::log(factor) * std::log(factor);
  }
  CHECK(std::abs(sum / k_blocks - 1) < 4 * 0.2 / std::sqrt(k_blocks));  // the median is 2 % below
  CHECK(std::sqrt(squares / k_blocks) == Approx(0.2).epsilon(0.03));
  CHECK(variation.block(DieId{1}, PlaneId{0}, BlockId{5}) ==
        NandVariation(7).block(DieId{1}, PlaneId{0}, BlockId{5}));
  CHECK(variation.block(DieId{1}, PlaneId{0}, BlockId{5}) !=
        NandVariation(8).block(DieId{1}, PlaneId{0}, BlockId{5}));
  CHECK(model->answer(sense_operation(part, PageId{0})).duration == 56'500_ns);  // reads do not vary
}

TEST_CASE("a formula says what the same arithmetic says in C++") {
  const NandPart part = tlc();
  for (std::uint32_t page = 0; page < 192; page += 7) {
    ArrayOperation op = sense_operation(part, PageId{page}, 100.0 * page);
    op.age_days = 0.5 * page;
    op.retry_level = page % 5;
    const double expected =
        static_cast<double>(part.read_time(PageId{page})) * (1 + 0.08 * std::pow(op.age_days, 0.3)) +
        op.retry_level * 12e6;
    const std::string text = "tR[type] * (1 + 0.08*age_days^0.3) + retry*12us";
    CHECK(formula(text, op) == std::llround(expected));
    const NandPart kept = tlc();
    const Formula twice("read", text, kept, ArrayCommand::sense, false);
    CHECK(twice.at(op) == twice.at(op));  // the second answer is a kept one
  }
  ArrayOperation program = program_operation(part, PageId{3}, 3);
  CHECK(formula("base", program) == 8779_us);
  CHECK(formula("tPROG[type] + 2ms + 3us + 4ns + 5ps", program) == 820_us + 2_ms + 3_us + 4_ns + 5);
  CHECK(formula("layer < 16 ? base : base / 2", program) == 8779_us);
  CHECK(formula("tBERS * 2", erase_operation()) == 6_ms);
}

TEST_CASE("kept answers are those of the same arguments") {
  const NandPart part = tlc();
  const Formula f("read", "base * (1 + 0.001*cycles) * (1 + 0.01*age_days)", part, ArrayCommand::sense,
                  false);
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < 30'000; ++i) {
      ArrayOperation op = sense_operation(part, PageId{i % 3}, i % 1000);
      op.age_days = i / 1000;
      const double expected =
          static_cast<double>(part.read_time(op.page)) * (1 + 0.001 * op.cycles) * (1 + 0.01 * op.age_days);
      REQUIRE(std::abs(static_cast<double>(f.at(op)) - expected) <= 1);
    }
  }
}

TEST_CASE("a formula that is no latency is refused with its position") {
  const auto says = [](const std::string& text, const std::string& position, const std::string& what) {
    INFO(text);
    CHECK_THAT(refused_formula(text), Catch::Contains("position " + position + ",") && Catch::Contains(what));
  };
  says("tR[type] * (1 + ag_days)", "17", "\"ag_days\" is not known");
  says("tR[type] + 3", "1", "mixes times and numbers");
  says("tR[type] * 2 + max(age_days, 3us)", "16", "mixes times and numbers");
  says("12", "1", "is a number, not a time");
  says("tR[type] * tR[0]", "1", "power of 2");
  says("50us + tR[type] / layer", "8", "is infinite where");
  says("tR[type] * log(age_days)", "12", "is infinite where");
  says("60us + 1us * sqrt(age_days - 5)", "14", "is undefined where age_days = 0");
  says("tR[type] - cycles*0.1us", "10", "no latency");
  says("tR[3]", "1", "is undefined; page types are 0 to 2");
  says("tR[type + 1] + 5us", "1", "is undefined where type = 2; page types are 0 to 2");
  says("layer = 3us", "7", "assigns");
  says("3us, 4us", "4", "more than one");
  says("tR[type] * (", "12", "end of expression");
  CHECK_THAT(refused_formula("-50us"), Catch::EndsWith("makes it -50 us, which is no latency"));
  says("base * 1e12", "1", "makes it 5.65e+07 s, and nothing may take 1000 s or more");
  CHECK(refused_formula("tR[type] * (cycles == 1237 ? 1e12 : 1)") == "accepted");
  CHECK_THAT(refused_formula(""), !Catch::Contains("accepted"));
  CHECK(refused_formula("tR[type] * (age_days > 10 ? 1.2 : 1)") == "accepted");
  // What the check does not meet is said by the scenario's key.
  ArrayOperation worn;
  worn.cycles = 1237;
  CHECK_THAT(refusal_of([&] { static_cast<void>(formula("tR[type] * (cycles == 1237 ? -1 : 1)", worn)); }),
             Catch::StartsWith("ssd.flash.part.read: -") &&
                 Catch::EndsWith(" us is no latency where type = 0, cycles = 1237"));
  CHECK_THAT(refusal_of([&] { static_cast<void>(formula("tR[type] * (cycles == 1237 ? 1e12 : 1)", worn)); }),
             Catch::Contains(" s, and nothing may take 1000 s or more where type = 0, cycles = 1237"));
}

TEST_CASE("the model formula: expressions by command and mode, the data sheet for the rest") {
  NandPart part = tlc();
  part.slc_read_latency = 20_us;
  part.slc_program_latency = 200_us;
  part.slc_erase_latency = 2_ms;
  const Given values(
      {{"program", std::string("base * (1 - 0.1*layer/31)")}, {"slc_read", std::string("base + 1us")}});
  const auto model = make_timing_model(part, values);
  CHECK_FALSE(model->looks_at_history());
  CHECK(model->answer(sense_operation(part, PageId{1})).duration == 77'500_ns);
  CHECK(model->answer(program_operation(part, PageId{189}, 3)).duration == 7'901'100_ns);
  ArrayOperation slc;
  slc.mode = BlockMode::slc;
  CHECK(model->answer(slc).duration == 21_us);
  slc.command = ArrayCommand::program;
  CHECK(model->answer(slc).duration == 200_us);
  const NandPart without = tlc();
  CHECK_THROWS_WITH(make_timing_model(without, values), Catch::Contains("no SLC mode"));
}

TEST_CASE("a table over dies has a line for each die of the drive") {
  NandPart part = tlc();
  part.timing = "table";
  const auto answer_to = [&](const Lines& lines, std::uint32_t dies) {
    return refusal_of([&] {
      make_timing_model(part, Given({{"read_table", lines}}))->check_drive(part.geometry(dies, 1, 1));
    });
  };
  const Lines gap{"die, time", "0, 100 us", "2, 300 us"};
  CHECK_THAT(answer_to(gap, 4), Catch::Contains("read_table: has no line with die 1"));
  CHECK(answer_to(gap, 1) == "accepted");
  const Lines all{"die, time", "0, 100 us", "1, 200 us", "2, 300 us"};
  CHECK(answer_to(all, 3) == "accepted");
  CHECK(answer_to(all, 2) == "accepted");
  CHECK_THAT(answer_to(all, 4), Catch::Contains("no line with die 3"));
}

TEST_CASE("an argument that an operation does not have is refused, in tables and formulas") {
  const Lines type{"type, time", "0, 1 ms", "1, 1 ms", "2, 1 ms"};
  CHECK_THAT(refused_table(type, ArrayCommand::erase),
             Catch::Contains("line 1: 'type' is no argument of an erase, which has cycles, temperature"));
  for (const char* name :
       {"layer", "word_line", "page", "pages", "age_days", "reads", "retry", "pass_voltage", "layer_z"}) {
    INFO(name);
    const Lines one{std::string(name) + ", time", "1, 1 ms"};
    CHECK_THAT(refused_table(one, ArrayCommand::erase), Catch::Contains("is no argument of an erase"));
  }
  CHECK_THAT(refused_table({"retry, time", "0, 1 ms"}, ArrayCommand::program),
             Catch::Contains("is no argument of a program"));
  CHECK_THAT(refused_table({"pages, time", "1, 1 ms"}), Catch::Contains("is no argument of a read"));
  CHECK_THAT(refused_table({"resumed, time", "0, 1 ms"}), Catch::Contains("is no argument of a read"));
  CHECK(refused_table({"resumed, time", "0, 1 ms", "1, 2 ms"}, ArrayCommand::erase) == "accepted");
  const auto refused = [](const std::string& text, ArrayCommand command) {
    const NandPart part = tlc();
    return refusal_of([&] { Formula("key", text, part, command, false); });
  };
  CHECK_THAT(refused("base*(1+retry)", ArrayCommand::erase),
             Catch::Contains("position 9, at \"retry\": is no argument of an erase, which has cycles"));
  CHECK_THAT(refused("base*(1+age_days)", ArrayCommand::program),
             Catch::Contains("position 9, at \"age_days\": is no argument of a program"));
  CHECK_THAT(refused("base*pages", ArrayCommand::sense), Catch::Contains("is no argument of a read"));
}

TEST_CASE("a table needs no lines for what a part cannot do") {
  NandPart part = tlc();
  part.timing = "table";
  const auto answer_to = [&](const char* key, const Lines& lines) {
    return refusal_of([&] { static_cast<void>(make_timing_model(part, Given({{key, lines}}))); });
  };
  const Lines native{"slc, time", "0, 100 us"};
  CHECK(answer_to("read_table", native) == "accepted");
  CHECK(answer_to("read_table", {"slc, time", "0, 100 us", "1, 50 us"}) == "accepted");
  part.slc_read_latency = 20_us;
  part.slc_program_latency = 200_us;
  part.slc_erase_latency = 2_ms;
  CHECK_THAT(answer_to("read_table", native), Catch::Contains("no line with slc 1"));
  const Lines first_type{"type, time", "0, 1 ms"};
  CHECK_THAT(answer_to("program_table", first_type), Catch::Contains("no line with type 1"));
  part.program_unit = "word-line";
  CHECK(answer_to("program_table", first_type) == "accepted");
  CHECK_THAT(answer_to("erase_table", {"resumed, time", "0, 1 ms"}),
             Catch::Contains("no line with resumed 1"));
  part.suspend = false;
  CHECK(answer_to("erase_table", {"resumed, time", "0, 1 ms"}) == "accepted");
}

TEST_CASE("a formula is tried where operations can be") {
  NandPart part = tlc();
  const auto answer_to = [&](const std::string& text, ArrayCommand command) {
    return refusal_of([&] { Formula("key", text, part, command, false); });
  };
  part.read_latency = {40_us, 80_us, 160_us};
  CHECK(answer_to("base - 0.5*tR[type]", ArrayCommand::sense) == "accepted");
  CHECK(answer_to("base*(1 - 0.3*(page - 3*word_line))", ArrayCommand::sense) == "accepted");
  CHECK(answer_to("base - 30us*(layer == 31 ? 1 : 0)*(type + 1)", ArrayCommand::sense) == "accepted");
  CHECK_THAT(answer_to("base - 41us", ArrayCommand::sense),
             Catch::Contains("makes it -1 us") && Catch::Contains("where base = 40 us"));
  // Beside more arguments than all combinations can be tried of.
  const std::string more = " + 0us*(cycles + age_days + reads + retry + pass_voltage + planes + block)";
  CHECK(answer_to("base - 0.5*tR[type]" + more, ArrayCommand::sense) == "accepted");
  CHECK_THAT(answer_to("base - (page == 191 ? 160us : 0us)" + more, ArrayCommand::sense),
             Catch::Contains("is no latency"));
  // The last step of this block has one page.
  part.cell = "tlc";
  part.program_unit = "block";
  part.pages_per_block = 97;
  part.layers = 0;
  part.program_latency = {100_us};
  CHECK_THAT(answer_to("base - 150us", ArrayCommand::program), Catch::Contains("makes it -50 us"));
  part.pages_per_block = 96;
  CHECK(answer_to("base - 150us", ArrayCommand::program) == "accepted");
  CHECK(answer_to("base - 90us*(3 - pages)", ArrayCommand::program) == "accepted");
  // A read and an erase count themselves.
  CHECK(answer_to("base / reads", ArrayCommand::sense) == "accepted");
  CHECK(answer_to("base / cycles", ArrayCommand::erase) == "accepted");
  CHECK_THAT(answer_to("base / reads", ArrayCommand::program),
             Catch::Contains("is infinite where reads = 0"));
}

TEST_CASE("a formula over dies and blocks is tried on those of the drive") {
  NandPart part = tlc();
  part.timing = "formula";
  const auto answer_to = [&](const char* text, const Geometry& drive) {
    return refusal_of([&] {
      make_timing_model(part, Given({{"read", std::string(text)}}))->check_drive(drive);
    });
  };
  CHECK(answer_to("base*(1 - 0.2*die)", part.geometry(4, 1, 1)) == "accepted");
  CHECK_THAT(answer_to("base*(1 - 0.2*die)", part.geometry(4, 2, 1)),
             Catch::Contains("is no latency where die = 5"));
  Geometry large = part.geometry(1, 1, 1);
  CHECK(answer_to("base*(1 - block/1200)", large) == "accepted");
  large.blocks = 2048;
  CHECK_THAT(answer_to("base*(1 - block/1200)", large), Catch::Contains("is no latency where block = "));
}

TEST_CASE("tables and formulas know ages up to the end of the clock of retention") {
  CHECK(refused_table({"age_days, time", "0, 1 us", "45990, 2 us"}) == "accepted");
  CHECK_THAT(refused_table({"age_days, time", "0, 1 us", "45991, 2 us"}),
             Catch::Contains("outside 0 to 45990"));
  CHECK_THAT(refused_formula("base*(1 - 0.0002*age_days)"), Catch::Contains("is no latency"));
  CHECK(refused_formula("base*(1 - 0.00002*age_days)") == "accepted");
}

TEST_CASE("a formula's times may be in µs, with any micro sign") {
  const ArrayOperation op;
  CHECK(formula("50\u00B5s + 3 \u03BCs", op) == 53_us);
  CHECK_THAT(refused_formula("50\u00B5s + layr*1us"), Catch::Contains("position 9, at \"layr*1us\""));
  CHECK_THAT(refused_formula("3\u00B5s * 4\u00B5s"), Catch::Contains("power of 2"));
}

TEST_CASE("values of a table may be in quotes") {
  const LookupTable t = table({"\"layer\", \"time\"", "\"0\",\"10 us\"", "31, \"20 us\""});
  ArrayOperation op;
  op.layer = 31;
  CHECK(t.at(op, 1) == 20e6);
  CHECK_THAT(refused_table({"layer, time", "0, \"10 us"}),
             Catch::Contains("line 2: has no second quotation mark"));
  CHECK_THAT(refused_table({"layer, time", "\"0\" 1, 10 us"}),
             Catch::Contains("line 2: has something between a quotation mark and a comma"));
  CHECK_THAT(refused_table({"layer, time", "0, \"1\"\"0 us\""}), Catch::Contains("1\"0 us"));
  CHECK_THAT(refused_table({"layer, time", "0,"}), Catch::Contains("line 2: time"));
}

TEST_CASE("what an operation is called names what is unusual about it") {
  ArrayOperation op;
  CHECK(to_text(op).ends_with(", retry level 0"));
  op.pass_voltage = 0.75;
  op.planes = 2;
  CHECK(to_text(op).ends_with(", retry level 0, pass voltage 0.75, 2 planes"));
  ArrayOperation erase = erase_operation();
  erase.resumed = true;
  CHECK(to_text(erase).ends_with(", retry level 0, resumed"));
}

TEST_CASE("tables and formulas are asked for every temperature that the drive may have") {
  const Range asked = find_timing_argument("temperature")->range(NandPart{});
  int temperatures = 0;
  for (const ParameterSpec& spec : RetentionConfig::parameters().specs()) {
    if (spec.kind != Kind::temperature) continue;
    ++temperatures;
    CHECK(spec.minimum == asked.minimum);
    CHECK(spec.maximum == asked.maximum);
  }
  CHECK(temperatures == 2);
}
