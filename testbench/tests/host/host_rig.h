// Host interface, controller cores, bus and DRAM with a scripted host in front, a few lines of
// firmware and a scripted flash behind, and a protocol checker on every socket pair.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/random.h"
#include "models/cpu/controller_cpu.h"
#include "models/host/host_interface.h"
#include "models/memory/dram.h"
#include "models/memory/system_bus.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/protocol_checker.h"
#include "testbench/tests/memory/memory_rig.h"
#include "testbench/tests/support/bind_checked.h"

namespace tlmssd {

/// A host that submits what it is told, keeps the exclusion rules, and ends responses in the way
/// chosen.
class FakeHost : public sc_core::sc_module {
 public:
  enum class EndsResponse : std::uint8_t { completed, updated, later };
  struct Submission {
    FakeHost* host = nullptr;
    HostTransaction payload;
    HostCommand& command = payload;
    std::vector<Stamp> data;
    std::vector<LbaRange> ranges;
    Picoseconds submitted = -1;
    Picoseconds accepted = -1;
    Picoseconds done = -1;
    tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;
    std::size_t owner = 0;  // number of its load
    std::function<void(Submission&)> then;
  };

  FakeHost(const sc_core::sc_module_name& name, EventQueue& event_queue)
      : sc_core::sc_module(name), isock("isock", *this), event_queue_(event_queue) {}
  InitiatorSocket<FakeHost> isock;
  EndsResponse ends = EndsResponse::completed;
  std::deque<Submission> all;
  std::vector<Submission*> finished;  // in order of completion

  Submission& make(HostOpcode opcode, std::uint64_t lba, std::uint32_t blocks, std::uint16_t queue = 0) {
    Submission& s = all.emplace_back();
    s.host = this;
    s.command.opcode = opcode;
    s.command.lba = lba;
    s.command.blocks = blocks;
    s.command.queue = queue;
    s.data.assign(std::max<std::uint32_t>(blocks, 1), k_zeros);
    if (opcode == HostOpcode::read || opcode == HostOpcode::write)
      s.command.set_data({s.data.data(), blocks});
    return s;
  }
  Submission& trim(std::vector<LbaRange> ranges, std::uint16_t queue = 0) {
    Submission& s = make(HostOpcode::trim, 0, 0, queue);
    s.ranges = std::move(ranges);
    s.command.set_ranges(s.ranges);
    return s;
  }
  void fill(Submission& s) {
    HostTransaction& payload = s.payload;
    payload.set_mm(&kept_);
    payload.acquire();
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload.set_command(s.command.opcode == HostOpcode::read    ? tlm::TLM_READ_COMMAND
                        : s.command.opcode == HostOpcode::write ? tlm::TLM_WRITE_COMMAND
                                                                : tlm::TLM_IGNORE_COMMAND);
    payload.set_address(s.command.lba * 512);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(s.data.data()));
    payload.set_data_length(static_cast<unsigned>(s.data.size() * sizeof(Stamp)));
    payload.set_streaming_width(payload.get_data_length());
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    submissions_[&payload] = &s;
  }
  void submit_at(Picoseconds when, Submission& s) {
    event_queue_.at(
        when,
        [](void* self) { static_cast<Submission*>(self)->host->submit(*static_cast<Submission*>(self)); },
        &s);
  }
  void submit(Submission& s) {
    s.submitted = event_queue_.now();
    s.command.ledger = Ledger(s.submitted, s.owner);
    fill(s);
    waiting_.push_back(&s);
    issue();
  }
  unsigned untimed(Submission& s) {
    fill(s);
    const unsigned moved = isock->transport_dbg(s.payload);
    s.payload.release();
    return moved;
  }
  tlm::tlm_sync_enum backward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay) {
    arrival(event_queue_, delay);
    if (requesting_ == &payload) {
      find(payload).accepted = event_queue_.now();
      requesting_ = nullptr;
      event_queue_.soon([](void* self) { static_cast<FakeHost*>(self)->issue(); }, this);
    }
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    Submission& s = find(payload);
    s.done = event_queue_.now();
    s.response = payload.get_response_status();
    finished.push_back(&s);
    if (s.then) s.then(s);
    if (ends == EndsResponse::later) {
      ending_ = &payload;
      event_queue_.at(
          event_queue_.now() + 25'000, [](void* self) { static_cast<FakeHost*>(self)->end_response(); },
          this);
      return tlm::TLM_ACCEPTED;
    }
    payload.release();
    if (ends == EndsResponse::completed) return tlm::TLM_COMPLETED;
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }

 private:
  Submission& find(tlm::tlm_generic_payload& payload) { return *submissions_.at(&payload); }
  void issue() {
    while (requesting_ == nullptr && !waiting_.empty()) {
      Submission& s = *waiting_.front();
      waiting_.pop_front();
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = annotation(event_queue_);
      requesting_ = &s.payload;
      const tlm::tlm_sync_enum status = isock->nb_transport_fw(s.payload, phase, delay);
      if (status == tlm::TLM_ACCEPTED) return;
      requesting_ = nullptr;
      s.accepted = event_queue_.now();
      if (status == tlm::TLM_COMPLETED) {
        s.done = event_queue_.now();
        s.response = s.payload.get_response_status();
        finished.push_back(&s);
        s.payload.release();
      }
    }
  }
  void end_response() {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = annotation(event_queue_);
    tlm::tlm_generic_payload& payload = *std::exchange(ending_, nullptr);
    isock->nb_transport_fw(payload, phase, delay);
    payload.release();
  }
  EventQueue& event_queue_;
  struct Kept : tlm::tlm_mm_interface {
    void free(tlm::tlm_generic_payload* /*payload*/) override {}
  } kept_;  // payloads stay in `all`
  std::deque<Submission*> waiting_;
  std::map<tlm::tlm_generic_payload*, Submission*> submissions_;
  tlm::tlm_generic_payload* requesting_ = nullptr;
  tlm::tlm_generic_payload* ending_ = nullptr;
};

