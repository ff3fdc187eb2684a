// Reports: complete, consistent with the measurement, the same bytes for the same run, and readable
// by those they are made for.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <sstream>

#include "models/base/quantity_text.h"
#include "testbench/report/advice/findings.h"
#include "testbench/report/advice/resources.h"
#include "testbench/report/metric.h"
#include "testbench/report/page/html_report.h"
#include "testbench/report/statistics_view.h"
#include "testbench/report/steadiness.h"
#include "testbench/report/summary.h"
#include "testbench/tests/measure/support.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;
using namespace test;

Json example_report(std::uint64_t seed = 1) {
  return build_report(example_facts(), example_measurement(seed), example_statistics());
}

/// A page without what its scripts hold.
std::string without_scripts(const std::string& html) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t begin = html.find("<script"); begin != std::string::npos;
       begin = html.find("<script", at)) {
    const std::size_t body = html.find('>', begin) + 1;
    text += html.substr(at, body - at);
    at = html.find("</script>", body);
    REQUIRE(at != std::string::npos);
  }
  return text + html.substr(at);
}

}  // namespace

TEST_CASE("statistics become JSON with value, unit and doc") {
  const Json json = example_statistics();
  CHECK(json["cpu"]["core_1"]["utilisation"]["value"] == 0.75);
  CHECK(json["dram"]["bytes_read"]["unit"] == "B");
  CHECK(json["firmware"]["mapping"]["value"] == "page");
  CHECK(json["firmware"]["undefined"]["value"].is_null());
  JsonSink sink;
  sink.value("twice", std::uint64_t{1}, "", "");
  sink.value("twice", std::uint64_t{2}, "", "");
  const Json twice = sink.take();
  CHECK(twice["twice"]["value"] == 1);
  CHECK(twice["twice_2"]["value"] == 2);
  CHECK(sink.take().empty());
}

TEST_CASE("things are found in the statistics whatever module reports them") {
  const Json json = example_statistics();
  REQUIRE(find_group(json, "erase counts") != nullptr);
  REQUIRE(find_value(json, "bytes read") != nullptr);
  CHECK(value_text(*find_value(json, "bytes read"), "bytes_read") == "118 MiB");
  CHECK(find_group(json, "no such") == nullptr);
  const auto all = utilisations(json);
  REQUIRE(all.size() == 4);
  CHECK(all[0].label == "cpu core");
  CHECK(all[0].mean() == 0.5);
  CHECK(all[0].highest() == 0.75);
  CHECK(all[1].label == "dram");
  CHECK(all[2].label == "flash channel bus");
  CHECK(all[3].label == "flash channel die");
  CHECK(all[3].shares.size() == 6);
}

TEST_CASE("findings say of the host link what holds of it, once of each of its parts") {
  const auto told = [](double in, double out, bool half_duplex) {
    JsonSink sink;
    sink.open("host", "");
    sink.open("link", "");
    for (const auto& [name, share] : {std::pair("to device", in), std::pair("to host", out)}) {
      sink.open(name, "");
      sink.value("utilisation", share, "", "");
      sink.close();
    }
    if (half_duplex) sink.value("utilisation", in + out, "", "");
    sink.close();
    sink.close();
    std::vector<std::string> texts;
    const Json report = build_report(example_facts(), example_measurement(), sink.take());
    for (const Finding& one : findings(report))
      if (one.cause == "the host link")
        texts.push_back(one.text.substr(0, one.text.find(',', one.text.find(':'))));
    return texts;
  };
  using Texts = std::vector<std::string>;
  CHECK(told(0.9, 0.1, true) == Texts{"the host link: 100.0 % of the time busy"});
  CHECK(told(0.9, 0.95, false) == Texts{"the host link, to the host: 95.0 % of the time busy",
                                        "the host link, to the device: 90.0 % of the time busy"});
  CHECK(told(0.9, 0.1, false) == Texts{"the host link, to the device: 90.0 % of the time busy"});
}

