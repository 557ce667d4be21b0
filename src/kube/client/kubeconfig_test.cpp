// SPDX-License-Identifier: Apache-2.0
#include "kube/client/kubeconfig.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"

namespace meridian::kube {
namespace {

class Kubeconfig : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    base::write_file(directory_.path() / name, text);
    return directory_.path() / name;
  }
  // A kubeconfig with one context of this cluster and user.
  Access load(const std::string& cluster, const std::string& user, const std::string& more = "") {
    return load_kubeconfig(write("config",
                                 "current-context: c\ncontexts: [{name: c, context: {cluster: "
                                 "k, user: u" +
                                     more + "}}]\nclusters: [{name: k, cluster: {" + cluster +
                                     "}}]\nusers: [{name: u, user: {" + user + "}}]\n"));
  }
  std::string why_not(const std::string& cluster, const std::string& user) {
    try {
      load(cluster, user);
    } catch (const base::Error& error) {
      return error.message();
    }
    return "";
  }

  base::TempDir directory_;
};

TEST_F(Kubeconfig, TheCurrentContextDecides) {
  const auto file = write("config", R"(
apiVersion: v1
kind: Config
current-context: work
contexts:
- {name: home, context: {cluster: a, user: u}}
- {name: work, context: {cluster: b, user: u, namespace: team}}
clusters:
- {name: a, cluster: {server: "https://a:6443"}}
- {name: b, cluster: {server: "https://b:6443/", insecure-skip-tls-verify: true}}
users:
- {name: u, user: {token: secret}}
)");
  const Access work = load_kubeconfig(file);
  EXPECT_EQ(work.server, "https://b:6443");
  EXPECT_EQ(work.ns, "team");
  EXPECT_EQ(work.token, "secret");
  EXPECT_EQ(work.verify, Access::Verify::no);
  const Access home = load_kubeconfig(file, "home");
  EXPECT_EQ(home.server, "https://a:6443");
  EXPECT_EQ(home.ns, "default");
  EXPECT_EQ(home.verify, Access::Verify::yes);
  EXPECT_THROW(load_kubeconfig(file, "none"), base::Error);
}

TEST_F(Kubeconfig, CertificatesComeInlineOrFromFilesBesideIt) {
  write("ca.crt", "CA");
  write("me.crt", "CERT");
  write("me.key", "KEY");
  Access access = load("server: 'https://a', certificate-authority: ca.crt",
                       "client-certificate: me.crt, client-key: me.key");
  EXPECT_EQ(access.ca_pem, "CA");
  EXPECT_EQ(access.certificate_pem, "CERT");
  EXPECT_EQ(access.key_pem, "KEY");
  access = load("server: 'https://a', certificate-authority-data: " + base::base64("CA2"),
                "client-certificate-data: " + base::base64("CERT2") +
                    ", client-key-data: " + base::base64("KEY2") + ", tokenFile: t");
  EXPECT_EQ(access.ca_pem, "CA2");
  EXPECT_EQ(access.certificate_pem, "CERT2");
  EXPECT_EQ(access.key_pem, "KEY2");
  EXPECT_EQ(access.token_file, directory_.path() / "t");
}

TEST_F(Kubeconfig, APluginIsReadWithItsSurroundings) {
  const Access access =
      load("server: 'https://a'",
           "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: "
           "[get, 5], env: [{name: A, value: b}], provideClusterInfo: true, installHint: "
           "install it}");
  ASSERT_TRUE(access.exec);
  EXPECT_EQ(std::filesystem::path(access.exec->command).lexically_normal(),
            directory_.path() / "login");
  EXPECT_EQ(access.exec->arguments, (std::vector<std::string>{"get", "5"}));
  EXPECT_EQ(access.exec->environment.at(0).second, "b");
  EXPECT_EQ(base::string_or(access.exec->cluster, "server"), "https://a");
}

