// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/strings.h"
#include "kube/client/kubeconfig.h"

namespace meridian::kubeserver {
namespace {

class KubeconfigTest : public testing::Test {
 protected:
  void ensure(const std::string& server = "https://127.0.0.1:8471") {
    ensure_kubeconfig(file_, server, "PEM", tokens_);
  }

  base::TempDir directory_;
  std::filesystem::path file_ = directory_.path() / "kubeconfig";
  std::unique_ptr<store::Store> store_ = store::open_in_memory();
  base::ManualClock clock_;
  base::SeededRandom random_{1};
  identity::Tokens tokens_{*store_, clock_, random_};
};

TEST_F(KubeconfigTest, ClientsReadServerAuthorityAndToken) {
  ensure();
  const kube::Access access = kube::load_kubeconfig(file_);
  EXPECT_EQ(access.server, "https://127.0.0.1:8471");
  EXPECT_EQ(access.ca_pem, "PEM");
  EXPECT_EQ(access.ns, "default");
  const auto token = tokens_.find(access.token);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->role_in("anywhere"), identity::Role::admin);
  struct stat status{};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(KubeconfigTest, AGoodFileIsLeftAsItIs) {
  ensure();
  const std::string changed =
      base::replace_all(base::read_file(file_), "namespace: default", "namespace: team-a");
  base::write_file(file_, changed);
  ensure();
  EXPECT_EQ(base::read_file(file_), changed);
}

TEST_F(KubeconfigTest, AnotherAddressKeepsTheToken) {
  ensure();
  const std::string token = kube::load_kubeconfig(file_).token;
  ensure("https://127.0.0.1:9000");
  EXPECT_EQ(kube::load_kubeconfig(file_).token, token);
  EXPECT_EQ(kube::load_kubeconfig(file_).server, "https://127.0.0.1:9000");
  EXPECT_EQ(tokens_.list().size(), 1u);
}

TEST_F(KubeconfigTest, ALostFileEndsItsTokenAndGetsANewOne) {
  ensure();
  const std::string token = kube::load_kubeconfig(file_).token;
  std::filesystem::remove(file_);
  ensure();
  EXPECT_FALSE(tokens_.find(token));
  EXPECT_TRUE(tokens_.find(kube::load_kubeconfig(file_).token));
  base::write_file(file_, "nonsense: [");
  ensure();
  EXPECT_TRUE(tokens_.find(kube::load_kubeconfig(file_).token));
  EXPECT_EQ(tokens_.list().size(), 1u);
}

}  // namespace
}  // namespace meridian::kubeserver
