// Software of the host, between the host's commands and a drive, that turns random writes into
// sequential ones: a log-structured store with its map in the host's memory. After Managed Flash
// Technology of EasyCo, as Ryu & Park describe it (Fig. 16); the log and its cleaning follow
// Rosenblum & Ousterhout, ACM TOCS 10 (1992).
//
// What it does. Loads see a drive of their own, smaller by `spare`. A write is appended at the head
// of the log (segment_log.h) in the size it came with, so that the drive sees each segment written
// from its start to its end; where the segment ends it is split. A grain that a write covers in
// part is read first and appended whole. A read is split into the pieces that lie together; what
// was never written or has been trimmed is zeros, without a command. Trim and write zeroes change
// the map alone, but for edges that are no whole grains: these are appended with zeros in them. A
// flush goes to the drive when every write that came before it has been sent there; force unit
// access stays with the writes. Appends, flushes and cleaning go through queue 0 of the drive, so
// that they reach it in the order of the log; reads keep the queue they came with.
//
// Order. Commands on the same grains take effect in the order in which they came
// (models/base/order_table.h); a write takes its place in the log when it is sent, so one that has
// to wait for others or to read an edge is overtaken. A read holds up no other: it pins the
// segments it reads. The map changes when a write has completed; a write that fails leaves a hole.
//
// Cleaning. When fewer than `low_water` segments are free, the full segment with the fewest valid
// grains is read, these are appended (the copies count when the grain still lies where it was
// read), and the segment is free again, one after another. The host's writes wait (in the order in
// which they came) when they would leave less than a segment of room. There is no deadlock. Let G
// be the grains of a segment, f the free ones, and room the places that may still be taken.
//   1. A victim has at least one hole, so at most G - 1 grains. No victim is begun before the one before is free. Writes leave room >= G, so room
//      >= G when a victim is begun: writes lower it to G at the least, and a victim gives back more than it takes.
//   2. A write asks for at most G places at a time. If it waits, room < 2 G, hence f <= 1 <
//      low_water, and cleaning is at work.
//   3. Cleaning waits only for commands of the drive, which end, or for a victim. While writes are under way, places become valid or
//      holes without anybody's help (each lands on its own). When none is and there is no victim, all full segments are full of
//      valid grains: at most as many as loads see, which leaves low_water + 1 free ones besides the head (log_shape), contrary to 2.
// Readers of a victim delay its reuse until the drive has answered them.
//
// Errors. A grain that cleaning cannot read is lost: reading it is a media error until it is
// written anew. When the drive refuses a write, cleaning ends for good and whatever changes data is
// refused.
//
// Time. `cost` of one processor for each command of the host, one after another; beyond that the
// log-structured host layer takes no time. All that a command waits here, for the processor, for
// earlier commands on its grains, for a free segment, is charged to the cause `log_structured`; a
// command that it sends carries on the ledger of the host's command, and of several the one that
// ends last counts.
//
// Left out: the map is not written to the drive, so nothing survives a crash of the host; freed
// segments are not trimmed; the processor time of cleaning; cleaning while idle; one head for new
// and moved data alike.
#pragma once

#include <systemc>
#include <tlm>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/base/archive.h"
#include "models/base/event_queue.h"
#include "models/base/order_table.h"
#include "models/base/statistics.h"
#include "models/base/task.h"
#include "models/tlm/transport.h"
#include "testbench/host/drive_port.h"
#include "testbench/host/host_port.h"
#include "testbench/host/host_software.h"
#include "testbench/host/log_structured/log_structured_config.h"
#include "testbench/host/log_structured/segment_log.h"

namespace tlmssd {

class LogStructuredLayer : public sc_core::sc_module, public HostSoftware, private HostPort::Owner {
 public:
  /// Throws InputError, which begins with a key ("log_structured.spare"), when the sizes do not fit
  /// the drive.
  LogStructuredLayer(const sc_core::sc_module_name& name, const LogStructuredConfig& config,
                     const AttachedDrive& drive, EventQueue& event_queue);
  ~LogStructuredLayer() override;

 private:
  HostPort host_;
  DrivePort port_;

 public:
  [[nodiscard]] tlm::tlm_target_socket<>& host_socket() override { return host_.socket; }
  [[nodiscard]] tlm::tlm_initiator_socket<>& drive_socket() override { return port_.socket; }

