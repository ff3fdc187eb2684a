// The host interface end to end: latencies are the sums of their parts, ledgers add up, limits and
// orders hold, and the base protocol is kept on every socket.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "models/base/input_error.h"
#include "testbench/tests/host/host_rig.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd {
namespace {

using namespace literals;
using Submission = FakeHost::Submission;

constexpr Picoseconds k_stage = 300'000;  // 150 cycles at 500 MHz

HostRigConfig config_of(const std::string& link) {
  HostRigConfig config;
  config.host.link = link;
  config.host.protocol = link.starts_with("sata") ? "sata" : "nvme";
  return config;
}

void run(std::initializer_list<HostRig*> rigs) {
  sc_core::sc_start();
  for (HostRig* rig : rigs) {
    rig->finish();
    CHECK(rig->host.outstanding() == 0);
    CHECK(rig->cpu.commands() == 0);
    for (const Submission& s : rig->driver.all) {
      CHECK(s.done >= s.submitted);
      CHECK(s.command.ledger.mark() == s.done);
      CHECK(s.command.ledger.total() == s.done - s.submitted);
    }
  }
}

TEST_CASE("unloaded latency is the sum of its parts") {
  struct Expectation {
    std::string link;
    Bytes framing;
    Picoseconds numerator;  // picoseconds per wire byte as a fraction
    Picoseconds denominator;
  };
  const std::vector<Expectation> links = {
      {"pcie3x4", 10, 130000, 128 * 4}, {"pcie1x1", 10, 4000, 1}, {"pcie6x16", 0, 125 * 256, 16 * 236}};
  std::vector<std::unique_ptr<HostRig>> rigs;
  for (const Expectation& each : links) {
    rigs.push_back(std::make_unique<HostRig>(each.link.c_str(), config_of(each.link)));
    FakeHost& driver = rigs.back()->driver;
    driver.submit_at(1_ms, driver.make(HostOpcode::read, 8, 8));
    driver.submit_at(2_ms, driver.make(HostOpcode::write, 8, 9));
    driver.submit_at(3_ms, driver.make(HostOpcode::flush, 0, 0));
    driver.submit_at(4_ms, driver.trim({{0, 8}, {64, 1000}}));
    driver.submit_at(5_ms, driver.make(HostOpcode::write_zeroes, 0, 60000));
    driver.submit_at(6_ms, driver.make(HostOpcode::read, 65535, 2));  // beyond the drive
  }
  sc_core::sc_start();
  for (std::size_t i = 0; i < links.size(); ++i) {
    INFO(links[i].link);
    rigs[i]->finish();
    const auto wire = [&](Bytes bytes) {
      const auto scaled = static_cast<Picoseconds>(bytes) * links[i].numerator;
      return (scaled + links[i].denominator - 1) / links[i].denominator;
    };
    const Bytes f = links[i].framing;
    const Picoseconds hop = 150_ns;
    const Picoseconds request = wire(16 + f) + 2 * hop;
    const Picoseconds fetch = wire(20 + f) + hop + request + wire(76 + f);
    const Picoseconds finish = wire(20 + 2 * (16 + f)) + hop + 1_us;
    const auto dram = [](Bytes bytes) { return 10_ns + transfer_time(bytes, 3'200'000'000) + 50_ns; };
    const auto latency = [&](std::size_t n) {
      return rigs[i]->driver.all[n].done - rigs[i]->driver.all[n].submitted;
    };
    CHECK(latency(0) == fetch + k_stage + std::max(dram(4096), wire(4096 + 16 * (16 + f))) + finish);
    CHECK(latency(1) ==
          fetch + request + std::max(dram(4608), wire(4608 + 18 * (12 + f))) + k_stage + finish);
    CHECK(latency(2) == fetch + k_stage + finish);
    CHECK(latency(3) == fetch + request + wire(32 + 12 + f) + k_stage + finish);
    CHECK(latency(4) == fetch + k_stage + finish);
    CHECK(latency(5) == fetch + finish);  // refused by the host interface: firmware never sees it
    CHECK(rigs[i]->firmware.taken == 5);
    const Ledger& ledger = rigs[i]->driver.all[0].command.ledger;
    const Picoseconds data_link = wire(4096 + 16 * (16 + f));
    CHECK(ledger.spent(Cause::submission) == 0);
    CHECK(ledger.spent(Cause::firmware) == k_stage);
    CHECK(ledger.spent(Cause::link) == fetch + data_link + finish);
    CHECK(ledger.spent(Cause::memory) == std::max<Picoseconds>(dram(4096) - data_link, 0));
    for (const Submission& s : rigs[i]->driver.all) CHECK(s.command.ledger.total() == s.done - s.submitted);
  }
}

TEST_CASE("SATA latency is the sum of its frames") {
  HostRigConfig config = config_of("sata6");
  config.host.link_latency = 20_ns;
  config.blocks = 1U << 23U;
  HostRig rig("rig", config);
  rig.driver.submit_at(1_ms, rig.driver.make(HostOpcode::read, 0, 8));
  rig.driver.submit_at(2_ms, rig.driver.make(HostOpcode::write, 0, 8));
  rig.driver.submit_at(3_ms, rig.driver.trim({{0, 8}, {64, 1000}}));
  rig.driver.submit_at(4_ms, rig.driver.trim({{0, 64 * 65'535}, {5'000'000, 1}}));  // 65 entries of 8 B
  run({&rig});
  const auto frames = [](Bytes fis, Picoseconds count) {
    const Picoseconds bytes = static_cast<Picoseconds>(fis) + 28 * count;
    return (bytes * 10000 * 128 + 6 * 127 - 1) / (6 * 127) + count * 4 * 20_ns;
  };
  const Picoseconds fetch = frames(20 + 20, 2);
  const Picoseconds finish = frames(8, 1) + 1_us;
  const auto latency = [&](std::size_t n) { return rig.driver.all[n].done - rig.driver.all[n].submitted; };
  CHECK(latency(0) == fetch + k_stage + frames(28, 1) + frames(4096 + 4, 1) + finish);
  CHECK(latency(1) == fetch + frames(28, 1) + frames(4096 + 4, 1) + k_stage + finish);
  CHECK(latency(2) == fetch + frames(28, 1) + frames(512 + 4, 1) + k_stage + finish);
  CHECK(latency(3) == fetch + frames(28, 1) + frames(1024 + 4, 1) + k_stage + finish);
}

TEST_CASE("SATA runs flushes and trims alone, behind what was issued before and before what comes later") {
  HostRig sata("sata", config_of("sata6"));
  HostRig nvme("nvme", config_of("pcie3x4"));
  for (HostRig* rig : {&sata, &nvme}) {
    FakeHost& host = rig->driver;
    Submission& forced = host.make(HostOpcode::write, 8, 8);
    forced.command.force_unit_access = true;
    for (Submission* one : {&host.make(HostOpcode::read, 0, 8), &forced, &host.make(HostOpcode::flush, 0, 0),
                            &host.make(HostOpcode::read, 16, 8), &host.trim({{32, 8}}),
                            &host.make(HostOpcode::write_zeroes, 64, 8), &host.make(HostOpcode::read, 24, 8)})
      host.submit_at(1_ms, *one);
    host.submit_at(9_ms, host.make(HostOpcode::flush, 0, 0));
  }
  run({&sata, &nvme});
  const auto command = [](HostRig& rig, std::size_t n) -> Submission& {
    return rig.driver.all[n == 0 ? 1 : n == 1 ? 0 : n];  // the forced write was made first
  };
  const auto waited = [&](HostRig& rig, std::size_t n) {
    return command(rig, n).command.ledger.spent(Cause::submission);
  };
  for (std::size_t n = 0; n < 7; ++n) CHECK(waited(nvme, n) == 0);
  CHECK(waited(sata, 0) == 0);
  CHECK(waited(sata, 1) == 0);
  const Picoseconds drained = std::max(command(sata, 0).done, command(sata, 1).done);
  CHECK(waited(sata, 2) == drained - 1_ms);
  for (std::size_t n = 3; n < 7; ++n) CHECK(waited(sata, n) == command(sata, n - 1).done - 1_ms);
  const Submission& alone = sata.driver.all[7];
  CHECK(alone.command.ledger.spent(Cause::submission) == 0);
  CHECK(command(sata, 2).done - drained == alone.done - 9_ms);
}

TEST_CASE("who stands in SATA's queue stands behind the load whose command runs alone, to the picosecond") {
  constexpr std::size_t k_reader = 1;
  constexpr std::size_t k_flusher = 2;
  constexpr std::size_t k_trimmer = 3;
  HostRigConfig config = config_of("sata6");
  config.host.queue_depth = 6;
  HostRig rig("rig", config);
  FakeHost& host = rig.driver;
  const auto submit = [&](Submission& one, std::size_t owner, Picoseconds when) {
    one.owner = owner;
    host.submit_at(when, one);
  };
  submit(host.make(HostOpcode::read, 0, 8), k_reader, 1_ms);
  submit(host.make(HostOpcode::flush, 0, 0), k_flusher, 1_ms);
  submit(host.make(HostOpcode::read, 16, 8), k_reader, 1_ms);
  submit(host.trim({{32, 8}}), k_trimmer, 1_ms);
  submit(host.make(HostOpcode::flush, 0, 0), k_flusher, 1_ms);
  submit(host.make(HostOpcode::read, 24, 8), k_reader, 1_ms);
  submit(host.make(HostOpcode::read, 32, 8), k_reader, 1_ms);  // finds the queue full
  submit(host.make(HostOpcode::read, 40, 8), k_reader, 9_ms);
  run({&rig});
  const auto done = [&](std::size_t n) { return host.all[n].done; };
  const auto behind = [&](std::size_t n, std::size_t owner) {
    return host.all[n].command.ledger.behind(k_behind_alone + owner);
  };
  for (const Submission& one : host.all) {
    Picoseconds sum = 0;
    for (std::size_t owner = 0; owner < k_owners; ++owner)
      sum += one.command.ledger.behind(k_behind_alone + owner);
    CHECK(sum == one.command.ledger.spent(Cause::submission));
  }
  CHECK(behind(0, k_flusher) == 0);
  CHECK(behind(1, k_flusher) == done(0) - 1_ms);  // for what was issued before
  CHECK(behind(2, k_flusher) == done(1) - 1_ms);
  CHECK(behind(3, k_flusher) == done(1) - 1_ms);
  CHECK(behind(3, k_trimmer) == done(2) - done(1));
  CHECK(behind(4, k_trimmer) == done(3) - done(1));
  for (const std::size_t last : {5, 6}) {
    INFO(last);
    CHECK(behind(last, k_flusher) == done(1) - 1_ms + done(4) - done(3));
    CHECK(behind(last, k_trimmer) == done(3) - done(1));
  }
  CHECK(behind(7, k_flusher) + behind(7, k_trimmer) == 0);
}

TEST_CASE("saturated reads and writes reach the closed form of the slowest part") {
  HostRigConfig fast = config_of("pcie3x4");
  fast.cpu.cycles.command = 0;
  fast.dram.bandwidth = 20'000'000'000;
  fast.bus.clock = 2'000'000'000;
  HostRigConfig slow_dram = fast;
  slow_dram.dram.bandwidth = 1'000'000'000;
  HostRig link("link", fast);
  HostRig dram("dram", slow_dram);
  HostRig write("write", fast);
  constexpr int k_commands = 400;
  for (int i = 0; i < k_commands; ++i) {
    link.driver.submit_at(0, link.driver.make(HostOpcode::read, 0, 256));
    dram.driver.submit_at(0, dram.driver.make(HostOpcode::read, 0, 256));
    write.driver.submit_at(0, write.driver.make(HostOpcode::write, 0, 256));
  }
  run({&link, &dram, &write});
  const auto rate = [](const HostRig& rig) {
    const auto& done = rig.driver.finished;
    return 131072.0 * (k_commands - 1) /
           (static_cast<double>(done.back()->done - done.front()->done) * 1e-12);
  };
  const double raw = 4 * 8e9 / 8 * 128 / 130;
  CHECK(rate(link) == Approx(raw * 131072 / (131072 + 512 * 26 + 72 + 26)).epsilon(0.002));
  CHECK(rate(dram) == Approx(1e9).epsilon(0.002));
  CHECK(rate(write) == Approx(raw * 131072 / (131072 + 512 * 22 + 86 + 30)).epsilon(0.002));
}

TEST_CASE("weighted arbitration shares the device by the weights") {
  HostRigConfig config;
  config.host.queues = 3;
  config.host.arbitration = "weighted";
  config.host.weights = {1, 2, 5};
  config.host.outstanding_limit = 1;
  HostRig rig("rig", config);
  for (int i = 0; i < 300; ++i) {
    for (std::uint16_t q = 0; q < 3; ++q)
      rig.driver.submit_at(0, rig.driver.make(HostOpcode::flush, 0, 0, q));
  }
  run({&rig});
  int share[3] = {};
  for (std::size_t i = 1; i < 401; ++i)
    ++share[rig.driver.finished[i]->command.queue];  // all backlogged up to here
  CHECK(share[0] == 50);
  CHECK(share[1] == 100);
  CHECK(share[2] == 250);
}

TEST_CASE("the outstanding limit holds and SATA has no more than 32 tags") {
  HostRigConfig limited;
  limited.host.outstanding_limit = 5;
  HostRigConfig sata = config_of("sata3");
  sata.host.queue_depth = 1000;
  sata.host.interrupt_latency = 0;
  HostRig a("limited", limited);
  HostRig b("sata", sata);
  static std::uint32_t most_a = 0;
  static std::uint32_t most_b = 0;
  a.firmware.verdict = [&a](HostCommand&) {
    most_a = std::max(most_a, a.host.under_way());
    return HostStatus::success;
  };
  b.firmware.verdict = [&b](HostCommand&) {
    most_b = std::max(most_b, b.host.outstanding());
    return HostStatus::success;
  };
  for (int i = 0; i < 100; ++i) {
    a.driver.submit_at(0, a.driver.make(HostOpcode::read, 0, 8));
    b.driver.submit_at(0, b.driver.make(HostOpcode::read, 0, 8));
  }
  run({&a, &b});
  CHECK(most_a == 5);
  CHECK(most_b == 32);
  CHECK(b.driver.all[31].accepted == 0);
  CHECK(b.driver.all[32].accepted == b.driver.finished[0]->done);  // END_REQ came with the first free slot
}

TEST_CASE("a full queue holds END_REQ back and other queues go on afterwards") {
  HostRigConfig config;
  config.host.queues = 2;
  config.host.queue_depth = 2;
  HostRig rig("rig", config);
  for (int i = 0; i < 6; ++i) rig.driver.submit_at(0, rig.driver.make(HostOpcode::flush, 0, 0, 0));
  for (int i = 0; i < 2; ++i) rig.driver.submit_at(0, rig.driver.make(HostOpcode::flush, 0, 0, 1));
  run({&rig});
  CHECK(rig.driver.all[1].accepted == 0);
  CHECK(rig.driver.all[2].accepted == rig.driver.all[0].done);
  CHECK(rig.driver.finished.size() == 8);
}

TEST_CASE("completions that share interrupts wait for each other no longer than allowed") {
  HostRigConfig config;
  config.host.coalesce_count = 4;
  config.host.coalesce_time = 20_us;
  HostRig rig("rig", config);
  for (int i = 0; i < 6; ++i) rig.driver.submit_at(0, rig.driver.make(HostOpcode::flush, 0, 0));
  run({&rig});
  const auto& done = rig.driver.finished;
  CHECK(done[0]->done == done[3]->done);
  CHECK(done[4]->done == done[5]->done);
  CHECK(done[4]->done > done[3]->done + 19_us);
  CHECK(done[4]->done < done[3]->done + 21_us);
  // The wait for the others is told by its name, and the last waits for no one.
  const auto waited = [](const Submission& s) { return s.command.ledger.spent(Cause::interrupt_wait); };
  CHECK(waited(*done[0]) > 0);
  CHECK(waited(*done[3]) == 0);
  CHECK(waited(*done[4]) == 20_us);
}

TEST_CASE("the host interface reports commands, bytes of those that succeeded, and waits for the arbiter") {
  HostRigConfig config;
  config.host.outstanding_limit = 1;
  HostRig rig("rig", config);
  FakeHost& driver = rig.driver;
  driver.submit_at(0, driver.make(HostOpcode::write, 0, 8, 1));
  driver.submit_at(0, driver.make(HostOpcode::read, 0, 4, 1));
  driver.submit_at(1_ms, driver.trim({{0, 8}, {64, 100}, {300, 1}}));
  driver.submit_at(2_ms, driver.make(HostOpcode::write_zeroes, 0, 60'000));
  driver.submit_at(3_ms, driver.make(HostOpcode::flush, 0, 0));
  driver.submit_at(4_ms, driver.make(HostOpcode::read, 65'535, 2));  // beyond the drive
  run({&rig});
  auto told = test::statistics_of(rig.host);
  CHECK(told["host/write/commands"] == 1);
  CHECK(told["host/write/bytes"] == 8 * 512);
  CHECK(told["host/read/commands"] == 2);
  CHECK(told["host/read/bytes"] == 4 * 512);
  CHECK(told["host/trim/bytes"] == 109 * 512);
  CHECK(told["host/write zeroes/bytes"] == 60'000 * 512);
  CHECK(told["host/flush/commands"] == 1);
  CHECK(told["host/flush/bytes"] == 0);
  CHECK(told["host/failed"] == 1);
  CHECK(told["host/interrupts"] == 6);
  CHECK(told["host/full queue"] == 0);
  CHECK(told["host/unexplained"] == 0);
  CHECK(told["host/queue 0/fetched"] == 4);
  CHECK(told["host/queue 0/mean wait"] == 0);
  CHECK(told["host/queue 1/fetched"] == 2);
  CHECK(told["host/queue 1/mean wait"] ==
        Approx(static_cast<double>(driver.all[0].done) * 1e-12 / 2));  // the read's, for the write
  rig.host.reset_statistics();
  for (const auto& [name, value] : test::statistics_of(rig.host)) {
    INFO(name);
    CHECK(value == 0);
  }
}

TEST_CASE("a write whose data memory takes more slowly than the link brings them waits for memory") {
  HostRigConfig config;
  config.dram.bandwidth = 100'000'000;
  HostRig rig("rig", config);
  rig.driver.submit_at(1_ms, rig.driver.make(HostOpcode::write, 0, 8));
  run({&rig});
  Link link(config.host);
  const Link::Fetch fetch = link.fetch(0, 4096);
  const Picoseconds taken = config.bus.latency + transfer_time(4096, 100'000'000) + config.dram.latency;
  const Ledger& ledger = rig.driver.all[0].command.ledger;
  CHECK(ledger.spent(Cause::memory) == fetch.data_start + taken - fetch.data_end);
}

TEST_CASE("malformed and misplaced commands are refused with their reason") {
  HostRigConfig config;
  config.blocks = 1000;
  config.host.max_transfer = 64_KiB;
  HostRig rig("rig", config);
  FakeHost& driver = rig.driver;
  const auto expect = [&driver](Submission& s, HostStatus status) {
    static Picoseconds at = 0;
    driver.submit_at(at += 1_ms, s);
    return std::pair<Submission*, HostStatus>(&s, status);
  };
  Submission& misdescribed = driver.make(HostOpcode::read, 0, 8);
  misdescribed.command.set_data(misdescribed.command.data().first(7));
  const std::vector<std::pair<Submission*, HostStatus>> cases = {
      expect(driver.make(HostOpcode::read, 999, 1), HostStatus::success),
      expect(driver.make(HostOpcode::read, 999, 2), HostStatus::lba_out_of_range),
      expect(driver.make(HostOpcode::write, ~std::uint64_t{0}, 1), HostStatus::lba_out_of_range),
      expect(driver.make(HostOpcode::write, ~std::uint64_t{0} - 3, 8), HostStatus::lba_out_of_range),
      expect(driver.make(HostOpcode::read, 0, 0), HostStatus::invalid_field),
      expect(driver.make(HostOpcode::write, 0, 128), HostStatus::success),
      expect(driver.make(HostOpcode::write, 0, 129), HostStatus::invalid_field),
      expect(driver.make(HostOpcode::write_zeroes, 0, 1000), HostStatus::success),
      expect(driver.make(HostOpcode::write_zeroes, 1, 1000), HostStatus::lba_out_of_range),
      expect(driver.make(HostOpcode::write_zeroes, 1, 0), HostStatus::invalid_field),
      expect(driver.trim({}), HostStatus::invalid_field),
      expect(driver.trim(std::vector<LbaRange>(257, LbaRange{0, 1})), HostStatus::invalid_field),
      expect(driver.trim({{0, 1}, {5, 996}}), HostStatus::lba_out_of_range),
      expect(driver.trim({{0, 1}, {5, 995}}), HostStatus::success),
      expect(misdescribed, HostStatus::invalid_field),
  };
  Submission& elsewhere = driver.make(HostOpcode::read, 0, 1, 4);  // queues are 0 to 3
  driver.submit_at(1_s, elsewhere);
  sc_core::sc_start();
  rig.finish();
  for (const auto& [submission, status] : cases) {
    CHECK(submission->command.status == status);
    CHECK(submission->response == (status == HostStatus::success ? tlm::TLM_OK_RESPONSE
                                   : status == HostStatus::lba_out_of_range
                                       ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                       : tlm::TLM_GENERIC_ERROR_RESPONSE));
    CHECK(submission->command.ledger.total() == submission->done - submission->submitted);
  }
  CHECK(rig.firmware.taken == 4);
  CHECK(elsewhere.command.status == HostStatus::invalid_field);
  CHECK(elsewhere.done == elsewhere.submitted);
}

TEST_CASE("firmware's error statuses reach the host") {
  HostRig rig("rig");
  rig.firmware.verdict = [](HostCommand& c) {
    return c.opcode == HostOpcode::read ? HostStatus::media_error : HostStatus::write_protected;
  };
  rig.driver.submit_at(0, rig.driver.make(HostOpcode::read, 0, 8));
  rig.driver.submit_at(0, rig.driver.make(HostOpcode::write, 0, 8));
  run({&rig});
  CHECK(rig.driver.all[0].command.status == HostStatus::media_error);
  CHECK(rig.driver.all[1].command.status == HostStatus::write_protected);
  CHECK(rig.driver.all[0].response == tlm::TLM_GENERIC_ERROR_RESPONSE);
}

/// A mixed load of 3000 commands in bursts on all queues; returns every completion instant.
void load(HostRig& rig, std::uint64_t seed, bool at_once) {
  auto random = std::make_shared<RandomStream>(seed, "load");
  rig.firmware.at_once = at_once;
  rig.firmware.extra = [random] { return static_cast<Picoseconds>(random->below(30'000'000)); };
  Picoseconds when = 0;
  for (int i = 0; i < 3000; ++i) {
    when += static_cast<Picoseconds>(random->below(2) * random->below(4'000'000));
    const auto queue = static_cast<std::uint16_t>(random->below(4));
    const auto blocks = static_cast<std::uint32_t>(1 + random->below(64));
    const std::uint64_t lba = random->below(60'000);
    const std::uint64_t kind = random->below(10);
    Submission& s = kind == 0   ? rig.driver.make(HostOpcode::flush, 0, 0, queue)
                    : kind == 1 ? rig.driver.trim({{lba, blocks}, {0, 3}}, queue)
                    : kind == 2 ? rig.driver.make(HostOpcode::write_zeroes, lba, blocks, queue)
                    : kind < 7  ? rig.driver.make(HostOpcode::read, lba, blocks, queue)
                                : rig.driver.make(HostOpcode::write, lba, blocks, queue);
    rig.driver.submit_at(when, s);
  }
}

std::vector<Picoseconds> completions(const HostRig& rig) {
  std::vector<Picoseconds> result;
  for (const Submission& s : rig.driver.all) result.push_back(s.done);
  return result;
}

TEST_CASE("ledgers are exact and runs repeat under random load") {
  HostRigConfig config;
  config.host.queue_depth = 16;
  config.host.outstanding_limit = 24;
  HostRigConfig late = config;
  late.late_memory = true;
  HostRigConfig coalescing = config;
  coalescing.host.coalesce_count = 8;
  HostRig a("a", config);
  HostRig b("b", config);
  HostRig c("c", late);
  HostRig d("d", config);
  HostRig e("e", coalescing);
  HostRig f("f", config);
  load(a, 1, false);
  load(b, 1, false);
  load(c, 1, false);
  load(d, 1, true);
  load(e, 2, false);
  load(f, 3, true);
  d.driver.ends = FakeHost::EndsResponse::later;
  e.driver.ends = FakeHost::EndsResponse::updated;
  f.driver.ends = FakeHost::EndsResponse::later;
  run({&a, &b, &c, &d, &e, &f});
  CHECK(completions(a) == completions(b));
  CHECK(completions(a) != completions(c));
  CHECK(c.late.answered > 1000);
  for (HostRig* rig : {&a, &b, &c, &d, &e, &f}) CHECK(rig->driver.finished.size() == 3000);
}

TEST_CASE("untimed commands are complete when the call returns and take no time") {
  HostRig rig("rig");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  rig.cpu.set_mode(ControllerCpu::Mode::untimed);
  Submission& write = rig.driver.make(HostOpcode::write, 100, 8);
  std::iota(write.data.begin(), write.data.end(), Stamp{1});
  CHECK(rig.driver.untimed(write) == 8 * sizeof(Stamp));
  Submission& read = rig.driver.make(HostOpcode::read, 102, 4);
  CHECK(rig.driver.untimed(read) == 4 * sizeof(Stamp));
  CHECK(read.data == std::vector<Stamp>{3, 4, 5, 6});
  Submission& beyond = rig.driver.make(HostOpcode::read, 1U << 16U, 1);
  CHECK(rig.driver.untimed(beyond) == 0);
  CHECK(beyond.command.status == HostStatus::lba_out_of_range);
  CHECK(rig.event_queue.now() == 0);
  CHECK(rig.event_queue.empty());
  CHECK(rig.host.outstanding() == 0);
}

TEST_CASE("a bus master that knows no extension can read and write") {
  HostRig rig("rig");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  rig.cpu.set_mode(ControllerCpu::Mode::untimed);
  Stamp out[2] = {7, 9};
  Stamp in[2] = {};
  tlm::tlm_generic_payload payload;
  payload.set_write();
  payload.set_address(512 * 11);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(out));
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  CHECK(rig.driver.isock->transport_dbg(payload) == 4);
  payload.set_read();
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(in));
  CHECK(rig.driver.isock->transport_dbg(payload) == 4);
  CHECK(in[0] == 7);
  CHECK(in[1] == 9);
  CHECK(payload.get_extension<HostExtension>() == nullptr);
  payload.set_address(513);
  CHECK(rig.driver.isock->transport_dbg(payload) == 0);
}

}  // namespace
}  // namespace tlmssd
