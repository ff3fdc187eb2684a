#include "testbench/app/pause.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <unistd.h>

#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "testbench/process/interrupt.h"
#include "testbench/process/terminal.h"

namespace tlmssd {

namespace {

using firmware::DecisionKind;

Pauser* active = nullptr;  // the event queue's checkpoint has no argument

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  throw InputError("--break " + in_quotes(text) + ": " + what);
}

std::uint64_t number_of(const std::string& text, std::string_view number) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::result_out_of_range)
    refuse(text, fmt::format("{} is too large, expected at most {}", number,
                             std::numeric_limits<std::uint64_t>::max()));
  if (error != std::errc() || end != number.data() + number.size() || value == 0)
    refuse(text, in_quotes(number) + " is no number from 1 on");
  return value;
}

bool debugger_attached() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return line.find_first_not_of("\t 0", 10) != std::string::npos;
  }
  return false;
}

void read_decision(Break& made, const std::string& value) {
  const std::size_t colon = value.find(':');
  const std::string kind = value.substr(0, colon);
  std::vector<std::string> known;
  for (std::size_t i = 0; i < firmware::k_decision_kinds; ++i)
    known.emplace_back(name_of(static_cast<DecisionKind>(i)));
  const auto found = std::find(known.begin(), known.end(), kind);
  if (found == known.end())
    refuse(made.text, in_quotes(kind) + " is no kind of decision, expected " + any_of(known) +
                          did_you_mean(kind, known));
  made.kind = static_cast<DecisionKind>(found - known.begin());
  if (colon != std::string::npos)
    made.number = number_of(made.text, std::string_view(value).substr(colon + 1));
}

std::uint32_t kinds_of(const std::vector<Break>& breaks) {
  std::uint32_t kinds = 0;
  for (const Break& one : breaks) {
    if (one.what == Break::What::decision) kinds |= 1U << static_cast<unsigned>(one.kind);
  }
  return kinds;
}

}  // namespace

Break parse_break(const std::string& text) {
  const std::vector<std::string> known = {"time", "event", "command", "decision"};
  const std::size_t equals = text.find('=');
  const std::string word = text.substr(0, equals);
  const auto found = std::find(known.begin(), known.end(), word);
  if (found == known.end() || equals == std::string::npos)
    refuse(text, "expected time=TIME, event=N, command=N, decision=KIND or decision=KIND:N" +
                     (found == known.end() ? did_you_mean(word, known) : std::string()));
  Break made;
  made.text = text;
  made.what = static_cast<Break::What>(found - known.begin());
  const std::string value = text.substr(equals + 1);
  if (made.what == Break::What::decision) {
    read_decision(made, value);
  } else if (made.what != Break::What::time) {
    made.number = number_of(text, value);
  } else {
    try {
      made.time = parse_quantity(Kind::time, value);
    } catch (const InputError& problem) {
      refuse(text, problem.complaint().what.empty() ? problem.what() : problem.complaint().what);
    }
    if (made.time < 0) refuse(text, "a time before the run");
  }
  return made;
}

Pauser::Pauser(Simulation& simulation, std::vector<Break> breaks, StateQuery query, bool timed,
               DecisionObserver* next, std::uint32_t kinds_of_next)
    : DecisionObserver(kinds_of(breaks) | kinds_of_next),
      simulation_(simulation),
      breaks_(std::move(breaks)),
      reached_(breaks_.size()),
      decisions_(breaks_.size()),
      query_(query),
      timed_(timed),
      next_(next),
      first_event_(simulation.ssd().event_queue().executed()),
      first_command_(simulation.driver().completed()) {
  EventQueue& events = simulation_.ssd().event_queue();
  for (std::size_t i = 0; i < breaks_.size(); ++i) timers_.push_back({this, i});
  for (std::size_t i = 0; i < breaks_.size(); ++i) {
    if (breaks_[i].what == Break::What::time)
      events.at(events.now() + breaks_[i].time, &Pauser::due, &timers_[i]);
  }
  active = this;
  events.set_checkpoint(&Pauser::checkpoint);
  arm();
  arm_command();
}

Pauser::~Pauser() {
  EventQueue& events = simulation_.ssd().event_queue();
  for (Timer& timer : timers_) events.cancel(&Pauser::due, &timer);
  events.set_checkpoint(&check_interrupt);
  simulation_.driver().set_pause_hook(0, nullptr);
  simulation_.ssd().observe_decisions(nullptr);
  active = nullptr;
}

std::uint64_t Pauser::steps() const {
  return timed_ ? simulation_.ssd().event_queue().executed() - first_event_ : untimed_steps_;
}

