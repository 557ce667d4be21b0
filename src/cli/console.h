// Where a command writes: results to `out`, progress and messages to `err`.
//
// On a terminal messages have colour and a block of lines at the bottom may be redrawn; elsewhere
// everything is plain lines.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::cli {

enum class Colour { none, bold, dim, red, green, yellow };

class Console {
 public:
  struct Settings {
    bool terminal = false;  // of err: colours and redrawing
    int width = 80;
  };
  Console(std::ostream& out, std::ostream& err, Settings settings);
  static Console standard();  // stdout and stderr; NO_COLOR and TERM=dumb mean no terminal

  std::ostream& out() { return out_; }
  bool terminal() const { return settings_.terminal; }
  int width() const { return settings_.width; }

  void say(std::string_view line);  // a line on err, above the block
  // Replaces the block of lines below everything said; nothing where there is no terminal. Lines
  // are cut to the width.
  void draw(const std::vector<std::string>& block);
  void clear();  // takes the block away

  std::string paint(Colour colour, std::string_view text) const;

 private:
  std::ostream& out_;
  std::ostream& err_;
  Settings settings_;
  std::vector<std::string> block_;
};

// `text` cut to `width` columns, escape sequences not counted; … marks the cut.
std::string fit(std::string_view text, int width);
// Columns that `text` takes: code points, without escape sequences.
int columns(std::string_view text);

}  // namespace meridian::cli
