// SPDX-License-Identifier: Apache-2.0
#include "region/hosting/definitions.h"

#include <fmt/format.h>

#include "base/json.h"

namespace meridian::region::hosting {

using base::Json;
using base::JsonArray;
using base::JsonObject;

struct Definitions::Form {
  std::string_view name_member, arn_member, list_member;
  std::string_view arn_type;  // also the part of the store's key
  std::string_view words;     // in messages
};

const Definitions::Form Definitions::kModel{"ModelName", "ModelArn", "Models", "model", "model"};
const Definitions::Form Definitions::kEndpointConfig{"EndpointConfigName", "EndpointConfigArn",
                                                     "EndpointConfigs", "endpoint-config",
                                                     "endpoint configuration"};

namespace {

std::optional<std::string> index_of_time(const JsonObject& input, std::string_view member,
                                         std::int64_t add_ms) {
  const Json* value = base::find(input, member);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return store::index_number(static_cast<std::int64_t>(value->to_number<double>() * 1000) + add_ms);
}

}  // namespace

Definitions::Definitions(store::Store& store, const base::Clock& clock, Settings settings)
    : store_(store), clock_(clock), settings_(std::move(settings)) {}

std::string Definitions::prefix(const Form& form) const {
  return fmt::format("{}/{}/sagemaker/{}/", settings_.account, settings_.region, form.arn_type);
}

std::string Definitions::arn(const Form& form, const std::string& name) const {
  return fmt::format("arn:aws:sagemaker:{}:{}:{}/{}", settings_.region, settings_.account,
                     form.arn_type, name);
}

store::Document Definitions::get(const Form& form, const std::string& name) const {
  if (auto found = store_.find(prefix(form) + name)) return std::move(*found);
  throw aws::ApiError("ValidationException",
                      fmt::format("Could not find {} \"{}\".", form.words, arn(form, name)));
}

void Definitions::check_models(const JsonObject& input) const {
  for (const char* member : {"ProductionVariants", "ShadowProductionVariants"}) {
    const Json* variants = base::find(input, member);
    if (variants == nullptr || !variants->is_array()) continue;
    for (const Json& variant : variants->get_array()) {
      const std::string model = base::string_or(variant, "ModelName");
      if (!model.empty()) get(kModel, model);
    }
  }
}

Json Definitions::create(const Form& form, const JsonObject& input) {
  const std::string name = base::string_or(input, form.name_member);
  if (&form == &kEndpointConfig) check_models(input);
  const base::Timestamp now = clock_.now();
  JsonObject record = input;
  record["CreationTime"] = now.seconds();
  record[form.arn_member] = arn(form, name);
  const auto committed =
      store_.commit({store::put(prefix(form) + name, base::to_text(record),
                                {{"name", name}, {"creation", store::index_number(now.ms)}}, 0)});
  if (!committed) {
    throw aws::ApiError(
        "ValidationException",
        fmt::format("Cannot create already existing {} \"{}\".", form.words, arn(form, name)));
  }
  return JsonObject{{form.arn_member, arn(form, name)}};
}

Json Definitions::describe(const Form& form, const JsonObject& input) const {
  const store::Document document = get(form, base::string_or(input, form.name_member));
  Json answer = base::parse_stored_json(document.body, document.key);
  answer.as_object().erase("Tags");
  return answer;
}

Json Definitions::list(const Form& form, const JsonObject& input) const {
  const auto most = static_cast<std::size_t>(base::int_or(input, "MaxResults", 10));
  const std::string contains = base::string_or(input, "NameContains");
  store::ListQuery query{.prefix = prefix(form)};
  query.order_by = base::string_or(input, "SortBy", "CreationTime") == "Name" ? "name" : "creation";
  query.order = base::string_or(input, "SortOrder", "Descending") == "Ascending"
                    ? store::ListQuery::Order::ascending
                    : store::ListQuery::Order::descending;
  // "After" and "Before" both exclude the instant itself.
  store::ListQuery::Range created{"creation", index_of_time(input, "CreationTimeAfter", 1),
                                  index_of_time(input, "CreationTimeBefore", 0)};
  if (created.at_least || created.below) query.ranges.push_back(created);
  query.token = base::string_or(input, "NextToken");
  JsonArray summaries;
  do {
    query.limit = most - summaries.size();
    const store::Page page = store_.list(query);
    for (const store::Document& document : page.documents) {
      const Json record = base::parse_stored_json(document.body, document.key);
      if (base::string_or(record, form.name_member).find(contains) == std::string::npos) continue;
      summaries.push_back({{form.name_member, *base::find(record, form.name_member)},
                           {form.arn_member, *base::find(record, form.arn_member)},
                           {"CreationTime", *base::find(record, "CreationTime")}});
    }
    query.token = page.next_token;
  } while (!query.token.empty() && summaries.size() < most);
  JsonObject answer{{form.list_member, std::move(summaries)}};
  if (!query.token.empty()) answer["NextToken"] = query.token;
  return answer;
}

Json Definitions::remove(const Form& form, const JsonObject& input) {
  const std::string name = base::string_or(input, form.name_member);
  const store::Document document = get(form, name);
  // Deleted by somebody else meanwhile: then it is not there, as for anyone who comes late.
  if (!store_.commit({store::remove(document.key, document.revision)})) get(form, name);
  return JsonObject{};
}

aws::Service Definitions::service() {
  aws::Service service{.name = "sagemaker"};
  const auto add = [&](const Form& form, const std::string& noun) {
    auto& operations = service.operations;
    operations["Create" + noun] = [this, &form](const aws::CallContext&, const JsonObject& input) {
      return create(form, input);
    };
    operations["Describe" + noun] = [this, &form](const aws::CallContext&,
                                                  const JsonObject& input) {
      return describe(form, input);
    };
    operations["List" + noun + "s"] = [this, &form](const aws::CallContext&,
                                                    const JsonObject& input) {
      return list(form, input);
    };
    operations["Delete" + noun] = [this, &form](const aws::CallContext&, const JsonObject& input) {
      return remove(form, input);
    };
  };
  add(kModel, "Model");
  add(kEndpointConfig, "EndpointConfig");
  return service;
}

}  // namespace meridian::region::hosting
