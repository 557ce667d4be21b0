// `meridian-init run DIRECTORY`: sets one instance up, stays with it to its end, writes the end
// down. Belongs to nobody: the daemon that started it may die, restart or be upgraded meanwhile.
//
//   preparing ──1──▶ ready ──2──▶ running ──3──▶ draining ──4──▶ ended
//       └──────────────5──────────────────────────────────────────▲
//   1 namespaces, view and limits stand          2 the program was started
//   3 it ended, or everything inside was killed  4 its last output is in the log, exit.json written
//   5 something was refused: not_started
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace meridian::run {

// Returns in the caller's process once run.json is on disk (0) or why it is not (1, told on
// stderr); the supervisor itself goes on in a session of its own.
int start_supervisor(const std::filesystem::path& directory);

}  // namespace meridian::run
