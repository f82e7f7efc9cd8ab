#include "flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sagekit::host {

std::string Flag::long_name() const {
  const auto comma = names.rfind(',');
  return comma == std::string::npos ? names : names.substr(comma + 1);
}

Flag& Flags::add(Flag flag) {
  m_flags.push_back(std::move(flag));
  return m_flags.back();
}

Flag& Flags::on(std::string names, bool& value, std::string what) {
  return add({.names = std::move(names), .what = std::move(what), .repeatable = true, .take = [&](const std::string&) {
                value = true;
                return Status{};
              }});
}

Flag& Flags::count(std::string names, int& value, std::string what) {
  return add({.names = std::move(names), .what = std::move(what), .repeatable = true, .take = [&](const std::string&) {
                ++value;
                return Status{};
              }});
}

Flag& Flags::value(std::string names, std::string type, std::string& value, std::string what) {
  return add({.names = std::move(names),
              .type = std::move(type),
              .what = std::move(what),
              .preset = value,
              .take = [&](const std::string& text) {
                value = text;
                return Status{};
              }});
}

Flag& Flags::list(std::string names, std::string type, std::vector<std::string>& values, std::string what) {
  return add({.names = std::move(names),
              .type = std::move(type),
              .what = std::move(what),
              .repeatable = true,
              .take = [&](const std::string& text) {
                values.push_back(text);
                return Status{};
              }});
}

Flag& Flags::number(std::string names, std::size_t& value, std::string what, std::size_t least) {
  return add({.names = std::move(names),
              .type = "N",
              .what = std::move(what),
              .take = [&value, least](const std::string& text) -> Status {
                const auto* end = text.data() + text.size();
                const auto [stop, error] = std::from_chars(text.data(), end, value);
                if (error == std::errc{} && stop == end && value >= least) return {};
                return fail(ErrorKind::usage, "CLI002", fmt::format("\"{}\" is no number of {} or more", text, least),
                            "give a whole number, or leave it out");
              }});
}

Flag& Flags::memory(std::string names, std::uint64_t& bytes, std::string what) {
  return add({.names = std::move(names),
              .type = "SIZE",
              .what = std::move(what),
              .take = [&](const std::string& text) -> Status {
                constexpr std::uint64_t k_least = std::uint64_t{1} << 20;
                const auto size = parse_size(text);
                if (!size) return std::unexpected(size.error());
                if (*size < k_least)
                  return fail(
                      ErrorKind::usage, "CLI002",
                      fmt::format("\"{}\" is {} byte{}, too little to work with", text, *size, *size == 1 ? "" : "s"),
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })
                          ? fmt::format("at least 1M; {}G if gigabytes are meant", text)
                          : "at least 1M");
                bytes = *size;
                return {};
              }});
}

Flag& Flags::duration(std::string names, double& seconds, std::string what) {
  return add({.names = std::move(names),
              .type = "TIME",
              .what = std::move(what),
              .take = [&](const std::string& text) -> Status {
                const auto parsed = parse_duration(text);
                if (!parsed) return std::unexpected(parsed.error());
                if (*parsed == 0)
                  return fail(ErrorKind::usage, "CLI002", fmt::format("\"{}\" is no time at all", text),
                              "write it as 90s, 330m, 1.5h or 30d");
                seconds = *parsed;
                return {};
              }});
}

Flag& Flags::argument(std::string name, std::string& value, std::string what) {
  Flag& flag = this->value(std::move(name), "TEXT", value, std::move(what));
  flag.required = true;
  return flag;
}

Flag& Flags::arguments(std::string name, std::vector<std::string>& values, std::string what) {
  return list(std::move(name), "TEXT", values, std::move(what));
}

void Flags::reads(std::string variable, std::string what) {
  if (std::ranges::find(m_variables, variable, &Variable::name) == m_variables.end())
    m_variables.push_back({std::move(variable), std::move(what)});
}

Result<std::uint64_t> parse_size(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size());
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (unit.ends_with("ib"))
    unit.resize(unit.size() - 2);
  else if (unit.ends_with("b"))
    unit.resize(unit.size() - 1);
  constexpr std::string_view units = "kmgt";
  const std::size_t power = unit.empty() ? 0 : units.find(unit[0]) + 1;
  if (error != std::errc{} || unit.size() > 1 || (!unit.empty() && power == 0) || !(value > 0) || value > 1e15)
    return fail(ErrorKind::usage, "CLI002", fmt::format("\"{}\" is no size", text),
                "write it as 12G, 512M or in bytes");
  return static_cast<std::uint64_t>(value * std::pow(1024.0, static_cast<double>(power)));
}

Result<double> parse_duration(const std::string& text) {
  constexpr double k_longest = 1e9;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86400 : 0;
  if (error == std::errc{} && factor > 0 && value >= 0 && value * factor < k_longest) return value * factor;
  return fail(ErrorKind::usage, "CLI002", fmt::format("\"{}\" is no time", text), "write it as 90s, 330m, 1.5h or 30d");
}

}  // namespace sagekit::host
