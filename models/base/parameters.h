// Parameters declare themselves once: name, kind, default, range, sentence. The scenario reader,
// `tlmssd list`, the JSON Schema and the reference documentation are all made from these tables.
//
//   struct DramConfig {
//     Bytes capacity = 64_MiB;
//     Picoseconds latency = 50_ns;
//     static const ParameterTable<DramConfig>& parameters() {
//       static const auto table = ParameterTable<DramConfig>{}
//           .bytes("capacity", &DramConfig::capacity, {1_KiB, 1_TiB}, "size of the memory")
//           .time("latency", &DramConfig::latency, {0, 1_ms}, "from request to first byte");
//       return table;
//     }
//   };
//
// A struct is filled from whatever holds the values (ParameterValues); what was asked for is
// thereby known, and a value that was given but never asked for can be reported.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

/// What a value means; the unit a scenario must write follows from it.
enum class Kind : std::uint8_t {
  flag,            ///< true / false
  integer,         ///< whole number without unit
  real,            ///< number without unit
  share,           ///< "25 %" or "2x"; held as a fraction (0.25, 2.0)
  time,            ///< "50 ns"; held in picoseconds
  duration,        ///< "6 d" or "1 y"; held in seconds, as a real number
  temperature,     ///< "40 C" or "313.15 K"; held in degrees Celsius
  bytes,           ///< "4 KiB"; held in bytes
  bandwidth,       ///< "400 MB/s"; held in bytes per second
  frequency,       ///< "500 MHz" or "800 MT/s"; held in hertz (transfers per second)
  text,            ///< free text
  choice,          ///< one of a fixed set of words
  bytes_or_share,  ///< "64 MiB" or "10 %"; bytes as integer, share as real
};

/// flag, integer-valued (integer, time, bytes, bandwidth, frequency), real-valued (real, share,
/// duration, temperature) or text, or a list of these.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                           std::vector<double>, std::vector<std::string>>;

struct ParameterSpec {
  std::string name;
  Kind kind = Kind::integer;
  bool list = false;           ///< a YAML sequence of such values
  bool required = false;       ///< has no default
  bool optional = false;       ///< may be absent, which means something of its own (said in doc)
  bool filled = false;         ///< a text that must not be empty, such as the name of a file
  bool one_or_zero = false;    ///< a flag that may also be written 1 or 0, as in fio
  bool lines_of_file = false;  ///< a list of texts; a single text names a file whose lines they are
  bool shapes_state = false;   ///< a snapshot fits only drives with the same value
  bool settles_state = false;  ///< the same of what the value comes to in the drive
  Value fallback;              ///< default (unless required or optional)
  double minimum = 0;          ///< inclusive, in the base unit; numbers only
  double maximum = 0;
  double least = -std::numeric_limits<double>::infinity();  ///< that what it is read into can hold
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;
  std::string usual_unit;  ///< of what a number without one is taken to mean in a proposal; empty: the kind's
  std::string doc;
};

struct Range {
  double minimum = 0;
  double maximum = 0;
  template <class A, class B>
  constexpr Range(A low, B high) : minimum(static_cast<double>(low)), maximum(static_cast<double>(high)) {}
};

/// Where values come from. find() also notes that the parameter has been asked for.
class ParameterValues {
 public:
  virtual ~ParameterValues() = default;
  /// The value given for `name`, or null when the default applies. Valid as long as this object.
  [[nodiscard]] virtual const Value* find(std::string_view name) const = 0;
};

/// Nothing given: every default applies.
class NoValues final : public ParameterValues {
 public:
  [[nodiscard]] const Value* find(std::string_view /*name*/) const override { return nullptr; }
};

