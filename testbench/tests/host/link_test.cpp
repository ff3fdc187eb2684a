// The link's byte accounting against hand-made counts, arbitration, configuration. No kernel
// needed.
#include "models/host/link.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "models/host/arbiter.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd {
namespace {

using namespace literals;

HostConfig with_link(const std::string& link) {
  HostConfig config;
  config.link = link;
  config.protocol = link.starts_with("sata") ? "sata" : "nvme";
  return config;
}

TEST_CASE("links are read from their names and nothing else") {
  CHECK(parse_link("pcie3x4") == LinkSpec{LinkKind::pcie, 3, 4, 0});
  CHECK(parse_link("pcie6x16") == LinkSpec{LinkKind::pcie, 6, 16, 0});
  CHECK(parse_link("sata6") == LinkSpec{LinkKind::sata, 0, 0, 6000});
  CHECK(parse_link("sata1.5") == LinkSpec{LinkKind::sata, 0, 0, 1500});
  for (const char* bad :
       {"", "pcie", "pcie3", "pcie3x", "pcie0x4", "pcie7x4", "pcie3x3", "pcie3x32", "pcie3x44", "pcie33x4",
        "PCIe3x4", "sata", "sata1", "sata1.5x", "sata66", "pcie3 x4", "pcie3x04"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_link(bad), Catch::Contains("pcie3x4") && Catch::Contains("sata6"));
  }
}

TEST_CASE("a link that cannot be is told the one that comes nearest") {
  const auto nearest = [](const std::string& text, LinkKind kind) {
    try {
      parse_link(text, kind);
    } catch (const InputError& error) {
      return error.complaint().proposal->value;
    }
    return std::string("none");
  };
  const std::pair<std::string, std::string> of_pcie[] = {
      {"pcie4x12", "pcie4x16"},       {"pcie5x3", "pcie5x4"},  {"pcie5x5", "pcie5x4"},
      {"PCIe4x4", "pcie4x4"},         {"pcie4 x4", "pcie4x4"}, {"pcie7x4", "pcie6x4"},
      {"pcie0x1", "pcie1x1"},         {"pcie4", "pcie4x4"},    {"Gen4 pcie", "pcie3x4"},
      {"pcie99999x9999", "pcie6x16"}, {"", "pcie3x4"},         {"sata9", "pcie3x4"},
      {"PCIe 5.0 x8", "pcie5x8"}};
  for (const auto& [text, link] : of_pcie) {
    INFO(text);
    CHECK(nearest(text, LinkKind::pcie) == link);
  }
  const std::pair<std::string, std::string> of_sata[] = {
      {"sata9", "sata6"}, {"SATA3", "sata3"}, {"sata 1.5", "sata1.5"}, {"sata2", "sata1.5"},
      {"sata4", "sata3"}, {"sata", "sata6"},  {"pcie9", "sata6"}};
  for (const auto& [text, link] : of_sata) {
    INFO(text);
    CHECK(nearest(text, LinkKind::sata) == link);
  }
}

TEST_CASE("contradictions in the host configuration are refused") {
  HostConfig config;
  CHECK_NOTHROW(config.validate());
  config = with_link("sata6");
  CHECK_NOTHROW(config.validate());
  CHECK(config.effective_queues() == 1);
  CHECK(config.effective_depth() == 32);
  config.protocol = "nvme";
  CHECK_THROWS_WITH(config.validate(), Catch::Contains("nvme needs pcie"));
  const auto refuse = [](auto change, const char* why) {
    HostConfig bad;
    change(bad);
    CHECK_THROWS_WITH(bad.validate(), Catch::Contains(why));
  };
  refuse([](HostConfig& c) { c.lba_size = 1024; }, "lba_size");
  refuse([](HostConfig& c) { c.max_payload = 200; }, "max_payload");
  refuse([](HostConfig& c) { c.max_read_request = 384; }, "max_read_request");
  refuse([](HostConfig& c) { c.max_transfer = 5000; }, "max_transfer");
  refuse([](HostConfig& c) { c.arbitration = "weighted"; }, "weights");
  refuse([](HostConfig& c) { c.weights = {1, 2, 3, 4}; }, "not weighted");
  CHECK_FALSE(HostConfig::parameters().specs().empty());
}

/// Picoseconds of `bytes` on the wire from gigabits per second and line code.
Picoseconds wire(Bytes bytes, double gigatransfers, double code, unsigned lanes) {
  return static_cast<Picoseconds>(
      std::ceil(static_cast<double>(bytes) * 8000 / gigatransfers / code / lanes - 1e-6));
}

/// `count` frames of SATA that carry `fis` bytes together: SOF, CRC, EOF, X_RDY, R_RDY, R_OK and
/// SYNC beside each, two dwords of 256 are ALIGN, and X_RDY, R_RDY, the frame and R_OK cross the
/// link one after the other.
Picoseconds sata_frames(Bytes fis, int count, double gigabits, Picoseconds latency) {
  const Bytes bytes = fis + static_cast<Bytes>(count) * 7 * 4;
  return wire(bytes * 256, gigabits, 0.8 * 254, 1) + 4 * count * latency;
}

TEST_CASE("PCIe moves payloads at rate x lanes x code x payload share") {
  const double rates[] = {2.5, 5, 8, 16, 32, 64};
  const double codes[] = {0.8, 0.8, 128.0 / 130, 128.0 / 130, 128.0 / 130, 236.0 / 256};
  for (unsigned generation = 1; generation <= 6; ++generation) {
    for (const unsigned lanes : {1U, 2U, 4U, 8U, 16U}) {
      for (const std::uint32_t max_payload : {128U, 256U, 512U}) {
        HostConfig config = with_link("pcie" + std::to_string(generation) + "x" + std::to_string(lanes));
        config.max_payload = max_payload;
        INFO(config.link << " max payload " << max_payload);
        Link link(config);
        const Bytes framing = generation == 6 ? 0 : 10;
        const Bytes packets = 131072 / max_payload;
        const Bytes up = 131072 + packets * (16 + framing);
        CHECK(link.data_wire_bytes(LinkDirection::to_host, 131072) == up);
        CHECK(link.data_wire_bytes(LinkDirection::to_device, 131072) == 131072 + packets * (12 + framing));
        CHECK(link.control_wire_bytes(LinkDirection::to_device, 131072) == 256 * (16 + framing));
        CHECK(link.control_wire_bytes(LinkDirection::to_host, 131072) == 0);
        const Picoseconds one = wire(up, rates[generation - 1], codes[generation - 1], lanes);
        const Picoseconds entry =
            wire(20 + 2 * (16 + framing), rates[generation - 1], codes[generation - 1], lanes);
        Picoseconds last = 0;
        for (int i = 0; i < 100; ++i) last = link.answer(0, 131072).data_end;
        CHECK(last == 100 * one + 99 * entry);
        CHECK(link.busy(LinkDirection::to_host) == 100 * (one + entry));
      }
    }
  }
  // The well-known figure: 3.0 x4 with 256 B payloads gives 3.57 GB/s.
  Link link(with_link("pcie3x4"));
  CHECK(131072 / (static_cast<double>(link.wire_time(link.data_wire_bytes(LinkDirection::to_host, 131072))) *
                  1e-12) ==
        Approx(3.938e9 * 256 / 282).epsilon(0.001));
}

TEST_CASE("odd lengths are cut into packets and read requests as the standard has it") {
  HostConfig config = with_link("pcie4x2");
  config.max_payload = 512;
  config.max_read_request = 128;  // completions can then only be 128 B
  const Link link(config);
  CHECK(link.data_wire_bytes(LinkDirection::to_device, 4096 + 16) == 4112 + 33 * 22);
  CHECK(link.control_wire_bytes(LinkDirection::to_device, 4096 + 16) == 33 * 26);
  CHECK(link.data_wire_bytes(LinkDirection::to_host, 513) == 513 + 2 * 26);
  CHECK(link.data_wire_bytes(LinkDirection::to_host, 0) == 0);
}

TEST_CASE("a fetch takes the round trips of its packets") {
  HostConfig config = with_link("pcie3x4");
  config.link_latency = 150_ns;
  Link link(config);
  const auto bytes = [](Bytes n) { return wire(n, 8, 128.0 / 130, 4); };
  const Link::Fetch fetch = link.fetch(1_us, 4096);
  const Picoseconds entry = 1_us + bytes(26) + 300_ns + bytes(64 + 22);
  CHECK(fetch.entry == entry);
  CHECK(fetch.data_start == entry + bytes(26) + 300_ns);
  CHECK(fetch.data_end == fetch.data_start + bytes(4096 + 16 * 22));
  CHECK(link.doorbell() == bytes(30) + 150_ns);
  CHECK(link.completion_time() == bytes(42 + 30));
  // The next entry passes the payload and waits for the first entry only; its own payload waits for
  // the first one and for what entries and doorbell took between its packets.
  const Link::Fetch second = link.fetch(1_us, 512);
  CHECK(second.entry == entry + bytes(64 + 22));
  CHECK(second.data_start == fetch.data_end + bytes(64 + 22) + bytes(30));
}

TEST_CASE("PCIe is full duplex and SATA is half duplex") {
  Link pcie(with_link("pcie3x4"));
  const Picoseconds alone = Link(with_link("pcie3x4")).answer(0, 65536).data_end;
  pcie.fetch(0, 65536);
  pcie.begin_data(0, 65536);
  // Only the read requests of the fetch are in the way: 1 + 128 of 26 B.
  CHECK(pcie.answer(0, 65536).data_end == alone + pcie.request_time() + wire(128 * 26, 8, 128.0 / 130, 4));
  Link sata(with_link("sata6"));
  const Picoseconds sata_alone = Link(with_link("sata6")).answer(0, 65536).data_end;
  sata.fetch(0, 65536);
  // Command, permissions and data round up separately.
  const auto frames = [](Bytes fis, int count) { return sata_frames(fis, count, 6, 150_ns); };
  CHECK(sata.answer(0, 65536).data_end ==
        sata_alone + frames(20 + 20, 2) + frames(28 + 7 * 4, 8) + frames(65536 + 8 * 4, 8));
}

TEST_CASE("of what a link has to send a window has what is sent in it") {
  const auto utilisation = [](const Link& link, Picoseconds now, const std::string& of) {
    return test::statistics_of(link, now).at("link/" + of + "utilisation");
  };
  const auto share = [](Picoseconds busy, Picoseconds span) {
    return static_cast<double>(busy) / static_cast<double>(span);
  };
  for (const char* name : {"pcie1x1", "sata1.5"}) {
    INFO(name);
    Link link(with_link(name));
    const bool sata = name == std::string("sata1.5");
    const Picoseconds begin = 100_us;
    link.fetch(begin, 256_KiB);
    if (sata) link.answer(begin, 64_KiB);
    const Picoseconds booked =
        link.busy(LinkDirection::to_device) + (sata ? link.busy(LinkDirection::to_host) : 0);
    REQUIRE(booked > 600_us);
    const std::string of = sata ? "" : "to device/";
    CHECK(utilisation(link, 500_us, of) == share(400_us, 500_us));
    link.reset_statistics(500_us);
    CHECK(utilisation(link, 600_us, of) == 1);
    CHECK(utilisation(link, 10'500_us, of) == share(booked - 400_us, 10_ms));
    if (!sata) continue;
    // The directions share what is left.
    CHECK(utilisation(link, 600_us, "to device/") + utilisation(link, 600_us, "to host/") == Approx(1));
    CHECK(utilisation(link, 600_us, "to host/") > 0);
  }
}

TEST_CASE("what a link is booked for is saved: data, and small packets that wait for their like") {
  const auto same = [](const Link::Fetch& a, const Link::Fetch& b) {
    return a.entry == b.entry && a.data_start == b.data_start && a.data_end == b.data_end;
  };
  for (const char* name : {"pcie3x4", "sata6"}) {
    INFO(name);
    Link link(with_link(name));
    for (int n = 0; n < 100; ++n) link.fetch(0, n % 2 == 0 ? 0 : 4096);
    link.answer(0, 8192);
    MemoryArchive archive;
    link.archive(archive);
    archive.rewind();
    Link restored(with_link(name));
    restored.archive(archive);
    CHECK(archive.at_end());
    const Link::Fetch first = link.fetch(1_ns, 0);
    CHECK(first.entry > 1_ns + Link(with_link(name)).fetch(0, 0).entry);  // behind what was booked
    CHECK(same(restored.fetch(1_ns, 0), first));
    const Link::Fetch data = link.fetch(2_ns, 4096);
    CHECK(same(restored.fetch(2_ns, 4096), data));
    const Link::Answer answer = link.answer(3_ns, 4096);
    CHECK(restored.answer(3_ns, 4096).data_end == answer.data_end);
  }
}

TEST_CASE("SATA frames cost what the standard says") {
  for (const double gigabits : {1.5, 3.0, 6.0}) {
    HostConfig config = with_link(gigabits == 1.5 ? "sata1.5" : gigabits == 3 ? "sata3" : "sata6");
    config.link_latency = 20_ns;
    INFO(config.link);
    Link link(config);
    const auto frames = [gigabits](Bytes fis, int count) { return sata_frames(fis, count, gigabits, 20_ns); };
    const Link::Answer answer = link.answer(0, 4096);
    CHECK(answer.data_end == frames(28, 1) + frames(4096 + 4, 1));
    CHECK(answer.completion == frames(8, 1));
    const Link::Fetch fetch = Link(config).fetch(0, 4096);
    CHECK(fetch.entry == frames(20 + 20, 2));
    CHECK(fetch.data_start == fetch.entry + frames(28, 1));
    CHECK(fetch.data_end == fetch.data_start + frames(4096 + 4, 1));
    // Of three Data FIS, the second and the third are asked for by DMA Activate; the set-up asks
    // for the first.
    const Link::Fetch longer = Link(config).fetch(0, 2 * 8192 + 512);
    CHECK(longer.data_end == longer.entry + frames(28 + 2 * 4, 3) + frames(2 * 8192 + 512 + 3 * 4, 3));
    CHECK(Link(config).fetch(0, 0).data_end == fetch.entry);
    // Saturated: one command after the other, and nothing at the same time.
    Link reads(config);
    Link writes(config);
    Picoseconds read = 0;
    Picoseconds written = 0;
    for (int i = 0; i < 100; ++i) {
      read = reads.answer(0, 131072).data_end;
      written = writes.fetch(0, 131072).data_end;
    }
    const Picoseconds data = frames(131072 + 16 * 4, 16);
    CHECK(read == 100 * (frames(28, 1) + data) + 99 * frames(8, 1));
    // The entries travel between the frames of the data.
    CHECK(written == 100 * (frames(28 + 15 * 4, 16) + data + frames(20 + 20, 2)));
  }
}

TEST_CASE("SATA 6 Gb/s moves what drives are measured to move") {
  // Reads of 128 KiB with the default latency: 562 MB/s; data sheets of drives that the link limits
  // say 550 to 560 MB/s. Writes, each frame of which is asked for: 539 MB/s; data sheets say 520 to
  // 530 MB/s.
  const auto rate = [](Picoseconds time) { return 131072.0 / (static_cast<double>(time) * 1e-12); };
  const Link link(with_link("sata6"));
  const auto one = [&link](LinkDirection direction) {
    return link.entry_time() + link.control_time(direction, 131072) + link.data_time(direction, 131072) +
           link.completion_time();
  };
  CHECK(rate(one(LinkDirection::to_host)) == Approx(562e6).epsilon(0.002));
  CHECK(rate(one(LinkDirection::to_device)) == Approx(539e6).epsilon(0.002));
}

std::string turns(Arbiter& arbiter, int count) {
  std::string order;
  for (int i = 0; i < count; ++i) order += static_cast<char>('a' + arbiter.next());
  return order;
}

TEST_CASE("queues take their turns by burst or by weight") {
  HostConfig config;
  config.queues = 3;
  Arbiter plain(config);
  CHECK(plain.next() == Arbiter::k_none);
  for (std::uint32_t q = 0; q < 3; ++q) plain.set_waiting(q, true);
  CHECK(turns(plain, 7) == "abcabca");
  plain.set_waiting(1, false);
  CHECK(turns(plain, 4) == "caca");
  config.burst = 2;
  Arbiter burst(config);
  for (std::uint32_t q = 0; q < 3; ++q) burst.set_waiting(q, true);
  CHECK(turns(burst, 7) == "aabbcca");
  burst.set_waiting(0, false);  // gives up the rest of its turn
  CHECK(turns(burst, 4) == "bbcc");
  config.arbitration = "weighted";
  config.weights = {1, 3, 2};
  Arbiter weighted(config);
  for (std::uint32_t q = 0; q < 3; ++q) weighted.set_waiting(q, true);
  CHECK(turns(weighted, 12) == "abbbccabbbcc");
  weighted.set_waiting(0, false);
  weighted.set_waiting(2, false);
  CHECK(turns(weighted, 5) == "bbbbb");
  config = {};
  config.queues = 200;
  Arbiter many(config);
  many.set_waiting(130, true);
  many.set_waiting(63, true);
  many.set_waiting(64, true);
  CHECK(many.next() == 63);
  CHECK(many.next() == 64);
  CHECK(many.next() == 130);
  CHECK(many.next() == 63);
  many.set_waiting(63, false);
  many.set_waiting(64, false);
  for (int turn = 0; turn < 3; ++turn) CHECK(many.next() == 130);  // alone, it has every turn
}

}  // namespace
}  // namespace tlmssd
