// SPDX-License-Identifier: Apache-2.0
#include "cli/follow.h"

#include <signal.h>
#include <time.h>

#include "base/json.h"
#include "cli/job_view.h"
#include "cli/log_reader.h"

namespace meridian::cli {
namespace {

constexpr base::Duration kPatience{60'000};  // with a daemon that does not answer

volatile sig_atomic_t interrupted = 0;
struct sigaction previous;

void note_interrupt(int) { interrupted = 1; }

// The log as it goes on; metrics are read from the lines that --tail hides, too.
class LogShow {
 public:
  LogShow(Context& context, const std::string& job, const LogStyle& style)
      : console_(context.console),
        reader_(context.session().logs(), job, style.instance),
        style_(style) {}

  void use(aws::ServiceClient& logs) { reader_.use(logs); }
  void show_new(JobView& view) {
    const auto lines = reader_.poll();
    const auto hidden = first_shown(lines.size(), style_.tail);
    style_.tail = -1;  // what comes from now on is shown in full
    for (std::size_t at = 0; at < lines.size(); ++at) {
      view.log(lines[at].host, lines[at].text);
      if (at >= hidden) show(lines[at]);
    }
  }

 private:
  void show(const LogLine& line) {
    std::string text;
    if (style_.timestamps) text += base::format_iso8601(line.at) + " ";
    if (!style_.no_prefix) text += console_.paint(Colour::dim, line.host + " |") + " ";
    console_.say(text + line.text);
  }

  Console& console_;
  LogReader reader_;
  LogStyle style_;
};

// One look at the job; says whether it has ended.
bool look(Context& context, const std::string& job, JobView& view, LogShow& log) {
  auto& session = context.session();
  log.use(session.logs());  // a new one after a restart of the daemon
  view.describe(session.sagemaker().call("DescribeTrainingJob", {{"TrainingJobName", job}}));
  const bool ended = view.terminal();  // seen before the log is read: then nothing is missed
  log.show_new(view);
  for (const auto& line : view.news()) context.console.say("* " + line);
  return ended;
}

// The daemon does not answer: it may be restarting, perhaps on another port, and is looked for
// anew. False: the error is another one, or it has not answered since long ago.
bool reconnect(Context& context, const base::Error& error, base::Ticks answered) {
  const bool may_pass = error.retryable() || error.code() == base::Code::unavailable;
  if (!may_pass || context.clock.ticks() - answered > kPatience) return false;
  context.console.draw(
      {"The daemon does not answer; the training goes on. Looking for it again …"});
  context.found.reset();
  return true;
}

int detach(Context& context, const std::string& job) {
  context.console.clear();
  context.console.say("Detached; " + job + " goes on.");
  context.console.say("  meridian logs -f " + job + "   follow it again");
  context.console.say("  meridian stop " + job + "      end it");
  return kDetached;
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, &previous);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &previous, nullptr); }

bool Interrupt::requested() const { return interrupted != 0; }

bool Interrupt::wait(base::Duration time) const {
  for (auto left = time.count(); left > 0 && !requested(); left -= 50) {
    const timespec nap{0, 50'000'000};
    nanosleep(&nap, nullptr);
  }
  return !requested();
}

std::vector<std::pair<std::string, std::string>> metric_definitions(const base::Json& answer) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto* list = base::find_path(answer, "AlgorithmSpecification.MetricDefinitions");
  if (list != nullptr && list->is_array())
    for (const auto& definition : list->as_array())
      all.emplace_back(base::string_or(definition, "Name"), base::string_or(definition, "Regex"));
  return all;
}

int follow_job(Context& context, const std::string& job,
               const std::vector<std::pair<std::string, std::string>>& metrics,
               const LogStyle& style) {
  const Interrupt interrupt;
  auto& console = context.console;
  JobView view(job, metrics);
  LogShow log(context, job, style);
  auto answered = context.clock.ticks();
  for (;;) {
    try {
      if (look(context, job, view, log)) break;
      answered = context.clock.ticks();
      console.draw(view.block(console, context.clock.now()));
    } catch (const base::Error& error) {  // a restart of the daemon ends no training
      if (!reconnect(context, error, answered)) throw;
    }
    if (!interrupt.wait(base::Duration(300))) return detach(context, job);
  }
  console.clear();
  console.say("");
  for (const auto& line : view.summary(console)) console.say(line);
  return view.status() == "Completed" ? 0 : 1;
}

}  // namespace meridian::cli
