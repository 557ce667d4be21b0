// SPDX-License-Identifier: Apache-2.0
#include "xgboost/train.h"

#include <signal.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "xgboost/booster.h"
#include "xgboost/hyperparameters.h"
#include "xgboost/tracker.h"

namespace meridian::xgboost {
namespace {

namespace fs = std::filesystem;
constexpr std::uint16_t kTrackerPort = 9099;

volatile sig_atomic_t terminated = 0;
void note_termination(int) { terminated = 1; }

[[noreturn]] void refuse(std::string why) {
  throw base::Error(base::Code::invalid_argument, std::move(why));
}

base::Json read_config(const Paths& paths, std::string_view name) {
  const auto text = base::read_file_if_exists(paths.config(name));
  return text.empty() ? base::Json(base::JsonObject{})
                      : base::parse_stored_json(text, paths.config(name).string());
}

struct Hosts {
  std::vector<std::string> all;
  int own = 0;
};

Hosts read_hosts(const Paths& paths) {
  const auto config = read_config(paths, "resourceconfig");
  Hosts hosts;
  const auto current = base::string_or(config, "current_host", "algo-1");
  if (const auto* list = base::find(config, "hosts"); list != nullptr && list->is_array())
    for (const auto& host : list->as_array()) {
      if (!host.is_string()) continue;
      if (base::view(host.as_string()) == current) hosts.own = static_cast<int>(hosts.all.size());
      hosts.all.emplace_back(base::view(host.as_string()));
    }
  if (hosts.all.empty()) hosts.all.push_back(current);
  return hosts;
}

std::optional<Rows> read_channel(const Paths& paths, const std::string& name,
                                 const Hyperparameters& hyperparameters) {
  const auto channels = read_config(paths, "inputdataconfig");
  const auto* channel = base::find(channels, name);
  if (!fs::is_directory(paths.channel(name))) return {};
  const auto mode =
      channel != nullptr ? base::string_or(*channel, "TrainingInputMode", "File") : "File";
  if (mode == "Pipe")
    refuse("channel '" + name + "' has input mode Pipe; this algorithm reads File and FastFile");
  const auto type = channel != nullptr ? base::string_or(*channel, "ContentType") : "";
  const auto format =
      base::while_doing("reading channel '" + name + "'", [&] { return parse_content_type(type); });
  return base::while_doing("reading channel '" + name + "'", [&] {
    return read_directory(paths.channel(name), format,
                          hyperparameters.csv_weights ? Weights::second : Weights::none);
  });
}

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

class Training {
 public:
  Training(const Paths& paths, Hyperparameters hyperparameters, Group* group)
      : paths_(paths),
        hyperparameters_(std::move(hyperparameters)),
        group_(group),
        stopping_(hyperparameters_.early_stopping_rounds) {}

  void run() {
    load();
    if (leads())
      say("Train matrix has " + std::to_string(train_rows_) + " rows and " +
          std::to_string(width_) + " columns");
    std::vector<NamedMatrix> watched{{"train", train_.get()}};
    if (validation_) watched.push_back({"validation", validation_.get()});
    Booster booster(watched);
    configure(booster);
    int round = resume(booster);
    for (; round < hyperparameters_.rounds; ++round) {
      if (anywhere(terminated != 0)) {
        if (leads()) say("Terminated after round " + std::to_string(round));
        break;
      }
      booster.update(round, *train_);
      const auto line = booster.evaluate(round, watched);
      if (leads()) say(line);
      const bool stop = stopping_.see(round, line);
      if (leads()) save_checkpoint(booster, round + 1);
      if (!stop) continue;
      if (leads())
        say("Stopping early: no improvement for " +
            std::to_string(hyperparameters_.early_stopping_rounds) + " rounds; best was round " +
            std::to_string(stopping_.best_round()));
      break;
    }
    if (leads()) base::write_file(paths_.model(), booster.model(), base::Durability::synced);
  }

 private:
  bool leads() const { return group_ == nullptr || group_->rank() == 0; }
  bool anywhere(bool here) const { return group_ == nullptr ? here : group_->any(here); }

  void load() {
    auto train = read_channel(paths_, "train", hyperparameters_);
    if (!train) refuse("there is no channel named 'train'");
    // In a group an instance may hold no rows, as long as one does.
    if (!anywhere(train->count() > 0)) refuse("channel 'train' has no rows");
    train_rows_ = train->count();
    width_ = train->width;
    train_ = std::make_unique<Matrix>(*train);
    auto validation = read_channel(paths_, "validation", hyperparameters_);
    if (validation && validation->count() > 0 && validation->width > width_ && group_ == nullptr)
      refuse("channel 'validation' has " + std::to_string(validation->width) +
             " features, 'train' has " + std::to_string(width_));
    if (anywhere(validation && validation->count() > 0))
      validation_ = std::make_unique<Matrix>(validation ? *validation : Rows{});
  }

