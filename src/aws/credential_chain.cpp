// SPDX-License-Identifier: Apache-2.0
#include "aws/credential_chain.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/xml.h"

namespace meridian::aws {
namespace {

constexpr base::Duration kBeforeEnd{300'000};
constexpr std::chrono::milliseconds kMetadataTimeout{2'000};

std::string process_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

base::Error unusable(std::string message) {
  return base::Error(base::Code::unauthenticated, std::move(message));
}

std::optional<base::Timestamp> parse_expiry(const std::string& text) {
  const auto parsed = base::parse_iso8601(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

}  // namespace

base::Result<Credentials> parse_credentials(std::string_view ini, std::string_view profile) {
  Credentials found;
  bool inside = false;
  int number = 0;
  for (const auto& raw : base::split(ini, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      inside = line == "[" + std::string(profile) + "]";
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos)
      return base::ParseError{"expected 'name = value'", 0, number, 1};
    if (!inside) continue;
    const auto name = base::trim(line.substr(0, equals));
    const std::string value(base::trim(line.substr(equals + 1)));
    if (name == "aws_access_key_id") found.access_key_id = value;
    if (name == "aws_secret_access_key") found.secret = value;
    if (name == "aws_session_token") found.session_token = value;
  }
  if (found.access_key_id.empty() || found.secret.empty())
    return base::ParseError{"no keys under [" + std::string(profile) + "]"};
  return found;
}

CredentialChain::CredentialChain(net::HttpClient& http, const base::Clock& clock)
    : CredentialChain(http, clock, Settings{}) {}

CredentialChain::CredentialChain(net::HttpClient& http, const base::Clock& clock, Settings settings)
    : http_(http), clock_(clock), settings_(std::move(settings)) {
  if (!settings_.environment) settings_.environment = process_variable;
  if (settings_.sts_endpoint.empty()) {
    settings_.sts_endpoint = fmt::format("https://sts.{}.amazonaws.com", settings_.region);
  }
}

Credentials CredentialChain::current() {
  auto held = held_.lock();
  const bool fresh = *held && (!(*held)->expires || clock_.now() + kBeforeEnd < *(*held)->expires);
  if (!fresh) *held = fetch();
  return (*held)->credentials;
}

CredentialChain::Held CredentialChain::fetch() const {
  const auto& variable = settings_.environment;
  if (!variable("AWS_ACCESS_KEY_ID").empty()) {
    return {{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
             variable("AWS_SESSION_TOKEN")},
            {}};
  }
  if (auto found = from_web_identity()) return *found;
  if (auto found = from_profile()) return *found;
  if (auto found = from_container()) return *found;
  return from_metadata();
}

std::optional<CredentialChain::Held> CredentialChain::from_web_identity() const {
  const auto& variable = settings_.environment;
  const std::string file = variable("AWS_WEB_IDENTITY_TOKEN_FILE"), role = variable("AWS_ROLE_ARN");
  if (file.empty() || role.empty()) return std::nullopt;
  std::string session = variable("AWS_ROLE_SESSION_NAME");
  if (session.empty()) session = "meridian";
  const auto encode = [](std::string_view text) { return base::percent_encode(text); };
  net::ClientRequest request{.method = "POST", .url = settings_.sts_endpoint + "/"};
  request.headers.add("Content-Type", "application/x-www-form-urlencoded");
  request.body = fmt::format(
      "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn={}&RoleSessionName={}&"
      "WebIdentityToken={}",
      encode(role), encode(session), encode(base::trim(base::read_file(file))));
  const net::Response response = http_.send(request);
  const auto document = base::parse_xml(response.body);
  if (response.status != 200 || !document) {
    throw unusable(fmt::format("STS did not take the web identity token for {}: status {}", role,
                               response.status));
  }
  const base::XmlElement* result = document->find("AssumeRoleWithWebIdentityResult");
  const base::XmlElement* keys = result != nullptr ? result->find("Credentials") : nullptr;
  if (keys == nullptr) throw unusable("STS answered without credentials");
  return Held{{keys->text_of("AccessKeyId"), keys->text_of("SecretAccessKey"),
               keys->text_of("SessionToken")},
              parse_expiry(keys->text_of("Expiration"))};
}

std::optional<CredentialChain::Held> CredentialChain::from_profile() const {
  const auto& variable = settings_.environment;
  std::string file = variable("AWS_SHARED_CREDENTIALS_FILE");
  if (file.empty() && !variable("HOME").empty()) file = variable("HOME") + "/.aws/credentials";
  const std::string profile = variable("AWS_PROFILE").empty() ? "default" : variable("AWS_PROFILE");
  const std::string text = file.empty() ? "" : base::read_file_if_exists(file);
  if (text.empty()) return std::nullopt;
  const auto keys = parse_credentials(text, profile);
  if (keys) return Held{*keys, {}};
  // A profile that was asked for by name must be there; the default one may be absent.
  if (!variable("AWS_PROFILE").empty())
    throw unusable(fmt::format("{}: {}", file, keys.error().text()));
  return std::nullopt;
}

CredentialChain::Held CredentialChain::parse_document(const std::string& body,
                                                      std::string_view from) const {
  const auto document = base::parse_json(body);
  if (!document || base::string_or(*document, "AccessKeyId").empty()) {
    throw unusable(fmt::format("{} answered without credentials", from));
  }
  return {{base::string_or(*document, "AccessKeyId"), base::string_or(*document, "SecretAccessKey"),
           base::string_or(*document, "Token")},
          parse_expiry(base::string_or(*document, "Expiration"))};
}

std::optional<CredentialChain::Held> CredentialChain::from_container() const {
  const auto& variable = settings_.environment;
  std::string url = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (const std::string path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !path.empty()) {
    url = "http://169.254.170.2" + path;
  }
  if (url.empty()) return std::nullopt;
  net::ClientRequest request{.url = url};
  std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    token = base::trim(base::read_file(file));
  }
  if (!token.empty()) request.headers.add("Authorization", token);
  const net::Response response = http_.send(request);
  if (response.status != 200)
    throw unusable(fmt::format("{} answered status {}", url, response.status));
  return parse_document(response.body, url);
}

CredentialChain::Held CredentialChain::from_metadata() const {
  const std::string& base_url = settings_.metadata_endpoint;
  try {
    net::ClientRequest ask{.method = "PUT", .url = base_url + "/latest/api/token"};
    ask.headers.add("X-aws-ec2-metadata-token-ttl-seconds", "21600");
    ask.timeout = ask.connect_timeout = kMetadataTimeout;
    const std::string token = http_.send(ask).body;
    const auto get = [&](const std::string& path) {
      net::ClientRequest request{.url = base_url + path};
      request.headers.add("X-aws-ec2-metadata-token", token);
      request.timeout = request.connect_timeout = kMetadataTimeout;
      return http_.send(request).body;
    };
    const std::string path = "/latest/meta-data/iam/security-credentials/";
    const std::string role(base::trim(get(path)));
    return parse_document(get(path + role), "the instance's metadata service");
  } catch (const base::Error& error) {
    throw unusable(fmt::format(
        "no AWS credentials: AWS_ACCESS_KEY_ID is not set, there is no web identity token, no "
        "profile, no container endpoint, and the metadata service did not answer ({})",
        error.message()));
  }
}

}  // namespace meridian::aws