TEST_CASE("findings call programs of block-mapped regions what most of them is") {
  const auto told = [](double rewrites) {
    JsonSink sink;
    sink.open("write amplification", "");
    sink.value("host", 1.0, "", "");
    sink.value("region rewrites", rewrites, "", "");
    sink.close();
    sink.open("flash", "");
    sink.value("busy program", 0.95, "", "");
    for (const auto& [of, name] :
         {std::pair("channel", "utilisation"), std::pair("nand", "array utilisation")}) {
      for (const char* group : {of, "die"}) sink.open(group, "");
      sink.value(name, 0.95, "", "");
      for (int n = 0; n < 2; ++n) sink.close();
    }
    sink.close();
    std::vector<std::string> texts;
    Json report = build_report(example_facts(), example_measurement(), sink.take());
    report["results"]["shown"] = "total";
    for (const Finding& one : findings(report))
      if (one.text.starts_with("the dies")) texts.push_back(one.text);
    return texts;
  };
  for (const double rewrites : {0.5, 2.0}) {
    const auto texts = told(rewrites);
    REQUIRE(texts.size() == 1);
    CHECK_THAT(texts[0], Catch::Contains(rewrites > 1 ? "for rewrites of block-mapped regions"
                                                      : "for programs of host data"));
  }
}

TEST_CASE("decoders of a code from outside are told by its name") {
  JsonSink sink;
  for (const char* group : {"flash", "controller", "decoders"}) sink.open(group, "");
  sink.open("polar", "");
  sink.value("pages", std::uint64_t{1}, "", "");
  sink.close();
  sink.value("polar_utilisation", 0.9, "", "");
  sink.value("ldpc_utilisation", 0.1, "", "");
  const Json tree = sink.take();
  const auto uses = plain_utilisations(tree);
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].label == "polar decoders");
  CHECK(uses[1].label == "LDPC decoders");
  CHECK(find_resource("polar decoders", tree)->all_keys() ==
        "ssd.flash.ecc.engines or ssd.flash.ecc.polar.throughput");
  CHECK(find_resource("LDPC decoders", tree)->all_keys() == "ssd.flash.ecc.engines");
}

TEST_CASE("the summary tells of a map in flash, of regions that are rewritten and superblocks packed") {
  JsonSink sink;
  sink.open("mapping", "");
  sink.text("scheme", "dftl", "");
  sink.value("cache bytes", std::uint64_t{16384}, "B", "");
  sink.value("look-ups", std::uint64_t{10}, "", "");
  sink.value("hit share", 0.4, "", "");
  sink.close();
  CHECK(map_items(sink.take()) == std::vector<std::string>{"dftl in 16.0 KiB: 40 % of look-ups hit",
                                                           "0 map pages read", "0 map pages written"});
  sink.open("mapping", "");
  sink.text("scheme", "block", "");
  sink.value("block", std::uint64_t{1048576}, "B", "");
  sink.value("units rewritten", std::uint64_t{7}, "units", "");
  sink.close();
  CHECK(map_items(sink.take()).back() == "7 units rewritten");
  sink.open("mapping", "");
  sink.text("scheme", "superblock", "");
  sink.value("block", std::uint64_t{98304}, "B", "");
  for (const char* name : {"collections", "packings", "units copied"})
    sink.value(name, std::uint64_t{7}, "", "");
  sink.close();
  CHECK(map_items(sink.take()) == std::vector<std::string>{"superblock with blocks of 96.0 KiB", "tables 0 B",
                                                           "7 packings, 7 collections", "7 units copied"});
}

