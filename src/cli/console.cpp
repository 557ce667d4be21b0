// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace meridian::cli {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Where the escape sequence that begins at `at` ends.
std::size_t skip_escape(std::string_view text, std::size_t at) {
  const auto end = text.find('m', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::none: return "";
    case Colour::bold: return "1";
    case Colour::dim: return "2";
    case Colour::red: return "31";
    case Colour::green: return "32";
    case Colour::yellow: return "33";
  }
  std::abort();
}

bool is_colourful_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
         std::string_view(term) != "dumb";
}

}  // namespace

int columns(std::string_view text) {
  int count = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      at = skip_escape(text, at);
      continue;
    }
    if (!continues_character(text[at])) ++count;
    ++at;
  }
  return count;
}

std::string fit(std::string_view text, int width) {
  if (columns(text) <= width) return std::string(text);
  std::string kept;
  bool coloured = false;
  int count = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      const auto end = skip_escape(text, at);
      kept += text.substr(at, end - at);
      coloured = true;
      at = end;
      continue;
    }
    if (!continues_character(text[at]) && ++count >= width) break;
    kept += text[at++];
  }
  return kept + "…" + (coloured ? "\x1b[0m" : "");
}

Console::Console(std::ostream& out, std::ostream& err, Settings settings)
    : out_(out), err_(err), settings_(settings) {}

Console Console::standard() {
  Settings settings{.terminal = is_colourful_terminal()};
  winsize size{};
  if (settings.terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
    settings.width = size.ws_col;
  return {std::cout, std::cerr, settings};
}

void Console::say(std::string_view line) {
  const auto block = block_;
  clear();
  err_ << line << '\n';
  draw(block);
  err_.flush();
}

void Console::draw(const std::vector<std::string>& block) {
  if (!settings_.terminal) return;
  clear();
  for (const auto& line : block) err_ << fit(line, settings_.width - 1) << '\n';
  err_.flush();
  block_ = block;
}

void Console::clear() {
  if (block_.empty()) return;
  err_ << "\x1b[" << block_.size() << "A\x1b[J";
  block_.clear();
}

std::string Console::paint(Colour colour, std::string_view text) const {
  if (!settings_.terminal || colour == Colour::none) return std::string(text);
  return "\x1b[" + std::string(code_of(colour)) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace meridian::cli