  [[nodiscard]] std::uint64_t blocks() const override {
    return std::uint64_t{log_.shape().grains} * grain_blocks_;
  }
  [[nodiscard]] Bytes unit_bytes() const override { return config_.grain; }
  [[nodiscard]] std::string cost_key() const override { return "log_structured.cost"; }
  [[nodiscard]] Picoseconds cost() const override { return config_.cost; }
  [[nodiscard]] std::optional<Bytes> written_by_loads() const override {
    return stats_.blocks_stored * drive_.lba_bytes;
  }
  /// No command is under way and nothing is being cleaned.
  [[nodiscard]] bool at_rest() const override { return host_.under_way().size() == 0 && !cleaning_; }
  [[nodiscard]] const SegmentLog& log() const { return log_; }

  struct Statistics {
    std::uint64_t blocks_written = 0;   ///< logical blocks of the host's writes
    std::uint64_t blocks_stored = 0;    ///< of these, those of writes that the drive has taken
    std::uint64_t grains_appended = 0;  ///< for commands of the host
    std::uint64_t grains_moved = 0;     ///< by cleaning
    std::uint64_t grains_lost = 0;      ///< that cleaning could not read
    std::uint64_t segments_cleaned = 0;
    std::uint64_t edges_read = 0;         ///< grains read because a command covered them in part
    std::uint64_t reads = 0;              ///< of the host
    std::uint64_t pieces_read = 0;        ///< commands that these became
    std::uint64_t waits_for_segment = 0;  ///< times that a write waited
    Picoseconds processor = 0;            ///< time in which commands waited for and had the processor
    Picoseconds lba_hazard_wait = 0;
    Picoseconds segment_wait = 0;
  };
  [[nodiscard]] const Statistics& statistics() const { return stats_; }
  /// Grains written to the drive for each that the host wrote; 0 before the first.
  [[nodiscard]] double write_amplification() const;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { stats_ = {}; }
  void archive(Archive& a) override {
    a(log_);
    a(read_only_);
  }
  /// Also what shapes the state of the log.
  [[nodiscard]] Identity identity() const override;
  void describe_stall(std::string& text) const override;

 private:
  using Grain = SegmentLog::Grain;
  using Place = SegmentLog::Place;
  using Segment = SegmentLog::Segment;
  struct Request;
  struct Piece;
  struct Batch;
  struct Reservation;
  struct Change;
  struct EarlierSent;
  /// A grain that cleaning moves, and where it was.
  struct Move {
    Grain grain;
    Place from;
  };

  // The host's commands, each a coroutine that reads from top to bottom.
  Task<> read(Request& request);
  Task<> write(Request& request);
  Task<> clear(Request& request);
  Task<> flush(Request& request);
  Task<> reject(Request& request);
  Task<> begin(Request& request);
  Task<> store(Request& request, LbaRange range, Stamp* data);
  Task<> read_edges(Request& request, LbaRange range, std::vector<Stamp>& whole);
  Task<> clear_range(Request& request, LbaRange range);

  // Coming and going.
  std::unique_ptr<HostPort::Entry> make_entry() override;
  void taken(HostPort::Entry& entry) override;
  void start(HostPort::Entry& entry) override;
  void set_timed(bool timed) override;
  void end(Request& request);
  void sent(Request& request);
  void charge(Request& request, Picoseconds& to);

  // Towards the drive.
  void send(Batch& batch, Piece& piece);
  void completed(Piece& piece);
  void fetch(Batch& batch, Place place, std::uint64_t skip, std::span<Stamp> data, std::uint16_t queue);
  Piece& append(SegmentLog::Run run, std::span<Stamp> data);
  Piece& take_piece();
  void land(const Piece& piece);

  // The log.
  bool give(Reservation& room);
  void progress();
  void start_cleaning();
  Task<> clean();
  Task<> empty(Segment victim);
  Task<> read_one_by_one();
  void drop_moved();

  [[nodiscard]] std::uint64_t end_of_piece(std::uint64_t block, std::uint64_t end_block) const;
  [[nodiscard]] Grain grain_of(std::uint64_t block) const {
    return static_cast<Grain>(block / grain_blocks_);
  }

  LogStructuredConfig config_;
  AttachedDrive drive_;
  EventQueue& event_queue_;
  std::uint32_t grain_blocks_;
  SegmentLog log_;
  std::uint32_t most_;  ///< grains of one command to the drive
  OrderTable order_;
  bool timed_ = true;
  bool read_only_ = false;          ///< the drive has refused a write
  Picoseconds processor_free_ = 0;  ///< when it has done what it was given so far

  std::uint32_t flushes_waiting_ = 0;
  Pool<Piece> pieces_;

  IntrusiveQueue<Reservation> waiting_;  ///< writes that wait for a free segment
  bool cleaning_ = false;
  std::coroutine_handle<> cleaner_{};  ///< while it waits for a change of the log
  std::vector<Move> moves_;            ///< of the victim
  std::vector<Stamp> moving_;
  Statistics stats_;
  TaskSet tasks_;
};

}  // namespace tlmssd