TEST_CASE("report.json agrees with the measurement") {
  const Measurement m = example_measurement();
  const Json report = build_report(example_facts(), m, example_statistics());
  const Json& total = report["results"]["total"];
  CHECK(total["commands"] == 20000);
  std::uint64_t commands = 0;
  for (const auto& [name, operation] : total["operations"].items()) {
    commands += operation["commands"].get<std::uint64_t>();
    double share = 0;
    double mean = 0;
    for (const auto& [cause, part] : operation["ledger"].items()) {
      share += part["share"].get<double>();
      mean += part["mean_ns"].get<double>();
    }
    CHECK(share == Approx(1));
    CHECK(mean == Approx(operation["latency"]["mean"].get<double>()));
    CHECK(operation["tail"]["share"].get<double>() >= 0.01);
    // The ledgers of all quarter octaves together are the ledger, and each lies in its own.
    std::uint64_t binned = 0;
    double sum = 0;
    for (const Json& bin : operation["ledger_by_latency"]) {
      double latency = 0;
      for (const auto& [cause, part] : bin["mean_ns"].items()) latency += part.get<double>();
      CHECK(latency >= bin["from_ns"].get<double>());
      CHECK(latency <= 1.25 * bin["from_ns"].get<double>());
      binned += bin["commands"].get<std::uint64_t>();
      sum += latency * bin["commands"].get<double>();
    }
    CHECK(binned == operation["commands"]);
    CHECK(sum / static_cast<double>(binned) == Approx(mean));
    const Json& points = operation["distribution"];
    CHECK(points.size() < 260);
    CHECK(points.back()[1] == 1.0);
    CHECK(points.back()[0] == operation["latency"]["max"]);
    for (std::size_t i = 1; i < points.size(); ++i)
      CHECK(points[i][1].get<double>() > points[i - 1][1].get<double>());
  }
  CHECK(commands == 20000);
  std::uint64_t failed = 0;
  for (const Json& operation : total["operations"])
    for (const Json& count : operation["errors"]) failed += count.get<std::uint64_t>();
  CHECK(failed > 0);
  CHECK(total["iops"].get<double>() ==
        Approx(static_cast<double>(20000 - failed) * 1e12 / static_cast<double>(m.span())));
  double depth_time = 0;
  for (const Json& at : total["queue_depth"]["share_of_time_at_depth"]) depth_time += at[1].get<double>();
  CHECK(depth_time == Approx(1));
  // The tail of reads is garbage collection, which hardly shows in the average.
  const Json& read = total["operations"]["read"];
  CHECK(read["tail"]["ledger"]["die busy: gc"]["share"].get<double>() > 0.9);
  CHECK(read["ledger"]["die busy: gc"]["share"].get<double>() < 0.5);
  CHECK(report["write_amplification"]["total"]["value"] == 1.75);
  // Commands in the series add up.
  const double step = total["series"]["step"]["value"].get<double>();
  const Json& iops = total["series"]["read"]["iops"];
  const double span = report["measured_time"]["value"].get<double>();
  double reads = 0;
  for (std::size_t i = 0; i < iops.size(); ++i) {
    reads += iops[i].get<double>() * std::min(step, span - static_cast<double>(i) * step);
  }
  double succeeded = read["commands"].get<double>();
  for (const Json& count : read["errors"]) succeeded -= count.get<double>();
  CHECK(reads == Approx(succeeded).epsilon(1e-9));
}

TEST_CASE("the same run gives the same bytes, another run others") {
  CHECK(to_text(example_report(1)) == to_text(example_report(1)));
  CHECK(to_text(example_report(1)) != to_text(example_report(2)));
  const Measurement m = example_measurement();
  CHECK(to_text(fio_json(example_facts(), m)) == to_text(fio_json(example_facts(), example_measurement())));
  CHECK(html_report(example_report(1)) == html_report(example_report(1)));
  CHECK(Json::parse(to_text(example_report())) == example_report());
}

TEST_CASE("a run without a single command is reported too") {
  Measurement m({"nothing"});
  m.finish(1'000'000);
  const Json report = build_report(RunFacts{}, m, Json::object());
  CHECK(report["results"]["total"]["commands"] == 0);
  CHECK_FALSE(summary(report, HostRun{}).empty());
  CHECK_FALSE(html_report(report).empty());
  const Json fio = fio_json(RunFacts{}, m);
  CHECK(fio["jobs"][0]["read"]["total_ios"] == 0);
  CHECK_FALSE(to_text(fio).empty());
}