void Pauser::due(void* timer) {
  const Timer& one = *static_cast<Timer*>(timer);
  one.owner->stop(one.which);
}

void Pauser::checkpoint() {
  check_interrupt();
  if (!active->timed_) ++active->untimed_steps_;
  active->look();
  active->arm();
  if (active->quit_) throw Interrupted(SIGINT);
}

/// The event queue asks again no later than at the next step at which to stop.
void Pauser::arm() {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < breaks_.size(); ++i) {
    if (breaks_[i].what == Break::What::event && !reached_[i]) next = std::min(next, breaks_[i].number);
  }
  if (step_at_) next = std::min(next, *step_at_);
  if (next <= steps()) next = steps() + 1;
  const std::uint64_t left = quit_ ? 1 : next - steps();
  if (left < std::numeric_limits<std::uint32_t>::max()) simulation_.ssd().event_queue().check_after(left);
}

void Pauser::arm_command() {
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < breaks_.size(); ++i) {
    if (breaks_[i].what != Break::What::command || reached_[i]) continue;
    if (next == 0 || breaks_[i].number < next) next = breaks_[i].number;
  }
  if (next == 0) return;
  simulation_.driver().set_pause_hook(first_command_ + next, [this, next] {
    for (std::size_t i = 0; i < breaks_.size(); ++i) {
      if (breaks_[i].what == Break::What::command && breaks_[i].number == next) stop(i);
    }
    arm_command();
  });
}

void Pauser::look() {
  for (std::size_t i = 0; i < breaks_.size(); ++i) {
    if (breaks_[i].what == Break::What::event && !reached_[i] && breaks_[i].number <= steps()) stop(i);
  }
  if (step_at_ && *step_at_ <= steps()) {
    step_at_.reset();
    pause(fmt::format("{} {}", timed_ ? "event" : "step", steps()));
  }
}

void Pauser::decided(const firmware::Decision& decision) {
  if (next_ != nullptr) next_->decided(decision);
  for (std::size_t i = 0; i < breaks_.size(); ++i) {
    if (breaks_[i].what != Break::What::decision || breaks_[i].kind != decision.kind || reached_[i]) continue;
    if (++decisions_[i] == breaks_[i].number) stop(i);
  }
}

void Pauser::stop(std::size_t which) {
  if (reached_[which]) return;
  reached_[which] = true;
  pause(breaks_[which].text);
}

/// With how many commands the run has carried out, as breaks count them.
nlohmann::ordered_json Pauser::state_of(const StateQuery& query) const {
  nlohmann::ordered_json state = drive_state(simulation_, query);
  if (state.contains("commands"))
    state["commands"]["completed_in_run"] = simulation_.driver().completed() - first_command_;
  return state;
}

void Pauser::pause(const std::string& why) {
  if (debugger_attached()) {
    std::raise(SIGTRAP);
    return;
  }
  std::cerr << fmt::format("tlmssd: stopped at {}\n", printable(why)) << state_text(state_of(query_))
            << std::flush;
  if (isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0) ask();
}

void Pauser::ask() {
  for (;;) {
    std::cerr << "(tlmssd) " << std::flush;
    std::string line;
    if (!std::getline(std::cin, line) || obey(line)) break;
  }
  arm();
}

/// Whether the run goes on.
bool Pauser::obey(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  std::string argument;
  words >> word >> argument;
  try {
    if (word == "continue" || word == "c") return true;
    if (word == "step" || word == "s") {
      step_at_ = steps() + (argument.empty() ? 1 : number_of("step " + argument, argument));
      return true;
    }
    if (word == "quit" || word == "q") {
      quit_ = true;
      return true;
    }
    if (word == "inspect" || word == "i") {
      StateQuery query;
      query.overview = argument.empty();
      std::string more;
      words >> more;
      if (argument == "blocks") {
        query.blocks = true;
      } else if (argument == "map") {
        query.map = parse_range("inspect map", more);
      } else if (argument == "lba") {
        query.lba = parse_range("inspect lba", more).first;
      } else if (!argument.empty()) {
        throw InputError("inspect: expected nothing, blocks, map FIRST-LAST or lba N");
      }
      check_query(query, simulation_.ssd(), "inspect");
      std::cerr << state_text(state_of(query));
      return false;
    }
    std::cerr << "step [N], continue, inspect [blocks | map FIRST-LAST | lba N], quit\n";
  } catch (const InputError& error) {
    std::cerr << printable(error.what()) << "\n";
  }
  return false;
}

std::vector<std::string> Pauser::not_reached() const {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < breaks_.size(); ++i) {
    if (!reached_[i]) left.push_back(breaks_[i].text);
  }
  return left;
}

}  // namespace tlmssd
