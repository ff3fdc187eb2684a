#include "models/base/input_error.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace tlmssd {
namespace {

std::string lines_of(const std::vector<InputError>& errors) {
  std::string text;
  for (const InputError& error : errors) text += (text.empty() ? "" : "\n") + std::string(error.what());
  return text;
}

}  // namespace

std::string text_of(const Complaint& complaint) {
  std::string text = complaint.file;
  if (complaint.line != 0) text += ':' + std::to_string(complaint.line);
  if (!text.empty()) text += ": ";
  const bool names_itself = complaint.thrower.empty() || complaint.what.starts_with(complaint.thrower);
  if (text.empty() && complaint.key.empty() && !names_itself) text = complaint.thrower + ": ";
  if (!complaint.key.empty()) text += complaint.key + ": ";
  text += complaint.what;
  if (!complaint.proposal) return text;
  const bool same = complaint.proposal->key == complaint.key;
  return text + "; nearest valid: " + (same ? "" : complaint.proposal->key + ": ") +
         complaint.proposal->value;
}

InputError::InputError(Complaint complaint) : InputError(text_of(complaint), complaint) {}

InputError::InputError(const std::string& text, Complaint complaint)
    : std::runtime_error(text), complaint_(std::move(complaint)) {}

void InputError::set_thrower(const std::string& thrower) {
  if (!complaint_.thrower.empty()) return;  // it is known already
  complaint_.thrower = thrower;
  set_text(text_of(complaint_));
}

InputError refusal(const std::string& key, const std::string& what, const std::string& nearest) {
  return refusal(key, what, Proposal{key, nearest});
}

InputError refusal(const std::string& key, const std::string& what, const Proposal& proposal) {
  return InputError(Complaint{{}, 0, key, what, proposal});
}

InputError objection(const std::string& key, const std::string& what) {
  return InputError(Complaint{{}, 0, key, what, {}});
}

InputError objection_to_table(const std::string& key, std::uint64_t line, const std::string& what) {
  const std::string place = line == 0 ? "" : "line " + std::to_string(line) + ": ";
  return InputError(Complaint{{}, 0, key, place + what, {}, Blame::input, {}, line});
}

void place_in_file(Complaint& complaint, const std::string& file) {
  const std::uint64_t line = complaint.table_line.value_or(0);
  if (line != 0) complaint.what.erase(0, complaint.what.find(": ") + 2);
  complaint.file = file;
  complaint.line = line;
}

InputError fault_of(const std::string& thrower, const std::string& what) {
  return InputError(Complaint{{}, 0, {}, what, {}, Blame::input, thrower});
}

InputError not_written(const std::string& path, const std::string& what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return InputError(
      Complaint{path, 0, {}, what + ": " + std::strerror(error), {}, full ? Blame::disk : Blame::input});
}

InputErrors::InputErrors(std::vector<InputError> all)
    : InputError(lines_of(all), all.front().complaint()), all_(std::move(all)) {}

void InputErrors::set_thrower(const std::string& thrower) {
  InputError::set_thrower(thrower);
  for (InputError& one : all_) one.set_thrower(thrower);
  set_text(lines_of(all_));
}

std::vector<InputError> errors_of(const InputError& error) {
  const auto* const several = dynamic_cast<const InputErrors*>(&error);
  return several != nullptr ? several->all() : std::vector<InputError>{error};
}

void ErrorList::add(const InputError& error) {
  for (const InputError& one : errors_of(error)) errors_.push_back(one);
}

void ErrorList::throw_if_any() const {
  if (errors_.size() == 1) throw InputError(errors_.front());
  if (!errors_.empty()) throw InputErrors(errors_);
}

}  // namespace tlmssd