TEST_CASE("five rounds are steady with a fifth of range and a tenth of slope, up or down") {
  const auto steady = [](const std::vector<double>& rounds) { return pts_steadiness(rounds).by_pts(); };
  CHECK(steady({1, 1, 1, 1, 1}));
  CHECK(steady({9, 0.96, 0.98, 1, 1.02, 1.04}));  // what came before does not count
  for (const double step : {0.024, 0.026, -0.024, -0.026}) {
    std::vector<double> rounds;
    for (int i = -2; i <= 2; ++i) rounds.push_back(1 + i * step);
    CHECK(pts_steadiness(rounds).change == Approx(4 * step));
    CHECK(pts_steadiness(rounds).range == Approx(4 * std::abs(step)));
    CHECK(steady(rounds) == (std::abs(step) < 0.025));
  }
  CHECK(steady({1, 1.19, 1, 1, 1}));
  CHECK_FALSE(steady({1, 1.25, 1, 1, 1}));
}

TEST_CASE("depths and rates of several loads add up in a metric, latencies are of all their commands") {
  const Measurement m = example_measurement();
  const std::vector<const LoadMeasurement*> both = {&m.load(0), &m.load(1)};
  const auto value = [&](const char* metric, const std::vector<const LoadMeasurement*>& loads) {
    return *Metric(metric).value(loads, m.rates(), Json::object());
  };
  for (const char* metric : {"queue_depth.mean", "iops", "bandwidth"}) {
    INFO(metric);
    CHECK(value(metric, both) == Approx(value(metric, {both[0]}) + value(metric, {both[1]})));
  }
  CHECK(value("write.iops", both) == value("write.iops", {both[1]}));  // the other load has none
  CHECK(value("read.max", both) ==
        static_cast<double>(m.load(0).operation(HostOpcode::read).latency().maximum()));
  CHECK_FALSE(Metric("trim.iops").value({both[0]}, m.rates(), Json::object()));
}

TEST_CASE("rates in the loads' own time are from their first command to the end of their last") {
  Measurement m({"early", "late"});
  const auto command = [&](std::uint16_t load, Picoseconds from, Picoseconds until) {
    m.submitted(load, from);
    Ledger ledger(from);
    ledger.charge(Cause::sense, until);
    m.record({.opcode = load == 0 ? HostOpcode::read : HostOpcode::write,
              .load = load,
              .bytes = 4096,
              .submitted = from,
              .completed = until,
              .ledger = &ledger});
  };
  m.reset(1'000'000);
  command(0, 2'000'000, 3'000'000);
  command(0, 3'000'000, 4'000'000);
  command(1, 8'000'000, 8'500'000);
  m.finish(11'000'000);
  const auto value = [&](const char* metric, const std::vector<const LoadMeasurement*>& loads) {
    return Metric(metric).value(loads, m.rates(), Json::object());
  };
  const std::vector<const LoadMeasurement*> both = {&m.load(0), &m.load(1)};
  CHECK(*value("own_time.iops", {both[0]}) == Approx(2 / 2e-6));
  CHECK(*value("read.own_time.bandwidth", {both[0]}) == Approx(8192 / 2e-6));
  CHECK(*value("own_time.iops", {both[1]}) == Approx(1 / 0.5e-6));
  CHECK(*value("own_time.iops", both) == Approx(3 / 6.5e-6));
  CHECK(*value("write.own_time.iops", both) == Approx(1 / 6.5e-6));
  CHECK_FALSE(value("write.own_time.iops", {both[0]}));
  CHECK(Metric("write.own_time.bandwidth").kind() == Kind::bandwidth);
  CHECK_THROWS_AS(Metric("read.own_time.p99"), InputError);
  CHECK_THROWS_AS(Metric("own_time.mean"), InputError);

  const Json loads = build_report({}, m, Json::object())["results"]["loads"];
  CHECK(loads[0]["own_time"]["span"]["value"].get<double>() == Approx(2e-6));
  CHECK(loads[0]["own_time"]["iops"].get<double>() == Approx(2 / 2e-6));
  CHECK(loads[1]["operations"]["write"]["own_time"]["bandwidth"]["value"].get<double>() ==
        Approx(4096 / 0.5e-6));
}

TEST_CASE("the report has errors of every status, and depths of all the time that was measured") {
  Measurement m({"a"});
  const Ledger ledger = [] {
    Ledger one(0);
    one.charge(Cause::link, 1'000'000);
    return one;
  }();
  const HostStatus statuses[] = {HostStatus::success, HostStatus::lba_out_of_range,
                                 HostStatus::write_protected, HostStatus::media_error,
                                 HostStatus::invalid_field};
  for (const HostStatus status : statuses) {
    m.submitted(0, 0);
    m.record({HostOpcode::write, status, 0, 0, 0, 4096, 0, 1'000'000, &ledger});
  }
  m.finish(4'000'000);
  const Json report = build_report(RunFacts{}, m, Json::object());
  const Json& load = report["results"]["loads"][0];
  Json errors = Json::object();
  for (std::size_t i = 1; i < 5; ++i) errors[std::string(name_of(statuses[i]))] = 1;
  CHECK(load["operations"]["write"]["errors"] == errors);
  CHECK(load["queue_depth"]["share_of_time_at_depth"] == Json{{0, 0.75}, {1, 0.25}});
}

TEST_CASE("the drive's course is told since measurement began, write amplification over sixteen intervals") {
  Measurement m({"a"});
  std::uint64_t noted = 0;
  m.set_drive([&noted](Picoseconds now) {
    DriveSample sample;
    sample.when = now;
    sample.written = 1000 * noted;
    sample.programmed = 100 * noted * noted;  // more with each
    sample.collected = 50 * noted;
    sample.erases = noted++;
    return sample;
  });
  m.reset(5'000'000);
  for (int i = 0; i <= 30; ++i) {
    const Picoseconds now = 5'000'000 + Picoseconds{1'000'000} * i;
    m.submitted(0, now);
    const Ledger ledger(now);
    m.record({HostOpcode::write, HostStatus::success, 0, 0, 0, 4096, now, now, &ledger});
  }
  m.finish(35'000'000);
  const Json series = build_report(RunFacts{}, m, Json::object())["series"];
  REQUIRE(series["time"].size() == 31);
  CHECK(series["write_amplification"][0].is_null());
  for (std::size_t i = 0; i <= 30; ++i) {
    INFO(i);
    CHECK(series["time"][i].get<double>() == Approx(static_cast<double>(i) * 1e-6));
    if (i == 0) continue;
    const double from = i > 16 ? static_cast<double>(i - 16) : 0;
    const auto until = static_cast<double>(i);
    CHECK(series["write_amplification"][i].get<double>() ==
          Approx(100 * (until * until - from * from) / (1000 * (until - from))));
    CHECK(series["collection"][i].get<double>() == Approx(50e6));
    CHECK(series["erases"][i].get<double>() == Approx(1e6));
  }
}

TEST_CASE("the summary fits a screen and says what matters") {
  Json report = example_report();
  for (int i = 0; i < 100; ++i)
    report["warnings"].push_back("warning number " + std::to_string(i) + std::string(90, 'x'));
  HostRun run;
  run.seconds = 1.5;
  run.events = 3'000'000;
  const std::string text = summary(report, run);
  std::istringstream lines(text);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    ++count;
    INFO(line);
    CHECK(line.size() <= 80);
  }
  CHECK(count <= 46);  // two loads
  for (const char* part :
       {"reads & <writes>", "IOPS", "p99.9", "die busy: gc", "Write amplification", "total 1.750",
        "Erase counts", "cores 50 % (max 75)", "set that plays no part: ssd.scm.latency", "more warnings"}) {
    CHECK_THAT(text, Catch::Contains(part));
  }
}

TEST_CASE("a summary of several loads still has what the drive did and what the adviser says") {
  Json report = example_report();
  const Json read = report["results"]["total"]["operations"]["read"];
  Json& loads = report["results"]["loads"];
  for (Json& load : loads)
    for (const char* name : {"read", "write", "trim", "flush"}) load["operations"][name] = read;
  while (loads.size() < 5) loads.push_back(Json(loads[0]));
  for (int i = 0; i < 9; ++i)
    report["advice"].push_back({{"text", "advice " + std::to_string(i) + std::string(90, 'x')},
                                {"look_at", "somewhere"},
                                {"name", "rule"}});
  const std::string text = summary(report, HostRun{});
  CHECK_THAT(text, Catch::Contains("Erase counts"));
  CHECK_THAT(text, Catch::Contains("cores 50 % (max 75)"));
  CHECK_THAT(text, Catch::Contains(" more warnings, in report.json\n"));
}

