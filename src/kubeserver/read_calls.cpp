// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/read_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/cause.h"
#include "kubeserver/kinds/tables.h"
#include "kubeserver/media.h"
#include "kubeserver/objects/lists.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using objects::Form;
using objects::ListEnd;
using objects::ListQuery;
using objects::Shape;

constexpr std::size_t kPiece = 256 * 1024;  // of an answer that is sent while it is made

Form form_of(const Call& call) {
  return choose_form(call.request.headers.get("accept"), call.query.get("includeObject"));
}

// A list as text, made piece by piece: small ones go out whole, large ones as a stream, so that
// memory does not grow with the list.
class ListText {
 public:
  ListText(Call& call, Form form, base::Timestamp now) : call_(call), form_(form), now_(now) {}

  void add(std::vector<Json>& batch) {
    if (form_.shape == Shape::table) {
      add_rows(batch);
    } else {
      open();
      for (const Json& object : batch) {
        add_item(form_.shape == Shape::metadata ? kinds::metadata_only(object) : object);
      }
    }
    if (text_.size() >= kPiece) flush();
  }

  void finish(const ListEnd& end) {
    open();
    JsonObject metadata{{"resourceVersion", std::to_string(end.revision)}};
    if (!end.token.empty()) metadata["continue"] = end.token;
    text_ += fmt::format("],\"metadata\":{}}}\n", base::to_text(metadata));
    if (begun_) {
      call_.responder.write(text_);
      return;
    }
    net::Response response{.body = std::move(text_)};
    response.headers = headers();
    call_.responder.send(std::move(response));
  }

 private:
  static net::Headers headers() {
    net::Headers out;
    out.add("Content-Type", "application/json");
    out.add("Cache-Control", "no-cache, private");
    return out;
  }

  void open() {
    if (opened_) return;
    opened_ = true;
    const kinds::Served& served = *call_.served;
    switch (form_.shape) {
      case Shape::whole:
        text_ = fmt::format("{{\"kind\":{},\"apiVersion\":{},\"items\":[",
                            base::to_text(Json(served.resource.list_kind)),
                            base::to_text(Json(served.api_version())));
        return;
      case Shape::metadata:
        text_ =
            "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"items\":[";
        return;
      case Shape::table: {
        const Json empty = kinds::make_table(served, {}, now_, form_.rows);
        text_ = fmt::format(
            "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"columnDefinitions\":{},"
            "\"rows\":[",
            base::to_text(empty.at("columnDefinitions")));
        return;
      }
    }
  }

  void add_rows(std::vector<Json>& batch) {
    open();
    const Json table = kinds::make_table(*call_.served, batch, now_, form_.rows);
    for (const Json& row : table.at("rows").as_array()) add_item(row);
  }

  void add_item(const Json& item) {
    if (any_) text_ += ',';
    any_ = true;
    text_ += base::to_text(item);
  }

  void flush() {
    if (!begun_) call_.responder.begin(200, headers());
    begun_ = true;
    call_.responder.write(text_);
    text_.clear();
  }

  Call& call_;
  const Form form_;
  const base::Timestamp now_;
  std::string text_;
  bool opened_ = false, any_ = false, begun_ = false;
};

ListQuery::Match match_of(const Query& query) {
  const std::string text = query.get("resourceVersionMatch");
  if (text.empty()) return ListQuery::Match::unset;
  if (text == "Exact") return ListQuery::Match::exact;
  if (text == "NotOlderThan") return ListQuery::Match::not_older_than;
  throw kube::invalid(
      "meta.k8s.io", "ListOptions", "",
      {kube::not_supported("resourceVersionMatch", Json(text), {"Exact", "NotOlderThan", ""})});
}

}  // namespace

void serve_get(Call& call, const objects::Objects& objects, base::Timestamp now) {
  const Form form = form_of(call);
  send_json(call.responder, 200,
            objects::shaped(*call.served, objects.get(*call.served, call.key()), form, now));
}

void serve_list(Call& call, const objects::Objects& objects, base::Timestamp now) {
  // Below zero is as good as none, as in Kubernetes.
  const auto limit = std::max<std::int64_t>(call.query.number("limit").value_or(0), 0);
  const ListQuery query{.selection = objects::parse_selection(*call.served, call.target.ns,
                                                              call.query.get("labelSelector"),
                                                              call.query.get("fieldSelector")),
                        .limit = static_cast<std::size_t>(limit),
                        .token = call.query.get("continue"),
                        .resource_version = call.query.get("resourceVersion"),
                        .match = match_of(call.query)};
  ListText text(call, form_of(call), now);
  const ListEnd end = objects::list_objects(objects.storage(), *call.served, query,
                                            [&](std::vector<Json>& batch) { text.add(batch); });
  text.finish(end);
}

}  // namespace meridian::kubeserver