TEST_F(Kubeconfig, AUnixSocketCanBeTheServer) {
  const Access access = load("server: 'unix:///run/api.sock'", "token: t");
  EXPECT_EQ(access.unix_socket, "/run/api.sock");
  EXPECT_EQ(access.server, "http://localhost");
  EXPECT_EQ(socket_access("/x").unix_socket, "/x");
}

TEST_F(Kubeconfig, WhatIsWrongIsNamedWithItsPlace) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, why_not("", ""), "cluster 'k': server ''");
  EXPECT_PRED2(has, why_not("server: ftp://a", ""), "is no https:// or http:// URL");
  EXPECT_PRED2(has, why_not("server: 'https://a', certificate-authority-data: '%'", ""),
               "certificate-authority-data is not base64");
  EXPECT_PRED2(has, why_not("server: 'https://a', proxy-url: 'http://p'", ""),
               "uses proxy-url, which is not supported");
  EXPECT_PRED2(has, why_not("server: 'https://a'", "auth-provider: {name: x}"),
               "user 'u' uses auth-provider");
  EXPECT_PRED2(has, why_not("server: 'https://a'", "exec: {command: x, apiVersion: v9}"),
               "exec apiVersion 'v9'");
  EXPECT_PRED2(has, why_not("server: 'https://a'", "exec: {apiVersion: x}"), "exec has no command");
  EXPECT_THROW(load_kubeconfig(write("list", "[1]")), base::Error);
  EXPECT_THROW(load_kubeconfig(write("broken", "{")), base::Error);
  EXPECT_THROW(load_kubeconfig(write("empty", "")), base::Error);
  EXPECT_THROW(load_kubeconfig(directory_.path() / "absent"), base::Error);
}

TEST_F(Kubeconfig, OfSeveralFilesTheFirstEntryCounts) {
  const auto first = write("1",
                           "clusters: [{name: k, cluster: {server: 'https://first'}}]\n"
                           "contexts: [{name: c, context: {cluster: k}}]\n");
  const auto second = write("2",
                            "current-context: c\nclusters: [{name: k, cluster: {server: "
                            "'https://second'}}]\n");
  EXPECT_EQ(load_kubeconfigs({first, directory_.path() / "absent", second}).server,
            "https://first");
  EXPECT_THROW(load_kubeconfigs({directory_.path() / "absent"}), base::Error);
}

TEST_F(Kubeconfig, TheDefaultIsTheEnvironmentsFileThenTheHomesThenThePods) {
  std::map<std::string, std::string> variables;
  const Environment environment = [&](const std::string& name) { return variables[name]; };
  EXPECT_THROW(default_access("", environment), base::Error);
  std::filesystem::create_directory(directory_.path() / ".kube");
  write(".kube/config",
        "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
        "clusters: [{name: k, cluster: {server: 'https://home'}}]\n");
  variables["HOME"] = directory_.path();
  EXPECT_EQ(default_access("", environment).server, "https://home");
  variables["KUBECONFIG"] = write("other",
                                  "current-context: c\ncontexts: [{name: c, context: {cluster: "
                                  "k}}]\nclusters: [{name: k, cluster: {server: "
                                  "'https://other'}}]\n");
  EXPECT_EQ(default_access("", environment).server, "https://other");
}

TEST_F(Kubeconfig, APodHasAnAccount) {
  std::map<std::string, std::string> variables{{"KUBERNETES_SERVICE_HOST", "fd00::1"},
                                               {"KUBERNETES_SERVICE_PORT", "443"}};
  const Environment environment = [&](const std::string& name) { return variables[name]; };
  EXPECT_FALSE(find_pod_access(environment, directory_.path()));
  write("token", "t");
  write("ca.crt", "CA");
  write("namespace", "team\n");
  const auto access = find_pod_access(environment, directory_.path());
  ASSERT_TRUE(access);
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->ca_pem, "CA");
  EXPECT_EQ(access->ns, "team");
  EXPECT_EQ(access->token_file, directory_.path() / "token");
  variables.clear();
  EXPECT_FALSE(find_pod_access(environment, directory_.path()));
}

}  // namespace
}  // namespace meridian::kube