  void configure(Booster& booster) const {
    bool has_threads = false, has_method = false;
    for (const auto& [name, value] : hyperparameters_.parameters) {
      booster.set(name, value);
      has_threads |= name == "nthread";
      has_method |= name == "tree_method" || name == "booster";
    }
    // This instance's share of the machine, where the platform says so.
    const char* cpus = std::getenv("SM_NUM_CPUS");
    if (!has_threads && cpus != nullptr && base::to_uint(cpus)) booster.set("nthread", cpus);
    // The library's own choice for a group, approx, sends far more between the instances.
    if (!has_method && group_ != nullptr) booster.set("tree_method", "hist");
  }

  fs::path checkpoint_file() const { return paths_.checkpoints() / "xgboost-checkpoint"; }

  // The model and what goes with it in one file, so that no crash can part them: a line of JSON,
  // then the snapshot.
  void save_checkpoint(const Booster& booster, int rounds_done) {
    if (!fs::is_directory(paths_.checkpoints())) return;
    const base::JsonObject head{{"rounds", rounds_done}, {"early_stopping", stopping_.state()}};
    base::write_file(checkpoint_file(), base::to_text(head) + "\n" + booster.snapshot());
  }

  // Rounds done before. The first worker reads; the others receive.
  int resume(Booster& booster) {
    std::string saved;
    if (leads()) saved = base::read_file_if_exists(checkpoint_file(), std::size_t{4} << 30);
    if (group_ != nullptr) saved = group_->from_first(std::move(saved));
    if (saved.empty()) return 0;
    const auto end = saved.find('\n');
    if (end == std::string::npos)
      refuse("the checkpoint " + checkpoint_file().string() +
             " is not one of this algorithm; remove it");
    const auto head = base::parse_stored_json(std::string_view(saved).substr(0, end), "checkpoint");
    booster.restore(std::string_view(saved).substr(end + 1));
    configure(booster);
    if (const auto* state = base::find(head, "early_stopping")) stopping_.restore(*state);
    const auto done = static_cast<int>(base::int_or(head, "rounds", 0));
    if (leads()) say("Resuming after round " + std::to_string(done - 1));
    return done;
  }

  const Paths& paths_;
  Hyperparameters hyperparameters_;
  Group* group_;
  EarlyStopping stopping_;
  std::unique_ptr<Matrix> train_, validation_;
  std::size_t train_rows_ = 0, width_ = 0;
};

}  // namespace

bool EarlyStopping::see(int round, std::string_view line) {
  if (patience_ == 0) return false;
  const auto tab = line.rfind('\t');
  const auto colon = line.rfind(':');
  if (tab == std::string_view::npos || colon == std::string_view::npos || colon < tab) return false;
  const auto value = base::to_double(base::trim(line.substr(colon + 1)));
  if (!value || std::isnan(*value)) return false;
  const auto name = line.substr(tab + 1, colon - tab - 1);
  const auto metric = name.substr(name.find('-') + 1);
  const bool better =
      best_round_ < 0 || (larger_is_better(metric) ? *value > best_ : *value < best_);
  if (better) {
    best_ = *value;
    best_round_ = round;
  }
  return round - best_round_ >= patience_;
}

base::JsonObject EarlyStopping::state() const {
  return {{"best", best_}, {"best_round", best_round_}};
}

void EarlyStopping::restore(const base::Json& state) {
  best_ = base::double_or(state, "best", 0);
  best_round_ = static_cast<int>(base::int_or(state, "best_round", -1));
}

void train(const Paths& paths) {
  struct sigaction action{};
  action.sa_handler = note_termination;
  sigaction(SIGTERM, &action, nullptr);
  const auto sent = read_config(paths, "hyperparameters");
  auto hyperparameters = parse_hyperparameters(sent.as_object());
  const auto hosts = read_hosts(paths);
  const int workers = static_cast<int>(hosts.all.size());
  if (workers == 1) return Training(paths, std::move(hyperparameters), nullptr).run();
  std::unique_ptr<Tracker> tracker;
  if (hosts.own == 0) tracker = std::make_unique<Tracker>(kTrackerPort, workers);
  Group group(hosts.all.front(), kTrackerPort, hosts.own, workers);
  Training(paths, std::move(hyperparameters), &group).run();
}

}  // namespace meridian::xgboost