TEST_CASE("the summary begins its warnings with what concerns a missed target") {
  Json report = example_report();
  report["advice"] = Json::array({{{"text", "late"}, {"look_at", "rate"}, {"name", "falls-behind"}}});
  const auto first = [&](bool met) {
    report["targets"] = Json::array({{{"met", met}, {"metric", "read.p99"}, {"text", "read.p99 1 ms"}}});
    const std::string text = summary(report, HostRun{});
    return text.substr(text.find("\n! ") + 3, 4);
  };
  CHECK(first(false) == "late");
  CHECK(first(true) != "late");
}

TEST_CASE("the summary has the erases of static blocks in SLC mode beside those of the others") {
  JsonSink sink;
  sink.open("firmware", "");
  sink.open("pslc", "");
  sink.value("static erases mean", 55.5, "", "");
  sink.value("static erases max", std::uint64_t{61}, "", "");
  sink.close();
  sink.open("erase counts", "");
  sink.value("max", std::uint64_t{7}, "", "");
  sink.close();
  sink.close();
  Json report = example_report();
  report["statistics"] = sink.take();
  CHECK_THAT(summary(report, HostRun{}),
             Catch::Contains("max 7, static SLC mean 55.500, static SLC max 61\n"));
}

TEST_CASE("the summary leaves out no item, and says how many findings it does") {
  JsonSink sink;
  sink.open("error correction", "");
  sink.text("policy", "retry-only", "");
  sink.value("reads retried", std::uint64_t{24}, "", "");
  sink.value("retries", std::uint64_t{41}, "", "");
  sink.value("reads lost", std::uint64_t{3}, "", "");
  sink.close();
  sink.open("decoders", "");
  sink.value("raw bit error rate", 2.6e-3, "", "");
  sink.open("bch", "");
  sink.value("pages", std::uint64_t{1041}, "", "");
  sink.close();
  sink.close();
  sink.open("write amplification", "");
  for (int i = 0; i < 20; ++i) sink.value("cause " + std::to_string(i), 1.0, "", "");
  sink.close();
  Json report = build_report(example_facts(), example_measurement(), sink.take());
  for (int i = 0; i < 5; ++i)
    report["findings"].push_back({{"cause", "c"}, {"text", "text " + std::to_string(i)}, {"look_at", ""}});
  const std::string text = summary(report, HostRun{});
  CHECK_THAT(text, Catch::Contains(
                       "\nError correction    retry-only: bch 100 %, raw bit error rate 2.6e-03\n"
                       "                    2.4 % of reads retried, 1.7 times on average, 3 reads lost\n"));
  CHECK_THAT(text, Catch::Contains("cause 19 1.000"));
  CHECK_THAT(text, Catch::Contains("> text 3\n> and 1 more, in report.json\n"));
}

