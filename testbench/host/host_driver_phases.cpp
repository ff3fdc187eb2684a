// When loads start and end: phases, ramps, and the end of the run.
#include <algorithm>
#include <iterator>

#include "testbench/host/host_driver_parts.h"
#include "testbench/host/load_instants.h"

namespace tlmssd {

void HostDriver::start(std::vector<Load>& loads, Measurement& measurement) {
  measurement_ = &measurement;
  std::move(streams_.begin(), streams_.end(), std::back_inserter(earlier_));
  streams_.clear();
  untimed_ends_.clear();
  stopping_ = false;
  for (auto& line : waiting_) line = {};
  finished_ = false;
  issued_ = 0;
  ramping_ = 0;
  ramp_times_ = 0;
  for (Load& load : loads) {
    auto stream = std::make_unique<Stream>();
    stream->driver = this;
    stream->load = &load;
    stream->number = static_cast<std::uint16_t>(streams_.size());
    stream->queue =
        (load.queue >= 0 ? static_cast<std::uint32_t>(load.queue) : stream->number) % config_.queues;
    if (load.ramp_time > 0) ++ramp_times_;
    if (load.ramp_requests > 0) ++ramping_;
    streams_.push_back(std::move(stream));
  }
  ramp_end_ = -1;
  if (ramp_times_ > 0) ++ramping_;
  measuring_ = ramping_ == 0;
  measurement.reset(event_queue_.now());
  phase_ = 0;
  phase_begins_.clear();
  running_in_phase_ = 0;
  next_phase();
}

/// One of those that measurement waits for is through with its ramp.
void HostDriver::end_ramp() {
  if (--ramping_ > 0) return;
  measuring_ = true;
  measure_anew();
}

void HostDriver::measure_anew() {
  if (measurement_ != nullptr) measurement_->reset(event_queue_.now());
  if (on_measurement_) on_measurement_();
}

/// The ramp time of a load counts from its start in its phase.
void HostDriver::begin_ramp_time(const Stream& stream) {
  if (stream.load->ramp_time == 0) return;
  --ramp_times_;
  const Picoseconds end = later(stream.start, stream.load->ramp_time);
  if (end <= ramp_end_) return;
  check_instant(*stream.load, end, "ramp_time");
  ramp_end_ = end;
  event_queue_.at(
      end, [](void* self) { static_cast<HostDriver*>(self)->end_ramp_time(); }, this);
}

/// An earlier run may have ended before its ramp did: then its item of the event queue is still
/// there and says nothing.
void HostDriver::end_ramp_time() {
  if (event_queue_.now() != ramp_end_ || ramp_times_ > 0) return;
  ramp_end_ = -1;
  if (!finished_) end_ramp();
}

void HostDriver::next_phase() {
  for (;;) {
    std::uint32_t next = ~std::uint32_t{0};
    for (const auto& stream : streams_) {
      if (!stream->ended) next = std::min(next, stream->load->phase);
    }
    if (next == ~std::uint32_t{0}) {
      finish();
      return;
    }
    phase_ = next;
    phase_begins_.resize(next + 1, event_queue_.now());
    running_in_phase_ = 1;  // held until every stream of the phase has been started
    for (const auto& stream : streams_) {
      if (stream->ended || stream->load->phase != next) continue;
      ++running_in_phase_;
      stream->exhausted = false;
      stream->start = begin_of(*stream->load, phase_begins_);
      check_instant(*stream->load, stream->start, "startdelay");
      if (stream->load->runtime != k_never)
        stream->stop = later(later(stream->start, stream->load->ramp_time), stream->load->runtime);
      begin_ramp_time(*stream);
      pump(*stream);
    }
    if (--running_in_phase_ > 0) return;
  }
}

void HostDriver::stop_loads() {
  if (stopping_ || finished_) return;
  stopping_ = true;
  event_queue_.soon([](void* self) { static_cast<HostDriver*>(self)->wind_up(); }, this);
}

/// Streams that have nothing under way end now, those that wait for their time too.
void HostDriver::wind_up() {
  if (!stopping_) return;  // a later run has begun meanwhile
  for (const auto& stream : streams_) {
    stream->sleeping = false;
    pump(*stream);
  }
}

void HostDriver::end_stream(Stream& stream) {
  if (stream.ended) return;
  stream.ended = true;
  stream.ended_at = event_queue_.now();
  if (stream.completed < stream.load->ramp_requests) end_ramp();
  if (--running_in_phase_ == 0) next_phase();
}

void HostDriver::finish() {
  if (finished_) return;
  finished_ = true;
  if (!measuring_) measurement_->reset(event_queue_.now());  // all of it was ramp
  measurement_->finish(event_queue_.now());
  watch_.end();
  process_.stop();
}

std::vector<StreamEnd> HostDriver::stream_ends() const {
  std::vector<StreamEnd> ends = untimed_ends_;
  if (!ends.empty()) return ends;
  for (const auto& stream : streams_) {
    StreamEnd end{stream->issued - stream->flushes, stream->lag, stream->last_issue - stream->start,
                  stream->by_time};
    end.span = std::max(stream->last_issue, stream->ended_at) - stream->start;
    end.paused = stream->paused;
    end.queue = stream->queue;
    ends.push_back(end);
  }
  return ends;
}

}  // namespace tlmssd
