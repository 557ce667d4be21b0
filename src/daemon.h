// The daemon: every part of an installation, built in dependency order, and its faces on the
// network.
//
//   Daemon daemon({.data = "/home/me/.meridian", .port = 8470});
//   daemon.wait(stop);   // serves until asked to stop
//
// Opening takes the lock of the data directory (one daemon per directory), makes keys at the first
// start, binds all ports, then writes run.json: whoever can read that file finds a serving daemon.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace meridian {

struct DaemonSettings {
  std::filesystem::path data;
  std::string listen = "127.0.0.1";
  // AWS face; +2 = admin; +3 = AWS face for programs on this machine, with TLS or another address
  // than 127.0.0.1. 0 = any free ports.
  std::uint16_t port = 8470;
  std::vector<std::string> regions;  // empty: those of config.yaml
  std::filesystem::path programs;    // directory of meridian-init and meridian-xgboost
  bool strict = false;               // refuse fields that promise security we do not give
  std::string certificate, key;      // PEM files; needed for a listen address that is not loopback
};

class Daemon {
 public:
  explicit Daemon(DaemonSettings settings);
  ~Daemon();

  void wait(std::stop_token stop);
  std::string summary() const;  // what `meridian up` prints: faces, regions, data, notes

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian
