// Bad input: one clear line for each thing that is wrong, exit code 2.
//
// An error knows its place, the key it is about, and a value that would be accepted, as fields; the
// line that users read is made from them in one place.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tlmssd {

/// A setting that would be accepted. `--set key=value` applies it.
struct Proposal {
  std::string key;
  std::string value;
};

/// Whose fault it is that something is refused. Of a machine that has too little of something, what
/// else is wrong has not been looked at.
enum class Blame : std::uint8_t { input, memory, disk };

/// What is wrong and where; every field but `what` may be empty.
struct Complaint {
  std::string file;        ///< or "--set a.b=c"
  std::uint64_t line = 0;  ///< 0: the file as a whole
  std::string key;  ///< of the scenario, whole ("ssd.dram.capacity") or from its section on ("capacity")
  std::string what;
  std::optional<Proposal> proposal;
  Blame blame = Blame::input;
  /// Another's code that is at fault, "plug-in acme 1.0" or "firmware acme". Without a key it is to
  /// blame, not the place in the user's files that was being worked on.
  std::string thrower = {};
  /// Set when it is about the lines of the table that `key` gives: which of them, 0: the whole.
  std::optional<std::uint64_t> table_line = {};
};

/// "file:line: key: what is wrong; nearest valid: value", or with "nearest valid: key: value" when
/// another key has to change. "plug-in acme 1.0: what is wrong" when that is to blame.
std::string text_of(const Complaint& complaint);

struct InputError : std::runtime_error {
  explicit InputError(Complaint complaint);
  explicit InputError(const std::string& message) : InputError(Complaint{{}, 0, {}, message, {}}) {}
  InputError(const std::string& file, std::uint64_t line, const std::string& message)
      : InputError(Complaint{file, line, {}, message, {}}) {}
  [[nodiscard]] const Complaint& complaint() const { return complaint_; }
  /// It is being thrown by a plug-in, as Complaint::thrower says.
  virtual void set_thrower(const std::string& thrower);

 protected:
  InputError(const std::string& text, Complaint complaint);
  void set_text(const std::string& text) {
    static_cast<std::runtime_error&>(*this) = std::runtime_error(text);
  }

 private:
  Complaint complaint_;
};

/// `key` has a value that cannot be; `nearest` can.
InputError refusal(const std::string& key, const std::string& what, const std::string& nearest);
/// The same where another key is the one to change.
InputError refusal(const std::string& key, const std::string& what, const Proposal& proposal);
/// The same where no value can be named that would do.
InputError objection(const std::string& key, const std::string& what);
/// The same of a table that `key` gives line by line. `line` 0: of the table as a whole.
InputError objection_to_table(const std::string& key, std::uint64_t line, const std::string& what);
/// Where the lines of such a table are those of a file: `complaint` is about that one.
void place_in_file(Complaint& complaint, const std::string& file);
/// What another's code has done wrong: "firmware acme".
InputError fault_of(const std::string& thrower, const std::string& what);

/// `path` "cannot be written", or what else is said: for the reason `error`, an errno. The fault of
/// a disk that is full.
InputError not_written(const std::string& path, const std::string& what, int error);

/// Several errors at once, one line each; as an InputError it is the first of them.
struct InputErrors : InputError {
  /// `all` must hold at least one.
  explicit InputErrors(std::vector<InputError> all);
  [[nodiscard]] const std::vector<InputError>& all() const { return all_; }
  void set_thrower(const std::string& thrower) override;

 private:
  std::vector<InputError> all_;
};

/// The errors that `error` stands for: those of InputErrors, else itself.
std::vector<InputError> errors_of(const InputError& error);

/// Gathers errors of things that do not depend on each other.
class ErrorList {
 public:
  /// Runs `work`; the errors it throws are kept.
  template <class Work>
  void attempt(Work work) {
    try {
      work();
    } catch (const InputError& error) {
      add(error);
    }
  }
  void add(const InputError& error);
  [[nodiscard]] bool empty() const { return errors_.empty(); }
  [[nodiscard]] std::vector<InputError>& errors() { return errors_; }
  /// One is thrown as it is, several as InputErrors.
  void throw_if_any() const;

 private:
  std::vector<InputError> errors_;
};

}  // namespace tlmssd