template <class T>
class ParameterTable {
 public:
  ParameterTable&& flag(std::string name, bool T::*member, std::string doc) && {
    return std::move(*this).template add<bool>(Kind::flag, std::move(name), member, {0, 1}, std::move(doc));
  }
  template <class M>
  ParameterTable&& integer(std::string name, M T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<std::int64_t>(Kind::integer, std::move(name), member, range,
                                                       std::move(doc));
  }
  ParameterTable&& real(std::string name, double T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<double>(Kind::real, std::move(name), member, range, std::move(doc));
  }
  ParameterTable&& share(std::string name, double T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<double>(Kind::share, std::move(name), member, range, std::move(doc));
  }
  ParameterTable&& time(std::string name, Picoseconds T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<std::int64_t>(Kind::time, std::move(name), member, range,
                                                       std::move(doc));
  }
  /// For times that outlast a run (retention, shelf time): member and range in seconds.
  ParameterTable&& duration(std::string name, double T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<double>(Kind::duration, std::move(name), member, range,
                                                 std::move(doc));
  }
  /// Member and range in degrees Celsius.
  ParameterTable&& temperature(std::string name, double T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<double>(Kind::temperature, std::move(name), member, range,
                                                 std::move(doc));
  }
  template <class M>
  ParameterTable&& bytes(std::string name, M T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<std::int64_t>(Kind::bytes, std::move(name), member, range,
                                                       std::move(doc));
  }
  /// "64 MiB" goes to `bytes`, "10 %" (of what, the sentence says) to `share`; whichever is not
  /// given keeps its default.
  ParameterTable&& bytes_or_share(std::string name, Bytes T::*bytes, double T::*share, Range range,
                                  std::string doc) && {
    auto&& self = std::move(*this).template add<std::int64_t>(Kind::bytes_or_share, std::move(name), bytes,
                                                              range, std::move(doc));
    self.fields_.back().set = [bytes, share](T& target, const Value& value) {
      if (const auto* const part = std::get_if<double>(&value)) {
        target.*share = *part;
      } else {
        target.*bytes = static_cast<Bytes>(std::get<std::int64_t>(value));
      }
    };
    return std::move(self);
  }
  ParameterTable&& bandwidth(std::string name, BytesPerSecond T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<std::int64_t>(Kind::bandwidth, std::move(name), member, range,
                                                       std::move(doc));
  }
  ParameterTable&& frequency(std::string name, Hertz T::*member, Range range, std::string doc) && {
    return std::move(*this).template add<std::int64_t>(Kind::frequency, std::move(name), member, range,
                                                       std::move(doc));
  }
  ParameterTable&& text(std::string name, std::string T::*member, std::string doc) && {
    return std::move(*this).template add<std::string>(Kind::text, std::move(name), member, {0, 0},
                                                      std::move(doc));
  }
  ParameterTable&& choice(std::string name, std::string T::*member, std::vector<std::string> choices,
                          std::string doc) && {
    auto&& self = std::move(*this).template add<std::string>(Kind::choice, std::move(name), member, {0, 0},
                                                             std::move(doc));
    self.fields_.back().spec.choices = std::move(choices);
    return std::move(self);
  }
  /// A list of whole numbers.
  ParameterTable&& integers(std::string name, std::vector<std::int64_t> T::*member, Range range,
                            std::string doc) && {
    auto&& self = std::move(*this).template add<std::vector<std::int64_t>>(Kind::integer, std::move(name),
                                                                           member, range, std::move(doc));
    self.fields_.back().spec.list = true;
    return std::move(self);
  }
  /// A list of numbers without unit.
  ParameterTable&& reals(std::string name, std::vector<double> T::*member, Range range, std::string doc) && {
    auto&& self = std::move(*this).template add<std::vector<double>>(Kind::real, std::move(name), member,
                                                                     range, std::move(doc));
    self.fields_.back().spec.list = true;
    return std::move(self);
  }
  /// A list of times.
  ParameterTable&& times(std::string name, std::vector<std::int64_t> T::*member, Range range,
                         std::string doc) && {
    auto&& self = std::move(*this).template add<std::vector<std::int64_t>>(Kind::time, std::move(name),
                                                                           member, range, std::move(doc));
    self.fields_.back().spec.list = true;
    return std::move(self);
  }
  /// A list of texts.
  ParameterTable&& texts(std::string name, std::vector<std::string> T::*member, std::string doc) && {
    auto&& self = std::move(*this).template add<std::vector<std::string>>(Kind::text, std::move(name), member,
                                                                          {0, 0}, std::move(doc));
    self.fields_.back().spec.list = true;
    return std::move(self);
  }
  /// The last parameter declared, a list of texts, may be given as one text: the name of a file
  /// that holds its lines.
  ParameterTable&& lines_of_file() && {
    fields_.back().spec.lines_of_file = true;
    return std::move(*this);
  }
  /// The last parameter declared has no default: a scenario must give it.
  ParameterTable&& required() && {
    fields_.back().spec.required = true;
    return std::move(*this);
  }

  /// The last parameter declared may be absent, which its sentence must explain.
  ParameterTable&& optional() && {
    fields_.back().spec.optional = true;
    return std::move(*this);
  }

  /// The last parameter declared, a text or a list of texts, must not be given empty: "" is no name
  /// of a file, and no way to say "none". What an empty one means where it may be given, its
  /// sentence says.
  ParameterTable&& filled() && {
    fields_.back().spec.filled = true;
    return std::move(*this);
  }
  /// The last parameter declared, a flag, may also be written 1 or 0.
  ParameterTable&& one_or_zero() && {
    fields_.back().spec.one_or_zero = true;
    return std::move(*this);
  }
  /// A number given for the last parameter declared without a unit, which is refused, is probably
  /// meant in this one.
  ParameterTable&& usually_in(std::string unit) && {
    fields_.back().spec.usual_unit = std::move(unit);
    return std::move(*this);
  }
  /// The last parameter declared decides what the state of a drive means: a snapshot fits only
  /// drives with the same value (identity.h).
  ParameterTable&& shapes_state() && {
    fields_.back().spec.shapes_state = true;
    return std::move(*this);
  }
  /// The same of what the last parameter declared comes to when a drive is made. Two values may
  /// come to one (a size of 0 that means all there is), so it is added to the identity by hand,
  /// where it is known.
  ParameterTable&& settles_state() && {
    fields_.back().spec.settles_state = true;
    return std::move(*this);
  }

