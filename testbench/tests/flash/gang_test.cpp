// Gangs: unloaded latencies, saturation against the closed forms of bus_gang.h, order of the
// organisations, fairness, who waits for what, random loads. A shared-bus gang must do exactly what
// one channel with all its dies does.
#include <array>

#include "testbench/tests/flash/random_load.h"
#include "testbench/tests/flash/saturation.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::literals;
using namespace tlmssd::test;

namespace {

constexpr std::array<const char*, 3> k_organisations = {"channels", "shared-control-gang", "shared-bus-gang"};
constexpr std::uint32_t k_channels = 4;
constexpr std::uint32_t k_ways = 8;

/// One gang of four channels with eight dies each.
Options four(const std::string& organisation, Hertz bus = 400'000'000) {
  Options o;
  o.part.planes = 2;
  o.part.pages_per_block = 256;
  o.part.blocks_per_plane = 64;
  o.part.page_size = 4096;
  o.part.read_latency = {20_us};
  o.part.program_latency = {100_us};
  o.config.channels = k_channels;
  o.config.ways = k_ways;
  o.config.bus = bus;
  o.config.organisation = organisation;
  o.config.gang = k_channels;
  return o;
}

std::uint32_t die_of(std::uint32_t channel, std::uint32_t way) {
  return channel * k_ways + way;
}

/// The first `ways` dies of every channel, way by way.
std::vector<std::uint32_t> dies_of(std::uint32_t ways) {
  std::vector<std::uint32_t> dies;
  for (std::uint32_t way = 0; way < ways; ++way) {
    for (std::uint32_t channel = 0; channel < k_channels; ++channel) dies.push_back(die_of(channel, way));
  }
  return dies;
}

/// Of an operation: its time from the command to the end, and what it holds of data lines and of
/// control lines.
struct Costs {
  Picoseconds die;
  Picoseconds bus;
  Picoseconds control;
};

/// A saturated gang reaches its closed form. With shared control it may also wait, once an
/// operation, for the control parts of the other members, which costs nothing where the control
/// lines are the limit.
void check_rate(double operations, const std::string& organisation, std::uint32_t ways, const Costs& costs) {
  const bool shares_control = organisation == "shared-control-gang";
  const auto rate = [](double servers, Picoseconds time) {
    return servers * 1e12 / static_cast<double>(time);
  };
  const auto form = [&](Picoseconds wait) {
    return std::min(rate(k_channels * ways, costs.die + wait),
                    rate(organisation == "shared-bus-gang" ? 1 : k_channels, costs.bus + wait));
  };
  const double control = shares_control ? rate(1, costs.control) : 1e15;
  const double most = std::min(form(0), control);
  const bool control_is_least = form(0) > 1.5 * control;
  const double least =
      shares_control && !control_is_least ? form((k_channels - 1) * costs.control) : most * 0.99;
  INFO("form " << form(0) << ", control " << control << ", at least " << least << ", reached " << operations);
  CHECK(operations <= most * 1.01);
  CHECK(operations >= least);
}

void check_saturation(const std::string& organisation, Hertz bus_rate) {
  Bench b(four(organisation, bus_rate));
  const BusTiming& bus = b.array.bus();
  std::vector<std::uint32_t> programmed(std::size_t{k_channels} * k_ways);
  for (const std::uint32_t planes : {1U, 2U}) {
    for (std::uint32_t& page : programmed) page = (page + 255) / 256 * 256;
    const std::vector<std::uint32_t> readable = programmed;
    const double bytes = planes * 4096.0;
    for (std::uint32_t ways = 1; ways <= k_ways; ++ways) {
      INFO(organisation << ", " << ways << " dies on each channel, planes " << planes);
      const auto w = bus.data_in(planes);
      const Picoseconds s = bus.status();
      Saturation writes{.bench = b,
                        .command = FlashCommand::program,
                        .on = dies_of(ways),
                        .planes = planes,
                        .cursor = programmed};
      check_rate(writes.run() / bytes, organisation, ways,
                 {w.total() + 100_us + s, w.total() + s, w.command + s});
      std::vector<std::uint32_t> from = readable;
      const Picoseconds c = bus.read_command(planes);
      const auto o = bus.data_out(0, planes * b.units_per_page);
      Saturation reads{
          .bench = b, .command = FlashCommand::read, .on = dies_of(ways), .planes = planes, .cursor = from};
      check_rate(reads.run() / bytes, organisation, ways,
                 {c + 20_us + o.total(), c + o.total(), c + o.command});
    }
  }
}

/// Operations drawn for each die before the run, so that every organisation gets the same; four at
/// a time on each die.
class Mix {
 public:
  explicit Mix(Bench& bench, std::uint64_t seed, std::uint32_t reads)
      : bench_(bench), dies_(k_channels * k_ways) {
    RandomStream random(seed, "mix");
    for (std::uint32_t die = 0; die < dies_.size(); ++die) {
      Die& d = dies_[die];
      d.mix = this;
      for (std::uint32_t page = 0; page < 64; ++page) {
        Operation first = make(bench, FlashCommand::program, die, 1, page);
        execute(first);
      }
      std::uint32_t next = 0;
      for (int i = 0; i < 200; ++i) {
        const bool read = random.below(100) < reads || next == 256;
        d.script.push_back(make(bench, read ? FlashCommand::read : FlashCommand::program, die, read ? 1 : 0,
                                read ? static_cast<std::uint32_t>(random.below(64)) : next++));
      }
    }
  }
  /// Time until everything is done.
  Picoseconds run() {
    const Picoseconds start = bench_.event_queue.now();
    for (int i = 0; i < 4; ++i) {
      for (Die& d : dies_) d.next();
    }
    bench_.run();
    for (const Die& d : dies_) {
      for (const Operation& o : d.script) check_ledger(o);
    }
    return bench_.event_queue.now() - start;
  }