/// A flash controller that answers operations in every legal way in turn.
class FakeFlash : public sc_core::sc_module {
 public:
  FakeFlash(const sc_core::sc_module_name& name, EventQueue& event_queue)
      : sc_core::sc_module(name), tsock("tsock", *this), event_queue_(event_queue) {}
  TargetSocket<FakeFlash> tsock;
  std::uint64_t operations = 0;

  tlm::tlm_sync_enum forward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      payload.release();
      return tlm::TLM_COMPLETED;
    }
    switch (operations++ % 4) {
      case 0:  // done at once
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        delay += to_sc_time(1'000);
        return tlm::TLM_COMPLETED;
      case 1:  // accepted at once, done later
        payload.acquire();
        finish_later(payload, 40'000);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
      case 2:  // END_REQ later, done much later
        payload.acquire();
        requested_ = &payload;
        event_queue_.at(
            event_queue_.now() + 15'000, [](void* self) { static_cast<FakeFlash*>(self)->end_request(); },
            this);
        return tlm::TLM_ACCEPTED;
      default:  // response with the return
        payload.acquire();
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        phase = tlm::BEGIN_RESP;
        return tlm::TLM_UPDATED;
    }
  }
  void blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  unsigned debug(unsigned, tlm::tlm_generic_payload& payload) {
    ++operations;
    return payload.get_data_length();
  }

 private:
  struct Late {
    FakeFlash* flash;
    tlm::tlm_generic_payload* payload;
  };
  void finish_later(tlm::tlm_generic_payload& payload, Picoseconds after) {
    late_.push_back({this, &payload});
    event_queue_.at(
        event_queue_.now() + after,
        [](void* self) {
          const Late& late = *static_cast<Late*>(self);
          late.payload->set_response_status(tlm::TLM_OK_RESPONSE);
          tlm::tlm_phase phase = tlm::BEGIN_RESP;
          sc_core::sc_time delay = annotation(late.flash->event_queue_);
          late.flash->tsock->nb_transport_bw(*late.payload, phase, delay);
          late.payload->release();
        },
        &late_.back());
  }
  void end_request() {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = annotation(event_queue_);
    finish_later(*requested_, 20'000);
    tsock->nb_transport_bw(*std::exchange(requested_, nullptr), phase, delay);
  }
  EventQueue& event_queue_;
  tlm::tlm_generic_payload* requested_ = nullptr;
  std::deque<Late> late_;
};

/// Firmware in ten lines: one stage per command, then done; blocks remember their stamps.
class FakeFirmware {
 public:
  FakeFirmware(EventQueue& event_queue, ControllerCpu& cpu, std::size_t blocks)
      : event_queue_(event_queue), cpu_(cpu), store_(blocks) {
    cpu.set_handler([](void* self, HostCommand& command) { static_cast<FakeFirmware*>(self)->take(command); },
                    this);
  }
  bool at_once = false;  ///< complete within the handler
  std::uint64_t taken = 0;
  std::function<HostStatus(HostCommand&)> verdict;
  std::function<Picoseconds()> extra;  ///< further time per command, charged to the map

 private:
  struct Pending {
    FakeFirmware* firmware;
    HostCommand* command;
  };
  void take(HostCommand& command) {
    ++taken;
    if (at_once) {
      finish(command);
      return;
    }
    const ControllerCpu::Run run = cpu_.run(Stage::command);
    command.ledger.charge(Cause::core_wait, run.start);
    command.ledger.charge(Cause::firmware, run.end);
    Picoseconds end = run.end;
    if (extra && cpu_.mode() == ControllerCpu::Mode::timed)
      command.ledger.charge(Cause::map_fetch, end += extra());
    if (end <= event_queue_.now()) {
      finish(command);
      return;
    }
    auto* pending = new Pending{this, &command};
    event_queue_.at(
        end,
        [](void* self) {
          const std::unique_ptr<Pending> done(static_cast<Pending*>(self));
          done->firmware->finish(*done->command);
        },
        pending);
  }
  void finish(HostCommand& command) {
    if (verdict) command.status = verdict(command);
    for (std::uint32_t i = 0; i < command.data().size(); ++i) {
      Stamp& stored = store_[command.lba + i];
      if (command.opcode == HostOpcode::write) stored = command.data()[i];
      if (command.opcode == HostOpcode::read) command.data()[i] = stored;
    }
    cpu_.complete(command);
  }
  EventQueue& event_queue_;
  ControllerCpu& cpu_;
  std::vector<Stamp> store_;
};

struct HostRigConfig {
  HostConfig host;
  CpuConfig cpu;
  DramConfig dram;
  SystemBusConfig bus;
  std::uint64_t blocks = 1U << 16U;
  bool late_memory = false;
};

struct HostRig : sc_core::sc_module {
  explicit HostRig(const sc_core::sc_module_name& module_name, const HostRigConfig& config = {})
      : sc_core::sc_module(module_name),
        process("process", event_queue),
        driver("driver", event_queue),
        host("host", config.host, HostWiring{config.blocks, 1U << 20U, Bytes{64} << 20U}, event_queue),
        cpu("cpu", config.cpu, event_queue),
        bus("bus", config.bus, event_queue, 2),
        dram("dram", config.dram, event_queue),
        late("late", event_queue, 20'000, 300'000),
        flash("flash", event_queue),
        firmware(event_queue, cpu, config.blocks) {
    connect(driver.isock, host.host_tsock);
    connect(host.mailbox_isock, cpu.mailbox_tsock);
    connect(host.memory_isock, bus.master_tsock(0));
    connect(cpu.memory_isock, bus.master_tsock(1));
    connect(cpu.flash_isock, flash.tsock);
    auto& memory = bus.add_memory("memory_isock", k_dram_base, config.dram.capacity);
    auto& spare = bus.add_memory("spare_isock", k_late_base, Bytes{1} << 20U);
    if (config.late_memory) {
      connect(memory, late.tsock);
      connect(spare, dram.bus_tsock);
    } else {
      connect(memory, dram.bus_tsock);
      connect(spare, late.tsock);
    }
  }
  template <class Initiator, class Target>
  void connect(Initiator& initiator, Target& target) {
    bind_checked(checkers, initiator, target);
  }
  void finish() {
    process.rethrow();
    for (auto& checker : checkers) checker->finish();
  }

  EventQueue event_queue;
  EventQueueProcess process;
  FakeHost driver;
  HostInterface host;
  ControllerCpu cpu;
  SystemBus bus;
  Dram dram;
  LateMemory late;
  FakeFlash flash;
  FakeFirmware firmware;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers;
};

}  // namespace tlmssd
