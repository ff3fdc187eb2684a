// Measurement: counts, rates, ledgers, depth and series against values worked out by hand and by
// plain sums.
#include "testbench/measure/measurement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <deque>
#include <numeric>

#include "models/base/random.h"

namespace tlmssd {
namespace {

using namespace literals;

Ledger ledger_of(Picoseconds start, Picoseconds queue, Picoseconds sense) {
  Ledger ledger(start);
  ledger.charge(Cause::submission, start + queue);
  ledger.charge(Cause::sense, start + queue + sense);
  return ledger;
}

void complete(Measurement& m, std::uint16_t load, HostOpcode opcode, Bytes bytes, Picoseconds from,
              Picoseconds until, HostStatus status = HostStatus::success) {
  const Ledger ledger = ledger_of(from, (until - from) / 2, until - from - (until - from) / 2);
  m.record({opcode, status, load, 0, 0, bytes, from, until, &ledger});
}

}  // namespace

TEST_CASE("counts, rates, depth and ledgers of two loads") {
  Measurement m({"a", "b"});
  m.submitted(0, 0);
  m.submitted(0, 1_us);
  m.submitted(1, 2_us);
  complete(m, 0, HostOpcode::read, 4096, 0, 4_us);
  complete(m, 0, HostOpcode::write, 8192, 1_us, 5_us, HostStatus::media_error);
  complete(m, 1, HostOpcode::read, 512, 2_us, 10_us);
  m.finish(20_us);

  const LoadMeasurement total = m.total();
  CHECK(total.count() == 3);
  CHECK(total.bytes() == 4096 + 512);  // what failed has moved nothing
  CHECK(m.load(0).count() == 2);
  CHECK(m.span() == 20_us);
  CHECK(per_second(3, m.span()) == 150'000.0);
  const OperationMeasurement& reads = total.operation(HostOpcode::read);
  CHECK(reads.count() == 2);
  CHECK(reads.latency().maximum() == 8_us);
  CHECK(reads.latency().mean() == 6e6);
  CHECK(static_cast<Picoseconds>(reads.spent(Cause::submission)) == 6_us);
  CHECK(static_cast<Picoseconds>(reads.spent(Cause::sense)) == 6_us);
  CHECK(total.operation(HostOpcode::write).errors() == 1);
  CHECK(total.operation(HostOpcode::write).with_status(HostStatus::media_error) == 1);
  // Depth: 1 in [0,1), 2 in [1,2), 3 in [2,4), 2 in [4,5), 1 in [5,10), 0 in [10,20).
  const auto& depth = total.time_at_depth();
  CHECK(depth[0] == 10_us);
  CHECK(depth[1] == 6_us);
  CHECK(depth[2] == 2_us);
  CHECK(depth[3] == 2_us);
  CHECK(total.mean_depth() == Approx(16.0 / 20));
  CHECK(total.step_width() == 1_us);
  CHECK(static_cast<Picoseconds>(total.series()[2].depth_time) == 3_us);
  CHECK(total.series()[4].commands[0] == 1);
  CHECK(total.series()[5].bytes[1] == 0);  // it failed
}

TEST_CASE("rates leave out what completes while the queues drain") {
  // A server that takes 1 us a command; load a keeps 4 with it and ends, load b has one command.
  constexpr int k_commands = 20;
  Measurement m({"a", "b"});
  for (int n = 0; n < 4; ++n) m.submitted(0, 0);
  for (int n = 1; n <= k_commands; ++n) {
    const Picoseconds now = n * 1_us;
    complete(m, 0, n % 2 == 0 ? HostOpcode::read : HostOpcode::write, 4096, std::max(now - 4_us, 0_us), now);
    if (n + 4 <= k_commands) m.submitted(0, now);
  }

  SECTION("of one load") {
    m.finish(100_us);
    CHECK(m.rates().span() == 16_us);
    CHECK(m.rates().iops(m.load(0)) == 1e6);
    CHECK(m.rates().iops(m.total()) == 1e6);
    CHECK(m.rates().bandwidth(m.load(0)) == 4096e6);
    CHECK(m.rates().iops(m.load(0).operation(HostOpcode::read)) == 0.5e6);
    CHECK(m.rates().bandwidth(m.load(0).operation(HostOpcode::write)) == 2048e6);
    CHECK(m.load(0).count() == k_commands);
    CHECK(m.load(0).operation(HostOpcode::read).drained().commands == 2);
    CHECK(m.load(0).operation(HostOpcode::read).drained().bytes == 8192);
  }
  SECTION("the last of any load counts") {
    m.submitted(1, 25_us);
    complete(m, 1, HostOpcode::flush, 0, 25_us, 26_us);
    m.finish(100_us);
    CHECK(m.rates().span() == 25_us);
    CHECK(m.rates().iops(m.load(0)) == Approx(0.8e6));
    CHECK(m.rates().iops(m.load(1)) == 0);
    CHECK(m.rates().iops(m.total()) == Approx(0.8e6));
  }
  SECTION("but not a further piece of a request that was split") {
    m.submitted(1, 25_us);
    m.submitted(1, 50_us, false);
    const Ledger first = ledger_of(25_us, 0, 27_us);
    const Ledger second = ledger_of(50_us, 0, 3_us);
    const Ledger whole = ledger_of(25_us, 25_us, 3_us);
    m.record({HostOpcode::read, HostStatus::success, 1, 0, 0, 4096, 25_us, 52_us, &first, true});
    m.record({HostOpcode::read, HostStatus::success, 1, 0, 8, 4096, 50_us, 53_us, &second, true});
    m.record_whole({HostOpcode::read, HostStatus::success, 1, 0, 0, 8192, 25_us, 53_us, &whole});
    m.finish(100_us);
    CHECK(m.rates().span() == 25_us);
    // The depth is of requests, not of their pieces.
    REQUIRE(m.load(1).time_at_depth().size() >= 2);
    CHECK(m.load(1).time_at_depth()[1] == 28_us);
    for (std::size_t depth = 2; depth < m.load(1).time_at_depth().size(); ++depth)
      CHECK(m.load(1).time_at_depth()[depth] == 0);
  }
}

TEST_CASE("what fails is no throughput") {
  Measurement m({"a"});
  constexpr int k_commands = 20;
  for (int n = 0; n < k_commands; ++n) {
    m.submitted(0, n * 1_us);
    complete(m, 0, HostOpcode::write, 4096, n * 1_us, (n + 1) * 1_us,
             n < 5 ? HostStatus::success : HostStatus::write_protected);
  }
  m.finish(20_us);
  const OperationMeasurement& writes = m.load(0).operation(HostOpcode::write);
  CHECK(writes.count() == k_commands);
  CHECK(writes.errors() == 15);
  CHECK(writes.bytes() == 5 * 4096);
  CHECK(m.rates().span() == 19_us);
  CHECK(m.rates().iops(m.load(0)) == Approx(5e6 / 19));
  CHECK(m.rates().bandwidth(m.load(0)) == Approx(5e6 / 19 * 4096));
  std::uint64_t over_time = 0;
  for (const SeriesStep& step : m.load(0).series())
    over_time += step.commands[static_cast<std::size_t>(HostOpcode::write)];
  CHECK(over_time == 5);
}

TEST_CASE("a run that is mostly drain has the rates of all of it") {
  Measurement m({"a"});
  for (int n = 0; n < 4; ++n) m.submitted(0, 0);
  for (int n = 1; n <= 4; ++n) {
    complete(m, 0, HostOpcode::read, 4096, 0, n * 1_us);
    if (n == 1) m.submitted(0, 1_us);
  }
  complete(m, 0, HostOpcode::read, 4096, 1_us, 5_us);
  m.finish(5_us);
  CHECK(m.rates().span() == 5_us);
  CHECK(m.rates().iops(m.load(0)) == Approx(1e6));
  // Measured anew, from where nothing is outstanding.
  m.reset(10_us);
  m.finish(20_us);
  CHECK(m.rates().iops(m.load(0)) == 0);
}

TEST_CASE("a ledger that does not add up stops the run") {
  Measurement m({"a"});
  m.submitted(0, 0);
  const Ledger ledger = ledger_of(0, 5, 6);
  Completed command;
  command.completed = 12;
  command.ledger = &ledger;
  CHECK_THROWS_WITH(m.record(command), Catch::Contains("does not explain its latency of 12 ps") &&
                                           Catch::Contains("submission 5 ps, sense 6 ps"));
  command.completed = 11;
  m.record(command);
  CHECK_THROWS_WITH(m.record(command), Catch::Contains("was not submitted"));
}

TEST_CASE("series and depth keep every command and every picosecond while the axis widens") {
  RandomStream random(1, "series");
  Measurement m({"a", "b"});
  Picoseconds now = 0;
  std::deque<std::pair<std::uint16_t, Picoseconds>> flights;
  std::uint64_t commands = 0;
  unsigned __int128 depth_time = 0;
  for (int i = 0; i < 50000; ++i) {
    const Picoseconds next = now + static_cast<Picoseconds>(random.below(200'000'000));
    depth_time += static_cast<unsigned __int128>(next - now) * flights.size();
    now = next;
    if (flights.size() < 20 && random.below(2) == 0) {
      const auto load = static_cast<std::uint16_t>(random.below(2));
      m.submitted(load, now);
      flights.emplace_back(load, now);
    } else if (!flights.empty()) {
      complete(m, flights.front().first, HostOpcode::write, 4096, flights.front().second, now);
      flights.pop_front();
      ++commands;
    }
  }
  m.finish(now);
  const LoadMeasurement total = m.total();
  CHECK(total.series().size() <= 512);
  std::uint64_t in_series = 0;
  Bytes bytes_in_series = 0;
  unsigned __int128 depth_in_series = 0;
  for (const SeriesStep& step : total.series()) {
    in_series += step.commands[1];
    bytes_in_series += step.bytes[1];
    depth_in_series += step.depth_time;
  }
  CHECK(in_series == commands);
  CHECK(bytes_in_series == commands * 4096);
  CHECK(total.count() == commands);
  CHECK(depth_in_series == depth_time);
  Picoseconds time = 0;
  for (const Picoseconds t : total.time_at_depth()) time += t;
  CHECK(time == now);
}

TEST_CASE("warm-up is forgotten, commands outstanding are not") {
  Measurement m({"a"});
  m.submitted(0, 0);
  m.submitted(0, 0);
  complete(m, 0, HostOpcode::read, 4096, 0, 3_us);
  m.reset(4_us);
  complete(m, 0, HostOpcode::read, 4096, 0, 6_us);
  m.finish(8_us);
  CHECK(m.total().count() == 1);
  CHECK(m.span() == 4_us);
  CHECK(m.total().time_at_depth()[1] == 2_us);
  CHECK(m.total().mean_depth() == 0.5);
}

TEST_CASE("the tail is explained by the slowest commands alone") {
  Measurement m({"a"});
  for (int i = 0; i < 990; ++i) {
    m.submitted(0, 0);
    complete(m, 0, HostOpcode::read, 4096, 0, 100_us);
  }
  for (int i = 0; i < 10; ++i) {
    m.submitted(0, 0);
    Ledger ledger(0);
    ledger.charge(Cause::die_gc, 2_ms);
    ledger.charge(Cause::sense, 2_ms + 60_us);
    m.record({HostOpcode::read, HostStatus::success, 0, 0, 0, 4096, 0, 2_ms + 60_us, &ledger});
  }
  m.finish(3_ms);
  const auto tail = m.load(0).operation(HostOpcode::read).tail(0.01);
  CHECK(tail.count == 10);
  CHECK(tail.above > 100_us);
  CHECK(static_cast<Picoseconds>(tail.spent[static_cast<std::size_t>(Cause::die_gc)]) == 20_ms);
  CHECK(static_cast<Picoseconds>(tail.spent[static_cast<std::size_t>(Cause::submission)]) == 0);
}

TEST_CASE("half of the requests after the last submission are not most of them, pieces are no requests") {
  const auto span = [](bool split) {
    Measurement m({"a"});
    for (int i = 0; i < 10; ++i) {  // forgotten
      m.submitted(0, 0);
      complete(m, 0, HostOpcode::read, 4096, 0, 1_ns);
    }
    m.reset(1_ns);
    m.submitted(0, 1_ns);
    if (split) {
      const Ledger ledger = ledger_of(1_ns, 500, 500);
      Completed piece{HostOpcode::read, HostStatus::success, 0, 0, 0, 4096, 1_ns, 2_ns, &ledger};
      Completed whole = piece;
      piece.piece = true;
      for (int i = 0; i < 5; ++i) m.record(piece);
      m.record_whole(whole);
    } else {
      m.submitted(0, 1_ns);
      for (int i = 0; i < 2; ++i) complete(m, 0, HostOpcode::read, 4096, 1_ns, 2_ns);
    }
    for (int i = 0; i < 2; ++i) m.submitted(0, 3_ns);
    for (int i = 0; i < 2; ++i) complete(m, 0, HostOpcode::read, 4096, 3_ns, 5_ns);
    m.finish(6_ns);
    return m.rates().span();
  };
  CHECK(span(false) == 2_ns);  // two of four: until the last submission
  CHECK(span(true) == 5_ns);   // two of three: until the end
}

TEST_CASE(
    "split requests are told as the host and as the drive see them, also in the total of several loads") {
  Measurement m({"a", "b"});
  m.submitted(0, 0);
  complete(m, 0, HostOpcode::read, 4096, 0, 10_us);
  m.submitted(1, 0);
  complete(m, 1, HostOpcode::read, 512, 0, 20_us, HostStatus::media_error);
  m.submitted(0, 20_us);
  Ledger ledger = ledger_of(20_us, 1_us, 4_us);
  Completed piece{HostOpcode::read, HostStatus::success, 0, 0, 0, 8192, 20_us, 25_us, &ledger};
  piece.piece = true;
  m.record(piece);
  m.record(piece);
  Completed whole = piece;
  whole.piece = false;
  whole.bytes = 16384;
  m.record_whole(whole);
  m.finish(40_us);
  const LoadMeasurement& a = m.load(0);
  const LoadMeasurement total = m.total();
  for (const LoadMeasurement* load : {&a, &total}) {
    const std::uint64_t others = load == &a ? 0 : 1;  // the other load's only command
    CHECK(load->operation(HostOpcode::read).count() == 2 + others);
    CHECK(load->operation(HostOpcode::read).bytes() == 4096 + 16384);
    CHECK(load->operation(HostOpcode::read).with_status(HostStatus::media_error) == others);
    CHECK(load->split_requests(HostOpcode::read) == 1);
    CHECK(load->pieces(HostOpcode::read) == 2);
    REQUIRE(load->device(HostOpcode::read) != nullptr);
    CHECK(load->device(HostOpcode::read)->count() == 3 + others);
    CHECK(load->device(HostOpcode::read)->latency().sum() ==
          static_cast<unsigned __int128>(20_us + (others != 0 ? 20_us : 0)));
    CHECK(load->operation(HostOpcode::read).slowest().size() == 2 + others);
    CHECK(load->operation(HostOpcode::read).slowest().sorted().front()->latency ==
          (others != 0 ? 20_us : 10_us));
    CHECK(static_cast<Picoseconds>(load->series().size()) * load->step_width() >= 40_us);  // idle at the end
  }
  CHECK(m.load(1).device(HostOpcode::read) == nullptr);
  CHECK(total.operation(HostOpcode::read).tail(1).above == 5_us);  // no quarter octave begins there
}

TEST_CASE("of commands that take as long the slowest kept are those submitted first") {
  SlowestCommands slowest;
  const auto add = [&slowest](Picoseconds submitted) {
    SlowCommand command;
    command.latency = 5;
    command.submitted = submitted;
    slowest.add(command);
  };
  for (std::size_t i = SlowestCommands::k_most; i > 0; --i) add(static_cast<Picoseconds>(2 * i));
  add(1);     // takes the place of the last
  add(5000);  // of none
  const auto kept = slowest.sorted();
  REQUIRE(kept.size() == SlowestCommands::k_most);
  CHECK(kept.front()->submitted == 1);
  CHECK(kept.back()->submitted == 2 * static_cast<Picoseconds>(SlowestCommands::k_most) - 2);
}

TEST_CASE("sums beyond 64 bits stay exact") {
  Measurement m({"a"});
  const Picoseconds latency = Picoseconds{1} << 60;
  __int128 expected = 0;
  for (int i = 0; i < 100; ++i) {
    m.submitted(0, 0);
    complete(m, 0, HostOpcode::read, 4096, 0, latency);
    expected += latency;
  }
  m.finish(latency);
  const LoadMeasurement total = m.total();
  const auto& reads = total.operation(HostOpcode::read);
  CHECK((reads.spent(Cause::submission) + reads.spent(Cause::sense) == expected));
  CHECK((static_cast<__int128>(reads.latency().sum()) == expected));
  CHECK(reads.tail(0.5).count == 100);
}

TEST_CASE("measurement speed", "[.speed]") {
  Measurement m({"a"});
  RandomStream random(1, "speed");
  static constexpr int k_commands = 1 << 21;
  std::vector<Picoseconds> latency(4096);
  for (auto& value : latency) value = 50_us + static_cast<Picoseconds>(random.below(100'000'000));
  const Ledger ledger;
  std::vector<Ledger> ledgers;
  for (const Picoseconds value : latency) ledgers.push_back(ledger_of(0, value / 2, value - value / 2));
  const auto begin = std::clock();
  for (int i = 0; i < k_commands; ++i) {
    const Picoseconds now = static_cast<Picoseconds>(i) * 1_us + 200_us;
    const Picoseconds spent = latency[static_cast<std::size_t>(i) & 4095U];
    m.submitted(0, now);
    m.record({HostOpcode::read, HostStatus::success, 0, 0, 0, 4096, now - spent, now,
              &ledgers[static_cast<std::size_t>(i) & 4095U]});
  }
  const double spent = static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC;
  WARN(spent / k_commands << " ns per command");
}

TEST_CASE("percentiles are explained by the commands that are there") {
  // Commands of 100 us, of which every hundredth waits for collection and every thousandth for the
  // reads of load 3: the slower, the rarer. More of them than are kept one by one.
  Measurement m({"load"});
  RandomStream random(1, "explain");
  Picoseconds now = 0;
  std::vector<Picoseconds> latencies;
  const auto add = [&](int i) {
    const auto jitter = static_cast<Picoseconds>(random.below(1'000'000));
    Ledger ledger(now);
    ledger.charge(Cause::sense, now + 100'000'000 + jitter);
    if (i % 1000 == 0) {
      ledger.charge(Cause::die_read, ledger.mark() + 9'000'000'000);
      ledger.stood_behind(3, 9'000'000'000);
    } else if (i % 100 == 0) {
      ledger.charge(Cause::die_gc, ledger.mark() + 3'000'000'000);
      ledger.stood_behind(k_behind_gc_erase, 3'000'000'000);
    }
    m.submitted(0, now);
    m.record({HostOpcode::read, HostStatus::success, 0, 0, 0, 4096, now, ledger.mark(), &ledger});
    latencies.push_back(ledger.mark() - now);
    now = ledger.mark();
  };
  const int commands = GENERATE(5, 990, 250'000);
  for (int i = 1; i <= commands; ++i) add(i);
  m.finish(now);
  std::sort(latencies.begin(), latencies.end());
  const OperationMeasurement& reads = m.load(0).operation(HostOpcode::read);
  for (const double share : {0.5, 0.9, 0.99, 0.9985, 0.9995, 0.9999, 1.0}) {
    INFO(commands << " commands, " << share);
    const PercentileLedger told = reads.explain(share);
    const std::size_t rank = Histogram::rank(share, latencies.size());
    const auto latency = static_cast<double>(told.latency);
    CHECK(latency == Approx(static_cast<double>(latencies[rank - 1])).epsilon(0.002));
    CHECK(std::accumulate(told.spent.begin(), told.spent.end(), 0.0) == Approx(latency).epsilon(1e-12));
    if (told.exact) CHECK(told.latency == latencies[rank - 1]);
    CHECK(reads.percentile(share) == told.latency);
    CHECK(told.commands > 0);
    const double reading = told.spent[static_cast<std::size_t>(Cause::die_read)];
    const double collecting = told.spent[static_cast<std::size_t>(Cause::die_gc)];
    CHECK(reading == told.behind[3]);
    CHECK(collecting == told.behind[k_behind_gc_erase]);
    if (commands < 250'000) {
      CHECK(told.exact);
      continue;
    }
    CHECK(told.exact == (share > 0.995));
    CHECK(reading / latency == (share > 0.999 ? Approx(0.989).epsilon(0.001) : Approx(0)));
    CHECK(collecting / latency == (share > 0.99 && share < 0.999 ? Approx(0.967).epsilon(0.001) : Approx(0)));
  }
  CHECK(reads.slowest().size() == std::min<std::size_t>(latencies.size(), SlowestCommands::k_most));
  const std::vector<const SlowCommand*> slowest = reads.slowest().sorted();
  for (std::size_t i = 0; i < slowest.size(); ++i) {
    CHECK(slowest[i]->latency == latencies[latencies.size() - 1 - i]);
    CHECK(std::accumulate(slowest[i]->spent.begin(), slowest[i]->spent.end(), Picoseconds{0}) ==
          slowest[i]->latency);
  }
}

TEST_CASE("a percentile at the edge of a jump is not explained by what lies beyond it") {
  // The slowest 93 of 100,000 wait for erases, the next 5,907 for a move by refresh; p99.9 is the
  // 101st.
  Measurement m({"load"});
  Picoseconds now = 0;
  for (int i = 0; i < 100'000; ++i) {
    Ledger ledger(now);
    ledger.charge(Cause::sense, now + 75'000'000);
    if (i < 93) {
      ledger.charge(Cause::die_gc, ledger.mark() + 3'800'000'000);
      ledger.stood_behind(k_behind_gc_erase, 3'800'000'000);
    } else if (i < 6000) {
      ledger.charge(Cause::die_refresh, ledger.mark() + 775'000'000);
    }
    m.submitted(0, now);
    m.record({HostOpcode::read, HostStatus::success, 0, 0, 0, 4096, now, ledger.mark(), &ledger});
    now = ledger.mark();
  }
  m.finish(now);
  const PercentileLedger told = m.load(0).operation(HostOpcode::read).explain(0.999);
  CHECK(told.exact);
  CHECK(told.commands == 18);  // numbers 93 to 110, counted from the slowest
  CHECK(told.spent[static_cast<std::size_t>(Cause::die_gc)] == 0);
  CHECK(told.behind[k_behind_gc_erase] == 0);
  const auto latency = static_cast<double>(told.latency);
  CHECK(told.spent[static_cast<std::size_t>(Cause::sense)] / latency == Approx(75.0 / 850.0));
  CHECK(told.spent[static_cast<std::size_t>(Cause::die_refresh)] / latency == Approx(775.0 / 850.0));
}

}  // namespace tlmssd