 private:
  struct Die {
    Mix* mix = nullptr;
    std::deque<Operation> script;
    std::size_t begun = 0;
    void next() {
      if (begun == script.size()) return;
      Operation& o = script[begun++];
      o.then = [this](Operation&) { next(); };
      submit(o);
    }
  };
  Bench& bench_;
  std::vector<Die> dies_;
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("unloaded latency does not depend on the organisation", "", ((int O), O), 0, 1, 2) {
  Options options = four(k_organisations[O]);
  options.memory_latency = 2_us;  // less than any transfer
  Bench b(options);
  const BusTiming& bus = b.array.bus();
  for (std::uint32_t planes = 1; planes <= 2; ++planes) {
    for (std::uint32_t channel = 0; channel < k_channels; ++channel) {
      const std::uint32_t die = die_of(channel, planes);
      Operation program = make(b, FlashCommand::program, die, 0, planes - 1, planes);
      Operation read = make(b, FlashCommand::read, die, 0, planes - 1, planes);
      Operation nothing = make(b, FlashCommand::read, die, 0, planes - 1, planes);
      nothing.op.slots = 0;
      Operation erase = make(b, FlashCommand::erase, die, 0, 0, planes);
      if (planes == 2) {
        Operation below = make(b, FlashCommand::program, die, 0, 0, planes);
        execute(below);
      }
      for (Operation* o : {&program, &read, &nothing, &erase}) {
        submit(*o);
        b.run();
        check_ledger(*o);
        CHECK(o->ledger.spent(Cause::bus_wait) == 0);
      }
      CHECK(program.latency() == bus.data_in(planes).total() + 100_us + bus.status());
      CHECK(read.latency() ==
            bus.read_command(planes) + 20_us + bus.data_out(0, planes * b.units_per_page).total());
      CHECK(nothing.latency() == bus.read_command(planes) + 20_us + bus.status());
      CHECK(erase.latency() == bus.erase_command(planes) + b.array.part().erase_latency + bus.status());
    }
  }
}

TEMPLATE_TEST_CASE_SIG("saturated bandwidth of a gang, slow bus", "", ((int O), O), 0, 1, 2) {
  check_saturation(k_organisations[O], 400'000'000);
}

TEMPLATE_TEST_CASE_SIG("saturated bandwidth of a gang, bus faster than the control lines", "", ((int O), O),
                       0, 1, 2) {
  check_saturation(k_organisations[O], 8'000'000'000);
}

TEST_CASE("channels are at least as fast as shared control, and that as a shared bus", "[figure]") {
  for (const Hertz bus : {200'000'000ULL, 1'600'000'000ULL, 8'000'000'000ULL}) {
    for (const std::uint32_t reads : {100U, 90U, 50U, 0U}) {
      std::array<Picoseconds, 3> took{};
      for (std::size_t i = 0; i < k_organisations.size(); ++i) {
        took[i] = in_child([&] {
          Bench b(four(k_organisations[i], bus));
          return Mix(b, 1, reads).run();
        });
      }
      INFO("bus " << bus << ", reads " << reads << " %: " << took[0] << ", " << took[1] << ", " << took[2]);
      CHECK(took[0] > 0);
      // A little slack: the end of a mix is a matter of which die happens to have the longest rest.
      const Picoseconds slack = reads == 100 ? 0 : took[0] / 100;
      CHECK(took[0] <= took[1] + slack);
      CHECK(took[1] <= took[2] + slack);
    }
  }
}

TEST_CASE("a gang of one is a channel") {
  Options o = small("read-first");
  o.config.suspend = "both";
  const std::uint64_t channels = load_in_child(o, 1);
  for (const char* organisation : {"shared-bus-gang", "shared-control-gang"}) {
    o.config.organisation = organisation;
    o.config.gang = 1;
    CHECK(load_in_child(o, 1) == channels);
    o.config.gang = 2;
    CHECK(load_in_child(o, 1) != channels);
  }
}

TEST_CASE("a shared-bus gang does what one channel with all its dies does", "[figure]") {
  for (const bool late : {false, true}) {
    for (const bool suspend : {false, true}) {
      for (const bool cached : {false, true}) {
        INFO("late memory " << late << ", suspend " << suspend << ", cached " << cached);
        Options one = small(suspend ? "read-first" : "out-of-order");
        one.config.suspend = suspend ? "both" : "none";
        one.config.cache_operations = cached;
        one.memory_latency = 20_us;
        one.late_memory = late;
        one.config.channels = 1;
        one.config.ways = 6;
        for (const std::uint32_t channels : {2U, 3U, 6U}) {
          Options gang = one;
          gang.config.channels = channels;
          gang.config.ways = 6 / channels;
          gang.config.organisation = "shared-bus-gang";
          gang.config.gang = channels;
          CHECK(load_in_child(gang, 5) == load_in_child(one, 5));
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE_SIG("no member of a gang starves", "", ((int O), O), 1, 2) {
  // One member programs rows of pages, one reads single units, two read rows: all want what is
  // shared without end.
  Options options = four(k_organisations[O], 1'600'000'000);
  options.part.page_size = 16384;
  options.part.read_latency = {2_us};
  options.part.program_latency = {5_us};
  Bench b(options);
  std::array<std::uint32_t, k_channels> ended{};
  Picoseconds longest = 0;
  std::deque<Operation> operations;
  const Picoseconds end = 50_ms;
  for (std::uint32_t die = 0; die < k_channels * k_ways; ++die) {
    const std::uint32_t channel = die / k_ways;
    Operation first = make(b, FlashCommand::program, die, 0, 0, 2);
    execute(first);
    operations.push_back(make(b, channel == 0 ? FlashCommand::program : FlashCommand::read, die, 0, 0, 2));
    Operation& o = operations.back();
    if (channel == 0) o.op.page = PageId{1};
    if (channel == 1) o.op.slots = 1;
    o.then = [&, channel](Operation& self) {
      check_ledger(self);
      ++ended[channel];
      longest = std::max(longest, self.ledger.spent(Cause::bus_wait));
      if (b.event_queue.now() >= end) return;
      if (channel == 0) {
        const std::uint32_t page = index(self.op.block) * 256 + index(self.op.page) + 1;
        self.op.block = BlockId{page / 256};
        self.op.page = PageId{page % 256};
      }
      submit(self);
    };
  }
  for (Operation& o : operations) submit(o);
  b.run();
  // A step waits for at most one transfer and the short phases of every other die; an operation has
  // two steps.
  const BusTiming& bus = b.array.bus();
  const Picoseconds turn = bus.data_in(2).total() + bus.read_command(2) + bus.status();
  INFO(ended[0] << ' ' << ended[1] << ' ' << ended[2] << ' ' << ended[3] << ", longest wait " << longest);
  CHECK(longest <= 2 * k_channels * k_ways * turn);
  for (const std::uint32_t count : ended) CHECK(count > end / (2 * k_channels * k_ways * turn));
  // Members that want the same get the same.
  CHECK(ended[2] == Approx(ended[3]).epsilon(0.05));
}

TEST_CASE("who waits for another member of the gang is charged bus wait") {
  // A program loads its data on channel 0; a read for channel 1 comes meanwhile.
  for (const char* organisation : k_organisations) {
    INFO(organisation);
    CHECK(in_child([&] {
            Bench b(four(organisation));
            const BusTiming& bus = b.array.bus();
            Operation program = make(b, FlashCommand::program, die_of(0, 0), 0, 0);
            Operation read = make(b, FlashCommand::read, die_of(1, 0), 0, 0);
            Operation first = make(b, FlashCommand::program, die_of(1, 0), 0, 0);
            execute(first);
            submit(program);
            b.event_queue.run_until(100_ns);
            submit(read);
            b.run();
            const Picoseconds alone = bus.read_command(1) + 20_us + bus.data_out(0, 1).total();
            return read.latency() - alone == read.ledger.spent(Cause::bus_wait) &&
                           read.ledger.total() == read.latency()
                       ? read.latency() - alone
                       : Picoseconds{-1};
          }) == (organisation == k_organisations[0]   ? 0
                 : organisation == k_organisations[1] ? 345_ns - 100_ns
                                                      : 345_ns + 10'240_ns - 100_ns));
  }
}

TEST_CASE("a suspend waits for the lines of the gang") {
  for (const char* organisation : k_organisations) {
    INFO(organisation);
    CHECK(in_child([&] {
            Options o = four(organisation);
            o.scheduling = "read-first";
            o.config.suspend = "both";
            Bench b(o);
            const BusTiming& bus = b.array.bus();
            Operation first = make(b, FlashCommand::program, die_of(1, 0), 0, 0);
            execute(first);
            Operation erase = make(b, FlashCommand::erase, die_of(1, 0), 1, 0);
            Operation program = make(b, FlashCommand::program, die_of(0, 0), 0, 0);
            Operation read = make(b, FlashCommand::read, die_of(1, 0), 0, 0);
            submit(erase);
            b.event_queue.run_until(1_ms);
            submit(program);
            b.event_queue.run_until(1_ms + 100_ns);
            submit(read);
            b.run();
            check_ledger(erase);
            check_ledger(read);
            check_ledger(program);
            return erase.op.suspended_for_host
                       ? read.latency() - bus.control() - b.array.part().erase_suspend_latency -
                             bus.read_command(1) - 20_us - bus.data_out(0, 1).total()
                       : Picoseconds{-1};
          }) == (organisation == k_organisations[0]   ? 0
                 : organisation == k_organisations[1] ? 345_ns - 100_ns
                                                      : 345_ns + 10'240_ns - 100_ns));
  }
}

TEST_CASE("while a member waits for late memory, a shared bus is held and shared control is not") {
  for (const char* organisation : k_organisations) {
    INFO(organisation);
    CHECK(in_child([&] {
      Options o = four(organisation);
      o.memory_latency = 300_us;
      o.late_memory = true;
      Bench b(o);
      const BusTiming& bus = b.array.bus();
      Operation program = make(b, FlashCommand::program, die_of(0, 0), 0, 0);
      Operation erase = make(b, FlashCommand::erase, die_of(1, 0), 0, 0);
      submit(program);
      b.event_queue.run_until(1_ns);
      submit(erase);
      // Holds the control lines when the data of the program come.
      Operation other = make(b, FlashCommand::erase, die_of(2, 0), 0, 0);
      b.event_queue.run_until(300_us - 50_ns);
      submit(other);
      b.run();
      for (const Operation* p : {&program, &erase, &other}) check_ledger(*p);
      const Picoseconds command = bus.erase_command(1);
      const Picoseconds waits[] = {erase.ledger.spent(Cause::bus_wait), other.ledger.spent(Cause::bus_wait),
                                   program.ledger.spent(Cause::bus_wait)};
      const Picoseconds whole = 300_us + bus.data_in(1).total();
      if (organisation == k_organisations[0]) return waits[0] == 0 && waits[1] == 0 && waits[2] == 0;
      if (organisation == k_organisations[1])
        return waits[0] == 0 && waits[1] == 0 && waits[2] == command - 50_ns;
      return waits[0] == whole - 1_ns && waits[1] == whole - 300_us + 50_ns + command && waits[2] == 0;
    }));
  }
}

TEST_CASE("a gang counts how long what it shares is held") {
  for (std::size_t i = 1; i < k_organisations.size(); ++i) {
    CHECK(in_child([&] {
      Bench b(four(k_organisations[i]));
      const BusTiming& bus = b.array.bus();
      Operation program = make(b, FlashCommand::program, die_of(3, 0), 0, 0);
      submit(program);
      b.event_queue.run_until(200_ns);
      b.array.reset_statistics();  // in the middle of the command
      b.run();
      struct Sink final : StatisticsSink {
        double utilisation = 0;
        std::uint64_t phases = 0;
        void open(std::string_view, std::string_view) override {}
        void close() override {}
        void value(std::string_view, double v, std::string_view, std::string_view) override {
          utilisation = v;
        }
        void value(std::string_view, std::uint64_t v, std::string_view, std::string_view) override {
          phases = v;
        }
        void text(std::string_view, std::string_view, std::string_view) override {}
      } sink;
      b.array.gangs().front()->report(sink);
      const BusTiming::Phase in = bus.data_in(1);
      const Picoseconds held =
          (k_organisations[i] == std::string("shared-bus-gang") ? in.total() : in.command) - 200_ns +
          bus.status();
      const Picoseconds span = b.event_queue.now() - 200_ns;
      return sink.phases == 1 &&
             sink.utilisation == Approx(static_cast<double>(held) / static_cast<double>(span));
    }));
  }
}

TEST_CASE("of an array's operation a window has what happens in it") {
  Bench b(four(k_organisations[0]));
  const auto share = [&b] {
    double highest = 0;
    for (const auto& [name, number] : statistics_of(b.array))
      if (name.ends_with("array_utilisation")) highest = std::max(highest, number);
    return highest;
  };
  Operation erase = make(b, FlashCommand::erase, die_of(3, 0), 0, 0);
  submit(erase);
  b.event_queue.run_until(200_us);
  const double start = 200e-6 * (1 - share());
  CHECK(start < 10e-6);
  b.array.reset_statistics();
  b.event_queue.run_until(500_us);
  CHECK(share() == 1);
  b.run();
  const double end = start + static_cast<double>(NandPart{}.erase_latency) * 1e-12;
  const double now = static_cast<double>(b.event_queue.now()) * 1e-12;
  REQUIRE(end > 500e-6);
  CHECK(share() == Approx((end - 200e-6) / (now - 200e-6)));
}

TEST_CASE("channels that do not fall into gangs are refused") {
  FlashConfig config;
  config.channels = 12;
  config.gang = 5;
  CHECK_NOTHROW(config.check());
  config.organisation = "shared-bus-gang";
  CHECK_THROWS_WITH(config.check(), "gang: 5 does not divide the 12 channels; nearest valid: 4");
  config.gang = 99;
  CHECK_THROWS_WITH(config.check(), Catch::EndsWith("nearest valid: 12"));
  config.gang = 12;
  CHECK_NOTHROW(config.check());
}

namespace {

/// A random load in a gang; 3 stands for three channels of two dies.
Options gang(int organisation, const std::string& scheduling, std::uint32_t channels) {
  Options o = small(scheduling);
  o.config.organisation = k_organisations[static_cast<std::size_t>(organisation)];
  o.config.channels = channels;
  o.config.ways = 6 / channels;
  o.config.gang = channels;
  return o;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("random load on a gang, in-order with cached operations", "", ((int O), O), 1, 2) {
  Options o = gang(O, "in-order", 3);
  o.config.cache_operations = true;
  load(o);
}

TEMPLATE_TEST_CASE_SIG("random load on a gang, out-of-order with slow memory", "", ((int O), O), 1, 2) {
  Options o = gang(O, "out-of-order", 6);
  o.memory_latency = 60_us;
  load(o);
}

TEMPLATE_TEST_CASE_SIG("random load on a gang, read-first with suspend, word lines and late memory", "",
                       ((int O), O), 1, 2) {
  Options o = gang(O, "read-first", 3);
  o.config.suspend = "both";
  o.part.program_unit = "word-line";
  o.memory_latency = 60_us;
  o.late_memory = true;
  load(o);
}

TEMPLATE_TEST_CASE_SIG("random load on a gang, read-first with suspend, whole blocks and cached operations",
                       "", ((int O), O), 1, 2) {
  Options o = gang(O, "read-first", 2);
  o.config.suspend = "both";
  o.config.cache_operations = true;
  o.part.program_unit = "block";
  load(o);
}

TEMPLATE_TEST_CASE_SIG("random load with codes on a gang, read-first with suspend and late memory", "",
                       ((int O), O), 1, 2) {
  Options o = gang(O, "read-first", 3);
  o.config.suspend = "both";
  o.config.cache_operations = true;
  o.memory_latency = 60_us;
  o.late_memory = true;
  load(with_errors(o), 1, true);
}

TEMPLATE_TEST_CASE_SIG("the same load on a gang gives the same result", "", ((int O), O), 1, 2) {
  Options o = gang(O, "read-first", 3);
  o.config.suspend = "both";
  const std::uint64_t first = load_in_child(with_errors(o), 1, true);
  CHECK(first == load_in_child(with_errors(o), 1, true));
  CHECK(first != load_in_child(with_errors(o), 2, true));
}

namespace {

/// Watches what must exclude each other: phases on each channel, and what the gang shares over all
/// of them.
class ExclusionObserver final : public FlashObserver {
 public:
  ExclusionObserver(const BusTiming& bus, bool shares_bus) : bus_(bus), shares_bus_(shares_bus) {}
  void bus(ChannelId channel, DieId, const FlashOp& op, Picoseconds start, Picoseconds end,
           BusUse use) override {
    Picoseconds data = 0;
    if (use == BusUse::data_in) data = bus_.data_in(op.planes).data;
    if (use == BusUse::data_out) data = bus_.data_out(op.first_slot, op.slots).data;
    REQUIRE(start >= channels_[index(channel)]);
    REQUIRE(start >= shared_);
    overlaps |= start < latest_;
    channels_[index(channel)] = end;
    shared_ = shares_bus_ ? end : end - data;
    latest_ = std::max(latest_, end);
    ++phases;
  }
  void array(DieId, const FlashOp&, Picoseconds, Picoseconds) override {}
  std::uint64_t phases = 0;
  bool overlaps = false;  ///< phases of several channels did

 private:
  const BusTiming& bus_;
  bool shares_bus_;
  std::array<Picoseconds, k_channels> channels_{};
  Picoseconds shared_ = 0;
  Picoseconds latest_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("phases exclude each other as the organisation says", "", ((int O), O), 1, 2) {
  Options o = four(k_organisations[O]);
  o.scheduling = "read-first";
  o.config.suspend = "both";
  o.config.cache_operations = true;
  o.part.program_suspend_latency = 5_us;
  o.part.min_resume_time = 10_us;
  Bench b(o);
  ExclusionObserver observer(b.array.bus(), O == 2);
  b.array.set_observer(&observer);
  Mix(b, 3, 60).run();
  CHECK(observer.phases > 2 * 200 * k_channels * k_ways);
  CHECK(observer.overlaps == (O == 1));
}
