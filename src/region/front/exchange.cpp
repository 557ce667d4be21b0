// SPDX-License-Identifier: Apache-2.0
#include "region/front/exchange.h"

#include "aws/model.h"
#include "aws/protocol.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"

namespace meridian::region::front {
namespace {

constexpr std::string_view meridian_path = "/_meridian/v1/";

// Nobody signs for another face's service, so the service of the scope decides.
bool is_s3(const aws::AuthClaim& claim) {
  return claim.service == "s3" || claim.form == aws::AuthClaim::Form::query_v2;
}

bool is_preflight(const net::Request& request) {
  return request.method == "OPTIONS" && request.headers.find("origin") &&
         !request.headers.find("authorization");
}

Refusal no_permission(const std::string& who, const std::string& what, const std::string& why) {
  return {Reason::no_permission,
          "User: " + who + " is not authorized to perform: " + what + " because " + why,
          {}};
}

std::string read_bounded(net::BodyReader& body, std::size_t limit) {
  try {
    return body.read_all(limit);
  } catch (const base::Error& error) {  // this one is the caller's doing, not a lack of ours
    if (error.code() != base::Code::resource_exhausted) throw;
    throw aws::ApiError("RequestEntityTooLargeException",
                        "the body is larger than " + base::format_bytes(limit), 413);
  }
}

// "XAmzContentSHA256Mismatch: text" of aws::PayloadReader, for services that are not S3.
aws::ApiError payload_error(const base::Error& error) {
  const std::string& text = error.message();
  const auto colon = text.find(": ");
  if (error.code() != base::Code::data_loss || colon == std::string::npos) {
    return aws::to_api_error(error);
  }
  return aws::ApiError("InvalidSignatureException", text.substr(colon + 2));
}

}  // namespace

std::string House::region_names() const {
  std::vector<std::string> names;
  for (const auto& [name, region] : regions) names.push_back(name);
  return base::join(names, ", ");
}

Exchange::Exchange(const House& house, net::Request& request, net::Responder& responder)
    : house_(house), request_(request), responder_(responder), request_id_(house.random.uuid()) {}

void Exchange::run() {
  // The HTTP dispatcher: one of the few places that catch (style.md §4).
  try {
    auto claim = aws::parse_claim(request_);
    const bool s3_like = looks_like_s3(request_);
    if (!claim) {
      form_ = aws::identify(request_, "");
      refuse({Reason::malformed_signature, claim.error().message, {}}, s3_like);
    } else if (claim->form != aws::AuthClaim::Form::none) {
      run_signed(std::move(*claim));
    } else if (is_preflight(request_)) {
      run_preflight();
    } else {
      form_ = aws::identify(request_, "");
      const std::string text = s3_like ? "Access Denied: the request is not signed"
                                       : "Missing Authentication Token: the request is not signed";
      refuse({Reason::unsigned_request, text + " ('meridian env' prints the keys to use)", {}},
             s3_like);
    }
  } catch (const base::Error& error) {
    fail(service_error(form_, error), error.what());
  } catch (const std::exception& error) {  // a defect of a handler costs its caller one answer
    fail(aws::to_api_error(base::Error(base::Code::internal, error.what())), error.what());
  }
  report();
}

void Exchange::fail(const aws::ApiError& error, const char* details) {
  if (responder_.begun()) throw;  // the head is out: net drops the connection
  if (error.status() >= 500) {
    base::log_error("request failed", {{"request_id", request_id_},
                                       {"service", service_},
                                       {"operation", operation_},
                                       {"error", details}});
  }
  if (service_ == "s3") {
    refuse({Reason::internal, "We encountered an internal error. Please try again.", {}}, true);
  } else {
    answer(aws::encode_error(form_, error, request_id_));
  }
}

void Exchange::run_signed(aws::AuthClaim claim) {
  if (claim.form == aws::AuthClaim::Form::query_v2) {
    claim.service = "s3";
    region_ = house_.settings.default_region;
  } else {
    region_ = claim.region;
  }
  service_ = claim.service;
  form_ = aws::identify(request_, claim.service);
  if (!region_is_served(claim)) {
    refuse({Reason::wrong_region,
            "region '" + base::to_valid_utf8(claim.region) +
                "' is not served here; the regions of this installation: " + house_.region_names(),
            {}},
           false);
  } else if (is_s3(claim)) {
    run_s3(claim);
  } else {
    run_service(claim);
  }
}

// STS and IAM are global services, whose clients sign for us-east-1. S3 answers requests for any
// region itself: with the bucket's own, for which SDKs then sign again.
bool Exchange::region_is_served(const aws::AuthClaim& claim) const {
  if (is_s3(claim) || house_.regions.contains(region_)) return true;
  return claim.region == "us-east-1" && house_.everywhere.contains(claim.service);
}

std::optional<Access> Exchange::admit(const aws::AuthClaim& claim, const std::string& body_sha256,
                                      bool is_s3) {
  auto result = authenticate(house_.identity, claim, request_, house_.clock.now(), body_sha256);
  if (auto* refused = std::get_if<Refusal>(&result)) {
    refuse(*refused, is_s3);
    return std::nullopt;
  }
  Access& access = std::get<Access>(result);
  const identity::Principal& who = access.key.principal;
  principal_ = who.arn;
  if (who.scope == identity::Scope::job && !open_to_jobs(claim.service)) {
    refuse(no_permission(who.arn, claim.service, "the keys of a job do not reach this service"),
           is_s3);
    return std::nullopt;
  }
  return std::move(access);
}

void Exchange::run_s3(const aws::AuthClaim& claim) {
  const auto access = admit(claim, "", true);
  if (!access) return;
  if (!house_.s3) throw base::Error(base::Code::unavailable, "S3 is not served here");
  const identity::Principal& who = access->key.principal;
  const s3::Caller caller{.account = who.account,
                          .region = claim.region,
                          .principal_arn = who.arn,
                          .may_write = who.role != identity::Role::viewer};
  try {
    aws::PayloadReader body(*request_.body, request_, access->claim, access->verification,
                            access->key.secret);
    house_.s3(request_, caller, body, [&] { return &body.trailers(); }, responder_);
  } catch (const base::Error& error) {  // the reader refuses before S3 has a say
    if (responder_.begun() || error.code() != base::Code::data_loss) throw;
    const auto colon = error.message().find(": ");
    if (colon == std::string::npos) throw;
    const std::string code = error.message().substr(0, colon);
    answer(s3_error(code, error.message().substr(colon + 2),
                    code == "MissingContentLength" ? 411 : 400, {}, request_.path, request_id_));
  }
}

void Exchange::run_preflight() {
  service_ = "s3";
  if (!house_.s3) throw base::Error(base::Code::unavailable, "S3 is not served here");
  const s3::Caller anonymous{.account = house_.settings.account, .may_write = false};
  net::StringBody nothing("");
  house_.s3(request_, anonymous, nothing, [] { return nullptr; }, responder_);
}

void Exchange::run_service(const aws::AuthClaim& claim) {
  // A hash in the head lets the signature be judged before the body is read.
  std::string body, hash;
  const bool hash_in_head = request_.headers.find("x-amz-content-sha256").has_value();
  // An unknown key is refused without reading its body.
  if (!hash_in_head && house_.identity.find_key(claim.access_key_id)) {
    body = read_bounded(*request_.body, house_.settings.max_body);
    hash = base::sha256_hex(body);
  }
  const auto access = admit(claim, hash, false);
  if (!access) return;
  if (hash_in_head) body = read_body(*access);
  if (claim.service == "meridian") {
    run_meridian(*access, body);
  } else {
    run_call(form_, *access, body);
  }
}

std::string Exchange::read_body(const Access& access) {
  try {
    aws::PayloadReader reader(*request_.body, request_, access.claim, access.verification,
                              access.key.secret);
    return read_bounded(reader, house_.settings.max_body);
  } catch (const base::Error& error) {
    throw payload_error(error);
  }
}

void Exchange::run_call(aws::CallForm& form, const Access& access, const std::string& body) {
  auto call = aws::decode(form, request_, body);
  service_ = form.model->name();
  operation_ = form.operation;
  const identity::Principal& who = access.key.principal;
  if (who.role == identity::Role::viewer && !only_reads(operation_)) {
    refuse(no_permission(who.arn, service_ + ":" + operation_, "viewers only read"), false);
    return;
  }
  const aws::OperationHandler* handler = find_handler(service_, operation_);
  if (!handler) {
    throw aws::ApiError("UnknownOperationException",
                        service_ + " " + operation_ + " is not implemented by Meridian yet");
  }
  auto inspection = aws::inspect(*call.operation, call.input);
  if (!inspection.message.empty()) {
    throw aws::ApiError(validation_code(form), inspection.message);
  }
  aws::CallContext context = context_of(access);
  context.unknown_fields = std::move(inspection.unknown_fields);
  const base::Json output = (*handler)(context, call.input);
  answer(aws::encode(form, *call.operation, output, request_id_));
}

void Exchange::run_meridian(const Access& access, const std::string& body) {
  form_ = {.protocol = aws::Protocol::rest_json, .model = nullptr, .operation = ""};
  if (!request_.path.starts_with(meridian_path)) {
    throw aws::ApiError("UnknownOperationException", "POST /_meridian/v1/NAME is served", 404);
  }
  operation_ = request_.path.substr(meridian_path.size());
  const auto& calls = house_.regions.at(region_).calls;
  const auto found = calls.find(operation_);
  if (found == calls.end()) {
    std::vector<std::string> names;
    for (const auto& [name, call] : calls) names.push_back(name);
    const std::string asked = base::to_valid_utf8(base::utf8_prefix(operation_, 64));
    operation_.clear();
    throw aws::ApiError("UnknownOperationException",
                        "no call '" + asked + "' here; there are: " + base::join(names, ", "), 404);
  }
  const identity::Principal& who = access.key.principal;
  if (who.role == identity::Role::viewer && !only_reads(operation_)) {
    refuse(no_permission(who.arn, "meridian:" + operation_, "viewers only read"), false);
    return;
  }
  base::Json output = found->second(context_of(access), aws::decode_json_object(body));
  answer({.status = 200, .headers = {}, .body = base::to_text(output)});
}

const aws::OperationHandler* Exchange::find_handler(const std::string& service,
                                                    const std::string& operation) const {
  const auto in = [&](const auto& services) -> const aws::OperationHandler* {
    const auto operations = services.find(service);
    if (operations == services.end()) return nullptr;
    const auto handler = operations->second.find(operation);
    return handler == operations->second.end() ? nullptr : &handler->second;
  };
  if (const auto* handler = in(house_.everywhere)) return handler;
  const auto region = house_.regions.find(region_);
  return region == house_.regions.end() ? nullptr : in(region->second.services);
}

aws::CallContext Exchange::context_of(const Access& access) const {
  const identity::Principal& who = access.key.principal;
  return {.account = who.account,
          .region = region_,
          .principal_arn = who.arn,
          .principal_name = who.name,
          .request_id = request_id_,
          .user_agent = request_.headers.get("user-agent"),
          .access_key_id = access.key.id,
          .may_write = who.role != identity::Role::viewer,
          .unknown_fields = {}};
}

void Exchange::refuse(const Refusal& refusal, bool is_s3) {
  if (is_s3) {
    service_ = "s3";
    answer(s3_refusal(refusal, request_.path, request_id_));
  } else {
    answer(aws::encode_error(form_, api_refusal(refusal, form_.protocol), request_id_));
  }
}

void Exchange::answer(net::Response response) {
  status_ = response.status;
  if (!response.headers.find("content-type")) {
    response.headers.set("content-type", "application/json");
  }
  responder_.send(std::move(response));
}

void Exchange::report() const {
  const std::string status = status_ ? std::to_string(status_) : "streamed";
  // Only names that the models know become labels, so that callers cannot grow the page.
  const bool known = form_.model && !operation_.empty();
  base::metrics()
      .counter("meridian_api_requests_total", "Requests at the AWS face",
               {{"service", service_ == "s3" ? "s3"
                            : known          ? service_
                                             : "other"},
                {"operation", known ? operation_ : ""},
                {"status", status}})
      .add();
  base::log_debug("request", {{"request_id", request_id_},
                              {"method", request_.method},
                              {"path", request_.path},
                              {"service", service_},
                              {"operation", operation_},
                              {"region", region_},
                              {"principal", principal_},
                              {"peer", request_.peer},
                              {"status", status}});
}

}  // namespace meridian::region::front