TEST_CASE("summary and report.html have a line for the cache, if there is one") {
  const auto report = [](const Json& statistics) {
    return build_report(example_facts(), example_measurement(), statistics);
  };
  const Json with = report(hybrid_statistics(1000, 500, 12'000));
  CHECK_THAT(
      summary(with, HostRun{}),
      Catch::Contains("\nCache               nv-wb in SCM 302 MiB: 88 % of writes and 70 % of reads hit\n"
                      "                    20 % free, 12.0 k evictions (75 % incomplete)\n"));
  CHECK_THAT(
      html_report(with),
      Catch::Contains("<p>Cache: nv-wb in SCM 302 MiB: 88 % of writes and 70 % of reads hit, 20 % free, "
                      "12.0 k evictions (75 % incomplete)</p>"));
  CHECK_THAT(summary(report(hybrid_statistics(0, 500, 0)), HostRun{}),
             Catch::Contains("nv-wb in SCM 302 MiB: 70 % of reads hit, 20 % free\n"
                             "                    0 evictions\n"));
  CHECK_THAT(summary(report(hybrid_statistics(7, 0, 0)), HostRun{}), Catch::Contains("88 % of writes hit,"));
  CHECK_THAT(summary(report(hybrid_statistics(0, 0, 0)), HostRun{}),
             Catch::Contains("nv-wb in SCM 302 MiB, 20 % free, 0 evictions\n"));
  const Json without = example_report();
  CHECK_THAT(summary(without, HostRun{}), !Catch::Contains("Cache "));
  CHECK_THAT(html_report(without), !Catch::Contains("<p>Cache:"));
}

TEST_CASE("report.html is balanced, whole and needs nothing from outside") {
  const std::string html = without_scripts(html_report(example_report()));
  // A tiny parser: every tag that opens closes in order, attributes are quoted.
  static const std::set<std::string> k_void = {"meta", "br", "!doctype"};
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    REQUIRE(end != std::string::npos);
    std::string tag = html.substr(at + 1, end - at - 1);
    const bool closes = tag.front() == '/';
    const bool itself = tag.back() == '/';
    CHECK(std::count(tag.begin(), tag.end(), '"') % 2 == 0);
    std::string name =
        tag.substr(closes ? 1 : 0, tag.find_first_of(" />", closes ? 1 : 0) - (closes ? 1 : 0));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (itself || k_void.count(name) != 0) continue;
    if (!closes) {
      open.push_back(name);
      continue;
    }
    REQUIRE_FALSE(open.empty());
    CHECK(open.back() == name);
    open.pop_back();
  }
  CHECK(open.empty());
  for (const char* outside : {"http://", "https://", "<link", "src=", "url(", "nan", "inf\""}) {
    INFO(outside);
    CHECK(html.find(outside) == std::string::npos);
  }
  for (const char* part : {"id=\"latency\"", "id=\"blame\"", "id=\"over-time\"", "id=\"queues\"",
                           "id=\"busy\"", "id=\"dies\"", "reads &amp; &lt;writes&gt;", "@media print"}) {
    CHECK_THAT(html, Catch::Contains(part));
  }
}

TEST_CASE("the figures' data agree with the report, and cannot end their script") {
  const Json report = example_report();
  const std::string html = html_report(report);
  const std::string mark = "<script type=\"application/json\" id=\"content\">";
  const std::size_t at = html.find(mark) + mark.size();
  const std::string text = html.substr(at, html.find("</script>", at) - at);
  CHECK(text.find('<') == std::string::npos);
  const Json data = Json::parse(text)["data"]["report"];
  CHECK(data["parts"].size() == 2);
  for (std::size_t i = 0; i < k_causes; ++i) {
    const Json& told = data["causes"][std::string(name_of(static_cast<Cause>(i)))];
    INFO(name_of(static_cast<Cause>(i)));
    REQUIRE(told.is_array());
    CHECK(told[1].get<std::string>().size() == 7);
  }
  const Json& read = data["parts"][0]["operations"]["read"];
  const Json& told = report["results"]["loads"][0]["operations"]["read"];
  CHECK(read["distribution"] == told["distribution"]);
  double shares = 0;
  for (const auto& [cause, share] : read["percentiles"]["p99.9"]["ledger"].items())
    shares += share.get<double>();
  CHECK(shares == Approx(1));
}

TEST_CASE("quantities are written with a fitting unit") {
  CHECK(time_text(0) == "0 ps");
  CHECK(time_text(999) == "999 ps");
  CHECK(time_text(83'210'000) == "83.2 us");
  CHECK(time_text(999'960) == "1.00 us");
  CHECK(time_text(3.6e15) == "3600 s");
  CHECK(bytes_text(1536) == "1.50 KiB");
  CHECK(bandwidth_text(3.2e9) == "3.20 GB/s");
  CHECK(count_text(950) == "950");
  CHECK(count_text(12345) == "12.3 k");
  CHECK(share_text(0.1234) == "12.3 %");
  CHECK(share_text(0.00123) == "0.12 %");
}

}  // namespace tlmssd
