// A Kubernetes API without sockets: requests go straight to the handler, time is virtual, the
// store is in memory.
//
//   TestServer server;
//   server.create("/api/v1/namespaces/default/configmaps", {…});
//   EXPECT_EQ(server.get("/api/v1/namespaces/default/configmaps/a").status, 200);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "control/runner.h"
#include "kubeserver/server.h"

namespace meridian::kubeserver {

// What a handler answered.
class RecordingResponder final : public net::Responder {
 public:
  void send(net::Response response) override {
    begun_ = true;
    answer = std::move(response);
  }
  void begin(int status, net::Headers headers) override {
    begun_ = true;
    answer.status = status;
    answer.headers = std::move(headers);
  }
  void write(std::string_view bytes) override {
    answer.body += bytes;
    if (on_write) on_write(bytes);
  }
  void send_file(int, std::uint64_t, std::uint64_t) override {}
  bool begun() const override { return begun_; }
  bool peer_gone() const override { return gone && gone(); }

  net::Response answer;
  std::function<void(std::string_view)> on_write;
  std::function<bool()> gone;

 private:
  bool begun_ = false;
};

struct Answer {
  int status = 0;
  base::Json body;
  net::Headers headers;
  std::string text;
};

using HeaderList = std::vector<std::pair<std::string, std::string>>;

class TestServer {
 public:
  explicit TestServer(objects::Admission* admission = nullptr, Settings settings = {})
      : store(store::open_in_memory()),
        tokens(*store, clock, random),
        server(std::move(settings), {*store, tokens, clock, random, runner,
                                     admission == nullptr ? admit_all : *admission}) {
    server.register_steps(steps);
  }

  void serve(const std::string& method, const std::string& target, const std::string& body,
             const HeaderList& headers, net::Responder& responder) {
    net::StringBody bytes(body);
    net::Request request{.method = method, .target = target, .body = &bytes};
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string::npos) request.query = target.substr(mark + 1);
    for (const auto& [name, value] : headers) request.headers.add(name, value);
    const bool named = request.headers.find("authorization").has_value();
    (named ? server.handler() : server.local_handler())(request, responder);
  }

  Answer call(const std::string& method, const std::string& target, const std::string& body = "",
              const HeaderList& headers = {}) {
    RecordingResponder responder;
    serve(method, target, body, headers, responder);
    Answer answer{responder.answer.status, nullptr, responder.answer.headers,
                  responder.answer.body};
    if (auto json = base::parse_json(answer.text)) answer.body = std::move(*json);
    return answer;
  }

  Answer get(const std::string& target, const HeaderList& headers = {}) {
    return call("GET", target, "", headers);
  }
  Answer create(const std::string& target, const base::Json& object) {
    return call("POST", target, base::to_text(object));
  }
  Answer put(const std::string& target, const base::Json& object) {
    return call("PUT", target, base::to_text(object));
  }
  Answer patch(const std::string& target, const std::string& type, const base::Json& body) {
    return call("PATCH", target, base::to_text(body), {{"Content-Type", type}});
  }
  Answer remove(const std::string& target, const base::Json& options = nullptr) {
    return call("DELETE", target, options.is_null() ? "" : base::to_text(options));
  }
  // Runs the server's own controllers until they have nothing to do.
  void settle() { runner.run_until_idle(); }

  base::ManualClock clock;
  base::SeededRandom random{1};
  std::unique_ptr<store::Store> store;
  identity::Tokens tokens;
  objects::AdmitAll admit_all;
  control::StepTable steps;
  control::VirtualRunner runner{clock, steps};
  Server server;
};

// A definition of kind Job, plural jobs, in group example.test/v1.
base::Json job_definition();
inline const std::string kJobs = "/apis/example.test/v1/namespaces/default/jobs";

inline base::Json job_definition() {
  return *base::parse_json(R"json({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "jobs.example.test"},
    "spec": {"group": "example.test", "scope": "Namespaced",
     "names": {"plural": "jobs", "kind": "Job", "shortNames": ["jb"], "categories": ["all"]},
     "versions": [{"name": "v1", "served": true, "storage": true,
      "subresources": {"status": {}},
      "additionalPrinterColumns": [
       {"name": "State", "type": "string", "jsonPath": ".status.state"},
       {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
       "spec": {"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "minimum": 1, "description": "How many."},
        "note": {"type": "string", "default": "none"},
        "list": {"type": "array", "items": {"type": "string"}}}},
       "status": {"type": "object", "properties": {"state": {"type": "string"}}}}}}}]}})json");
}

inline base::Json job(const std::string& name, int size = 1) {
  return base::JsonObject{{"apiVersion", "example.test/v1"},
                          {"kind", "Job"},
                          {"metadata", base::JsonObject{{"name", name}}},
                          {"spec", base::JsonObject{{"size", size}}}};
}

}  // namespace meridian::kubeserver
