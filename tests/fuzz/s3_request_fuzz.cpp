// Whole requests to the S3 server: documents, markers, tags, conditions, ranges, uploads. Whatever
// comes, there is one answer, and it never says that the server is at fault.
//
// Each input is a few requests, separated by lines of "---":
//
//   METHOD /path?query
//   Header: value
//
//   body
//
// UPLOAD in the first line stands for the id of an upload of data/parts that has begun.
//
// LINK: s3/server
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "s3/server/server.h"
#include "s3/store/test_store.h"

using namespace meridian;

namespace {

class Recorder final : public net::Responder {
 public:
  void send(net::Response response) override {
    ++answers;
    status = response.status;
    body = std::move(response.body);
  }
  void begin(int answered, net::Headers) override {
    ++answers;
    status = answered;
  }
  void write(std::string_view) override {}
  void send_file(int, std::uint64_t, std::uint64_t) override {}
  bool begun() const override { return answers > 0; }
  bool peer_gone() const override { return false; }

  int answers = 0, status = 0;
  std::string body;
};

std::string_view cut_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

struct Fixture {
  Fixture() {
    store.store.put_bytes("data", "k", "0123456789");
    upload = store.store.create_upload({.bucket = "data", .key = "parts"}, true).id;
    net::StringBody part("part");
    store.store.put_part({.bucket = "data", .key = "parts", .upload_id = upload, .number = 1},
                         part);
  }

  void ask(std::string_view text) {
    net::Request request;
    const auto line = base::replace_all(std::string(cut_line(text)), "UPLOAD", upload);
    const auto blank = std::min(line.find(' '), line.size());
    request.method = line.substr(0, blank);
    request.target = blank < line.size() ? line.substr(blank + 1) : "/";
    const auto question = std::min(request.target.find('?'), request.target.size());
    request.path = request.target.substr(0, question);
    request.query = request.target.substr(std::min(question + 1, request.target.size()));
    for (auto header = cut_line(text); !header.empty(); header = cut_line(text)) {
      const auto colon = std::min(header.find(':'), header.size());
      request.headers.add(
          std::string(header.substr(0, colon)),
          std::string(base::trim(header.substr(std::min(colon + 1, header.size())))));
    }
    net::StringBody body{std::string(text)};
    request.body = &body;
    Recorder recorder;
    server.handle(request, {.account = "000000000000", .region = "us-west-2"}, body, {}, recorder);
    const bool good = recorder.answers == 1 && recorder.status >= 200 && recorder.status < 600 &&
                      recorder.status != 500;
    if (good) return;
    std::fprintf(stderr, "%d answers, status %d\n%s\n", recorder.answers, recorder.status,
                 recorder.body.c_str());
    std::abort();
  }

  s3::TestStore store;
  s3::Server server{{&store.store}, store.clock, store.random};
  std::string upload;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Fixture fixture;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (int requests = 0; requests < 8; ++requests) {
    const auto end = rest.find("\n---\n");
    fixture.ask(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 5);
  }
  return 0;
}