  /// A struct with its defaults, overlaid by what `values` gives. Ranges were checked by what made
  /// `values`.
  [[nodiscard]] T read(const ParameterValues& values) const {
    T result{};
    for (const Field& field : fields_) {
      if (const Value* value = values.find(field.spec.name)) field.set(result, *value);
    }
    return result;
  }
  /// Calls visit(spec, value) for each parameter, with the values of `config`.
  template <class Visit>
  void each(const T& config, Visit visit) const {
    for (const Field& field : fields_) visit(field.spec, field.get(config));
  }
  /// The same for the parameters that shape the state.
  template <class Visit>
  void each_of_state(const T& config, Visit visit) const {
    each(config, [&](const ParameterSpec& spec, const Value& value) {
      if (spec.shapes_state) visit(spec, value);
    });
  }
  [[nodiscard]] std::vector<ParameterSpec> specs() const {
    std::vector<ParameterSpec> result;
    result.reserve(fields_.size());
    for (const Field& field : fields_) result.push_back(field.spec);
    return result;
  }

 private:
  struct Field {
    ParameterSpec spec;
    std::function<void(T&, const Value&)> set;
    std::function<Value(const T&)> get;
  };
  template <class Held, class M>
  ParameterTable&& add(Kind kind, std::string name, M T::*member, Range range, std::string doc) && {
    Field field;
    field.spec.name = std::move(name);
    field.spec.kind = kind;
    field.spec.fallback = Value(static_cast<Held>(T{}.*member));
    field.spec.minimum = range.minimum;
    field.spec.maximum = range.maximum;
    if constexpr (std::is_integral_v<M>) {
      field.spec.least = static_cast<double>(std::numeric_limits<M>::lowest());
      field.spec.most = static_cast<double>(std::numeric_limits<M>::max());
    }
    field.spec.doc = std::move(doc);
    field.get = [member](const T& source) { return Value(static_cast<Held>(source.*member)); };
    field.set = [member](T& target, const Value& value) {
      target.*member = static_cast<M>(std::get<Held>(value));
    };
    fields_.push_back(std::move(field));
    return std::move(*this);
  }
  std::vector<Field> fields_;
};

/// What is known of one policy without making it.
struct PolicyInfo {
  std::string name;
  std::string summary;  ///< one line, with the source (paper, standard)
  std::vector<ParameterSpec> parameters;
  std::string origin = {};  ///< the plug-in it comes from; empty: the program
};

/// A family of policies behind one interface, chosen by name. Each family lists the program's own
/// members explicitly in one file; plug-ins and programs that link the library add theirs before
/// the first scenario is read.
template <class Interface, class... Arguments>
class PolicyFamily {
 public:
  /// `Policy` has `static constexpr std::string_view k_name, k_summary`, a nested `Config` with
  /// `parameters()` and a constructor (Config, Arguments...).
  template <class Policy>
  PolicyFamily&& with() && {
    add<Policy>({});
    return std::move(*this);
  }
  /// One more member, of the plug-in `origin`; its name must be free.
  template <class Policy>
  void add(std::string origin) {
    members_.push_back(
        {PolicyInfo{std::string(Policy::k_name), std::string(Policy::k_summary),
                    Policy::Config::parameters().specs(), std::move(origin)},
         [](const ParameterValues& values, Arguments... arguments) -> std::unique_ptr<Interface> {
           return std::make_unique<Policy>(Policy::Config::parameters().read(values), arguments...);
         }});
  }
  /// What is known of the member called `name`; null when there is none.
  [[nodiscard]] const PolicyInfo* find(std::string_view name) const {
    for (const Member& member : members_) {
      if (member.info.name == name) return &member.info;
    }
    return nullptr;
  }
  /// Makes the policy called `name`; null when there is none of that name.
  [[nodiscard]] std::unique_ptr<Interface> make(std::string_view name, const ParameterValues& values,
                                                Arguments... arguments) const {
    for (const Member& member : members_) {
      if (member.info.name == name) return member.make(values, arguments...);
    }
    return nullptr;
  }
  [[nodiscard]] std::vector<PolicyInfo> infos() const {
    std::vector<PolicyInfo> result;
    for (const Member& member : members_) result.push_back(member.info);
    return result;
  }

 private:
  struct Member {
    PolicyInfo info;
    std::function<std::unique_ptr<Interface>(const ParameterValues&, Arguments...)> make;
  };
  std::vector<Member> members_;
};

/// The Config of a policy that has no parameters.
struct NoParameters {
  static const ParameterTable<NoParameters>& parameters() {
    static const ParameterTable<NoParameters> table;
    return table;
  }
};

}  // namespace tlmssd
