// SPDX-License-Identifier: Apache-2.0
#include "operators/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aws/service.h"
#include "base/strings.h"

namespace meridian::operators {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// "Not found" has no code of its own in the API: the kinds say it in these words.
bool says_absent(const aws::ApiError& error) {
  if (one_of(error.aws_code(), {"ResourceNotFound", "ObjectNotFoundException"})) return true;
  if (error.aws_code() != "ValidationException") return false;
  constexpr std::array<std::string_view, 7> kWords = {"Requested resource not found",
                                                      "Could not find requested job",
                                                      "Could not find model",
                                                      "Could not find endpoint configuration",
                                                      "Could not find endpoint",
                                                      "Could not find requested resource",
                                                      "Amazon SageMaker can't find a tuning job"};
  return std::ranges::any_of(kWords,
                             [&](std::string_view w) { return error.message().starts_with(w); });
}

Verdict judge_answer(const aws::ApiError& error) {
  const std::string& code = error.aws_code();
  if (says_absent(error)) return Verdict::absent;
  if (code == "ResourceInUse" || error.message().find("already exist") != std::string::npos) {
    return Verdict::in_use;
  }
  if (error.status() >= 500 || error.status() == 429 || code.find("Throttl") != std::string::npos ||
      code.find("LimitExceeded") != std::string::npos) {
    return Verdict::retryable;
  }
  // Keys and permissions are mended outside of the resource.
  if (one_of(code, {"ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException",
                    "InvalidClientTokenId", "InvalidSignatureException", "AccessDeniedException",
                    "AccessDenied", "MissingAuthenticationTokenException", "RequestExpired",
                    "ConflictException", "ConcurrentUpdateException"})) {
    return Verdict::retryable;
  }
  // An endpoint that is busy takes the same call later.
  if (error.message().find("in-progress") != std::string::npos ||
      error.message().find("should be in 'InService'") != std::string::npos) {
    return Verdict::retryable;
  }
  return Verdict::terminal;
}

}  // namespace

std::string Place::text() const {
  return endpoint.empty() ? region : fmt::format("{} at {}", region, endpoint);
}

Place place_of(const base::Json& object) {
  const base::Json* spec = base::find(object, "spec");
  if (spec == nullptr) return {};
  return {base::string_or(*spec, "region"), base::string_or(*spec, "sageMakerEndpoint")};
}

Verdict judge(const base::Error& error) {
  if (const auto* answer = dynamic_cast<const aws::ApiError*>(&error)) return judge_answer(*answer);
  return error.code() == base::Code::invalid_argument || error.code() == base::Code::not_found
             ? Verdict::terminal
             : Verdict::retryable;
}

bool has_no_record(const base::Error& error) {
  const auto* answer = dynamic_cast<const aws::ApiError*>(&error);
  return judge(error) == Verdict::absent ||
         (answer != nullptr && answer->aws_code() == "UnknownOperationException");
}

std::string reason_of(const base::Error& error) {
  if (const auto* answer = dynamic_cast<const aws::ApiError*>(&error)) return answer->aws_code();
  switch (error.code()) {
    case base::Code::not_found: return "UnknownRegion";
    case base::Code::invalid_argument: return "InvalidInput";
    case base::Code::deadline_exceeded: return "Timeout";
    default: return "Unavailable";
  }
}

}  // namespace meridian::operators
