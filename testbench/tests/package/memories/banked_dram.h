// A third party's DRAM, approximately timed: banks with open rows, a queue, refresh, a clock of its
// own. Nothing here is tlmssd's.
//
// In order, counted in cycles of its clock; all that comes between two edges is seen at the second.
// A burst finds its row open (hit), its bank closed, or another row open (conflict):
//   column command   hit: as soon as it has arrived and `burst` after the bank's last one
//                    closed: + rcd; conflict: precharge when the last data are through, + rp + rcd
//   data             cas after the column command, `burst` cycles, one burst at a time
//   refresh          every refi cycles: when the data before it are through all banks are closed and
//                    rest for rfc
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace vendor {

struct BankedTimings {
  sc_core::sc_time clock{1, sc_core::SC_NS};
  std::uint64_t rcd = 14, cas = 14, rp = 14, burst = 4;
  std::uint64_t refi = 7800, rfc = 350;  // refi 0: no refresh
  std::uint64_t banks = 8, row = 2048;   // bytes; the next row is in the next bank
  std::size_t queue = 32;
};

class BankedDram final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(BankedDram);
  static constexpr unsigned k_burst = 64;  // bytes
  BankedDram(const sc_core::sc_module_name& name, std::uint64_t base, std::uint64_t bytes,
             const BankedTimings& timings)
      : sc_core::sc_module(name),
        socket("socket"),
        base_(base),
        bytes_(bytes),
        t_(timings),
        banks_(timings.banks),
        next_refresh_(timings.refi) {
    socket.register_nb_transport_fw(this, &BankedDram::nb_transport_fw);
    SC_METHOD(respond);
    sensitive << due_;
    dont_initialize();
  }
  tlm_utils::simple_target_socket<BankedDram> socket;
  struct Counters {
    std::uint64_t hits = 0, closed = 0, conflicts = 0, refreshes = 0;
  } counted;

 private:
  struct Bank {
    std::uint64_t row = ~std::uint64_t{0};
    std::uint64_t column = 0;     // earliest next column command
    std::uint64_t precharge = 0;  // earliest precharge
  };
  struct Burst {
    tlm::tlm_generic_payload* payload;
    std::uint64_t end;
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      responding_ = false;
      arm();
      return tlm::TLM_COMPLETED;
    }
    if (payload.get_address() < base_ || payload.get_address() - base_ >= bytes_ ||
        payload.get_data_length() > k_burst) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    if (queue_.size() == t_.queue) {
      held_ = &payload;  // END_REQ when there is a place
      return tlm::TLM_ACCEPTED;
    }
    schedule(payload, delay);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  void schedule(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
    const sc_core::sc_time arrived = sc_core::sc_time_stamp() + delay;
    const std::uint64_t edge = (arrived.value() + t_.clock.value() - 1) / t_.clock.value();
    queue_.push_back({&payload, end_of_data(edge, payload.get_address() - base_)});
    if (queue_.size() == 1) arm();
  }

  std::uint64_t end_of_data(std::uint64_t arrived, std::uint64_t address) {
    const std::uint64_t row = address / t_.row / t_.banks;
    Bank& bank = banks_[address / t_.row % t_.banks];
    std::uint64_t column = column_of(bank, row, arrived);
    while (t_.refi != 0 && next_refresh_ <= column) {
      refresh();
      column = column_of(bank, row, arrived);
    }
    ++(bank.row == row ? counted.hits : bank.row == ~std::uint64_t{0} ? counted.closed : counted.conflicts);
    const std::uint64_t start = std::max(column + t_.cas, data_free_);
    data_free_ = start + t_.burst;
    bank = {row, start - t_.cas + t_.burst, data_free_};
    return data_free_;
  }

  std::uint64_t column_of(const Bank& bank, std::uint64_t row, std::uint64_t arrived) const {
    if (bank.row == row) return std::max(arrived, bank.column);
    if (bank.row == ~std::uint64_t{0}) return std::max(arrived, bank.column) + t_.rcd;
    return std::max(arrived, bank.precharge) + t_.rp + t_.rcd;
  }

  void refresh() {
    const std::uint64_t end = std::max(next_refresh_, data_free_) + t_.rfc;
    for (Bank& bank : banks_) bank = {~std::uint64_t{0}, end, end};
    next_refresh_ += t_.refi;
    ++counted.refreshes;
  }

  void arm() {
    if (queue_.empty() || responding_) return;
    const sc_core::sc_time end = t_.clock * static_cast<double>(queue_.front().end);
    due_.notify(std::max(end, sc_core::sc_time_stamp()) - sc_core::sc_time_stamp());
  }

  void respond() {
    tlm::tlm_generic_payload& payload = *queue_.front().payload;
    queue_.pop_front();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    responding_ = socket->nb_transport_bw(payload, phase, delay) == tlm::TLM_ACCEPTED;
    payload.release();
    if (held_ != nullptr) {
      tlm::tlm_generic_payload& next = *held_;
      held_ = nullptr;
      schedule(next, delay);
      phase = tlm::END_REQ;
      socket->nb_transport_bw(next, phase, delay);
    }
    arm();
  }

  std::uint64_t base_;
  std::uint64_t bytes_;
  BankedTimings t_;
  std::vector<Bank> banks_;
  std::uint64_t next_refresh_;
  std::uint64_t data_free_ = 0;
  std::deque<Burst> queue_;  // accepted, in the order of their data
  tlm::tlm_generic_payload* held_ = nullptr;
  bool responding_ = false;
  sc_core::sc_event due_;
};

}  // namespace vendor
