// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/format.h"

namespace meridian::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// DATA/bin with the wrapper first on PATH, and behind it an `aws` of the version asked for that
// prints its arguments.
class AwsWrapper : public testing::Test {
 protected:
  AwsWrapper() {
    fs::create_directories(dir("data"));
    install(dir("data") / "aws", aws_wrapper_script());
  }
  fs::path dir(const std::string& name) { return root_.path() / name; }
  static void install(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    base::write_file(file, text, base::Durability::none, 0755);
    fs::permissions(file, fs::perms(0755));
  }
  void install_aws(const std::string& version, const std::string& where = "real") {
    install(dir(where) / "aws", "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'aws-cli/" +
                                    version +
                                    " Python/3.11.2 Linux'; exit 0; fi\n"
                                    "for a in \"$@\"; do printf '<%s>' \"$a\"; done\necho\n");
  }
  std::string run(const std::string& arguments,
                  const std::string& variables = "AWS_ENDPOINT_URL=http://127.0.0.1:1") {
    const auto path = dir("data").string() + ":" + dir("real").string() + ":/usr/bin:/bin";
    const auto command = "env -i HOME=" + shell_quote(dir("home").string()) +
                         " PATH=" + shell_quote(path) + " " + variables + " aws " + arguments +
                         " 2>&1";
    std::string output;
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[512];
    while (const auto size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
    status_ = pclose(pipe);
    return output;
  }
  int status_ = 0;
  base::TempDir root_;
};

TEST_F(AwsWrapper, OldVersionsGetTheEndpoint) {
  install_aws("2.9.19");
  EXPECT_EQ(run("s3 ls 'a b'"), "<--endpoint-url><http://127.0.0.1:1><s3><ls><a b>\n");
  EXPECT_EQ(run("s3 ls"), "<--endpoint-url><http://127.0.0.1:1><s3><ls>\n");  // from the cache
}

TEST_F(AwsWrapper, VersionsThatReadTheVariableAreLeftAlone) {
  install_aws("2.13.0");
  EXPECT_EQ(run("s3 ls"), "<s3><ls>\n");
  install_aws("1.29.0-longer-file-so-that-the-stamp-differs");
  EXPECT_EQ(run("s3 ls"), "<s3><ls>\n");
}

TEST_F(AwsWrapper, AnUnknownVersionGetsTheEndpoint) {
  install_aws("unknown");
  EXPECT_THAT(run("s3 ls"), HasSubstr("--endpoint-url"));
}

TEST_F(AwsWrapper, AnEndpointOfTheUserIsKept) {
  install_aws("2.9.19");
  EXPECT_EQ(run("--endpoint-url http://other s3 ls"), "<--endpoint-url><http://other><s3><ls>\n");
  EXPECT_EQ(run("s3 ls --endpoint-url=http://other"), "<s3><ls><--endpoint-url=http://other>\n");
}

TEST_F(AwsWrapper, WithoutTheVariableNothingIsAdded) {
  install_aws("2.9.19");
  EXPECT_EQ(run("s3 ls", ""), "<s3><ls>\n");
}

TEST_F(AwsWrapper, AnotherInstallationsWrapperIsNotTheRealOne) {
  install(dir("real") / "aws", aws_wrapper_script());
  const auto output = run("no-such-command");
  // The system's own aws, or none: but it ends.
  EXPECT_NE(status_, 0);
  EXPECT_THAT(output, Not(HasSubstr("<no-such-command>")));
}

}  // namespace
}  // namespace meridian::cli
