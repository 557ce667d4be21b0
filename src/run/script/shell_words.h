// Splits and joins command lines with a POSIX shell's quoting, without expansion of any kind.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::run {

// Quotes '…' "…" and backslashes as in sh; `$`, `*` and the like stay as they are. Refuses an
// unfinished quote.
base::Result<std::vector<std::string>> parse_shell_words(std::string_view text);

// One line that a shell reads back as the same words.
std::string quote_shell_words(const std::vector<std::string>& words);

}  // namespace meridian::run
